"""A plan for an audit: how many rows to check by hand, of which kind, and which ones, in rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.audit.planning.hoeffding import Hoeffding
from problog4fairness.audit.sheet import Sheet, SheetDesign, draw_rows
from problog4fairness.audit.strata import SamplingFrame
from problog4fairness.errors import P4FError, among

DesignName: TypeAlias = Literal["neyman", "hoeffding", "random"]
DESIGNS = ("neyman", "hoeffding", "random")


@dataclass(frozen=True, eq=False)
class AuditPlan:
    """What to audit next, and how much is left.

    Attributes
    ----------
    design
        ``"neyman"``: by group and by what was recorded, in rounds. ``"hoeffding"``: the paper's, from each group,
        whatever was recorded, at once. ``"random"``: the same from everybody.
    error, confidence
        Each parameter is to be known within ``error``, half the width of its interval, with ``confidence``.
    parameters
        A row for each parameter, or for each P(recorded | fair, group) where parameters have no cells: value and
        interval from what is filled in so far, ``half_width``, and whether it is ``done``.
    strata
        A row for each kind of rows: ``rows`` in the table, ``audited`` so far, ``open`` (drawn, but not filled in),
        ``to_draw`` now, and ``in_all``, the rows that it is expected to take.
    hoeffding
        The paper's plan, for comparison; None for numbers, of which it does not speak.
    notes
        What was assumed, in words.
    columns
        The columns to fill in.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=500, audited=1, new=1)
    >>> plan = p4f.LabelBias("poor_area", positive=False, affected=[1]).plan_audit(data.loans, recorded="granted")
    >>> plan.design, bool(plan.strata["rows"].sum() <= 500)
    ('neyman', True)
    """

    design: DesignName
    error: float
    confidence: float
    parameters: pd.DataFrame
    strata: pd.DataFrame
    hoeffding: Hoeffding | None
    notes: tuple[str, ...]
    _table: SamplingFrame = field(repr=False)
    _before: Sheet | None = field(repr=False)
    columns: tuple[str, ...] = ()

    @property
    def to_draw(self) -> int:
        """Rows to draw now."""
        return int(self.strata["to_draw"].sum())

    @property
    def audited(self) -> int:
        """Rows that are filled in."""
        return int(self.strata["audited"].sum())

    @property
    def open(self) -> int:
        """Rows that were drawn and are not filled in."""
        return int(self.strata["open"].sum())

    @property
    def in_all(self) -> int:
        """Rows that the whole audit is expected to take, those filled in included."""
        return int(self.strata["in_all"].sum())

    @property
    def stop(self) -> bool:
        """Whether every parameter is known well enough."""
        return bool(self.parameters["done"].all())

    def draw(
        self,
        *,
        random_state: int = 0,
        hide: Sequence[str] = (),
        rows: pd.DataFrame | None = None,
        cells: pd.DataFrame | None = None,
    ) -> pd.DataFrame:
        """The rows to check by hand: those of earlier rounds as they are, then the new ones, with empty columns.

        Fill in the fair values and pass the table to ``plan_audit`` again, by ``pilot=``, or to ``estimate``. The index
        and the column ``row`` are those of the table: ``table.loc[todo.index]`` are the same people. Columns that begin
        with ``p4f_`` say how the rows were sampled; keep them. The rows are not a random sample of the table:
        :class:`Audit` weights them.

        Parameters
        ----------
        random_state
            The same number draws the same rows.
        hide
            Columns that reviewers shall not see, such as the sensitive one and the recorded label. They are left out,
            and so is all that tells them; ``estimate(..., drawn_from=table)`` takes them from the table again.
        rows
            The rows of earlier rounds where they are to be written otherwise than they were passed, such as all texts.
        cells
            The table where its columns are to be written otherwise, such as before it was cleaned.
        """
        before = self._before
        if before is not None and rows is not None:
            before = Sheet(rows, before.places, before.round)
        sizes = dict(zip(self._table.strata.names, self._table.sizes.tolist(), strict=True))
        design = SheetDesign(self.design, self._table.fingerprint, sizes, self.error)
        rng = np.random.default_rng([random_state, 0 if before is None else before.round])
        wanted = self.strata["to_draw"].to_numpy(dtype=np.int64)
        for name in hide:
            if name not in self._table.frame.columns:
                raise P4FError(f"no column {name!r} to hide; {among(name, self._table.frame.columns)}")
        return draw_rows(self._table, design, wanted, self.columns, before, rng, cells, hide)

    def lines(self) -> list[str]:
        """What to do, in words."""
        beside = ""
        if self.hoeffding is not None:
            rows, asked = len(self._table.codes), self.hoeffding.asked
            beside = f"{asked:,} rows drawn at random from everybody by Hoeffding's inequality"
            if asked > rows:
                beside = f"all {rows:,} rows of the table, fewer than Hoeffding's inequality asks for"
        if self.stop:
            first = f"stop: every parameter is within {self.error:g}, after {self.audited:,} audited rows"
            return [f"{first} ({beside})" if beside else first, *self.notes]
        lines = []
        if self.open:
            lines.append(f"{self.open:,} rows that were drawn are still to be filled in")
        if self.to_draw:
            lines.append(f"draw these {self.to_draw:,} rows, fill them in, then ask again")
        elif not self.open:
            lines.append("all rows there are were drawn; more cannot be known")
        share = f"about {self.in_all:,} rows in all" if self.design == "neyman" else f"{self.in_all:,} rows in all"
        lines.append(f"{share}, to know every parameter within {self.error:g} with {self.confidence:.0%} confidence")
        return [*lines, *([f"instead of {beside}"] if beside else []), *self.notes]

    def __repr__(self) -> str:
        left = "stop" if self.stop else f"{self.to_draw} rows to draw"
        return f"AuditPlan({self.design}: {self.audited} rows audited, {left})"

    def __str__(self) -> str:
        return "\n".join([self.strata.to_string(index=False), "", *self.lines()])

    def _repr_html_(self) -> str:
        from html import escape

        return str(self.strata.to_html(index=False)) + "".join(f"<p>{escape(line)}</p>" for line in self.lines())
