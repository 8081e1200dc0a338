"""What the paper claims of the face study, and whether it was measured so.

Numbers are differences between methods of the same seed, with 95% intervals over seeds. A claim holds or does not by
its mean; the interval says how sure that is.
"""

from __future__ import annotations

import pandas as pd

from problog4fairness.datasets.faces.protocol import ATTRIBUTES
from problog4fairness.experiments.claims import Claim
from problog4fairness.experiments.faces.work import NO_ATTRIBUTE
from problog4fairness.metrics import summarise


def face_claims(results: pd.DataFrame) -> list[Claim]:
    """The claims that the results can decide."""
    quality, found = _Table(results, "f1", NO_ATTRIBUTE), list[Claim]()
    single = [f"only {attribute}" for attribute in ATTRIBUTES]
    for name in single:
        found += quality.ahead(f"{_plain(name)} gains a part of upper's lead in F1 over lower", name, "lower", True)
    for name in single:
        found += quality.ahead(f"all three gain more F1 than {_plain(name)}", "ours", name, False)
    for attribute in ATTRIBUTES:
        found += _nearer(results, attribute)
    return found


def _nearer(results: pd.DataFrame, attribute: str) -> list[Claim]:
    """Whether the disparity of all three is nearer to that of the fair labels than lower's is."""
    table = _Table(results, "disparity", attribute)
    if not table.has("ours", "lower"):
        return []
    target = float(_Table(results, "fair_disparity", attribute).values["ours"].mean())
    distances = _Numbers((table.values["lower"] - target).abs() - (table.values["ours"] - target).abs())
    lower, ours = (float(table.values[name].mean()) for name in ("lower", "ours"))
    return [
        Claim(
            f"{_plain(attribute)}: all three bring the disparity nearer to that of the fair labels",
            f"nearer by {distances}; fair labels {target:+.3f}, lower {lower:+.3f}, all three {ours:+.3f}",
            distances.mean > 0,
        )
    ]


class _Table:
    """A metric, a column per method and a row per seed."""

    def __init__(self, results: pd.DataFrame, metric: str, attribute: str) -> None:
        rows = results[(results["metric"] == metric) & (results["attribute"] == attribute)]
        self.values = rows.pivot(index="seed", columns="method", values="value")

    def has(self, *methods: str) -> bool:
        """Whether some seed has all these methods."""
        return set(methods) <= set(self.values.columns) and len(self.values.dropna(subset=list(methods))) > 0

    def ahead(self, text: str, method: str, other: str, share: bool) -> list[Claim]:
        """That the method is ahead of the other, and if asked for by which share of upper's lead over the other."""
        if not self.has(method, other):
            return []
        lead = _Numbers(self.values[method] - self.values[other])
        measured = f"{lead} (F1 {self.values[method].mean():.3f} against {self.values[other].mean():.3f})"
        if share and self.has("upper", other):
            whole = float((self.values["upper"] - self.values[other]).mean())
            measured += f", {lead.mean / whole:.0%} of upper's lead of {whole:+.3f}" if whole > 0 else ""
        return [Claim(text, measured, lead.mean > 0)]


class _Numbers:
    """Mean and 95% interval of a value per seed."""

    def __init__(self, values: pd.Series[float]) -> None:
        known = values.dropna().rename("value").reset_index().assign(of="all")
        row = summarise(known, by=["of"]).iloc[0]
        self.mean, self._low, self._high = float(row["mean"]), float(row["low"]), float(row["high"])

    def __str__(self) -> str:
        interval = f" ({self._low:+.4f} to {self._high:+.4f})" if self._low == self._low else ""
        return f"{self.mean:+.4f}{interval}"


def _plain(name: str) -> str:
    return name.replace("_", " ")
