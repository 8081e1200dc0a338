"""Methods compared on one table of recorded data, all that they fit for seeds × folds fitted together.

:func:`compare` is what most people need. Studies that store results, or whose beliefs differ between seeds, take
:func:`compared_rows`, :func:`cells`, the methods, :func:`predictions` and :func:`scored` one by one.
"""

from problog4fairness.comparison.compare import compare
from problog4fairness.comparison.data import ComparedRows, compared_rows
from problog4fairness.comparison.outcome import Comparison
from problog4fairness.comparison.run import Predictions, predictions, scored
from problog4fairness.comparison.splits import Cell, cells
from problog4fairness.comparison.style import styles
from problog4fairness.comparison.through import ThroughBelief

__all__ = [
    "Cell",
    "ComparedRows",
    "Comparison",
    "Predictions",
    "ThroughBelief",
    "cells",
    "compare",
    "compared_rows",
    "predictions",
    "scored",
    "styles",
]
