"""Data to learn from, and to test on: the loans of the examples, and people of whom everything is known."""

from problog4fairness.datasets.enumeration import Limits
from problog4fairness.datasets.equations import SyntheticSettings
from problog4fairness.datasets.loans import LoanData, loans
from problog4fairness.datasets.synthetic import SyntheticData, synthetic

__all__ = ["Limits", "LoanData", "SyntheticData", "SyntheticSettings", "loans", "synthetic"]
