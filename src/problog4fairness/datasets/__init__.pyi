from .enumeration import Limits
from .loan_data import LoanData, loans
from .synthetic_data import SyntheticData, SyntheticSettings, synthetic

__all__ = ["Limits", "LoanData", "SyntheticData", "SyntheticSettings", "loans", "synthetic"]
