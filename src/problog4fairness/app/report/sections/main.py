"""The sections of a report, each as HTML, from the facts and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from problog4fairness.app.report.facts import Division, Facts
from problog4fairness.app.report.html.figures import draw_changes
from problog4fairness.app.report.html.markup import Content, Markup, bullets, figure, join, stacked, table, tag
from problog4fairness.app.report.html.names import Names
from problog4fairness.app.report.html.svg import inline, page_style
from problog4fairness.beliefs import Belief, Label
from problog4fairness.errors import P4FError
from problog4fairness.estimators import learner_words
from problog4fairness.statistics import Parameter, count, percent, percent_range, points


def belief(facts: Facts) -> Markup:
    """The belief in words, as a picture and as a program."""
    words = facts.belief.words(facts.label)
    parts = [
        tag("p", words[0]),
        bullets(words[1:]) if words[1:] else "",
        _picture(facts.belief, facts.label),
        tag("h3", "The program"),
        tag("p", "The same belief as the ProbLog program that the model works with."),
        tag("pre", tag("code", rounded(facts.belief.text().rstrip())), role="region", aria_label="ProbLog program"),
    ]
    return join(parts, "\n")


def rounded(program: str) -> str:
    """A program with four digits in its numbers, to be read."""
    return re.sub(r"(?<![\w.])\d+\.\d{5,}(?:e-?\d+)?", lambda found: f"{float(found[0]):.4g}", program)


def _picture(belief: Belief, label: Label) -> Markup:
    try:
        with page_style():
            diagram = belief.picture(label)
            drawing = diagram.draw()
    except P4FError as error:
        return tag("p", f"The diagram cannot be drawn: {error}")
    arrows = "; ".join(f"{node.name} depends on {', '.join(node.parents)}" for node in diagram.nodes if node.parents)
    alternative = f"Causal diagram of the belief: {arrows or 'no arrows'}."
    caption = "What depends on what, according to the belief. Solid outlines are on record, dashed ones nobody has seen"
    caption += ". The model learns what is filled." if any(node.classifier for node in diagram.nodes) else "."
    return figure(inline(drawing, "diagram", alternative), caption, "Causal diagram")


def parameters(facts: Facts) -> Markup:
    """The parameters, what they rest on, and how many more rows would tighten them."""
    if not facts.belief.probabilities:
        return _amounts(facts.belief)
    # Names that only spell out the meaning are not repeated before it.
    named = any(rate.called == rate.name for rate in facts.parameters)
    rows = [
        (
            *([rate.name] if named else []),
            rate.meaning,
            _rate(rate),
            "stated" if rate.rows is None else count(rate.rows),
            *("–" if rate.rows is None else _more(rate.still_needed(error)) for error in (0.1, 0.05)),
        )
        for rate in facts.parameters
    ]
    header = [*(["Parameter"] if named else []), "Probability that", "Value, 95% interval", "Audited rows behind it",
              "More rows for ±10 points", "More rows for ±5 points"]  # fmt: skip
    return join(
        [
            table(header, rows, caption="Parameters of the belief", numbers=range(1 + named, 5 + named)),
            tag(
                "p",
                "The last two columns count further audited rows like those behind a value that would bring half the "
                "width of its 95% interval down to so many points: the width shrinks with the root of the rows.",
            ),
        ],
        "\n",
    )


def _amounts(belief: Belief) -> Markup:
    """Parameters that are no probabilities."""
    known = belief.parameter_table()
    if known.empty:
        return tag("p", "The belief has no parameters.")
    rows = [
        (str(name), own["meaning"], stacked(f"{own['value']:.3g}", between), behind)
        for name, own in known.iterrows()
        for between in ["" if pd.isna(own["low"]) else f"{own['low']:.3g} to {own['high']:.3g}"]
        for behind in ["stated" if pd.isna(own["rows"]) else count(own["rows"])]
    ]
    header = ["Parameter", "What it is", "Value, 95% interval", "Audited rows behind it"]
    return table(header, rows, caption="Parameters of the belief", numbers=(2, 3))


def _rate(rate: Parameter) -> Markup:
    known = rate.value is not None and rate.low is not None and rate.high is not None
    return stacked(percent(rate.value), percent_range(rate.low, rate.high) if known else "")


def _more(rows: int) -> str:
    return "enough" if rows == 0 else count(rows)


def changed(facts: Facts, names: Names) -> Markup:
    """What the model changes, by group."""
    parts: list[Content] = []
    for number, division in enumerate(facts.divisions):
        if len(facts.divisions) > 1:
            parts.append(tag("h3", f"By {division.way.name}"))
        drawing = draw_changes(division.changes, division.audited, facts.label.good, names)
        alternative = f"Share with {facts.label.good} by group. " + " ".join(_figure_words(division))
        caption = f"Share of people with {facts.label.good}; lines are 95% intervals."
        parts.append(figure(inline(drawing, f"changes{number}", alternative), caption, "Rates by group"))
        parts.append(_change_table(division, facts.label.good))
        if division.audited is not None:
            parts.append(_audit_table(division.audited, facts))
    return join(parts, "\n")


def _figure_words(division: Division) -> list[str]:
    words = []
    for group, row in division.changes.drop(index="all").iterrows():
        fair = "" if division.audited is None else f", fair by the audit {percent(division.audited.loc[group, 'fair'])}"
        words.append(f"{group}: on record {percent(row.recorded)}, decided {percent(row.decided)}{fair}.")
    return words


def _cell(row: pd.Series, name: str) -> Markup:
    """A share with its interval below it."""
    value = row[name]
    return stacked(percent(value), "" if np.isnan(value) else percent_range(row[f"{name}_low"], row[f"{name}_high"]))


def _sensitive_first(frame: pd.DataFrame) -> pd.DataFrame:
    """Groups in the order of the figure, and everybody last; everybody alone where there is one group."""
    groups = range(len(frame) - 2, -1, -1) if len(frame) > 2 else ()
    return frame.iloc[[*groups, len(frame) - 1]]


def _change_table(division: Division, good: str) -> Markup:
    kinds = ("recorded", "decided", "raised", "lowered")
    rows: list[list[Content]] = [
        [str(group), count(row.rows), *(_cell(row, kind) for kind in kinds)]
        for group, row in _sensitive_first(division.changes).iterrows()
    ]
    gaps = division.disparities
    if len(division.way.groups) > 1:
        name = "difference, in points" if len(division.way.groups) == 2 else "largest difference, in points"
        shown = [
            stacked(points(gap.value), f"{points(gap.low)} to {points(gap.high)}" if division.way.certain else "")
            for gap in (gaps.loc["recorded"], gaps.loc["decided"])
        ]
        if len(division.way.groups) > 2:
            shown = [stacked(own, division.furthest(kind)) for own, kind in zip(shown, kinds, strict=False)]
        rows.append([name, "", *shown, "", ""])
    header = ["Group", "Rows", "On record", "Decided by the model", "Raised", "Lowered"]
    caption = (
        f"Share with {good} on record and as decided; raised and lowered are decisions that differ from the record "
        "in either direction"
    )
    if len(division.way.groups) > 2:
        caption += "; the largest difference was picked among several, which its interval does not allow for"
    return table(header, rows, caption=caption, numbers=(1, 2, 3, 4, 5))


def _audit_table(audited: pd.DataFrame, facts: Facts) -> Markup:
    kinds = {"fair": "Fair rate", "accuracy": "Model is right", "record_right": "Record is right"}
    # What the model has learned from, and what was not predicted out of fold, does not say how often it is right.
    kinds = {kind: name for kind, name in kinds.items() if kind in audited and (kind != "accuracy" or facts.judged)}
    rows = [
        [str(group), count(row.rows), *(_cell(row, kind) for kind in kinds)]
        for group, row in _sensitive_first(audited).iterrows()
    ]
    header = ["Group", "Audited rows", *kinds.values()]
    told = "Estimated from the audited rows" if facts.sample is None else f"Estimated from {facts.sample.describe()}"
    if facts.learned and facts.judged:
        told += ". Where the model has learned from a row, a model that was fitted without it decides it"
    if "record_right" in kinds:
        told += ". The record is about these very people; the model decides without it"
    return table(header, rows, caption=told, numbers=range(1, len(header)))


def learner(facts: Facts) -> Markup:
    """What learned the fair label, how it was chosen, and how audited rows put it right."""
    return join([tag("p", sentence) for sentence in learner_words(facts.model)], "\n")


def limits(concerns: Sequence[str], warnings: Sequence[str], general: Sequence[str]) -> Markup:
    """What speaks against the model, warnings about this report, then the limits of any."""
    parts: list[Content] = []
    if concerns:
        heading = tag("h3", "This model may not have learned what it should")
        parts.append(tag("div", heading, bullets(concerns), class_="warnings concerns", role="alert"))
    if warnings:
        parts.append(tag("div", tag("h3", "Warnings"), bullets(warnings), class_="warnings", role="note"))
    parts.append(bullets(general))
    return join(parts, "\n")


def opening(sentences: Sequence[str]) -> Markup:
    """The summary; its verdict stands out."""
    lines = (tag("p", own, class_="verdict" if own.startswith("Verdict") else None) for own in sentences)
    return tag("div", join(lines, "\n"), class_="summary")
