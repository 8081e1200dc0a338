from .checking import CHECKS, check, compare_beliefs
from .identifiable_parameters import Identifiability, identifiability
from .learned_parameters import learn_parameters
from .reading import read_case
from .result import CheckResult, Outcome

__all__ = [
    "CHECKS",
    "CheckResult",
    "Identifiability",
    "Outcome",
    "check",
    "compare_beliefs",
    "identifiability",
    "learn_parameters",
    "read_case",
]
