"""Scores on audited rows, weighted by the design of the audit, with intervals; and selection rates by group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from problog4fairness.data import Floats
from problog4fairness.evaluation.data import ComparedRows
from problog4fairness.evaluation.gains import decided_shares
from problog4fairness.evaluation.run import Predictions
from problog4fairness.evaluation.splits import Cell
from problog4fairness.metrics import METRICS, Judged

SCORE_COLUMNS = ("method", "metric", "mean", "standard_error", "low", "high", "n")
RATES = ("labels", "method", "group", "rate")
# The name under which the labels themselves are among the methods.
LABELS = "the labels themselves"


def audited_scores(data: ComparedRows, cells: Sequence[Cell], found: Predictions) -> pd.DataFrame:
    """Each metric of each method on the rows with a fair label, by :data:`SCORE_COLUMNS`.

    Every row is decided by classifiers that were not fitted on it, once for each seed, and counts by its weight in the
    audit. Intervals are 95% over rows and hold the classifiers fixed; ``low`` and ``high`` are equally far from the
    value, the longer side of the interval, so that "± half" says them. Both are NaN where nobody wrote an interval for
    the metric.
    """
    rows = []
    known = np.flatnonzero(data.fair >= 0)
    for name in found.chances if len(known) else ():
        judged = _judged(data, decided_shares(data, cells, found, name)[known])
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


def selection_rates(data: ComparedRows, cells: Sequence[Cell], found: Predictions) -> pd.DataFrame:
    """The share of favourable decisions of each method in each group, and of the labels themselves."""
    known, there = np.flatnonzero(data.fair >= 0), np.flatnonzero(data.recorded >= 0)
    fair, recorded = (codes == data.rows.favourable for codes in (data.fair, data.recorded))
    parts: list[tuple[str, str, Floats]] = []
    if len(known):
        parts.append(("fair", LABELS, fair[known].astype(np.float64)))
    if len(there):
        parts.append(("recorded", LABELS, recorded[there].astype(np.float64)))
    for name in found.chances:
        shares = decided_shares(data, cells, found, name)
        chosen = shares if shares.ndim == 1 else shares[:, -1]
        parts += [("fair", name, chosen[known])] if len(known) else []
        parts += [("recorded", name, chosen[there])] if len(there) else []
    rows = []
    for labels, name, values in parts:
        own = known if labels == "fair" else there
        weights = data.audit.weights if labels == "fair" and data.audit is not None else np.ones(len(own))
        for group in range(len(data.sensitive.levels)):
            weight = weights * (data.groups[own] == group)
            rate = float(weight @ values / weight.sum()) if weight.any() else float("nan")
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
