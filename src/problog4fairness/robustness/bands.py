"""Bands for what a model says, from fits through drawn beliefs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.audit import generator
from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import BAND_COLUMNS, Draws, fair_proba, predicted, predicts_from
from problog4fairness.learners import Fitted
from problog4fairness.metrics import decide
from problog4fairness.robustness.bands_result import ACCURACY, CHANCE, DISPARITY, FIRM, OPEN, SELECTED, Bands

if TYPE_CHECKING:
    from problog4fairness.data import Grouping
    from problog4fairness.estimators import DebiasedClassifier

FEW_FAIR = 10
FORM = "The bands take the form of the learner for granted: a model of another form may be outside them."


def bands_of(
    model: DebiasedClassifier,
    rows: Rows,
    draws: Draws,
    *,
    own: bool,
    threshold: float = 0.5,
    confidence: float = 0.95,
    random_state: Any = None,
    index: Any = None,
) -> Bands:
    """See :meth:`DebiasedClassifier.bands`.

    Parameters
    ----------
    model, rows
        The model, and the people that it is asked about; ``rows.fair`` where fair labels are known.
    draws
        Fits through drawn beliefs.
    own
        Whether the rows are those that were fitted on: then a draw weighs them as its fit did.
    threshold, confidence, random_state
        As for :meth:`DebiasedClassifier.bands`.
    index
        Of the people.
    """
    if not 0 < threshold < 1:
        raise P4FError(f"threshold {threshold!r} is not between 0 and 1")
    if not 0 < confidence < 1:
        raise P4FError(f"confidence {confidence!r} is not between 0 and 1")
    if not len(rows):
        raise P4FError("there are no rows to give bands for")
    rng, source = generator(random_state), predicts_from(model)
    ways = model.belief_.groupings(rows)
    value = fair_proba(model, rows)
    chosen = None if len(rows.classes) == 2 else decide(value)
    names = _names(ways, rows)
    found = np.empty((len(draws.draws), len(names)))
    chances = np.empty((len(draws.draws), len(rows)), dtype=np.float64)
    for number, draw in enumerate(draws.draws):
        chance = predicted(draw.belief, draw.fitted, rows, source)
        weights = draw.weights if own else rng.exponential(size=len(rows))
        found[number] = _quantities(chance, rows, ways, weights, threshold)
        chances[number] = chance[:, 1] if chosen is None else chance[np.arange(len(rows)), chosen]
    low, high = _ends(found, confidence)
    centre = _quantities(value, rows, ways, np.ones(len(rows)), threshold)
    summary = pd.DataFrame(
        [(*name, *ends) for name, *ends in zip(names, centre, low, high, strict=True)], columns=list(BAND_COLUMNS)
    )
    people = _people(model, value, chances, threshold, confidence, chosen)
    if draws.rival is not None:
        rival = model.classes_[decide(predicted(model.belief_, draws.rival, rows, source), threshold)]
        people.loc[(rival != people["label"]).to_numpy(), "decision"] = OPEN
    people.index = pd.RangeIndex(len(rows)) if index is None else index
    return Bands(summary, people, len(draws.draws), confidence, threshold, _notes(draws, rows))


def not_learned(model: DebiasedClassifier, rows: Rows) -> Rows:
    """The rows without the fair labels that the model has learned from: they do not say how often it is right."""
    if rows.fair is None or not model.audited_:
        return rows
    if model.out_of_fold_ is None:
        return replace(rows, fair=None)
    return replace(rows, fair=np.where(model.out_of_fold_.find(rows) >= 0, -1, rows.fair))


def _names(ways: list[Grouping], rows: Rows) -> list[tuple[str, str]]:
    several = len(ways) > 1
    names = [(DISPARITY, way.name if several else "") for way in ways]
    names += [(quantity, group) for quantity in (SELECTED, CHANCE) for way in ways for group in way.groups]
    return [*names, *([(ACCURACY, "")] if _known(rows) is not None else [])]


def _known(rows: Rows) -> Codes | None:
    """The rows whose fair label is known, where these are enough to speak of accuracy."""
    if rows.fair is None:
        return None
    known = np.flatnonzero(rows.fair >= 0)
    return known if len(known) >= FEW_FAIR else None


def _quantities(chance: Floats, rows: Rows, ways: list[Grouping], weights: Floats, threshold: float) -> list[float]:
    """All of :func:`_names`, for rows that count by weights."""
    decided = decide(chance, threshold)
    selected = (decided == rows.favourable).astype(np.float64)
    found = [_means_apart(way, selected, weights) for way in ways]
    for values in (selected, chance[:, -1]):
        found += [mean for way in ways for mean in _means(way, values, weights)]
    known = _known(rows)
    if known is not None and rows.fair is not None:
        right = decided[known] == rows.fair[known]
        found.append(float(np.average(right, weights=weights[known] * rows.standing()[known])))
    return found


def _means(way: Grouping, values: Floats, weights: Floats) -> list[float]:
    total = weights @ way.shares
    with np.errstate(invalid="ignore", divide="ignore"):
        return [float(mean) for mean in (weights * values) @ way.shares / total]


def _means_apart(way: Grouping, values: Floats, weights: Floats) -> float:
    """As :meth:`Grouping.disparity`, for rows that count by weights."""
    means = np.array(_means(way, values, weights))
    return float(means[1] - means[0]) if len(means) == 2 else float(np.nanmax(means) - np.nanmin(means))


def _ends(draws: Floats, confidence: float) -> tuple[Floats, Floats]:
    """The quantiles ``[...]`` of draws ``[draws, ...]``; a new draw falls between them with this probability."""
    rest = (1 - confidence) / 2
    low, high = np.quantile(draws, [rest, 1 - rest], axis=0, method="weibull")
    return low, high


def _people(
    model: DebiasedClassifier,
    value: Floats,
    chances: Floats,
    threshold: float,
    confidence: float,
    chosen: Codes | None,
) -> pd.DataFrame:
    low, high = _ends(chances, confidence)
    if chosen is None:
        own, label = value[:, 1], decide(value, threshold)
        firm = decide(low, threshold) == decide(high, threshold)
        firm &= decide(low, threshold) == label
    else:
        # Above a half no other class can be likelier.
        own, label = value[np.arange(len(value)), chosen], chosen
        firm = low > 0.5
    return pd.DataFrame(
        {
            "fair_probability": own,
            "low": np.minimum(low, own),
            "high": np.maximum(high, own),
            "label": model.classes_[label],
            "decision": np.where(firm, FIRM, OPEN),
        }
    )


def _form(rival: Fitted) -> str:
    return "a linear model" if rival.kind == "linear" else "a model of boosted trees"


def _notes(draws: Draws, rows: Rows) -> tuple[str, ...]:
    found = []
    if draws.left_out:
        found.append(
            f"{draws.left_out} of {draws.left_out + len(draws.draws)} drawn beliefs were left out: by them, recorded "
            "labels say almost nothing about fair ones. Audit more rows."
        )
    if all(own.belief == draws.draws[0].belief for own in draws.draws):
        found.append("The belief's numbers were stated, so the bands do not carry any doubt about them.")
    if rows.fair is not None and _known(rows) is None:
        found.append(f"Fewer than {FEW_FAIR} fair labels are known: accuracy was not looked at.")
    found.append(FORM if draws.rival is None else f"{FORM} Decisions are firm only where {_form(draws.rival)} agrees.")
    return tuple(found)
