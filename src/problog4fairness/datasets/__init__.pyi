from .enumeration import Limits
from .equations import SyntheticSettings
from .loans import LoanData, loans
from .synthetic import SyntheticData, synthetic

__all__ = ["Limits", "LoanData", "SyntheticData", "SyntheticSettings", "loans", "synthetic"]
