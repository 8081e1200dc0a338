"""What a debiased classifier is compared with: lower and upper baseline, unawareness, massaging, parity by thresholds.

All of them are scikit-learn estimators around the same network as :class:`~problog4fairness.DebiasedClassifier`,
with the same options, and all of them are called alike: ``fit(X, y, sensitive_features=a)``.
"""

from problog4fairness.baselines.lower import LowerBaseline
from problog4fairness.baselines.massaging import Massaging
from problog4fairness.baselines.parity import ParityThresholds, expected_outcome, parity_thresholds
from problog4fairness.baselines.relabelling import flips_needed, massage
from problog4fairness.baselines.unawareness import Unawareness
from problog4fairness.baselines.upper import UpperBaseline

__all__ = [
    "LowerBaseline",
    "Massaging",
    "ParityThresholds",
    "Unawareness",
    "UpperBaseline",
    "expected_outcome",
    "flips_needed",
    "massage",
    "parity_thresholds",
]
