"""The section of a report on how far what the audit leaves open reaches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from problog4fairness.app.report.coding import feature_names, sensitive_of
from problog4fairness.app.report.facts import Facts
from problog4fairness.app.report.html.markup import Markup, bullets, figure, join, stacked, table, tag
from problog4fairness.app.report.html.names import Names
from problog4fairness.app.report.html.svg import inline, page_style
from problog4fairness.data import Grouping
from problog4fairness.errors import P4FError
from problog4fairness.robustness import UNCERTAIN, Uncertainty
from problog4fairness.statistics import count, percent

# Rows that are fitted on, at most, and fits.
MOST_ROWS, DRAWS = 20_000, 50


def bands(facts: Facts, names: Names, seed: int, progress: bool | None) -> Markup | None:
    """An interval for the disparity, the rates and each person; None where the belief has no parameter."""
    if not facts.belief.probabilities:
        return None
    model, data = facts.model, facts.data
    chosen = np.arange(len(data))
    if len(data) > MOST_ROWS:
        chosen = np.sort(np.random.default_rng(seed).choice(len(data), MOST_ROWS, replace=False))
        data = data.iloc[chosen].reset_index(drop=True)
    try:
        found = model.bands(
            data[feature_names(model)],
            data[facts.label.column],
            sensitive_features=sensitive_of(model, data),
            draws=DRAWS,
            random_state=seed,
            progress=progress,
        )
    except P4FError as error:
        return tag("p", f"The intervals could not be made: {error}")
    with page_style():
        drawing = replace(found, table=found.table.assign(group=found.table["group"].map(names.said))).plot()
    told = (
        f"The learner was fitted {DRAWS} times more on {count(len(data), 'row')}, each time with parameters drawn from "
        "what the audit leaves open and with rows weighed at random. In 95 of 100 such cases, what is said here lies "
        "in its interval, if the belief is right and the learner is of the right form. A decision is uncertain where "
        "the person's interval holds the threshold, or where a learner of another form decides otherwise."
    )
    words = found.words()
    shown = figure(
        inline(drawing, "uncertainty", " ".join(words)),
        "95% intervals: quantities on the left, people on the right.",
        "Uncertainty",
    )
    tables = [stable_and_uncertain(replace(own.way, shares=own.way.shares[chosen]), found) for own in facts.divisions]
    return join([tag("p", told), bullets(words), *tables, shown], "\n")


def stable_and_uncertain(way: Grouping, uncertainty: Uncertainty) -> Markup:
    """By group, how many decisions hold under all beliefs that the audit leaves open, and how many do not."""
    is_open = (uncertainty.people["decision"] == UNCERTAIN).to_numpy(dtype=float)
    groups = [(name, way.shares[:, place]) for place, name in enumerate(way.groups)] if len(way.groups) > 1 else []
    rows = []
    for name, share in [*reversed(groups), ("all", np.ones(len(is_open)))]:
        people, unsure = float(share.sum()), float(is_open @ share)
        rows.append([name, count(people - unsure), stacked(count(unsure), percent(unsure / people) if people else "")])
    return table(
        ["Group", "Stable", "Uncertain"], rows, caption="Stable and uncertain decisions, by group", numbers=(1, 2)
    )
