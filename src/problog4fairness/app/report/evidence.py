"""What a report fits again, with the sections about it: other methods, and other values of the parameters."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from problog4fairness import robustness
from problog4fairness.app.report.facts import Facts, feature_names, rows_to_fit, sensitive_of
from problog4fairness.app.report.markup import (
    Content,
    Markup,
    bullets,
    figure,
    folded,
    inline,
    join,
    page_style,
    stacked,
    table,
    tag,
    terms,
)
from problog4fairness.app.report.names import Names
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, refit_learner
from problog4fairness.evaluation import APART, Comparison, compare_rows, compared_rows, learner_word
from problog4fairness.metrics import METRICS
from problog4fairness.robustness import ACCURACY, CHANGED, Sensitivity
from problog4fairness.statistics import MISSING, called, count, in_labels, percent, points, probabilities

NAMES = {ACCURACY: "Accuracy on audited rows", CHANGED: "The share of changed decisions"}
# More parameters than this make the figure unreadable; the least certain ones are shown.
MOST_PARAMETERS = 6
SEEDS, FOLDS = 3, 3


def learner_name(model: DebiasedClassifier) -> str:
    """What a comparison calls the learner of a model."""
    return learner_word(refit_learner(model))


def sampled(facts: Facts, seed: int) -> tuple[pd.DataFrame, list[str]]:
    """The rows to fit on, and sentences that say which those are."""
    data, notes, chosen = facts.data, [], rows_to_fit(facts, seed)
    if facts.dropped:
        notes.append(f"{count(facts.dropped, 'row')} without {facts.label.column} had to be left out.")
    if len(chosen) < len(data):
        notes.append(
            f"Comparison and sensitivity were fitted on {count(len(chosen))} of {count(len(data))} rows, drawn at "
            "random; everything else is about all rows."
        )
    return data.iloc[chosen].reset_index(drop=True), notes


def compared(facts: Facts, sample: pd.DataFrame, seed: int) -> Comparison:
    """The model's belief and learner against other methods with the same learner, by the audited rows."""
    model, column, features = facts.model, facts.label.column, feature_names(facts.model)
    if not facts.belief.columns.sensitive:
        raise P4FError("the belief names no sensitive column, so there are no groups")
    audit = fair = None
    if facts.audit is not None:
        # Positions are those in the rows that are fitted on.
        audit = replace(facts.audit.sample, rows=np.full(len(facts.audit.sample), -1, dtype=np.int64))
        fair = facts.audit.fair
    needed = {column, fair, *features, *facts.belief.columns.all}
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # The page says how the audit was sampled, and the columns are those of training.
        rows = compared_rows(
            sample,
            [facts.belief],
            recorded=column,
            audit=audit,
            fair=fair,
            favourable=facts.label.values[-1],
            features=features,
            drop=[name for name in sample.columns if name not in needed],
        )
    return compare_rows(rows, model, seeds=[seed + number for number in range(SEEDS)], folds=FOLDS)


def varied(facts: Facts, sample: pd.DataFrame) -> Sensitivity | None:
    """The least certain parameters, each over its interval and beyond; None where there are none."""
    model, features = facts.model, feature_names(facts.model)
    known = probabilities(facts.belief.parameters)
    if not known:
        return None
    # A value that was stated may be anything.
    widths = {p.name: 1.0 if p.low is None or p.high is None else p.high - p.low for p in known}
    widest = sorted(widths, key=widths.__getitem__, reverse=True)[:MOST_PARAMETERS]
    return robustness.sensitivity(
        model,
        sample[features],
        sample[facts.label.column],
        sensitive_features=sensitive_of(model, sample),
        audit=facts.sample,
        parameters=[name for name in widths if name in widest],
    )


