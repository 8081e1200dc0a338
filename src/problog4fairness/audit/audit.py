"""Audited rows with their sampling design: what they stand for, and weighted means with intervals.

Rows that a plan sampled by group and recorded label are no random sample of the table. Where n_s rows of a stratum s
of N_s rows are audited, each has the weight N_s / n_s. The mean of any value y is estimated by Hajek's ratio

    mean = sum_i w_i y_i / sum_i w_i

Its interval knows the strata. For shares it is Wilson's, for the effective number of rows, and keeps its coverage near
0 and 1; for other values it is Taylor-linearised. Clusters (several rows of one person or officer) widen both by the
cluster-robust design effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.audit.reading import warn_audit
from problog4fairness.audit.sheet import ROW, Sample, Sampling, is_filled, sample_of
from problog4fairness.data import Codes, Floats, column_of, expand_counts, is_frame, positions, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Estimate, check_confidence, interval

# Rows of a table of unknown size: no correction for a finite table.
ENDLESS = 1e15
# Rows of each kind that are added to a stratum, so that none is taken as certain.
PRIOR = 1.0


@dataclass(frozen=True, eq=False)
class Audit:
    """Audited rows: recorded and fair values of the same people, and how the people were sampled.

    Made by :meth:`of`; every function that reads audited rows takes one, or turns a data frame into one.

    Attributes
    ----------
    frame
        The rows that are filled in, with all their columns and the index 0, 1, 2, ...
    sampling
        ``"random"``; ``"stratified"``, with known inclusion probabilities; or ``"unknown"``, taken as random.
    weights
        ``[rows]``: inverse inclusion probabilities, with mean 1; all 1 for a random sample.
    strata
        ``[rows]``: the stratum of each row; all 0 for a random sample.
    population
        ``[strata]``: rows of each stratum in the table sampled from; empty where that is not known.
    clusters
        ``[rows]``: the person, household or officer of each row; None where each row is alone.
    rows
        ``[rows]``: the position of each row in the table, -1 where it is not in it or no table was passed.
    names
        ``[strata]``: each stratum in words.
    fair
        The columns that were filled in.
    by
        By what rows were sampled, in words; empty for a random sample.

    Examples
    --------
    >>> import pandas as pd
    >>> import problog4fairness as p4f
    >>> rows = pd.DataFrame({"poor": [1, 1, 1, 0, 0], "repaid": [1, 0, 1, 1, 1]})
    >>> audit = p4f.Audit.of(rows, fair="repaid", strata="poor", population={1: 300, 0: 700})
    >>> audit.describe()
    '5 rows, stratified by poor, weighted'
    >>> round(audit.mean(audit.frame["repaid"]).value, 3)  # 0.3 * 2/3 + 0.7 * 1
    0.9
    """

    frame: pd.DataFrame
    sampling: Sampling
    weights: Floats
    strata: Codes
    population: Floats
    clusters: Codes | None
    rows: Codes
    names: tuple[str, ...] = ("everybody",)
    fair: tuple[str, ...] = ()
    by: str = ""

    @classmethod
    def of(
        cls,
        audit: Any,
        *,
        fair: str | Sequence[str] | None = None,
        table: Any = None,
        cluster: str | Sequence[Any] | None = None,
        sampling: str | None = None,
        strata: str | Sequence[str] | None = None,
        population: Mapping[Any, float] | None = None,
        inclusion: str | Sequence[float] | None = None,
        identifier: str | None = None,
    ) -> Audit:
        """Audited rows as an :class:`Audit`.

        Rows that :meth:`AuditPlan.draw` sampled carry their design in columns that begin with ``p4f_``. For other rows,
        state it: ``sampling="random"``, or ``strata=`` with ``population=`` or ``table=``, or ``inclusion=``. Where
        nothing is stated, they are taken as a random sample, with an :class:`AuditWarning`.

        Parameters
        ----------
        audit
            A data frame, or an :class:`Audit`, to which what is passed here is added.
        fair
            The columns that were filled in; rows where one of them is empty are left out.
        table
            The table that the rows were sampled from. Rows are matched to it by its index, by the column ``row``, by
            ``identifier``, or as equal in all shared columns. Columns that the audit lacks are taken from it where
            rows are matched by index, ``row`` or identifier.
        cluster
            The column of, or the values for, whom several rows belong to: intervals are cluster-robust.
        sampling
            ``"random"`` where the rows are a random sample.
        strata
            The columns by which rows were sampled.
        population
            Rows of the table in each stratum, by its value, or tuple of values; counted in ``table`` by default.
        inclusion
            The column of, or the values of, each row's probability to be sampled.
        identifier
            A column of both tables that identifies rows.
        """
        columns = (fair,) if isinstance(fair, str) else tuple(fair or ())
        if isinstance(audit, cls):
            return audit._with(columns, table, cluster, identifier)
        if not is_frame(audit):
            raise P4FError(f"audited rows are a data frame or an Audit, not {type(audit).__name__}")
        frame = expand_counts(audit if isinstance(audit, pd.DataFrame) else to_frame(audit))
        filled = filled_rows(frame, columns)
        clusters, chances = _values(frame, cluster, "cluster", filled), _values(frame, inclusion, "inclusion", filled)
        frame, places = frame.iloc[filled], np.full(len(filled), -1, dtype=np.int64)
        if table is not None:
            frame, places = _matched(frame, table, columns, identifier)
        frame = frame.reset_index(drop=True)
        sample = sample_of(frame, sampling, strata, population, chances, table)
        return cls(
            frame, sample.sampling, sample.weights(), sample.strata, sample.population,
            None if clusters is None else pd.factorize(clusters)[0].astype(np.int64),
            places, sample.names, columns, sample.by,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        return f"Audit({self.describe()})"

    def _with(self, columns: tuple[str, ...], table: Any, cluster: Any, identifier: str | None) -> Audit:
        """The same audit, with what was not known before."""
        other = self
        if columns and columns != self.fair:
            filled = filled_rows(self.frame, columns)
            other = replace(self if len(filled) == len(self) else self.take(filled), fair=columns)
        if table is not None:
            frame, places = _matched(other.frame, table, other.fair, identifier)
            # Rows that were matched before were matched by what the frame may no longer have.
            other = replace(other, frame=frame, rows=np.where(other.rows >= 0, other.rows, places))
        if cluster is not None:
            values = _values(other.frame, cluster, "cluster", np.arange(len(other)))
            other = replace(other, clusters=pd.factorize(values)[0].astype(np.int64))
        return other

    def take(self, rows: Codes) -> Audit:
        """Some of the rows, by number, weighted anew, such as a fold; for rows of a group use ``mean(where=)``."""
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        part = replace(
            self,
            frame=self.frame.iloc[rows].reset_index(drop=True),
            weights=self.weights[rows],
            strata=self.strata[rows],
            clusters=None if self.clusters is None else self.clusters[rows],
            rows=self.rows[rows],
        )
        if not len(rows):
            return part
        if not len(self.population):
            return replace(part, weights=part.weights / part.weights.mean())
        return replace(part, weights=Sample(self.sampling, part.strata, self.population).weights())

    def values(self) -> pd.Series[Any]:
        """The fair label of each row."""
        if len(self.fair) != 1:
            raise P4FError("name the column of the fair label: Audit.of(..., fair=...)")
        return self.frame[self.fair[0]]

    def describe(self) -> str:
        """What the sample is, in words: ``103 rows, stratified by group and recorded label, weighted``."""
        parts = [f"{len(self):,} {'row' if len(self) == 1 else 'rows'}"]
        if self.sampling == "stratified":
            parts.append(f"stratified by {self.by}" if self.by else "with unequal inclusion probabilities")
            parts.append("weighted")
        else:
            parts.append("a random sample" if self.sampling == "random" else "sampling unknown, taken as random")
        if self.clusters is not None:
            parts.append(f"in {len(np.unique(self.clusters)):,} clusters")
        if len(self.population):
            counts = np.bincount(self.strata, minlength=len(self.population))
            unsampled = np.flatnonzero((counts == 0) & (self.population > 0))
            if len(unsampled):
                share = self.population[unsampled].sum() / self.population.sum()
                parts.append(f"without {'; '.join(self.names[s] for s in unsampled)} ({share:.1%} of the table)")
        return ", ".join(parts)

    @property
    def is_weighted(self) -> bool:
        """Whether rows stand for different numbers of others, or belong together in clusters."""
        return self.sampling == "stratified" or self.clusters is not None

    @cached_property
    def _sizes(self) -> Floats:
        """``[strata]``: rows of each stratum in the table, very many where that is not known."""
        if len(self.population):
            return self.population
        return np.full(max(len(self.names), int(self.strata.max(initial=0)) + 1), ENDLESS)

    def mean(self, values: Any, where: Any = None, confidence: float = 0.95) -> Estimate:
        """The mean of a value in the population that was sampled, with an interval.

        Parameters
        ----------
        values
            ``[rows]``: a number for each audited row; 0 and 1 for a share.
        where
            ``[rows]``: in which rows; all by default.
        confidence
            Of the interval.
        """
        each = np.asarray(values, dtype=np.float64)
        inside = np.ones(len(self), dtype=bool) if where is None else np.asarray(where, dtype=bool)
        if each.shape != (len(self),) or inside.shape != (len(self),):
            raise P4FError(f"there are {len(self)} audited rows and {len(each)} values; pass one for each")
        weights = self.weights * inside
        total = float(weights.sum())
        if total <= 0:
            return Estimate(float("nan"), 0.0, 1.0, 0)
        if not np.isfinite(each[inside]).all():
            raise P4FError("a value of an audited row is missing; leave such rows out by where=")
        each = np.where(inside, each, 0.0)
        value = float(weights @ each) / total
        if np.isin(each[inside], (0, 1)).all():
            low, high = self._share_interval(each, inside, value, confidence)
        else:
            # The mean of w (y - value) / mean(w) over all rows varies as the estimate does.
            error = self.standard_error(weights * (each - value) * len(self) / total / self.weights)
            half = float(self._quantile(confidence)) * error
            low, high = value - half, value + half
        return Estimate(value, min(low, value), max(high, value), int(inside.sum()))

    def standard_error(self, scores: Any) -> float:
        """The standard error, by the design, of an estimate that is about ``sum(w * scores) / sum(w)``, linearised."""
        each = self.weights * np.asarray(scores, dtype=np.float64) / self.weights.sum()
        return float(np.sqrt(self._variance(each, clustered=True)))

    def effective_weights(self, cells: Codes, outcomes: Codes) -> Floats:
        """Weights under which the shares of outcomes in each cell are weighted ones, counted in effective rows.

        Their sum in a cell is the number of rows of a random sample that would tell as much of these shares, by the
        design's variance with strata and clusters; where all rows of a cell stand for equally many, they are counted.
        """
        if not self.is_weighted:
            return self.weights
        effective = self.weights.copy()
        for cell in np.unique(cells):
            mine = cells == cell
            if self.clusters is None and np.ptp(self.weights[mine]) < 1e-9:
                effective[mine] = 1.0
                continue
            total = float(self.weights[mine].sum())
            rows = []
            for outcome in np.unique(outcomes[mine]):
                hit = outcomes == outcome
                share = float(self.weights[mine] @ hit[mine]) / total
                error = self.standard_error(np.where(mine, hit - share, 0.0) * self.weights.sum() / total)
                if 0 < share < 1 and error > 0:
                    rows.append(share * (1 - share) / error**2)
            # Where all rows of a cell agree, nothing tells of a variance.
            alike = self.clusters is not None and len(np.unique(self.clusters[mine]))
            many = float(np.mean(rows)) if rows else alike or total**2 / float((self.weights[mine] ** 2).sum())
            if self.clusters is not None:
                many *= (NormalDist().inv_cdf(0.975) / self._quantile(0.95)) ** 2
            effective[mine] *= min(many, 2.0 * mine.sum()) / total
        return effective

    def _variance(self, each: Floats, clustered: bool) -> float:
        """Of the sum of a value over the rows, by the design."""
        if clustered and self.clusters is not None:
            sums = np.bincount(self.clusters, each)
            many = len(np.unique(self.clusters))
            return float(many / max(many - 1, 1) * ((sums - sums.sum() / many) ** 2).sum())
        count = np.bincount(self.strata, minlength=len(self._sizes)).astype(np.float64)
        means = np.bincount(self.strata, each, len(count)) / np.maximum(count, 1)
        # A stratum with one row has no variance of its own; its value stands for it.
        means = np.where(count > 1, means, 0.0)
        squares = np.bincount(self.strata, (each - means[self.strata]) ** 2, len(count))
        left = 1 - np.minimum(count / np.maximum(self._sizes, 1), 1)
        return float((squares * left * count / np.maximum(count - 1, 1)).sum())

    def _quantile(self, confidence: float) -> float:
        from scipy.stats import t as student

        check_confidence(confidence)
        if self.clusters is not None:
            free = len(np.unique(self.clusters)) - 1
        else:
            free = len(self) - len(np.unique(self.strata))
        return float(student.ppf((1 + confidence) / 2, max(free, 1)))

    def _share_interval(self, each: Floats, inside: Codes, value: float, confidence: float) -> tuple[float, float]:
        """Of a share: Wilson's interval for the number of rows of a random sample that would tell as much.

        That number comes from the variance by stratum, with one row of each kind added, so that a stratum where all
        rows agree is not taken as certain; and from what is not known of the size of ``inside`` in each stratum.
        """
        count = len(self._sizes)
        total = float(self.weights[inside].sum())

        def summed(values: Floats) -> Floats:
            return np.asarray(np.bincount(self.strata[inside], values[inside], count), dtype=np.float64)

        weight = summed(self.weights)
        present = weight > 0
        shares = weight[present] / total
        # Of rows with unequal weights in one stratum, fewer equal ones tell as much.
        rows = (weight**2 / np.maximum(summed(self.weights**2), 1e-300))[present]
        hits = (summed(self.weights * each) / np.maximum(weight, 1e-300))[present]
        audited = np.bincount(self.strata, minlength=count)[present]
        inside_rows = np.bincount(self.strata[inside], minlength=count)[present]
        left = 1 - np.minimum(audited / self._sizes[present], 1)
        likely = (hits * rows + PRIOR) / (rows + 2 * PRIOR)
        within = shares**2 * likely * (1 - likely) / rows * left
        between = shares**2 * (1 - inside_rows / audited) * (hits - value) ** 2 / np.maximum(inside_rows, 1)
        variance = float((within + between).sum())
        if self.clusters is not None:
            scores = self.weights * (inside * (each - value))
            alone = self._variance(scores, clustered=False)
            # How many times as large clusters make the variance.
            variance *= max(1.0, self._variance(scores, clustered=True) / alone) if alone > 0 else 1.0
            variance *= (self._quantile(confidence) / NormalDist().inv_cdf((1 + confidence) / 2)) ** 2
        near = float(shares @ likely)
        return interval(value, near * (1 - near) / max(variance, 1e-300), confidence)


def filled_rows(frame: pd.DataFrame, columns: Sequence[str]) -> Codes:
    """The rows, by number, in which all of these columns are filled in."""
    filled = np.ones(len(frame), dtype=bool)
    for name in columns:
        filled &= is_filled(column_of(frame, name, "the audited values"))
    if not filled.any():
        raise P4FError("no audited row is filled in" if len(frame) else "the audit has no rows")
    return np.flatnonzero(filled)


def _values(frame: pd.DataFrame, column: Any, role: str, rows: Codes) -> Any:
    """``[rows]``: a column by name, or the values themselves; None where nothing was passed."""
    if column is None:
        return None
    if isinstance(column, str):
        column = column_of(frame, column, f"the {role} of audited rows")
    values = np.asarray(column, dtype=object)
    if len(values) != len(frame):
        raise P4FError(f"{role} has {len(values)} values for {len(frame)} audited rows")
    if pd.isna(values).any():
        raise P4FError(f"{role} has {int(pd.isna(values).sum())} missing values; each audited row needs one")
    return values[rows]


def _matched(
    audit: pd.DataFrame, table: Any, fair: Sequence[str], identifier: str | None
) -> tuple[pd.DataFrame, Codes]:
    """The audited rows with the columns of the table that they lack, and their positions in it."""
    source = table if isinstance(table, pd.DataFrame) else to_frame(table)
    places, certain = positions(source, audit, leave_out=fair, row=ROW, identifier=identifier)
    lacking = [name for name in source.columns if name not in audit.columns and name not in fair]
    if certain and lacking and (places >= 0).all():
        more = source[lacking].iloc[places]
        audit = pd.concat([audit, more.set_axis(audit.index)], axis=1)
    if not (places >= 0).any():
        warn_audit(
            f"none of the {len(audit)} audited rows is in the table: no row is equal in all shared columns. "
            "They count as other people"
        )
    return audit, places
