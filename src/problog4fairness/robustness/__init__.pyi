from .bands import bands_of, not_learned
from .bands_result import OPEN, Bands
from .bounds import bounds_of
from .bounds_result import Bounds
from .sensitivity_analysis import sensitivity
from .sensitivity_result import ACCURACY, CHANGED, Sensitivity
from .what_if_analysis import what_if
from .what_if_result import Answer, WhatIf

__all__ = [
    "ACCURACY",
    "CHANGED",
    "OPEN",
    "Answer",
    "Bands",
    "Bounds",
    "Sensitivity",
    "WhatIf",
    "bands_of",
    "bounds_of",
    "not_learned",
    "sensitivity",
    "what_if",
]
