from .enumeration import Limits
from .equations import SyntheticSettings
from .loan_data import LoanData, loans
from .synthetic_data import SyntheticData, synthetic

__all__ = ["Limits", "LoanData", "SyntheticData", "SyntheticSettings", "loans", "synthetic"]
