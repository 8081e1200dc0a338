"""Estimates from rows that were sampled by group and by what was recorded: shares by stratum, inverted by Bayes' rule.

Rows of stratum (group, recorded) tell P(fair | recorded, group). With the sizes N of the strata in the whole table,

    P(recorded = r | fair = f, group) = N_r P(f | r) / sum_r' N_r' P(f | r')

Parameters of features are P(fair | recorded, group) and need no inversion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from problog4fairness.audit.reading import warn_audit
from problog4fairness.audit.strata import LABEL, Strata
from problog4fairness.data import Codes, Floats
from problog4fairness.statistics import Cell, Estimate, Parameter, Ratio, equal_rows

SOURCE = "drawn by what was recorded"
# Jeffreys' prior: half a row of each kind.
PRIOR = 0.5
# Of the intervals that say to how many rows of a random sample strata are equal.
CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Target(Ratio):
    """A probability that strata determine: a ratio of sums of their shares of a fair value.

    Attributes
    ----------
    name, meaning
        Of the parameter, or of P(recorded | fair, group) where the parameters have no cells.
    thing, fair
        Whose shares: of the label or a feature, by position, those with this fair value.
    """

    name: str
    meaning: str
    thing: int
    fair: int

    def spread(self, shares: Floats) -> Floats:
        """``[..., strata]``: the variance that one row of each stratum leaves, see :func:`.allocation.allocate`."""
        below = np.maximum(self.constant + shares @ self.bottom, 1e-300)[..., None]
        slope = (self.top - self.value(shares)[..., None] * self.bottom) / below
        return np.asarray(np.nan_to_num(slope) ** 2 * shares * (1 - shares))

    def interval(
        self, counts: Floats, sizes: Floats, confidence: float, corrected: bool = True
    ) -> tuple[Floats, Floats]:
        """Of counts ``[..., strata, fair values]``; see :meth:`Ratio.score_interval`."""
        return self.score_interval(counts[..., self.fair], counts.sum(-1), sizes, confidence, corrected)

    def estimate(self, counts: Floats, sizes: Floats, confidence: float) -> Estimate:
        """Value and interval from counts ``[strata, fair values]``; from 0 rows where one that matters has none."""
        rows = counts.sum(-1)
        value = float(self.value(counts[:, self.fair] / np.maximum(rows, 1)))
        if np.isnan(value) or (rows[self.used] == 0).any():
            return Estimate(float("nan"), 0.0, 1.0, 0)
        low, high = self.interval(counts, sizes, confidence)
        return Estimate(value, min(float(low), value), max(float(high), value), int(rows[self.used].sum()))


@dataclass(frozen=True, eq=False)
class Design:
    """What was audited of each stratum, and how large the strata are in the whole table.

    Attributes
    ----------
    things
        What was audited: ``""`` for the label, or the features.
    shape
        The number of groups, and of values of each of these; strata are numbered in this order.
    sizes
        Rows of each stratum in the whole table.
    counts
        For each thing ``[strata, fair values]``, the audited rows.
    ruled
        The strata in which the belief says that what was recorded is fair.

    Examples
    --------
    >>> import numpy as np
    >>> from problog4fairness.audit import Design
    >>> design = Design(("",), (2, 2), np.full(4, 100.0), (np.full((4, 2), 5.0),))  # 2 groups, 2 labels
    >>> float(design.counts[0].sum())
    40.0
    """

    things: tuple[str, ...]
    shape: tuple[int, ...]
    sizes: Floats
    counts: tuple[Floats, ...]
    ruled: tuple[int, ...] = ()

    @classmethod
    def of(cls, strata: Strata, sizes: Any, codes: Codes, fair: Sequence[Codes], ruled: Iterable[int] = ()) -> Design:
        """Count audited rows: their strata ``codes`` and, for each thing, their ``fair`` values are ``[rows]``.

        A stratum that the belief rules out is not ruled out where audited rows have another fair label all the same.
        """
        counts = []
        for thing, values in enumerate(fair):
            table = np.zeros((len(sizes), strata.shape[1 + thing]))
            np.add.at(table, (codes, values), 1)
            counts.append(table)
        kept = []
        for stratum in ruled:
            total, right = counts[0][stratum].sum(), counts[0][stratum, stratum % strata.shape[1]]
            if right == total:
                kept.append(stratum)
                continue
            warn_audit(
                f"{total - right:.0f} of {total:.0f} audited rows with {strata.names[stratum]} have another fair "
                "label; the belief rules that out, and is not followed in it"
            )
        return cls(strata.things, strata.shape, np.asarray(sizes, dtype=np.float64), tuple(counts), tuple(kept))

    @property
    def rows(self) -> Floats:
        """Audited rows of each stratum."""
        return np.asarray(self.counts[0].sum(-1))

    def target(self, cell: Cell, name: str, meaning: str) -> Target:
        """What the strata tell of a cell."""
        places = np.indices(self.shape).reshape(len(self.shape), -1)
        of_group = places[0] == cell.group
        if cell.feature is not None:
            thing = self.things.index(cell.feature)
            inside = of_group & (places[1 + thing] == cell.recorded)
            top, constant = np.where(inside, self.sizes, 0.0), float(self.sizes[inside].sum())
            return Target(top, np.zeros_like(top), constant, name, meaning, thing, cell.fair)
        ruled = np.isin(np.arange(len(self.sizes)), self.ruled)
        top = np.where(of_group & (places[1] == cell.recorded) & ~ruled, self.sizes, 0.0)
        bottom = np.where(of_group & ~ruled, self.sizes, 0.0)
        constant = float(self.sizes[of_group & ruled & (places[1] == cell.fair)].sum())
        return Target(top, bottom, constant, name, meaning, 0, cell.fair)

    def is_ruled(self, cell: Cell | None) -> bool:
        """Whether a parameter is about a change that is ruled out."""
        if cell is None or cell.feature is not None or LABEL not in self.things:
            return False
        return int(np.ravel_multi_index((cell.group, cell.recorded), self.shape)) in self.ruled

    def targets(self, parameters: Iterable[Parameter]) -> list[Target]:
        """Those of the parameters that have a cell and are not ruled out."""
        return [
            self.target(parameter.cell, parameter.name, parameter.meaning)
            for parameter in parameters
            if parameter.cell is not None
            and (parameter.cell.feature or LABEL) in self.things
            and not self.is_ruled(parameter.cell)
        ]

    def estimated(self, parameters: Iterable[Parameter], confidence: float) -> tuple[Parameter, ...]:
        """The parameters with what the strata say of them; those that the design does not tell stay as they are."""
        parameters = tuple(parameters)
        known = {target.name: self.estimate(target, confidence) for target in self.targets(parameters)}
        return tuple(
            parameter.estimated(known[parameter.name], SOURCE) if parameter.name in known else parameter
            for parameter in parameters
        )

    def estimate(self, target: Target, confidence: float) -> Estimate:
        """The value of a target with its interval."""
        return target.estimate(self.counts[target.thing], self.sizes, confidence)

    def weights(self, strata: Codes, fair: Codes) -> Floats:
        """``[rows]``: how much each audited row counts, so that a likelihood of plain counts is right for this design.

        Rows of (group, fair) are weighted by how many rows of the table each stands for, and their sum is the number of
        rows of a random sample whose intervals for P(recorded | fair, group) would be as wide, on average.
        """
        stands = (self.sizes / np.maximum(self.rows, 1))[strata]
        scale = np.zeros(len(strata))
        groups, classes = self.shape
        for group, label in np.ndindex(groups, classes):
            inside = (strata // classes == group) & (fair == label)
            cells = (self.target(Cell(group, label, recorded), "", "") for recorded in range(classes))
            estimates = [self.estimate(cell, CONFIDENCE) for cell in cells]
            rows = [
                equal_rows(estimate.value, estimate.low, estimate.high, CONFIDENCE)
                for estimate in estimates
                if estimate.rows
            ]
            scale[inside] = stands[inside].sum() / max(float(np.mean(rows)) if rows else 0.0, 1e-9)
        return np.asarray(stands / np.maximum(scale, 1e-300))

    def draws(self, parameters: Iterable[Parameter], count: int, rng: np.random.Generator) -> dict[str, Floats]:
        """Values of parameters from their distribution given the audit, ``[count]`` for each by name.

        Jeffreys' prior in each stratum; rows that were not audited are drawn from what those say that were.
        """
        shares = []
        for counts in self.counts:
            chance = rng.gamma(counts + PRIOR, size=(count, *counts.shape))
            chance /= chance.sum(-1, keepdims=True)
            left = np.maximum(self.sizes - counts.sum(-1), 0).astype(np.int64)
            whole = counts + rng.multinomial(np.broadcast_to(left, chance.shape[:-1]), chance)
            shares.append(whole / np.maximum(whole.sum(-1, keepdims=True), 1))
        return {
            parameter.name: np.nan_to_num(parameter.value(shares[parameter.thing][..., parameter.fair]), nan=0.5)
            for parameter in self.targets(parameters)
        }

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "things": list(self.things),
            "shape": list(self.shape),
            "sizes": self.sizes.astype(int).tolist(),
            "counts": [counts.astype(int).tolist() for counts in self.counts],
            "ruled": list(self.ruled),
        }

    @classmethod
    def from_json(cls, value: Any) -> Design:
        """The inverse of :meth:`to_json`; a ``ValueError`` says what is wrong."""
        if not isinstance(value, dict) or set(value) != {"things", "shape", "sizes", "counts", "ruled"}:
            raise ValueError("its design is not as it should be")
        things, shape, ruled = (tuple(value[name]) for name in ("things", "shape", "ruled"))
        counts = tuple(np.asarray(table, dtype=np.float64) for table in value["counts"])
        whole = [*shape, *value["sizes"], *ruled]
        if not all(type(number) is int and 0 <= number < 10**15 for number in whole):
            raise ValueError("its design does not fit itself")
        sizes = np.asarray(value["sizes"], dtype=np.float64)
        fits = (
            all(isinstance(thing, str) for thing in things)
            and len(things) == len(counts) == len(shape) - 1
            and float(np.prod(np.asarray(shape, dtype=np.float64))) == len(sizes)
            and [table.shape for table in counts] == [(len(sizes), k) for k in shape[1:]]
            and all(stratum < len(sizes) for stratum in ruled)
            and not any((table < 0).any() or (table.sum(-1) > sizes).any() for table in counts)
        )
        if not fits:
            raise ValueError("its design does not fit itself")
        return cls(things, shape, sizes, counts, ruled)


@dataclass(frozen=True, eq=False)
class Stratified:
    """Audited rows that were drawn by group and recorded label.

    Attributes
    ----------
    design
        What they say by stratum.
    strata
        ``[rows]``: the stratum of each.
    """

    design: Design
    strata: Codes

    def share(self, inside: Floats, recorded: int, confidence: float) -> Estimate:
        """P(recorded | inside) in the whole table.

        Rows of the domain may be part of a stratum, such as those of one officer. Each stratum tells which part of its
        rows is inside, and the ratio of the sums over strata is the share; see :mod:`.intervals`.

        Parameters
        ----------
        inside
            ``[rows]``: 1 for rows of the domain, 0 for others; or how likely a row belongs to it.
        recorded
            The recorded class.
        confidence
            Of the interval.
        """
        design, classes = self.design, self.design.shape[1]
        hits = np.bincount(self.strata, inside, len(design.sizes))
        places = np.arange(len(design.sizes))
        of_group = np.isin(places // classes, np.unique(self.strata[inside > 0] // classes)) & (design.sizes > 0)
        top = np.where(of_group & (places % classes == recorded), design.sizes, 0.0)
        target = Target(top, np.where(of_group, design.sizes, 0.0), 0.0, "", "", 0, 0)
        counts = np.stack([hits, design.rows - hits], axis=1)
        rows = float(inside.sum())
        if not rows:
            return Estimate(float("nan"), 0.0, 1.0, 0)
        estimate = target.estimate(counts, design.sizes, confidence)
        return replace(estimate, rows=round(rows)) if estimate.rows else estimate


def design_of(value: dict[str, Any], shape: Sequence[int]) -> Design:
    """The design in a belief's plain data, which has strata of this shape."""
    design = Design.from_json(value["design"])
    if design.shape != tuple(shape):
        raise ValueError("its design is about other groups or values")
    return design
