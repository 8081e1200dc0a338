from .baseline import BaselineClassifier
from .comparison import compare, compare_rows, learner_word
from .data import Cell, ComparedRows, cells, compared_rows, default_seeds
from .gains import GAIN_COLUMNS, RATES, SCORE_COLUMNS, Gain
from .methods import METHODS
from .methods.method import Method, Steps, ThroughBelief, Trained, Training
from .result import APART, Comparison, styles
from .run import Predictions, predictions, scored

__all__ = [
    "APART",
    "GAIN_COLUMNS",
    "METHODS",
    "RATES",
    "SCORE_COLUMNS",
    "BaselineClassifier",
    "Cell",
    "ComparedRows",
    "Comparison",
    "Gain",
    "Method",
    "Predictions",
    "Steps",
    "ThroughBelief",
    "Trained",
    "Training",
    "cells",
    "compare",
    "compare_rows",
    "compared_rows",
    "default_seeds",
    "learner_word",
    "predictions",
    "scored",
    "styles",
]
