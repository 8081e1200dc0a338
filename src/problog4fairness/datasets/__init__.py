"""Data to learn from, and to test on."""

from problog4fairness.datasets.loans import LoanData, loans

__all__ = ["LoanData", "loans"]
