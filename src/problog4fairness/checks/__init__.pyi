from .checking import TESTS, check
from .comparing_beliefs import BeliefComparison, compare_beliefs
from .finding import NotDone
from .identifiability import Identifiability, identifiability
from .learned_parameters import learn_parameters
from .reading import read_case
from .result import Doubt, Doubts
from .tests.audited_rows import rows_by_label

__all__ = [
    "TESTS",
    "BeliefComparison",
    "Doubt",
    "Doubts",
    "Identifiability",
    "NotDone",
    "check",
    "compare_beliefs",
    "identifiability",
    "learn_parameters",
    "read_case",
    "rows_by_label",
]