def comparison_section(result: Comparison, same_rows: bool = False) -> Markup:
    """The model and other methods; ``same_rows`` is whether the audited rows may have given the belief parameters."""
    seeds, folds = (result.results[name].nunique() for name in ("seed", "fold"))
    names = " and ".join(f"{kind} labels" for kind in result.labels)
    with page_style():
        plot = in_units(result.plot())
    alternative = "Accuracy against disparity. " + " ".join(_compared(result))
    caption = "Accuracy against disparity. The grey line is the disparity of the labels themselves."
    if "fair" in result.labels:
        caption += " On fair labels, higher and nearer to the line is better."
    caption += " On recorded labels that only means closer to the record, with all that is wrong with it."
    parts: list[Content] = [
        tag(
            "p",
            f"The belief against methods that do without it, on {count(result.rows, 'row')}. Each is fitted "
            f"{seeds} × {folds} times with the same learner, and tested on rows that it was not fitted on, by {names}. "
            "Scores on recorded labels favour methods that repeat the bias; only fair labels show which is right.",
        ),
        tag("p", " ".join(_warnings(result, same_rows))),
        _score_table(result, result.labels[0]),
        *(folded(f"On {kind} labels", _score_table(result, kind)) for kind in result.labels[1:]),
        terms(result.about),
        figure(inline(plot, "comparison", alternative), caption, "Accuracy against disparity"),
        *(tag("p", f"{name} was left out: {reason}") for name, reason in result.left_out.items()),
    ]
    return join(parts, "\n")


def _score_table(result: Comparison, kind: Literal["fair", "recorded"]) -> Markup:
    wide = result.table(kind)
    metrics = [name for name in METRICS if name in wide.columns]
    rows = [[method, *(_score(str(wide.loc[method, name]), name) for name in metrics)] for method in wide.index]
    caption = f"On {kind} labels of {count(result.audited if kind == 'fair' else result.rows, 'row')}"
    caption += f". {result.intervals(kind)}"
    units = {name: ", points" if METRICS[name].better == "nearer 0" else "" for name in metrics}
    header = ["Method", *(f"{METRICS[name].label}{unit}" for name, unit in units.items())]
    if APART in wide.columns:
        rows = [[*row, str(wide.loc[row[0], APART])] for row in rows]
        header.append("Groups furthest apart")
    return table(header, rows, caption=caption, numbers=range(1, 1 + len(metrics)))


def _warnings(result: Comparison, same_rows: bool) -> list[str]:
    """What the tables do not show."""
    gap = "difference" if len(result.levels) == 2 else "largest difference"
    sentences = [f"Disparity is the {gap} between the groups' rates of favourable decisions."]
    for kind in result.labels if len(result.levels) > 2 else ():
        pair = result.furthest(kind)
        if pair is not None:
            sentences.append(f"By the {kind} labels themselves, {pair[0]} is furthest above {pair[1]}.")
    if same_rows and result.audited:
        sentences.append(
            "The parameters of the belief may come from these very rows, also from those that it is tested on here."
        )
    return sentences


def _score(shown: str, metric: str) -> Markup:
    """What :meth:`Comparison.table` writes, with its interval below it: shares in percent, differences in points."""
    value, _, spread = shown.partition(" ± ")
    if value == "nan":
        return stacked(MISSING, "")
    digits, unit = (f"{float(value):.3f}", "") if metric == "f1" else (f"{100 * float(value):.1f}", "%")
    unit = "" if METRICS[metric].better == "nearer 0" else unit
    digits = re.sub(r"^-(0\.0+)$", r"\1", digits).replace("-", "−")
    half = spread if metric == "f1" or not spread else f"{100 * float(spread):.1f}"
    return stacked(f"{digits}{unit}", f"± {half}" if spread else "")


