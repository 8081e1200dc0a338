"""The sections of a report, each a function from the facts to HTML."""

from problog4fairness.app.report.changes import changed
from problog4fairness.app.report.record import card, glossary
from problog4fairness.app.report.review import suspects
from problog4fairness.app.report.sections.belief import belief, learner, limitations, opening, parameters
from problog4fairness.app.report.sections.evidence import comparison, sensitivity
from problog4fairness.app.report.sections.groups import by_group
from problog4fairness.app.report.sections.uncertainty import checked, uncertainty

__all__ = [
    "belief",
    "by_group",
    "card",
    "changed",
    "checked",
    "comparison",
    "glossary",
    "learner",
    "limitations",
    "opening",
    "parameters",
    "sensitivity",
    "suspects",
    "uncertainty",
]
