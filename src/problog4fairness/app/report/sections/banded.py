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
from problog4fairness.robustness import OPEN, Bands
from problog4fairness.statistics import count, percent

# Rows that are fitted on, at most, and fits.
MOST_ROWS, DRAWS = 20_000, 50


def bands(facts: Facts, names: Names, seed: int, progress: bool | None) -> Markup | None:
    """A band for the disparity, the rates and each person; None where the belief has no parameter."""
    if not facts.belief.parameters:
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
        return tag("p", f"Bands could not be made: {error}")
    with page_style():
        drawing = replace(found, summary=found.summary.assign(group=found.summary["group"].map(names.said))).plot()
    told = (
        f"The learner was fitted {DRAWS} times more on {count(len(data), 'row')}, each time with parameters drawn from "
        "what the audit leaves open and with rows weighed at random. In 95 of 100 such cases, what is said here lies "
        "in its band, if the belief is right and the learner is of the right form. A decision is open where the "
        "person's band holds the threshold, or where a learner of another form decides otherwise."
    )
    words = found.words()
    shown = figure(
        inline(drawing, "bands", " ".join(words)), "Bands: quantities on the left, people on the right.", "Bands"
    )
    tables = [firm_and_open(replace(own.way, shares=own.way.shares[chosen]), found) for own in facts.divisions]
    return join([tag("p", told), bullets(words), *tables, shown], "\n")


def firm_and_open(way: Grouping, bands: Bands) -> Markup:
    """By group, how many decisions hold under all beliefs that the audit leaves open, and how many do not."""
    is_open = (bands.people["decision"] == OPEN).to_numpy(dtype=float)
    groups = [(name, way.shares[:, place]) for place, name in enumerate(way.groups)] if len(way.groups) > 1 else []
    rows = []
    for name, share in [*reversed(groups), ("all", np.ones(len(is_open)))]:
        people, unsure = float(share.sum()), float(is_open @ share)
        rows.append([name, count(people - unsure), stacked(count(unsure), percent(unsure / people) if people else "")])
    return table(["Group", "Firm", "Open"], rows, caption="Firm and open decisions, by group", numbers=(1, 2))
