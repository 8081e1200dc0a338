from .bounds import Bounds, bounds_of
from .interpolation import Answer, WhatIf, what_if
from .parameter_sensitivity import CHANGED, Sensitivity, sensitivity
from .uncertainty import ACCURACY, UNCERTAIN, Uncertainty, not_learned, uncertainty_of

__all__ = [
    "ACCURACY",
    "CHANGED",
    "UNCERTAIN",
    "Answer",
    "Bounds",
    "Sensitivity",
    "Uncertainty",
    "WhatIf",
    "bounds_of",
    "not_learned",
    "sensitivity",
    "uncertainty_of",
    "what_if",
]
