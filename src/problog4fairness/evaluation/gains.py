"""What one way of deciding gains over another, on the rows whose fair label is known: right decisions and both errors.

The interval of a difference adds three variances:

- *rows*: which people were audited, by the design of the audit;
- *fits*: which rows were learned from, by the delete-a-group jackknife over the folds of the comparison, each of which
  is a fit without one part of the rows (Kott 2001).
  What chance in fitting adds to that is measured by fits with another random state, and taken out;
- *belief*: what the audit leaves open about its parameters, by fits through beliefs drawn from their posterior.

With classifiers held fixed, intervals covered the gain of a method in 45 to 65% of made-up tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from problog4fairness.data import Floats, WholeTable
from problog4fairness.evaluation.data import Cell, ComparedRows
from problog4fairness.evaluation.run import Predictions
from problog4fairness.metrics import METRICS, Judged, decide
from problog4fairness.statistics import count, points_interval

if TYPE_CHECKING:
    from problog4fairness.audit import Audit


# Two ways are equally good where the whole interval of their difference in accuracy is within this of 0.
MARGIN = 0.02
# The three differences: right decisions, and favourable ones among those who should and who should not have it.
KINDS = ("accuracy", "reached", "wrongly")


@dataclass(frozen=True)
class Gain:
    """What one way of deciding gains over another one.

    Both decided on the same rows, so their difference is known better than either of them.

    Attributes
    ----------
    accuracy, accuracy_low, accuracy_high
        The difference in the share of right decisions, with its 95% interval.
    reached, reached_low, reached_high
        The difference in the share of people who should have the favourable label and get it, of all people.
    wrongly, wrongly_low, wrongly_high
        The difference in the share of people who should not have the favourable label and get it, of all people.
    rows
        How many rows with a fair label this rests on.
    refitted
        Whether the intervals allow for fitting on other rows; otherwise they hold the classifiers fixed.
    """

    accuracy: float
    accuracy_low: float
    accuracy_high: float
    reached: float
    reached_low: float
    reached_high: float
    wrongly: float
    wrongly_low: float
    wrongly_high: float
    rows: float
    refitted: bool = False

    @classmethod
    def of(cls, fair: Any, this: Any, other: Any, audit: Audit | None = None, fits: Fits | None = None) -> Gain:
        """The gain of decisions ``this`` over decisions ``other``, of fair labels 0 and 1, or of more classes.

        Decisions may be shares, where a row was decided several times; of more classes those of all, ``[rows, k]``.
        Without an ``audit`` all rows count as independent and alike; without ``fits`` classifiers are held fixed.
        """
        differences = _differences(fair, this, other)
        variances, freedom = ((0.0, 0.0, 0.0), 0) if fits is None else (fits.variances, fits.freedom)
        ends = [_interval(values, audit, more, freedom) for values, more in zip(differences, variances, strict=True)]
        return cls(*ends[0], *ends[1], *ends[2], len(differences[0]), fits is not None)

    def sentence(self, people: int, good: str = "the favourable label") -> str:
        """The verdict: accuracy, and of so many people, how many more get the label who should and who should not."""
        accuracy = points_interval(self.accuracy, self.accuracy_low, self.accuracy_high)
        value, _, spread = accuracy.partition(" ")
        reached = _people(people, self.reached, self.reached_low, self.reached_high)
        wrongly = _people(people, self.wrongly, self.wrongly_low, self.wrongly_high)
        return (
            f"{value} points of accuracy {spread}; of {count(people, 'person', 'people')}, "
            f"{reached[0]} who should have {good} get it {reached[1]}, and "
            f"{wrongly[0]} who should not have it get it {wrongly[1]}"
        )

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, ``equally good`` within :data:`MARGIN`, or ``not decided`` by these rows.

        By the interval of the accuracy: equally good is what an equivalence test says, whose interval lies between
        minus and plus the margin as a whole.
        """
        if self.accuracy_low > 0:
            return "better"
        if self.accuracy_high < 0:
            return "worse"
        within = -self.accuracy_low <= MARGIN and self.accuracy_high <= MARGIN
        return "equally good" if within else "not decided"

    @property
    def judgement(self) -> str:
        """The verdict as part of a sentence."""
        margin = f"{100 * MARGIN:g} points of accuracy"
        return {
            "equally good": f"equally good within {margin}, by an equivalence test",
            "not decided": f"not decided by this audit (neither a difference nor equality within {margin} is shown)",
        }.get(self.verdict, self.verdict)

    @property
    def covers(self) -> str:
        """What the intervals cover, as a sentence."""
        if self.refitted:
            return (
                "Intervals are 95%; they allow for which rows were audited, for fitting on other rows, and for what "
                "the audit leaves open about the parameters of the belief."
            )
        return "Intervals are 95% over people; they hold the classifiers fixed."


