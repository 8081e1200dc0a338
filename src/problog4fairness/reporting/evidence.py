"""The sections of a report about other methods and about other values of the parameters."""

from __future__ import annotations

import numpy as np

from problog4fairness.classifier.sensitivity import Sensitivity
from problog4fairness.comparison import Comparison
from problog4fairness.reporting.amounts import MISSING, count, percent, points
from problog4fairness.reporting.markup import Content, Markup, bullets, figure, join, stacked, table, tag, terms
from problog4fairness.reporting.svg import inline, page_style

METRICS = {"accuracy": "Accuracy", "f1": "F1", "disparity": "Disparity", "equalized_odds": "Equalized odds difference",
           "positive_rate": "Favourable rate"}  # fmt: skip
METHODS = {
    "ours": "this belief",
    "lower": "learns the recorded labels as they are",
    "upper": "learns from fair labels of all rows",
    "audit only": "learns from the audited rows alone",
    "unawareness": "like lower, without the sensitive column",
    "massaging": "changes labels until groups get equal rates",
    "parity": "a threshold for each group, for equal rates",
}


def comparison(found: Comparison) -> Markup:
    """Our method and the baselines."""
    names = " and ".join(f"{kind} labels" for kind in found.labels)
    seeds = found.results["seed"].nunique()
    folds = found.results["fold"].nunique()
    parts: list[Content] = [
        tag(
            "p",
            f"The belief against methods that do without it, on {count(found.rows, 'row')}: {seeds} × {folds} networks "
            f"each, tested on rows that they were not trained on, by {names}. Scores on recorded labels favour methods "
            "that repeat the bias; those on fair labels tell who is right.",
        )
    ]
    for kind in found.labels:
        wide = found.table(kind)
        metrics = [name for name in METRICS if name in wide.columns]
        rows = [[method, *(_score(str(wide.loc[method, name])) for name in metrics)] for method in wide.index]
        rows_behind = found.audited if kind == "fair" else found.rows
        caption = f"On {kind} labels of {count(rows_behind, 'row')} (± half the 95% interval over seeds)"
        if seeds < 2:
            caption = f"On {kind} labels of {count(rows_behind, 'row')}"
        header = ["Method", *(METRICS[name] for name in metrics)]
        parts.append(table(header, rows, caption=caption, numbers=range(1, len(header))))
    parts.append(terms({method: METHODS[method] for method in found.methods if method in METHODS}))
    with page_style():
        drawing = found.plot()
    alternative = "Accuracy against disparity. " + " ".join(_compared(found))
    caption = (
        "Accuracy against disparity: better is higher, and nearer to the grey line, the disparity of those labels."
    )
    parts.append(figure(inline(drawing, "comparison", alternative), caption, "Accuracy against disparity"))
    parts += [tag("p", f"{name} was left out: {reason}") for name, reason in found.left_out.items()]
    return join(parts, "\n")


def _score(shown: str) -> Markup:
    """What :meth:`Comparison.table` writes, with its interval below it."""
    value, _, spread = shown.partition(" ± ")
    value = MISSING if value == "nan" else value.replace("-0.000", "0.000").replace("-", "−")
    return stacked(value, f"± {spread}" if spread else "")


def _compared(found: Comparison) -> list[str]:
    means = found.summary.set_index(["labels", "method", "metric"])["mean"]
    return [
        f"On {kind} labels, {method}: accuracy {percent(means.get((kind, method, 'accuracy'), np.nan))}, "
        f"disparity {points(means.get((kind, method, 'disparity'), np.nan))} points."
        for kind in found.labels
        for method in found.methods
    ]


def sensitivity(found: Sensitivity) -> Markup:
    """What moves if a parameter is wrong."""
    sentences = _moves(found)
    how = f"for {count(found.networks, 'network')} fitted as one" if found.networks else "without fitting anew"
    opening = (
        "Each parameter was varied over its interval and beyond, while the others kept their values, "
        f"and the model was judged again: {how}."
    )
    alternative = "How the metrics move with each parameter. " + " ".join(sentences)
    caption = "The shaded band is the parameter's 95% interval, the dot the value that the model uses."
    if found.networks:
        caption += " Networks trained once differ by chance: moves of a point or so mean nothing."
    return join(
        [
            tag("p", opening),
            figure(inline(found.plot(), "sensitivity", alternative), caption, "Sensitivity to each parameter"),
            bullets([*sentences, *found.notes]),
        ],
        "\n",
    )


def _fine(share: float) -> str:
    """A share with one digit more than usual, for small differences."""
    return f"{100 * share:.1f}%"


def _moves(found: Sensitivity) -> list[str]:
    spans = found.spans
    sentences = []
    for metric in found.metrics:
        own = spans[spans["metric"] == metric]
        widest = own.loc[(own["high"] - own["low"]).idxmax()]
        shown = points if metric.startswith("disparity") else _fine
        unit = " points" if metric.startswith("disparity") else ""
        name = {"accuracy": "Accuracy on audited rows", "changed": "The share of changed decisions"}.get(
            metric, metric.capitalize()
        )
        sentences.append(
            f"{name}: within the intervals, {widest['parameter']} moves it most, between {shown(widest['low'])} and "
            f"{shown(widest['high'])}{unit}; over all values tried it stays between {shown(own['lowest'].min())} and "
            f"{shown(own['highest'].max())}{unit}."
        )
    return sentences
