from .audited import RATES, SCORE_COLUMNS
from .belief_method import ThroughBelief
from .comparison import compare, learner_word
from .data import ComparedRows, compared_rows
from .gains import GAIN_COLUMNS, Gain
from .methods.estimators import Baseline, LowerBaseline, Unawareness, UpperBaseline
from .methods.group_estimators import Massaging, ParityThresholds
from .methods.massaging import MassagedLabels
from .methods.method import Method, Steps, Trained, Training
from .methods.named import METHODS
from .methods.plain import KnowingFairLabels, OnlyAuditedRows, RecordAsItIs, WithoutSensitive
from .methods.reductions import ParityByReductions
from .methods.relabelling import flips_needed, massage
from .methods.thresholds import ParityByThresholds, expected_outcome, parity_thresholds
from .result import APART, Comparison
from .run import Predictions, predictions, scored
from .splits import Cell, cells, default_seeds
from .style import styles

__all__ = [
    "APART",
    "GAIN_COLUMNS",
    "METHODS",
    "RATES",
    "SCORE_COLUMNS",
    "Baseline",
    "Cell",
    "ComparedRows",
    "Comparison",
    "Gain",
    "KnowingFairLabels",
    "LowerBaseline",
    "MassagedLabels",
    "Massaging",
    "Method",
    "OnlyAuditedRows",
    "ParityByReductions",
    "ParityByThresholds",
    "ParityThresholds",
    "Predictions",
    "RecordAsItIs",
    "Steps",
    "ThroughBelief",
    "Trained",
    "Training",
    "Unawareness",
    "UpperBaseline",
    "WithoutSensitive",
    "cells",
    "compare",
    "compared_rows",
    "default_seeds",
    "expected_outcome",
    "flips_needed",
    "learner_word",
    "massage",
    "parity_thresholds",
    "predictions",
    "scored",
    "styles",
]
