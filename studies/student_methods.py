"""What the paper claims of methods on the student data, and how it looks."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from problog4fairness.metrics import statistical_disparity
from studies.data import StudentData
from studies.engine.claims import Claim, Measured, above
from studies.engine.report import summary_of
from studies.panels import Panel, draw
from studies.student_cells import NO_OTHERS, NO_POSITIVE, OURS, PROGRAMS

MITIGATING = ("unawareness", "massaging", "parity")
TITLES = {"fair": "tested on fair labels", "recorded": "tested on biased labels: the trap"}
ABOUT = (
    "Differences are means over seeds with 95% intervals, each seed the mean of its folds. "
    "The intervals speak of splits and networks on these pupils, not of other pupils. The paper "
    "does not say by which metric baselines look better on biased labels: F1 was looked at first, accuracy after."
)


def claims(results: pd.DataFrame, fair_disparity: float) -> list[Claim]:
    """The claims that the results can decide.

    Parameters
    ----------
    results
        Of all methods, with parameters from all rows.
    fair_disparity
        The statistical disparity of the fair labels.
    """
    measured = Measured(results)

    def ahead(text: str, labels: str, method: str, other: str, metric: str = "f1") -> list[Claim]:
        one, two = (measured(labels=labels, metric=metric, method=name) for name in (method, other))
        return above(text, (one - two).dropna(), f"; {one.mean():.3f} against {two.mean():.3f}")

    def nearer(method: str, other: str) -> list[Claim]:
        one, two = (measured(labels="fair", metric="disparity", method=name) for name in (method, other))
        distance = ((two - fair_disparity).abs() - (one - fair_disparity).abs()).dropna()
        text = f"{_quoted(method)} has a disparity nearer to the fair labels' than {other}"
        levels = f"; {one.mean():.3f} against {two.mean():.3f}, fair labels {fair_disparity:.3f}"
        return above(text, distance, levels)

    found: list[Claim] = []
    for other in MITIGATING:
        found += ahead(f"ours is ahead of {other} in F1 on fair labels", "fair", OURS, other)
    for name in (NO_POSITIVE, NO_OTHERS):
        found += ahead(f"{name!r} is ahead of ours in F1 on fair labels", "fair", name, OURS)
    found += nearer(OURS, "lower") + nearer(NO_POSITIVE, OURS)
    for method, other in [(OURS, name) for name in ("lower", *MITIGATING)] + [(NO_POSITIVE, OURS), (NO_OTHERS, OURS)]:
        text = f"equalized odds: {_quoted(method)} is nearer to 0 than {_quoted(other)} on fair labels"
        found += ahead(text, "fair", other, method, "equalized_odds")
    # The paper does not say by which metric the baselines "incorrectly appear to perform better".
    for metric, words in (("f1", "F1"), ("accuracy", "accuracy")):
        for other in ("lower", *MITIGATING):
            text = f"judged by biased labels, {other} looks better than ours in {words}"
            found += ahead(text, "recorded", other, OURS, metric)
    return found


def disparities(data: StudentData) -> dict[str, float]:
    """The statistical disparity of the fair and of the recorded labels."""
    labels = {"fair": data.fair, "recorded": data.recorded}
    return {name: statistical_disparity(label, sensitive_features=data.sensitive) for name, label in labels.items()}


def figures(data: StudentData, results: pd.DataFrame) -> dict[str, Figure]:
    """F1 against two measures of fairness, judged by fair labels and, beside it on the same scale, by biased ones."""
    found, lines = {}, disparities(data)
    for name, metric in (("figure", "disparity"), ("equalized_odds", "equalized_odds")):
        panels = []
        for labels, title in TITLES.items():
            own = results[results["labels"] == labels]
            line = lines[labels] if metric == "disparity" else None
            level = f1_of_passing_everybody(data.fair if labels == "fair" else data.recorded)
            panels.append(Panel(title, own[own["metric"] == metric], own[own["metric"] == "f1"], line, level))
        found[name] = draw(panels, metric, "F1", line="disparity of the labels", level="passing everybody")
    return found


def remarks(data: StudentData, results: pd.DataFrame) -> list[str]:
    """All metrics as a Markdown table, and above it whether the full program collapsed."""
    wide = {
        f"{words}, {kind} labels": (labels, metric)
        for metric, words in (("f1", "F1"), ("accuracy", "accuracy"))
        for labels, kind in (("fair", "fair"), ("recorded", "biased"))
    }
    wide |= {
        "disparity": ("fair", "disparity"),
        "equalized odds, fair labels": ("fair", "equalized_odds"),
        "share that passes": ("fair", "positive_rate"),
    }
    summary = summary_of(results).set_index(["method", "labels", "metric"])
    lines = [*collapse(summary.xs(("fair", "f1"), level=("labels", "metric"))["mean"])]
    lines += [f"| method | {' | '.join(wide)} |", "|---|" + "---|" * len(wide)]
    for method in dict.fromkeys(results["method"]):
        cells = [_plus_minus(summary.loc[(method, labels, metric)]) for labels, metric in wide.values()]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    gaps = disparities(data)
    return [*lines, "", f"Disparity of the labels themselves: fair {gaps['fair']:.3f}, biased {gaps['recorded']:.3f}."]


def collapse(scores: pd.Series[float]) -> list[str]:
    """What there is to say if the full program scores below every baseline, by F1 on fair labels."""
    others = scores[[name for name in ("lower", *MITIGATING) if name in scores]]
    if OURS not in scores or not len(others) or scores[OURS] >= others.min():
        return []
    said = (
        f"The full program collapses on these labels: its F1 on fair labels is {scores[OURS]:.3f}, below every "
        f"baseline's ({others.min():.3f} and more). Where negative and positive bias add up to nearly 1 the record "
        "says almost nothing, of which the warning above tells."
    )
    return [said, ""]


def f1_of_passing_everybody(label: pd.Series[int]) -> float:
    """All who pass are found, and precision is their share."""
    share = float(label.mean())
    return 2 * share / (1 + share)


def passing_everybody(data: StudentData) -> str:
    """What a method has to beat: the score of passing everybody without looking."""
    labels = {"fair": data.fair, "biased": data.recorded}
    scores = ", ".join(f"{f1_of_passing_everybody(label):.3f} on {kind} labels" for kind, label in labels.items())
    return (
        f"To pass everybody, without looking, gives an F1 of {scores}: most pupils pass, and F1 rewards saying so. "
        "Read it together with the share that passes."
    )


def _plus_minus(row: pd.Series[float]) -> str:
    """The mean, and half of its 95% interval."""
    mean, high = row["mean"], row["high"]
    return f"{mean:.3f}" + ("" if pd.isna(high) else f" ± {high - mean:.3f}")


def _quoted(name: str) -> str:
    return name if name == OURS or name not in PROGRAMS else repr(name)
