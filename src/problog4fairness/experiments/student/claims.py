"""What the paper claims of the student data, and whether it was measured so.

Numbers are differences between methods on the same splits: folds of a seed are averaged, and the interval is that of
the seeds' averages. A claim holds or does not by its mean.
"""

from __future__ import annotations

import pandas as pd

from problog4fairness.experiments.claims import Claim
from problog4fairness.experiments.student.beliefs import NO_OTHERS, NO_POSITIVE, OURS
from problog4fairness.experiments.student.study import MITIGATING
from problog4fairness.metrics import summarise


def student_claims(results: pd.DataFrame, fair_disparity: float) -> list[Claim]:
    """The claims that the results can decide.

    Parameters
    ----------
    results
        Of all methods, with parameters from all rows.
    fair_disparity
        The statistical disparity of the fair labels.
    """
    ahead = "in F1 on fair labels"
    found = [_above(f"ours is ahead of {other} {ahead}", results, "fair", OURS, other) for other in MITIGATING]
    found += [
        _above(f"{name!r} is ahead of ours {ahead}", results, "fair", name, OURS) for name in (NO_POSITIVE, NO_OTHERS)
    ]
    nearer = "disparity nearer to the fair labels' than"
    found += [
        _nearer(f"ours has a {nearer} lower", results, fair_disparity, OURS, "lower"),
        _nearer(f"{NO_POSITIVE!r} has a {nearer} ours", results, fair_disparity, NO_POSITIVE, OURS),
    ]
    # The paper does not say by which metric the baselines "incorrectly appear to perform better".
    found += [
        _above(f"judged by biased labels, {other} looks better than ours in {words}", results, "recorded", other, OURS,
               metric)
        for metric, words in (("f1", "F1"), ("accuracy", "accuracy"))
        for other in ("lower", *MITIGATING)
    ]  # fmt: skip
    return [claim for claim in found if claim is not None]


def _above(text: str, results: pd.DataFrame, labels: str, method: str, other: str, metric: str = "f1") -> Claim | None:
    """A claim that a metric of one method is above that of another."""
    one, two = (_by_seed(results, labels, metric, name) for name in (method, other))
    if one is None or two is None:
        return None
    return _claim(text, one - two, f"{one.mean():.3f} against {two.mean():.3f}")


def _nearer(text: str, results: pd.DataFrame, target: float, method: str, other: str) -> Claim | None:
    """A claim that the disparity of one method is nearer to a target than that of another."""
    one, two = (_by_seed(results, "fair", "disparity", name) for name in (method, other))
    if one is None or two is None:
        return None
    levels = f"{one.mean():.3f} against {two.mean():.3f}, fair labels {target:.3f}"
    return _claim(text, (two - target).abs() - (one - target).abs(), levels)


def _by_seed(results: pd.DataFrame, labels: str, metric: str, method: str) -> pd.Series[float] | None:
    rows = results[(results["labels"] == labels) & (results["metric"] == metric) & (results["method"] == method)]
    return rows.groupby("seed")["value"].mean() if len(rows) else None


def _claim(text: str, differences: pd.Series[float], levels: str) -> Claim:
    table = pd.DataFrame({"what": text, "seed": differences.index, "value": differences.to_numpy()})
    row = summarise(table, by=["what"]).iloc[0]
    interval = f" ({row['low']:+.4f} to {row['high']:+.4f})" if row["n"] > 1 else ""
    return Claim(text, f"{row['mean']:+.4f}{interval}; {levels}", bool(row["mean"] > 0))
