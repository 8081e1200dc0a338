"""Plans for an audit: which rows to check by hand, in rounds; and the paper's, by Hoeffding's inequality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.audit.sheet import Sheet, SheetDesign, draw_rows
from problog4fairness.audit.strata import SamplingFrame
from problog4fairness.data import Codes, Floats, column_of, warn
from problog4fairness.errors import P4FError
from problog4fairness.statistics import required_samples, rows_to_draw


@dataclass(frozen=True)
class Hoeffding:
    """How many rows an audit needs that is drawn at random, by Hoeffding's inequality.

    Attributes
    ----------
    error, confidence
        Each parameter is to be known within ``error`` with ``confidence``.
    needed
        Rows needed of each cell: of each group and each fair label.
    cells
        A row for each cell: its group and fair label, its ``share`` of all people, rows ``needed``, and how many
        rows ``to_draw`` at random from everybody to get them.
    groups
        A row for each group: its ``rows`` in the data where there are data, and how many ``to_draw`` from this group to
        get both of its cells.
    simple
        Rows to draw at random from everybody, so that all cells are large enough.
    asked
        The same, whether there are as many or not.
    stratified
        Rows to draw if each group is drawn from by itself. Usually fewer.
    assumed
        What was assumed about the shares, in words.
    """

    error: float
    confidence: float
    needed: int
    cells: pd.DataFrame
    groups: pd.DataFrame
    simple: int
    asked: int
    stratified: int
    assumed: str


def hoeffding_plan(
    error: float = 0.1, confidence: float = 0.95, *, positive_rate: float = 0.5, group_share: float = 0.5
) -> Hoeffding:
    """Plan an audit that is sampled at random, as the paper does; :meth:`Belief.plan_audit` needs far fewer rows.

    Every parameter of a label bias is about one cell: a group and a fair label.

    Parameters
    ----------
    error, confidence
        As in :func:`required_samples`.
    positive_rate, group_share
        The shares of favourable fair labels in every group, and of the sensitive group.

    Examples
    --------
    >>> plan = hoeffding_plan(error=0.1, confidence=0.95, positive_rate=0.5)
    >>> plan.needed, plan.simple, plan.stratified
    (185, 819, 804)
    """
    for name, value in (("positive_rate", positive_rate), ("group_share", group_share)):
        if not 0 < value < 1:
            raise P4FError(f"{name} {value:g} is not between 0 and 1")
    assumed = (
        f"the sensitive group is {group_share:.0%} of all, {positive_rate:.0%} of each group have a fair label of 1"
    )
    shares = (1 - group_share, group_share)
    label_shares = np.tile([1 - positive_rate, positive_rate], (2, 1))
    return _hoeffding(error, confidence, ("other", "sensitive"), shares, label_shares, None, ("0", "1"), assumed)


def hoeffding_of_table(
    error: float, confidence: float, groups: Sequence[str], labels: Sequence[str], sizes: Codes
) -> Hoeffding:
    """The plan for a table with ``sizes`` rows, ``[groups, recorded labels]``, whose shares stand in for fair ones."""
    counts = sizes.sum(axis=1)
    parts = (counts / max(1, int(counts.sum()))).tolist()
    assumed = "shares of fair labels are those of the recorded ones"
    label_shares = sizes / np.maximum(counts, 1)[:, None]
    return _hoeffding(error, confidence, groups, parts, label_shares, counts.tolist(), labels, assumed)


def _hoeffding(
    error: float,
    confidence: float,
    names: Sequence[str],
    shares: Sequence[float],
    label_shares: Floats,
    rows: Sequence[int] | None,
    labels: Sequence[str],
    assumed: str,
) -> Hoeffding:
    needed = required_samples(error, confidence)
    cells, groups = [], []
    for i, (name, share) in enumerate(zip(names, shares, strict=True)):
        largest = 0
        for label, part in reversed(list(zip(labels, label_shares[i].tolist(), strict=True))):
            to_draw = None
            if share * part > 0:
                largest = max(largest, rows_to_draw(needed, part, confidence))
                to_draw = rows_to_draw(needed, share * part, confidence)
            else:
                warn(f"no row has {name} and the label {label}: how many rows to draw for that cell cannot be said")
            cells.append({"group": name, "fair": label, "share": share * part, "needed": needed, "to_draw": to_draw})
        if rows is not None and rows[i] < largest:
            warn(f"{largest} rows with {name} are needed, and there are {rows[i]}; all of them are taken")
            largest = rows[i]
        groups.append({"group": name, "rows": None if rows is None else rows[i], "to_draw": largest})
    cell_table = pd.DataFrame(cells).astype({"to_draw": "Int64"})
    group_table = pd.DataFrame(groups).astype({"rows": "Int64", "to_draw": "int64"})
    asked = int(cell_table["to_draw"].max()) if cell_table["to_draw"].notna().any() else 0
    simple = asked if rows is None else min(asked, sum(rows))
    if simple < asked:
        warn(f"{asked} rows drawn from everybody are needed, and there are {simple}")
    stratified = int(group_table["to_draw"].sum())
    return Hoeffding(error, confidence, needed, cell_table, group_table, simple, asked, stratified, assumed)


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
            column_of(self._table.frame, name, "hide=...")
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