GAIN_COLUMNS = tuple(field.name for field in fields(Gain))


class Fits(NamedTuple):
    """How far fitting again moves the differences, in the order of :data:`KINDS`: variances, and degrees of freedom."""

    variances: tuple[float, ...]
    freedom: int


def gains(
    data: ComparedRows,
    cells: Sequence[Cell],
    predictions: Predictions,
    decided: Mapping[str, Floats],
    this: str,
) -> pd.DataFrame:
    """For each other method, what ``this`` one gains over it; no rows where no fair label is known."""
    known = data.fair >= 0
    if this not in decided or not known.any():
        return pd.DataFrame(columns=list(GAIN_COLUMNS), index=pd.Index([], name="against"))
    rows = {}
    for name, other in decided.items():
        if name != this:
            fits = _fits(data, cells, predictions, this, name)
            rows[name] = vars(Gain.of(data.fair[known], decided[this][known], other[known], data.audit, fits))
    return WholeTable.from_dict(rows, orient="index", columns=list(GAIN_COLUMNS)).rename_axis(index="against")


def decided_shares(data: ComparedRows, cells: Sequence[Cell], predictions: Predictions) -> dict[str, Floats]:
    """By method, for each row the share of repetitions that decide for the favourable label; of many classes, for each.

    In every repetition the row is decided by a classifier that was not fitted on it.
    """
    decided = {}
    for name, chances in predictions.chances.items():
        chosen = np.zeros((len(data), *chances[0].shape[1:]))
        for cell, chance in zip(cells, chances, strict=True):
            chosen[cell.test] += _decisions(chance, name in predictions.randomised)
        decided[name] = chosen / len({cell.seed for cell in cells})
    return decided


def _decisions(chance: Floats, randomised: bool) -> Floats:
    if randomised:
        return chance
    decided = decide(chance)
    return decided.astype(np.float64) if chance.ndim == 1 else np.eye(chance.shape[1])[decided]


