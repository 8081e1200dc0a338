"""The paper's synthetic studies as data: run in parallel, stored, resumed, drawn."""

from problog4fairness.experiments.cells import Cell, Point, Stack
from problog4fairness.experiments.method import Method
from problog4fairness.experiments.methods import METHODS
from problog4fairness.experiments.report import write_report
from problog4fairness.experiments.run import Outcome, run
from problog4fairness.experiments.study import STUDIES, Study, assumption, bias_sweep, dependent

__all__ = [
    "METHODS",
    "STUDIES",
    "Cell",
    "Method",
    "Outcome",
    "Point",
    "Stack",
    "Study",
    "assumption",
    "bias_sweep",
    "dependent",
    "run",
    "write_report",
]
