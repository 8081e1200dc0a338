"""The sections of a report about other methods and about other values of the parameters."""

from __future__ import annotations

from collections.abc import Sequence

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


def comparison(found: Comparison, estimated: bool = False) -> Markup:
    """Our method and the baselines; ``estimated`` says that audited rows gave the belief its parameters."""
    names = " and ".join(f"{kind} labels" for kind in found.labels)
    seeds = found.results["seed"].nunique()
    folds = found.results["fold"].nunique()
    parts: list[Content] = [
        tag(
            "p",
            f"The belief against methods that do without it, on {count(found.rows, 'row')}: {seeds} × {folds} networks "
            f"each, tested on rows that they were not trained on, by {names}. Scores on recorded labels favour methods "
            "that repeat the bias; only fair labels tell who is right.",
        ),
        tag("p", " ".join(_warnings(found, seeds, estimated))),
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
    caption = "Accuracy against disparity. The grey line is the disparity of the labels themselves."
    if "fair" in found.labels:
        caption += " On fair labels, higher and nearer to the line is better."
    caption += " On recorded labels that only means closer to the record, with all that is wrong with it."
    parts.append(figure(inline(drawing, "comparison", alternative), caption, "Accuracy against disparity"))
    parts += [tag("p", f"{name} was left out: {reason}") for name, reason in found.left_out.items()]
    return join(parts, "\n")


def _warnings(found: Comparison, seeds: int, estimated: bool) -> list[str]:
    """What the tables do not tell."""
    gap = "difference" if len(found.levels) == 2 else "largest difference"
    sentences = [f"Disparity is the {gap} between groups in the mean probability of the favourable label."]
    if seeds > 1:
        sentences.append(
            "Intervals are over seeds: they tell how much the split and the networks' first weights matter, not what "
            "other people would have given."
        )
    accuracies = found.summary.query("labels == 'fair' and metric == 'accuracy'")["mean"]
    if found.audited and len(accuracies):
        half = 1.96 * np.sqrt(accuracies.iloc[0] * (1 - accuracies.iloc[0]) / found.audited)
        sentences.append(
            f"The draw of {count(found.audited, 'audited row')} alone leaves each accuracy on fair labels uncertain by "
            f"about ± {half:.3f}."
        )
    if estimated and found.audited:
        sentences.append(
            "The parameters of the belief may come from these very rows, also from those that it is tested on here."
        )
    return sentences


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


def sensitivity(found: Sensitivity, left_out: Sequence[str] = ()) -> Markup:
    """What moves if a parameter is wrong; ``left_out`` are parameters that were not varied."""
    sentences = _moves(found)
    known = found.parameters["low"] < found.parameters["high"]
    over = (
        "over its interval and beyond"
        if known.all()
        else "around its value"
        if not known.any()
        else ("over its interval, where there is one, and beyond")
    )
    again = f"judged again: {count(found.networks, 'network')}, fitted as one" if found.networks else "judged again"
    opening = (
        f"{', '.join(found.parameters.index)} {'was varied' if len(known) == 1 else 'were varied, each'} {over}, while "
        f"the other parameters kept their values, and the model was {again}."
    )
    if left_out:
        opening += (
            f" {', '.join(left_out)} {'was' if len(left_out) == 1 else 'were'} not varied, to keep this readable."
        )
    alternative = "How the metrics move with each parameter. " + " ".join(sentences)
    caption = "The dot is the value that the model uses"
    caption += ", the shaded band the parameter's 95% interval." if known.any() else "."
    caption += " Disparity is that of mean probabilities."
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
        own = spans[spans["metric"] == metric].dropna()
        if own.empty:
            continue
        widest = own.loc[(own["high"] - own["low"]).idxmax()]
        shown = points if metric.startswith("disparity") else _fine
        unit = " points" if metric.startswith("disparity") else ""
        name = {"accuracy": "Accuracy on audited rows", "changed": "The share of changed decisions"}.get(
            metric, metric.capitalize()
        )
        inside = (
            f"within the intervals, {widest['parameter']} moves it most, between {shown(widest['low'])} and "
            f"{shown(widest['high'])}{unit}; "
        )
        known = (found.parameters["low"] < found.parameters["high"]).any()
        sentences.append(
            f"{name}: {inside if known else ''}over all values tried it stays between {shown(own['lowest'].min())} and "
            f"{shown(own['highest'].max())}{unit}."
        )
    return sentences