def _differences(fair: Any, this: Any, other: Any) -> tuple[Floats, Floats, Floats]:
    """``[rows]`` each: more right decisions, and more favourable ones where it is fair and where it is not."""
    more = np.asarray(this, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    more = np.column_stack([-more, more]) if more.ndim == 1 else more
    labels = np.asarray(fair, dtype=np.int64)
    favourable, last = labels == more.shape[1] - 1, more[:, -1]
    return more[np.arange(len(more)), labels], np.where(favourable, last, 0.0), np.where(favourable, 0.0, last)


def _means(data: ComparedRows, this: Floats, other: Floats) -> Floats:
    """``[3]``: the differences of two methods on the witnesses."""
    chosen = data.witnesses
    weights = np.ones(len(chosen)) if data.audit is None else data.audit.weights[data.known_places(chosen)]
    return np.array([np.average(values, weights=weights) for values in _differences(data.fair[chosen], this, other)])


def _fits(data: ComparedRows, cells: Sequence[Cell], predictions: Predictions, this: str, other: str) -> Fits | None:
    """The delete-a-group jackknife over the folds of each seed, and what drawn beliefs add to it."""
    ours, theirs = (predictions.witnessed.get(name, []) for name in (this, other))
    if len(ours) != len(cells) or len(theirs) != len(cells):
        return None
    ours = [_decisions(chance, False) for chance in ours]
    theirs = [_decisions(chance, other in predictions.randomised) for chance in theirs]
    apart = np.array([_means(data, our, two) for our, two in zip(ours, theirs, strict=True)])
    seeds = np.array([cell.seed for cell in cells])
    variances, freedom = [], 0
    for seed in np.unique(seeds):
        of_seed = apart[seeds == seed]
        variances.append((len(of_seed) - 1) / len(of_seed) * ((of_seed - of_seed.mean(axis=0)) ** 2).sum(axis=0))
        freedom += len(of_seed) - 1
    total = np.mean(variances, axis=0)
    chance = [
        _means(data, *(_decisions(repeated[name], name in predictions.randomised) for name in (this, other)))
        - apart[place]
        for place, repeated in predictions.repeated
        if this in repeated and other in repeated
    ]
    if chance:
        # What chance in fitting does is in each fold's difference, but is averaged over all cells.
        noise, folds = np.mean(np.square(chance), axis=0) / 2, len(cells) / len(variances)
        total = np.maximum(total - (folds - 1) ** 2 / folds * noise, 0) + noise / len(cells)
    moved = [_means(data, _decisions(chance, False), ours[place]) for place, chance in predictions.drawn]
    if moved:
        total = total + np.mean(np.square(moved), axis=0)
    return Fits(tuple(total.tolist()), freedom)


def _interval(differences: Floats, audit: Audit | None, more: float, freedom: int) -> tuple[float, float, float]:
    """A mean of paired differences with its 95% interval (Agresti and Min: one row of either kind is added).

    ``more`` is the variance that fits and beliefs add to that of the rows, known to so many degrees of freedom.
    """
    rows = float(len(differences))
    mean, square = float(differences.mean()), float((differences**2).mean())
    if audit is not None:
        share = audit.weights / audit.weights.sum()
        mean, square = float(share @ differences), float(share @ differences**2)
        # So many independent rows tell as much as these, by the design.
        error = audit.standard_error(differences - mean)
        rows = (square - mean**2) / error**2 if error > 0 else 1 / float((share**2).sum())
    total = rows + 2
    middle = mean * rows / total
    sampled = ((square * rows + 2) / total - middle**2) / total
    variance = sampled + more
    # Satterthwaite: as many degrees of freedom as the part that is known from few fits leaves.
    quantile = float(stdtrit(min(freedom * (variance / more) ** 2, 1e6), 0.975)) if more > 0 else 1.96
    half = quantile * float(np.sqrt(variance))
    return mean, min(mean, middle - half), max(mean, middle + half)


def _people(people: int, share: float, low: float, high: float) -> tuple[str, str]:
    """How many people more or fewer, and between which numbers."""
    number = round(people * share)
    ends = " to ".join(_signed(round(people * end)) for end in (low, high))
    return f"{count(abs(number))} {'more' if number >= 0 else 'fewer'}", f"({ends})"


def _signed(number: int) -> str:
    return f"{number:+,}".replace("-", "−") if number else "0"


SCORE_COLUMNS = ("method", "metric", "mean", "standard_error", "low", "high", "n")
RATES = ("labels", "method", "group", "rate")
# The name under which the labels themselves are among the methods.
LABELS = "the labels themselves"


def audited_scores(data: ComparedRows, decided: Mapping[str, Floats]) -> pd.DataFrame:
    """Each metric of each method on the rows with a fair label, by :data:`SCORE_COLUMNS`.

    Every row is decided by classifiers that were not fitted on it, once for each seed, and counts by its weight in the
    audit. Intervals are 95% over rows and hold the classifiers fixed; ``low`` and ``high`` are equally far from the
    value, the longer side of the interval, so that "± half" says them. Both are NaN where nobody wrote an interval for
    the metric.
    """
    rows = []
    known = np.flatnonzero(data.fair >= 0)
    for name, shares in decided.items() if len(known) else ():
        judged = _judged(data, shares[known])
        for metric in METRICS.values():
            value = metric.value(judged)
            if np.isnan(value):
                continue
            half = float("nan")
            if metric.interval is not None:
                estimate = metric.interval(judged, 0.95)
                half = max(value - estimate.low, estimate.high - value)
            rows.append((name, metric.name, value, half / 1.96, value - half, value + half, len(known)))
    return pd.DataFrame(rows, columns=list(SCORE_COLUMNS))


def selection_rates(data: ComparedRows, decided: Mapping[str, Floats]) -> pd.DataFrame:
    """The share of favourable decisions of each method in each group, and of the labels themselves."""
    rows = []
    for labels, codes, audit in (("fair", data.fair, data.audit), ("recorded", data.recorded, None)):
        known = np.flatnonzero(codes >= 0)
        weights = np.ones(len(known)) if audit is None else audit.weights
        chosen = {LABELS: codes == data.rows.favourable, **decided} if len(known) else {}
        for name, shares in chosen.items():
            favourable = (shares if shares.ndim == 1 else shares[:, -1])[known].astype(np.float64)
            for group in range(len(data.sensitive.levels)):
                weight = weights * (data.groups[known] == group)
                rate = float(weight @ favourable / weight.sum()) if weight.any() else float("nan")
                rows.append((labels, name, data.sensitive.group_text(group), rate))
    return pd.DataFrame(rows, columns=list(RATES))


def _judged(data: ComparedRows, shares: Floats) -> Judged:
    """Decisions on the rows with a fair label; shares of decisions where there were several."""
    known = np.flatnonzero(data.fair >= 0)
    assert data.audit is not None
    label, right = data.fair[known], None
    if shares.ndim == 2:
        right = shares[np.arange(len(known)), label]
        shares = shares[:, -1]
    favourable = (label == data.rows.favourable).astype(np.float64)
    count = len(data.sensitive.levels)
    return Judged(favourable, shares, shares, data.groups[known], count, data.audit.weights, right, data.audit)
