"""Methods compared on one table of recorded data, with seeds × folds trained as one.

:func:`compare` is what most people need. Studies that store results, or whose beliefs differ between seeds, take
:class:`Table`, :class:`TableMethod` and :func:`stacked`.
"""

from problog4fairness.comparison.compare import compare
from problog4fairness.comparison.methods import TableMethod
from problog4fairness.comparison.outcome import Comparison
from problog4fairness.comparison.splits import Cell, cells
from problog4fairness.comparison.stacked import stacked, table_settings
from problog4fairness.comparison.table import Table

__all__ = ["Cell", "Comparison", "Table", "TableMethod", "cells", "compare", "stacked", "table_settings"]
