"""What is believed of the annotators: the full program, and the two that assume less."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from problog4fairness.beliefs import AuditWarning, LabelBias
from problog4fairness.comparison import Cell
from problog4fairness.datasets import StudentData
from problog4fairness.errors import one_line

OURS, NO_POSITIVE, NO_OTHERS = "ours", "no positive bias", "no bias on A = 0"
PROGRAMS = (OURS, NO_POSITIVE, NO_OTHERS)


def program(name: str) -> LabelBias:
    """One of :data:`PROGRAMS`, with its parameters open."""
    return LabelBias("sex", positive=False if name == NO_POSITIVE else None, groups=[1] if name == NO_OTHERS else None)


def believed(name: str, data: StudentData) -> tuple[LabelBias, list[str]]:
    """A program with its parameters from all rows, as in the paper; and what is doubtful about them, in lines."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AuditWarning)
        belief = program(name).estimate(_labels(data), recorded="recorded", fair="fair")
    return belief, [one_line(str(warning.message)) for warning in caught]


def audited(name: str, data: StudentData, rows: int, draw: int) -> LabelBias:
    """A program with its parameters from a few rows, drawn at random.

    A larger audit of the same draw holds the smaller one, and all programs are given the same rows. To each of the four
    cells (boys or girls, passed or not) one imagined row is added that was labelled rightly: a parameter is k / (n + 1)
    for k distortions among n rows. Where no row of a cell was audited that is 0, and it is never 1, so no program can
    call impossible what was recorded of somebody outside the audit.
    """
    labels = _labels(data)
    chosen = np.random.default_rng((draw, len(labels))).permutation(len(labels))[:rows]
    imagined = pd.DataFrame({"sex": [1, 1, 0, 0], "fair": [1, 0, 1, 0], "recorded": [1, 0, 1, 0]})
    with warnings.catch_warnings():
        # Small audits are the point here, and every one of them would be warned of.
        warnings.simplefilter("ignore", AuditWarning)
        return program(name).estimate(
            pd.concat([labels.iloc[chosen], imagined], ignore_index=True), recorded="recorded", fair="fair"
        )


@dataclass(frozen=True)
class BeliefOfDraw:
    """The belief that each draw of audited rows leads to; the draw's number is the seed of its splits."""

    beliefs: dict[int, LabelBias]

    def __call__(self, cell: Cell) -> LabelBias:
        """The belief for this cell."""
        return self.beliefs[cell.seed]


def rarest_cell(name: str, data: StudentData) -> float:
    """Share of the rows that tell about the parameter of a program that the fewest rows tell about."""
    sensitive, fair = data.sensitive.to_numpy(), data.fair.to_numpy()
    cells = program(name).cells().values()
    return min(float(np.mean((sensitive == group) & (fair == label))) for group, label, _ in cells)


def _labels(data: StudentData) -> pd.DataFrame:
    return pd.DataFrame({"sex": data.sensitive, "fair": data.fair, "recorded": data.recorded}).reset_index(drop=True)
