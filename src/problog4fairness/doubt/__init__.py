"""Is the belief right? What moves if it is not."""

from problog4fairness.doubt.sensitivity import sensitivity
from problog4fairness.doubt.sensitivity_result import Sensitivity

__all__ = ["Sensitivity", "sensitivity"]
