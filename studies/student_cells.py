"""The cells of the student study, and what is believed of the annotators."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs import LabelBias
from problog4fairness.errors import one_line
from studies.cells import Cell, People
from studies.data import StudentData
from studies.engine.stack import Identity
from studies.table_stack import TableStack

OURS, NO_POSITIVE, NO_OTHERS = "ours", "no positive bias", "no bias on A = 0"
# What is believed of the annotators: the full program, and the two that assume less.
PROGRAMS = (OURS, NO_POSITIVE, NO_OTHERS)
# These three begin with the same networks.
TOGETHER = ("lower", "massaging", "parity")


@dataclass(frozen=True, eq=False)
class Pupils:
    """The pupils as people to learn from.

    Attributes
    ----------
    data
        Both labels, with one reading of the recorded one.
    grouped
        Whether all rows of a pupil are on the same side of a split.
    """

    data: StudentData
    grouped: bool = False

    @cached_property
    def people(self) -> People:
        """Spread over folds by sex and both labels."""
        data = self.data
        frame = pd.concat([data.features, data.sensitive], axis=1).reset_index(drop=True)
        recorded, fair, sex = (np.array(own, dtype=np.int64) for own in (data.recorded, data.fair, data.sensitive))
        units = np.array(data.pupil) if self.grouped else None
        kinds = (sex * 2 + recorded) * 3 + fair + 1
        return People(frame, frame, frame, str(data.sensitive.name), recorded, fair, kinds, units)

    @cached_property
    def digest(self) -> str:
        """A hash of all that is known of them."""
        data = self.data
        columns = pd.concat([data.features, data.sensitive, data.fair, data.recorded, data.pupil], axis=1)
        return hashlib.sha256(columns.to_csv(index=False).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class StudentStack(TableStack):
    """A method on all seeds and folds.

    Attributes
    ----------
    pupils
        Whom it learns from.
    beliefs
        For a program, what each seed believes; none for a baseline.
    audit
        From how many rows the parameters come; 0 for all, or for a method without.
    """

    pupils: Pupils = field(kw_only=True)
    beliefs: tuple[LabelBias, ...] = field(default=(), kw_only=True)
    audit: int = field(default=0, kw_only=True)

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.method} with {self.audit} audited rows" if self.audit else self.method

    @property
    def kind(self) -> str:
        """All programs are trained alike."""
        return "ours" if self.beliefs else self.method

    @property
    def together(self) -> Hashable:
        """See :meth:`Stack.together`."""
        return TOGETHER if self.method in TOGETHER else self

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`."""
        own = {"pupils": self.pupils.digest, "reading": self.pupils.data.reading, "grouped": self.pupils.grouped}
        return {**super().settings, **own, "programs": [str(belief) for belief in self.beliefs]}

    @property
    def places(self) -> Sequence[tuple[int]]:
        """The size of the audit."""
        return [(self.audit,)]

    def cell(self, place: int, seed: int, fold: int) -> Cell:  # noqa: ARG002
        """See :meth:`TableStack.cell`; passing does not depend on sex by itself, so networks of programs do without."""
        belief = self.beliefs[self.seeds.index(seed)] if self.beliefs else None
        return Cell(self.pupils.people, seed, fold, self.folds, belief)


def program(name: str) -> LabelBias:
    """One of :data:`PROGRAMS`, with its parameters open."""
    return LabelBias(
        "sex", positive=False if name == NO_POSITIVE else None, affected=[1] if name == NO_OTHERS else None
    )


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


def rarest_cell(name: str, data: StudentData) -> float:
    """Share of the rows that tell about the parameter of a program that the fewest rows tell about."""
    sensitive, fair = data.sensitive.to_numpy(), data.fair.to_numpy()
    cells = [own.cell for own in program(name).parameters if own.cell is not None]
    return min(float(np.mean((sensitive == cell.group) & (fair == cell.fair))) for cell in cells)


def _labels(data: StudentData) -> pd.DataFrame:
    return pd.DataFrame({"sex": data.sensitive, "fair": data.fair, "recorded": data.recorded}).reset_index(drop=True)
