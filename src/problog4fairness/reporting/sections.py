"""The sections of a report, each as HTML, from the facts and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from problog4fairness.beliefs import Belief, ProgramBelief
from problog4fairness.beliefs.probabilities import Parameter
from problog4fairness.errors import P4FError
from problog4fairness.reporting.amounts import (
    count,
    percent,
    percent_interval,
    percent_range,
    points,
    points_interval,
)
from problog4fairness.reporting.facts import Division, Facts
from problog4fairness.reporting.figures import draw_changes
from problog4fairness.reporting.markup import (
    Content,
    Markup,
    bullets,
    figure,
    join,
    paragraphs,
    plain,
    stacked,
    table,
    tag,
)
from problog4fairness.reporting.suspects import DISAGREES, FEATURES, LABEL
from problog4fairness.reporting.svg import inline, page_style
from problog4fairness.reporting.words import in_words

# More columns than this make a table of rows hard to read.
MOST_COLUMNS = 8


def summary(facts: Facts) -> list[str]:
    """Three or four sentences with the numbers that matter."""
    first = facts.divisions[0]
    groups = first.changes.drop(index="all")
    label = facts.label
    if len(groups) < 2:
        everybody = first.changes.loc["all"]
        sentences = [
            f"On record, {percent(everybody.recorded)} of {count(everybody.rows, 'person', 'people')} have "
            f"{label.good}; the model gives it to {percent(everybody.decided)}."
        ]
    else:
        sentences = [_rates(first, "recorded", f"On record, {label.good} holds for")]
        words = in_words(facts.model.belief_, label)
        told = [sentence for sentence in words[1:] if sentence.startswith("Of the people")]
        worst = f"people with {_apart(groups['recorded'])[0]} "
        told.sort(key=lambda sentence: worst not in sentence)
        sentences += [f"The belief about this gap: {told[0][0].lower()}{told[0][1:]}"] if told else words[:1]
        sentences.append(_rates(first, "decided", f"Under this belief the model gives {label.good} to"))
        sentences += [_gaps(division) for division in facts.divisions[1:] if len(division.way.groups) > 1]
    if facts.quality is not None:
        right = facts.quality.loc["all"]
        groups = facts.quality.drop(index="all")["accuracy"]
        apart = ", ".join(f"{percent(value)} where {group}" for group, value in groups[::-1].items())
        sentences.append(
            f"Its decisions, made without the recorded labels, are right for {_interval(right, 'accuracy')} of "
            f"{count(right.rows, 'audited row')}{f': {apart}' if len(groups) > 1 else ''}."
        )
    else:
        sentences.append("No audited rows were given, so how often it is right is not known.")
    return sentences


def _rates(division: Division, kind: str, opening: str) -> str:
    rates = division.changes.drop(index="all")[kind]
    sensitive, other = _apart(rates)
    gap = division.disparities.loc[kind]
    lowest, highest = ("", "") if len(rates) == 2 else (f", the lowest rate of {len(rates)} groups,", ", the highest")
    return (
        f"{opening} {percent(rates[sensitive])} of people with {sensitive}{lowest} and {percent(rates[other])} of "
        f"people with {other}{highest}: a difference of {points_interval(gap.value, gap.low, gap.high)} percentage "
        "points."
    )


def _gaps(division: Division) -> str:
    """The difference between the groups of a further sensitive variable, before and after."""
    recorded, decided = (points_interval(*division.disparities.loc[kind]) for kind in ("recorded", "decided"))
    which = "difference" if len(division.way.groups) == 2 else "largest difference"
    return f"By {division.way.name}, the {which} is {recorded} points on record and {decided} points as decided."


def _apart(rates: pd.Series) -> tuple[str, str]:
    """Of two groups the sensitive one and the other; of more those with the lowest and the highest rate."""
    if len(rates) == 2:
        return str(rates.index[1]), str(rates.index[0])
    return str(rates.idxmin()), str(rates.idxmax())


def belief(facts: Facts) -> Markup:
    """The belief in words, as a picture and as a program."""
    belief = facts.model.belief_
    words = in_words(belief, facts.label)
    parts: list[Content] = [tag("p", words[0]), bullets(words[1:]) if words[1:] else ""]
    if belief is None:
        return join(parts, "\n")
    try:
        with page_style():
            diagram = _with_names(belief).program().diagram()
            drawing = diagram.draw()
        arrows = "; ".join(
            f"{node.name} depends on {', '.join(node.parents)}" for node in diagram.nodes if node.parents
        )
        alternative = f"Causal diagram of the belief: {arrows or 'no arrows'}."
        caption = "What depends on what, according to the belief. Solid outlines are observed, dashed ones are not"
        predicted = any(node.classifier for node in diagram.nodes)
        caption += "; the filled box is what the model predicts." if predicted else "."
        parts.append(figure(inline(drawing, "diagram", alternative), caption, "Causal diagram"))
    except P4FError as error:
        parts.append(tag("p", f"The diagram cannot be drawn: {error}"))
    parts += [
        tag("h3", "The program"),
        tag("p", "The same belief as the ProbLog program that the model works with."),
        tag("pre", tag("code", belief.text().rstrip()), tabindex=0, role="region", aria_label="ProbLog program"),
    ]
    return join(parts, "\n")


def _with_names(belief: Belief) -> Belief:
    """The belief with the names of its parameters in place of their values."""
    if isinstance(belief, ProgramBelief):
        return belief
    return belief.with_probabilities(tuple(Parameter(rate.name, rate.meaning) for rate in belief.probabilities))


def parameters(facts: Facts) -> Markup:
    """The parameters, what they rest on, and how many more rows would tighten them."""
    belief = facts.model.belief_
    if belief is None or not belief.probabilities:
        return tag("p", "The belief has no parameters.")
    rows = [
        (
            rate.name,
            rate.meaning,
            _rate(rate),
            "stated" if rate.rows is None else count(rate.rows),
            *("–" if rate.rows is None else _more(rate.still_needed(error)) for error in (0.1, 0.05)),
        )
        for rate in belief.probabilities
    ]
    header = ["Parameter", "Probability that", "Value, 95% interval", "Audited rows behind it",
              "More rows for ±10 points", "More rows for ±5 points"]  # fmt: skip
    return join(
        [
            table(header, rows, caption="Parameters of the belief", numbers=(2, 3, 4, 5)),
            tag(
                "p",
                "The last two columns count further audited rows of the parameter's own kind that would make its value "
                "certain within so many percentage points, with 95% confidence. That is Hoeffding's bound, which asks "
                "for no more than a random draw and errs on the safe side: an interval can be narrower long before.",
            ),
        ],
        "\n",
    )


def _rate(rate: Parameter) -> Markup:
    known = rate.value is not None and rate.low is not None and rate.high is not None
    return stacked(percent(rate.value), percent_range(rate.low, rate.high) if known else "")


def _more(rows: int) -> str:
    return "enough" if rows == 0 else count(rows)


def changed(facts: Facts) -> Markup:
    """What the model changes, by group."""
    parts: list[Content] = []
    for number, division in enumerate(facts.divisions):
        if len(facts.divisions) > 1:
            parts.append(tag("h3", f"By {division.way.name}"))
        drawing = draw_changes(division.changes, division.audited, facts.label.good)
        alternative = f"Share with {facts.label.good} by group. " + " ".join(_figure_words(division))
        caption = f"Share of people with {facts.label.good}; lines are 95% intervals."
        parts.append(figure(inline(drawing, f"changes{number}", alternative), caption, "Rates by group"))
        parts.append(_change_table(division, facts.label.good))
        if division.audited is not None:
            parts.append(_audit_table(division.audited, facts.label.good, facts.label.bad))
    return join(parts, "\n")


def _figure_words(division: Division) -> list[str]:
    words = []
    for group, row in division.changes.drop(index="all").iterrows():
        fair = "" if division.audited is None else f", fair by the audit {percent(division.audited.loc[group, 'fair'])}"
        words.append(f"{group}: on record {percent(row.recorded)}, decided {percent(row.decided)}{fair}.")
    return words


def _interval(row: pd.Series, name: str) -> str:
    return percent_interval(row[name], row[f"{name}_low"], row[f"{name}_high"])


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
        rows.append([name, "", *shown, "", ""])
    header = ["Group", "Rows", "On record", "Decided by the model", "Raised", "Lowered"]
    caption = (
        f"Share with {good} on record and as decided; raised and lowered are decisions that differ from the record "
        "in either direction"
    )
    if len(division.way.groups) > 2:
        caption += "; the largest difference was picked among several, which its interval does not allow for"
    return table(header, rows, caption=caption, numbers=(1, 2, 3, 4, 5))


def _audit_table(audited: pd.DataFrame, good: str, bad: str) -> Markup:
    kinds = {"fair": "Fair rate", "accuracy": "Model is right", "record_right": "Record is right",
             "wrongly_refused": f"Of fair {good}, decided {bad}",
             "wrongly_granted": f"Of fair {bad}, decided {good}"}  # fmt: skip
    kinds = {kind: name for kind, name in kinds.items() if kind in audited}
    rows = [
        [str(group), count(row.rows), *(_cell(row, kind) for kind in kinds)]
        for group, row in _sensitive_first(audited).iterrows()
    ]
    header = ["Group", "Audited rows", *kinds.values()]
    told = "By the audited rows"
    if "record_right" in kinds:
        told += ". The record is about these very people; the model decides without it"
    return table(header, rows, caption=told, numbers=range(1, len(header)))


def _likely(chance: float) -> str:
    """A probability near 1, which is never quite certain."""
    shown = f"{100 * chance:.1f}%"
    return "> 99.9%" if shown == "100.0%" and chance < 1 else shown


_CHANCE = {LABEL: "P(distorted)", FEATURES: "P(distorted)", DISAGREES: "P(other label)"}


def suspects(facts: Facts) -> Markup:
    """The rows most likely distorted."""
    found = facts.suspects
    if facts.model.belief_ is None:
        return tag("p", "There is no belief by which a row could be called distorted.")
    if not len(found):
        return tag("p", "Under this belief no row is likely to be distorted.")
    columns = list(found.columns)
    chances, others = columns[-2:], columns[:-2]
    shown = others[:MOST_COLUMNS]
    what = {
        LABEL: "the recorded label is not the fair one",
        FEATURES: "a recorded feature is not the fair one",
        DISAGREES: "the fair label is another one than the recorded label, by their features alone",
    }[facts.suspicion]
    opening = (
        f"Rows for which it is most likely that {what}, under the belief. In all "
        f"{count(len(facts.data))} rows, about {count(facts.expected)} are expected to be of that kind. "
        "Row 1 is the first row of the data."
    )
    if facts.tied:
        opening += f" {count(facts.tied, 'more row is', 'more rows are')} as likely as the last one shown."
    rows = [
        [
            count(row),
            *(plain(found.loc[row, name]) for name in shown),
            *(_likely(found.loc[row, c]) for c in chances),
        ]
        for row in found.index
    ]
    amounts = [i for i, name in enumerate(shown, start=1) if pd.api.types.is_numeric_dtype(found[name])]
    right = (0, *amounts, len(shown) + 1, len(shown) + 2)
    header = ["Row", *shown, f"P(fair: {facts.label.good})", _CHANCE[facts.suspicion]]
    parts = [tag("p", opening), table(header, rows, caption="For review", numbers=right)]
    if len(others) > len(shown):
        parts.append(tag("p", f"Columns not shown: {', '.join(others[MOST_COLUMNS:])}."))
    return join(parts, "\n")


def limits(warnings: Sequence[str], general: Sequence[str]) -> Markup:
    """Warnings about this report, then the limits of any."""
    parts: list[Content] = []
    if warnings:
        parts.append(tag("div", tag("h3", "Warnings"), bullets(warnings), class_="warnings", role="note"))
    parts.append(bullets(general))
    return join(parts, "\n")


def opening(facts: Facts) -> Markup:
    """The summary."""
    return tag("div", paragraphs(summary(facts)), class_="summary")
