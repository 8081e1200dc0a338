"""The sections of a report about the belief and the learner."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from problog4fairness.app.report.facts import Facts
from problog4fairness.app.report.markup import Markup, bullets, figure, inline, join, page_style, stacked, table, tag
from problog4fairness.beliefs import Belief, Label
from problog4fairness.errors import P4FError
from problog4fairness.estimators import learner_words
from problog4fairness.statistics import Parameter, count, percent, percent_range, probabilities


def belief_section(facts: Facts) -> Markup:
    """The belief in words, as a diagram and as a program."""
    words = facts.belief.words(facts.label)
    parts = [
        tag("p", words[0]),
        bullets(words[1:]) if words[1:] else "",
        _diagram(facts.belief, facts.label),
        tag("h3", "The program"),
        tag("p", "The same belief as the ProbLog program that the model works with."),
        tag("pre", tag("code", rounded(facts.belief.text().rstrip())), role="region", aria_label="ProbLog program"),
    ]
    return join(parts, "\n")


def rounded(program: str) -> str:
    """A program with four digits in its numbers, to be read."""
    return re.sub(r"(?<![\w.])\d+\.\d{5,}(?:e-?\d+)?", lambda found: f"{float(found[0]):.4g}", program)


def _diagram(belief: Belief, label: Label) -> Markup:
    try:
        with page_style():
            diagram = belief.picture(label)
            plot = diagram.draw()
    except P4FError as error:
        return tag("p", f"The diagram cannot be drawn: {error}")
    arrows = "; ".join(f"{node.name} depends on {', '.join(node.parents)}" for node in diagram.nodes if node.parents)
    alternative = f"Causal diagram of the belief: {arrows or 'no arrows'}."
    caption = "What depends on what, according to the belief. Solid outlines are recorded, dashed ones are not observed"
    caption += ". The model learns what is filled." if any(node.classifier for node in diagram.nodes) else "."
    return figure(inline(plot, "diagram", alternative), caption, "Causal diagram")


def parameters_section(facts: Facts) -> Markup:
    """The parameters, what they rest on, and how many more rows would tighten them."""
    if not probabilities(facts.belief.parameters):
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
    header = [*(["Parameter"] if named else []), "Probability that", _value_header(facts.parameters),
              "Audited rows behind it", "More rows for ±10 points", "More rows for ±5 points"]  # fmt: skip
    return join(
        [
            table(header, rows, caption="Parameters of the belief", numbers=range(1 + named, 5 + named)),
            tag(
                "p",
                "The last two columns count further audited rows like those behind a value that would bring half the "
                "width of its interval down to so many points: the width shrinks with the root of the rows.",
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
        (str(name), row["meaning"], stacked(f"{row['value']:.3g}", between), behind)
        for name, row in known.iterrows()
        for between in ["" if pd.isna(row["low"]) else f"{row['low']:.3g} to {row['high']:.3g}"]
        for behind in ["stated" if pd.isna(row["rows"]) else count(row["rows"])]
    ]
    header = ["Parameter", "What it is", _value_header(belief.parameters), "Audited rows behind it"]
    return table(header, rows, caption="Parameters of the belief", numbers=(2, 3))


def _value_header(parameters: Sequence[Parameter]) -> str:
    """The heading of values and their intervals, with the confidence of the estimates."""
    confidence = next((parameter.confidence for parameter in parameters if parameter.rows is not None), 0.95)
    return f"Value, {100 * confidence:g}% interval"


def _rate(rate: Parameter) -> Markup:
    known = rate.value is not None and rate.low is not None and rate.high is not None
    return stacked(percent(rate.value), percent_range(rate.low, rate.high) if known else "")


def _more(rows: int) -> str:
    return "enough" if rows == 0 else count(rows)


def learner_section(facts: Facts) -> Markup:
    """What learned the fair label, how it was chosen, and how audited rows put it right."""
    return join([tag("p", sentence) for sentence in learner_words(facts.model)], "\n")
