"""What a model changes: recorded labels against its decisions, group by group, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.beliefs.proportions import Estimate, interval
from problog4fairness.classifier.groups import Grouping
from problog4fairness.metrics import difference_interval

Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Audited:
    """Rows whose fair label is known.

    Attributes
    ----------
    ways
        How they are divided into groups.
    fair, decided
        Whether the fair label, and the model's decision, is the favourable one.
    recorded
        The same for the recorded label, where the audit has it.
    """

    ways: list[Grouping]
    fair: Bools
    decided: Bools
    recorded: Bools | None = None


def changes(way: Grouping, recorded: Bools, decided: Bools) -> pd.DataFrame:
    """A row for each group, and one for all.

    ``recorded`` and ``decided`` are shares of favourable labels, ``raised`` and ``lowered`` the shares of decisions
    that differ from the record in either direction; each with ``_low`` and ``_high``, Wilson's 95% interval. Rows of
    uncertain group count for each group by their share.
    """
    measures = {
        "recorded": recorded,
        "decided": decided,
        "raised": decided & ~recorded,
        "lowered": recorded & ~decided,
    }
    return _by_group(way, {name: (values, None) for name, values in measures.items()})


def audited_quality(way: Grouping, audit: Audited) -> pd.DataFrame:
    """A row for each group, and one for all: shares of fair labels, and of decisions and records that are right."""
    measures: dict[str, tuple[Bools, Bools | None]] = {
        "fair": (audit.fair, None),
        "accuracy": (audit.decided == audit.fair, None),
        "wrongly_refused": (~audit.decided, audit.fair),
        "wrongly_granted": (audit.decided, ~audit.fair),
    }
    if audit.recorded is not None:
        measures["record_right"] = (audit.recorded == audit.fair, None)
    return _by_group(way, measures)


def disparities(way: Grouping, **columns: Bools) -> pd.DataFrame:
    """Of two groups, the difference of shares of favourable labels with Newcombe's interval; of more, the largest."""
    rows = []
    for values in columns.values():
        means = way.means(values.astype(np.float64))
        if np.isnan(means).any():
            rows.append((np.nan, np.nan, np.nan))
            continue
        low, high = (0, 1) if len(means) == 2 else (int(means.argmin()), int(means.argmax()))
        if not way.certain:
            rows.append((float(means[high] - means[low]), np.nan, np.nan))
            continue
        total = way.shares.sum(axis=0).round().astype(int)
        chosen = (values @ way.shares).round().astype(int)
        found = difference_interval(int(chosen[high]), int(total[high]), int(chosen[low]), int(total[low]))
        rows.append((found.value, found.low, found.high))
    return pd.DataFrame(rows, columns=["value", "low", "high"], index=list(columns))


def _by_group(way: Grouping, measures: dict[str, tuple[Bools, Bools | None]]) -> pd.DataFrame:
    everybody = np.ones((len(way.shares), 1))
    shares = np.column_stack([way.shares, everybody])
    frame = pd.DataFrame({"rows": shares.sum(axis=0)}, index=pd.Index([*way.groups, "all"], name="group"))
    for name, (values, among) in measures.items():
        weights = shares if among is None else shares * among[:, None]
        found = [_share(values, weights[:, column]) for column in range(shares.shape[1])]
        frame[name] = [estimate.value for estimate in found]
        frame[f"{name}_low"] = [estimate.low for estimate in found]
        frame[f"{name}_high"] = [estimate.high for estimate in found]
    return frame


def _share(values: Bools, weights: np.ndarray[Any, np.dtype[np.float64]]) -> Estimate:
    total = float(weights.sum())
    if total == 0:
        return Estimate(float("nan"), 0.0, 1.0, 0)
    value = min(1.0, float(values @ weights) / total)
    return Estimate(value, *interval(value, total), round(total))
