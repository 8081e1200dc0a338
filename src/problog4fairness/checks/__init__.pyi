from .checking import TESTS, check
from .comparing_beliefs import BeliefComparison, compare_beliefs
from .finding import NotDone
from .identifiable_parameters import Identifiability, identifiability
from .learned_parameters import learn_parameters
from .reading import read_case
from .result import CheckResult, Doubt
from .tests.audited_rows import rows_by_label

__all__ = [
    "TESTS",
    "BeliefComparison",
    "CheckResult",
    "Doubt",
    "Identifiability",
    "NotDone",
    "check",
    "compare_beliefs",
    "identifiability",
    "learn_parameters",
    "read_case",
    "rows_by_label",
]
