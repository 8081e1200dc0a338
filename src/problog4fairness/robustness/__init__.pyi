from .bounds import Bounds, bounds_of
from .interpolation import Answer, WhatIf, what_if
from .parameter_sensitivity import Sensitivity, sensitivity
from .result import ACCURACY, CHANGED, UNCERTAIN
from .uncertainty import Uncertainty, not_learned, uncertainty_of

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
