"""Is the belief right? What the data say against it, and what moves if it is not."""

from problog4fairness.doubt.checking import check
from problog4fairness.doubt.doubts import Doubt, Doubts
from problog4fairness.doubt.identifying import Identifiability, identifiability
from problog4fairness.doubt.learned import learn_parameters
from problog4fairness.doubt.sensitivity import sensitivity
from problog4fairness.doubt.sensitivity_result import Sensitivity
from problog4fairness.doubt.what_if import what_if
from problog4fairness.doubt.what_if_result import WhatIf
from problog4fairness.doubt.which import BeliefComparison, compare_beliefs

__all__ = [
    "BeliefComparison",
    "Doubt",
    "Doubts",
    "Identifiability",
    "Sensitivity",
    "WhatIf",
    "check",
    "compare_beliefs",
    "identifiability",
    "learn_parameters",
    "sensitivity",
    "what_if",
]
