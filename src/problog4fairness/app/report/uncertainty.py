"""The sections of a report on what it takes for granted: whether the data contradict the belief, and uncertainty."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from problog4fairness.app.report.changes import sensitive_first
from problog4fairness.app.report.facts import Facts, coded, feature_names, rows_to_fit, sensitive_of
from problog4fairness.app.report.markup import (
    Content,
    Markup,
    bullets,
    figure,
    inline,
    join,
    page_style,
    stacked,
    table,
    tag,
)
from problog4fairness.app.report.names import Names
from problog4fairness.checks import CheckResult, check
from problog4fairness.data import Grouping
from problog4fairness.errors import P4FError
from problog4fairness.robustness import UNCERTAIN, Uncertainty
from problog4fairness.statistics import count, percent, probabilities

# Fits.
DRAWS = 50


def check_section(facts: Facts, seed: int) -> Markup:
    """Whether the data contradict the belief."""
    try:
        checked = _tested(facts, seed)
    except P4FError as error:
        return tag("p", f"The belief could not be tested: {error}")
    rows = [[test.name, test.p_text, test.question, test.finding] for test in checked]
    with page_style():
        plot = checked.plot()
    summary = ", ".join(f"{test.name} {test.p_text}" for test in checked)
    against = [f"{test.name}: {test.advice}" for test in checked if test.contradicts]
    parts: list[Content] = [
        tag("p", checked.verdict),
        *([tag("p", "What to do:"), bullets(against)] if against else []),
        table(["Test", "p, corrected", "Question", "Finding"], rows, caption="Tests of the belief", numbers=(1,)),
        figure(
            inline(plot, "check", f"Corrected p-values of the tests: {summary}."),
            "P-values, corrected for the number of tests; left of the line, the belief is contradicted.",
            "Tests of the belief",
        ),
        *(tag("p", note) for note in (checked.power, *checked.notes) if note),
    ]
    return join(parts, "\n")


def _tested(facts: Facts, seed: int) -> CheckResult:
    """The tests of the model's belief on its own table, and on the audit where that has recorded labels."""
    audit, column = None, facts.label.column
    if facts.audit is not None and column in facts.audit.sample.frame.columns:
        frame = facts.audit.sample.frame
        labelled = frame[frame[column].notna()]
        if len(labelled):
            audit = coded(facts.model, labelled, "the audit", recorded=column, fair=facts.audit.fair)
    return check(
        facts.belief,
        facts.rows,
        audit=audit,
        use_sensitive=facts.model.group_use_.used,
        random_state=seed,
    )


def uncertainty_section(facts: Facts, names: Names, seed: int) -> Markup | None:
    """An interval for the disparity, the rates and each person; None where the belief has no parameter."""
    if not probabilities(facts.belief.parameters):
        return None
    model, chosen = facts.model, rows_to_fit(facts, seed)
    data = facts.data.iloc[chosen].reset_index(drop=True)
    try:
        checked = model.uncertainty(
            data[feature_names(model)],
            data[facts.label.column],
            sensitive_features=sensitive_of(model, data),
            draws=DRAWS,
            random_state=seed,
        )
    except P4FError as error:
        return tag("p", f"The intervals could not be made: {error}")
    with page_style():
        plot = replace(checked, table=checked.table.assign(group=checked.table["group"].map(names.translated))).plot()
    summary = (
        f"The learner was fitted {DRAWS} times more on {count(len(data), 'row')}, each time with parameters drawn from "
        "their posterior after the audit and with rows weighted at random. 95 of 100 such intervals contain the true "
        "value, if the belief is right and the learner is of the right form. A decision is uncertain where the "
        "person's interval contains the threshold, or where a learner of another form decides otherwise."
    )
    words = checked.words()
    shown = figure(
        inline(plot, "uncertainty", " ".join(words)),
        "95% intervals: quantities on the left, people on the right.",
        "Uncertainty",
    )
    tables = [
        stable_and_uncertain(replace(division.grouping, shares=division.grouping.shares[chosen]), checked)
        for division in facts.divisions
    ]
    return join([tag("p", summary), bullets(words), *tables, shown], "\n")


def stable_and_uncertain(grouping: Grouping, result: Uncertainty) -> Markup:
    """By group, how many decisions are stable under posterior draws of the belief, and how many are not."""
    is_open = (result.people["decision"] == UNCERTAIN).to_numpy(dtype=float)
    everybody = grouping.with_all()
    people = pd.DataFrame({"all": everybody.shares.sum(axis=0), "unsure": is_open @ everybody.shares}, everybody.groups)
    rows = []
    for group, row in sensitive_first(people).iterrows():
        share = percent(row.unsure / row["all"]) if row["all"] else ""
        rows.append([str(group), count(row["all"] - row.unsure), stacked(count(row.unsure), share)])
    return table(
        ["Group", "Stable", "Uncertain"], rows, caption="Stable and uncertain decisions, by group", numbers=(1, 2)
    )
