"""Posterior intervals of a model's predictions: how far what the audit and the rows leave open reaches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.audit import generator
from problog4fairness.data import Codes, Floats, Grouping, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import INTERVAL_COLUMNS, Draws, fair_proba, predicted, predicts_from
from problog4fairness.metrics import decide
from problog4fairness.robustness.result import ACCURACY, DISPARITY, STABLE, UNCERTAIN, Result, draw_uncertainty
from problog4fairness.statistics import check_confidence, count, percent, percent_interval, points_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from problog4fairness.estimators import DebiasedClassifier

SELECTED, CHANCE = "selection rate", "mean fair probability"
# Fewer rows with a fair label than this have no accuracy to speak of.
LEAST_KNOWN = 10
FORM = "The intervals take the form of the learner for granted: a model of another form may be outside them."


@dataclass(frozen=True, eq=False, repr=False)
class Uncertainty(Result):
    """What a model says of people, with an interval for all of it.

    Attributes
    ----------
    table
        A row for each quantity (and group): ``quantity``, ``group``, the model's own ``value``, and the ends ``low``
        and ``high`` of its interval. Quantities, about the favourable label: the ``disparity`` of decisions, by group
        the ``mean fair probability`` and the ``selection rate``; and ``accuracy`` where fair labels are known.
    people
        A row for each person, with the index of X: ``fair_probability`` (of the favourable label; with more classes,
        of the likeliest), ``low``, ``high``, ``label``, and ``decision``: ``stable`` where the whole interval is on one
        side of the threshold and a learner of another form decides alike, ``uncertain`` elsewhere.
    draws
        How many posterior draws of the belief there were, and fits.
    confidence
        Of the intervals.
    threshold
        From which fair probability on the label is favourable.
    notes
        What a reader should know.
    """

    table: pd.DataFrame
    people: pd.DataFrame
    draws: int
    confidence: float
    threshold: float
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"Uncertainty: {percent(self.confidence)} intervals from {self.draws} posterior draws"

    @property
    def uncertain(self) -> int:
        """How many decisions are uncertain."""
        return int((self.people["decision"] == UNCERTAIN).sum())

    def __getitem__(self, quantity: str) -> pd.DataFrame:
        """The rows of the table about one quantity."""
        return self.table[self.table["quantity"] == quantity]

    def quantities(self) -> list[str]:
        """A sentence for each row of the table."""
        return [f"{_name(row)}: {_amount(row)}." for row in self.table.to_dict("records")]

    def words(self) -> list[str]:
        """The quantities, how many decisions are uncertain, and what a reader should know."""
        total, uncertain = len(self.people), self.uncertain
        are = "is" if uncertain == 1 else "are"
        decisions = (
            f"{count(uncertain)} of {count(total, 'decision')} ({percent(uncertain / total)}) {are} uncertain: their "
            f"interval holds the threshold {self.threshold:g}, or a learner of another form decides otherwise."
        )
        return [*self.quantities(), decisions, *self.notes]

    def __repr__(self) -> str:
        return f"Uncertainty({self.draws} draws: {self.uncertain} of {len(self.people)} decisions uncertain)"

    def plot(self) -> Figure:
        """On the left the quantities with their intervals, on the right people by their fair probability."""
        return draw_uncertainty(self)


def _name(row: dict[str, Any]) -> str:
    quantity, group = str(row["quantity"]), str(row["group"])
    return quantity if not group else f"{quantity} by {group}" if quantity == DISPARITY else f"{quantity}, {group}"


def _amount(row: dict[str, Any]) -> str:
    ends = row["value"], row["low"], row["high"]
    return f"{points_interval(*ends)} points" if row["quantity"] == DISPARITY else percent_interval(*ends)


def uncertainty_of(
    model: DebiasedClassifier,
    rows: Rows,
    draws: Draws,
    *,
    refitted: bool,
    threshold: float = 0.5,
    confidence: float = 0.95,
    random_state: Any = None,
    index: Any = None,
) -> Uncertainty:
    """See :meth:`DebiasedClassifier.uncertainty`; ``index`` is that of the people.

    Where the rows are those that were ``refitted`` on, a draw weighs them as its fit did.
    """
    if not 0 < threshold < 1:
        raise P4FError(f"threshold {threshold!r} is not between 0 and 1")
    check_confidence(confidence)
    if not len(rows):
        raise P4FError("there are no rows to give intervals for")
    rng, source = generator(random_state), predicts_from(model)
    groupings = model.belief_.groupings(rows)
    value = fair_proba(model, rows)
    # Of more than two classes, that of the model's decision.
    chosen = None if len(rows.classes) == 2 else decide(value)
    quantities, chances = [], []
    for draw in draws.draws:
        chance = predicted(draw.belief, draw.fitted, rows, source)
        weights = draw.weights if refitted else rng.exponential(size=len(rows))
        quantities.append(list(_quantities(chance, rows, groupings, weights, threshold).values()))
        chances.append(_of_class(chance, chosen))
    low, high = _ends(np.array(quantities), confidence)
    centre = _quantities(value, rows, groupings, np.ones(len(rows)), threshold)
    table = pd.DataFrame(
        [(*name, *ends) for (name, *ends) in zip(centre, centre.values(), low, high, strict=True)],
        columns=list(INTERVAL_COLUMNS),
    )
    people = _people(value, np.array(chances), threshold, confidence, chosen)
    if draws.rival is not None:
        rival = decide(predicted(model.belief_, draws.rival, rows, source), threshold)
        people.loc[rival != people["label"].to_numpy(), "decision"] = UNCERTAIN
    people["label"] = model.classes_[people["label"]]
    people.index = pd.RangeIndex(len(rows)) if index is None else index
    return Uncertainty(table, people, len(draws.draws), confidence, threshold, _notes(draws, rows))


def not_learned(model: DebiasedClassifier, rows: Rows) -> Rows:
    """The rows without the fair labels that the model has learned from: they do not say how often it is right."""
    if rows.fair is None or not model.audited_:
        return rows
    if model.out_of_fold_ is None:
        return replace(rows, fair=None)
    return replace(rows, fair=np.where(model.out_of_fold_.find(rows) >= 0, -1, rows.fair))


def _of_class(chance: Floats, chosen: Codes | None) -> Floats:
    """The probability of the favourable class of two, or of the one that was chosen."""
    return chance[:, 1] if chosen is None else chance[np.arange(len(chance)), chosen]


def _known(rows: Rows) -> Codes:
    """The rows whose fair label is known, where these are enough to speak of accuracy."""
    known = np.flatnonzero(rows.fair >= 0) if rows.fair is not None else np.zeros(0, dtype=np.int64)
    return known if len(known) >= LEAST_KNOWN else known[:0]


def _quantities(
    chance: Floats, rows: Rows, groupings: list[Grouping], weights: Floats, threshold: float
) -> dict[tuple[str, str], float]:
    """By quantity and group, for rows that count by weights."""
    weighted = [replace(grouping, shares=weights[:, None] * grouping.shares) for grouping in groupings]
    decided = decide(chance, threshold)
    selected = (decided == rows.favourable).astype(np.float64)
    quantities = {
        (DISPARITY, grouping.name if len(groupings) > 1 else ""): grouping.disparity(selected) for grouping in weighted
    }
    for quantity, values in ((SELECTED, selected), (CHANCE, chance[:, -1])):
        for grouping in weighted:
            for group, mean in zip(grouping.groups, grouping.means(values), strict=True):
                quantities[quantity, group] = float(mean)
    known = _known(rows)
    if len(known) and rows.fair is not None:
        right = decided[known] == rows.fair[known]
        quantities[ACCURACY, ""] = float(np.average(right, weights=weights[known] * rows.sampling_weights()[known]))
    return quantities


def _ends(draws: Floats, confidence: float) -> tuple[Floats, Floats]:
    """The quantiles ``[...]`` of draws ``[draws, ...]``; a new draw falls between them with this probability."""
    rest = (1 - confidence) / 2
    low, high = np.quantile(draws, [rest, 1 - rest], axis=0, method="weibull")
    return low, high


def _people(value: Floats, chances: Floats, threshold: float, confidence: float, chosen: Codes | None) -> pd.DataFrame:
    """A row for each person, with the label as a code."""
    low, high = _ends(chances, confidence)
    chance, label = _of_class(value, chosen), decide(value, threshold)
    # Above a half no other class can be likelier.
    stable = low > 0.5
    if chosen is None:
        stable = (decide(low, threshold) == decide(high, threshold)) & (decide(low, threshold) == label)
    columns = {"fair_probability": chance, "low": np.minimum(low, chance), "high": np.maximum(high, chance)}
    return pd.DataFrame({**columns, "label": label, "decision": np.where(stable, STABLE, UNCERTAIN)})


def _notes(draws: Draws, rows: Rows) -> tuple[str, ...]:
    notes = []
    if draws.left_out:
        notes.append(
            f"{draws.left_out} of {draws.left_out + len(draws.draws)} posterior draws were left out: by them, recorded "
            "labels say almost nothing about fair ones. Audit more rows."
        )
    if all(draw.belief == draws.draws[0].belief for draw in draws.draws):
        notes.append("The belief's numbers were stated, so the intervals do not carry any doubt about them.")
    if rows.fair is not None and not len(_known(rows)):
        notes.append(f"Fewer than {LEAST_KNOWN} fair labels are known: accuracy was not looked at.")
    other = ""
    if draws.rival is not None:
        form = "a linear model" if draws.rival.kind == "linear" else "a model of boosted trees"
        other = f" Decisions are stable only where {form} agrees."
    return (*notes, FORM + other)
