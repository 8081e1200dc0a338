"""The section of a report on whether the data contradict the belief."""

from __future__ import annotations

from problog4fairness.app.report.coding import coded
from problog4fairness.app.report.facts import Facts
from problog4fairness.app.report.html.markup import Content, Markup, bullets, figure, join, table, tag
from problog4fairness.app.report.html.svg import inline, page_style
from problog4fairness.checks import CheckResult, check
from problog4fairness.errors import P4FError


def doubted(facts: Facts, seed: int) -> Markup:
    """Whether the data contradict the belief."""
    try:
        found = _tested(facts, seed)
    except P4FError as error:
        return tag("p", f"The belief could not be tested: {error}")
    rows = [[own.name, own.p_text, own.question, own.found] for own in found]
    with page_style():
        drawing = found.plot()
    told = ", ".join(f"{own.name} {own.p_text}" for own in found)
    against = [f"{own.name}: {own.advice}" for own in found if own.contradicts]
    parts: list[Content] = [
        tag("p", found.verdict),
        *([tag("p", "What to do:"), bullets(against)] if against else []),
        table(["Test", "p, corrected", "Question", "Found"], rows, caption="Tests of the belief", numbers=(1,)),
        figure(
            inline(drawing, "doubts", f"Corrected p-values of the tests: {told}."),
            "P-values, corrected for the number of tests; left of the line, the belief is contradicted.",
            "Tests of the belief",
        ),
        *(tag("p", note) for note in (found.power, *found.notes) if note),
    ]
    return join(parts, "\n")


def _tested(facts: Facts, seed: int) -> CheckResult:
    """The tests of the model's belief on its own table, and on the audit where that has recorded labels."""
    audit, column = None, facts.label.column
    if facts.audit is not None and facts.fair is not None and column in facts.audit.columns:
        labelled = facts.audit[facts.audit[column].notna()]
        if len(labelled):
            audit = coded(facts.model, labelled, "the audit", recorded=column, fair=facts.fair)
    return check(
        facts.belief,
        facts.rows,
        audit=audit,
        use_sensitive=facts.model.group_use_.used,
        random_state=seed,
    )
