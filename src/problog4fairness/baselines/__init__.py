"""What a user would do instead of stating a belief: each method written once, on the same learner as ours.

A :class:`Method` says what is fitted, and what predictions are made of it; :data:`METHODS` has all of them by name. The
scikit-learn estimators and :func:`problog4fairness.compare` both run them.
"""

from problog4fairness.baselines.estimators import Baseline, LowerBaseline, Unawareness, UpperBaseline
from problog4fairness.baselines.grouped import Massaging, ParityThresholds
from problog4fairness.baselines.massaging import MassagedLabels
from problog4fairness.baselines.method import Method, Steps, Trained, Training
from problog4fairness.baselines.named import METHODS
from problog4fairness.baselines.parity import ParityByThresholds, expected_outcome, parity_thresholds
from problog4fairness.baselines.plain import KnowingFairLabels, OnlyAuditedRows, RecordAsItIs, WithoutSensitive
from problog4fairness.baselines.reductions import ParityByReductions
from problog4fairness.baselines.relabelling import flips_needed, massage

__all__ = [
    "METHODS",
    "Baseline",
    "KnowingFairLabels",
    "LowerBaseline",
    "MassagedLabels",
    "Massaging",
    "Method",
    "OnlyAuditedRows",
    "ParityByReductions",
    "ParityByThresholds",
    "ParityThresholds",
    "RecordAsItIs",
    "Steps",
    "Trained",
    "Training",
    "Unawareness",
    "UpperBaseline",
    "WithoutSensitive",
    "expected_outcome",
    "flips_needed",
    "massage",
    "parity_thresholds",
]