def in_units(figure: Figure) -> Figure:
    """A figure of shares and differences with percents and points on its axes, as the page has them."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            label = axis.get_label().get_text()
            if any(word in label for word in ("disparity", "difference")):
                axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.0f}".replace("-", "−")))
                axis.set_label_text(f"{label}, in points")
            elif label in ("accuracy", METRICS["accuracy"].label):
                axis.set_major_formatter(PercentFormatter(1, decimals=0))
    return figure


def _compared(result: Comparison) -> list[str]:
    means = result.summary.set_index(["labels", "method", "metric"])["mean"]
    return [
        f"On {kind} labels, {method}: accuracy {percent(means.get((kind, method, 'accuracy'), np.nan))}, "
        f"disparity {points(means.get((kind, method, 'disparity'), np.nan))} points."
        for kind in result.labels
        for method in result.methods
    ]


def sensitivity_section(facts: Facts, result: Sensitivity, names: Names) -> Markup:
    """What moves if a parameter is wrong."""
    meanings = [names.translated(in_labels(meaning, facts.label.values)) for meaning in result.parameters["meaning"]]
    result = replace(result, parameters=result.parameters.assign(meaning=meanings))
    left_out = [parameter.called for parameter in facts.parameters if parameter.name not in result.parameters.index]
    sentences = _moves(result)
    known_as = [called(str(name), meaning) for name, meaning in result.parameters["meaning"].items()]
    known = result.parameters["low"] < result.parameters["high"]
    over = "over its interval and beyond" if known.all() else "over its interval, where there is one, and beyond"
    if not known.any():
        over = "around its value"
    again = f"fitted again, {count(result.fits, 'time')}" if result.fits else "evaluated again"
    opening = (
        f"{_listed(known_as)} {'was varied' if len(known) == 1 else 'were varied, each'} {over}, while "
        f"the other parameters kept their values, and the model was {again}."
    )
    if left_out:
        were = "was" if len(left_out) == 1 else "were"
        opening += f" {_listed(left_out)} {were} not varied, to keep this readable."
    alternative = "How the metrics move with each parameter. " + " ".join(sentences)
    caption = "The dot is the value that the model uses"
    caption += ", the shaded range the parameter's 95% interval." if known.any() else "."
    if result.fits:
        caption += " Models that are fitted once differ by chance: moves of a point or so mean nothing."
    return join(
        [
            tag("p", opening),
            figure(
                inline(in_units(result.plot()), "sensitivity", alternative), caption, "Sensitivity to each parameter"
            ),
            bullets([*sentences, *result.notes]),
        ],
        "\n",
    )


def _listed(parameters: Sequence[str]) -> str:
    """Parameters as the beginning of a sentence; of those that are called by what they mean, how many there are."""
    long = [parameter for parameter in parameters if " " in parameter]
    if len(long) < 2:
        return ", ".join(parameters).replace("how often", "How often", 1)
    return f"{len(parameters)} parameters"


def _moves(result: Sensitivity) -> list[str]:
    """For each metric, how far it moves."""
    known = bool((result.parameters["low"] < result.parameters["high"]).any())
    by_metric = {metric: values.dropna() for metric, values in result.table.groupby("metric")}
    meanings = result.parameters["meaning"]
    return [_move(metric, by_metric[metric], known, meanings) for metric in result.metrics if len(by_metric[metric])]


def _move(metric: str, spans: pd.DataFrame, known: bool, meanings: pd.Series[str]) -> str:
    disparity = metric.startswith("disparity")
    # Shares have one digit more than usual, for small differences.
    shown, unit = (points, " points") if disparity else ("{:.1%}".format, "")
    name = NAMES.get(metric, metric.capitalize())
    widest = spans.loc[(spans["high"] - spans["low"]).idxmax()]
    who = called(str(widest["parameter"]), meanings[widest["parameter"]])
    inside = (
        f"within the intervals, {who} moves it most, between {shown(widest['low'])} and {shown(widest['high'])}{unit}; "
    )
    return (
        f"{name}: {inside if known else ''}over all values tried it stays between {shown(spans['lowest'].min())} and "
        f"{shown(spans['highest'].max())}{unit}."
    )
