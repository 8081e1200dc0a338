"""The model card of a report, what regulations ask for and where it is answered, and a glossary."""

from __future__ import annotations

from collections.abc import Mapping

from problog4fairness.app.report.facts import Facts, feature_names
from problog4fairness.app.report.markup import Content, Markup, join, table, tag, terms
from problog4fairness.app.report.record import NOT_STATED, Record
from problog4fairness.estimators import WORDS, learner_facts
from problog4fairness.statistics import count

# What is asked for, in the order of data governance and technical documentation, and the sections that answer it.
ASKED = (
    ("Assumptions on what the data measure and represent", ("belief", "limits")),
    ("Origin of the data, and how they were labelled", ("record", "belief")),
    ("Examination for bias that may harm people or discriminate", ("changes", "groups", "doubts")),
    ("Measures to detect, prevent and mitigate it", ("belief", "learner", "comparison")),
    ("Gaps and shortcomings of the data", ("limits", "parameters")),
    ("Provenance: files, versions, settings, how to make it again", ("record",)),
    ("Accuracy and errors, by group", ("changes", "groups")),
    ("Foreseeable limits, and what follows from a wrong assumption", ("limits", "sensitivity", "uncertainty")),
    ("Human oversight: which cases to look at, and why", ("suspects",)),
)

GLOSSARY = {
    "Record, recorded": "What the data say, whether it is right or not.",
    "Fair": "What should have been recorded: the label without the distortion that the belief describes.",
    "Belief": "The stated assumption on how the recorded data came from the fair ones: a program to be read.",
    "Parameter": "A probability in the belief, such as how often a fair label was recorded as the other one.",
    "Audit, audited rows": "Rows whose fair label somebody found out.",
    "Sensitive column, group": "The column by which people may have been treated differently, and one of its values.",
    "This model": "The classifier of the fair label that was learned through the belief.",
    "Trained on recorded labels": "The same learner, which takes recorded labels as fair.",
    "Without the sensitive column": "The same, without the sensitive column. Other columns may stand in for it.",
    "Point": "One percentage point: the difference between 31% and 32%.",
    "Disparity": "The share of one group that gets the favourable label minus that of the other, in points.",
    "95% interval": "Where a number may lie because the rows at hand are a draw; 19 of 20 such intervals hold it.",
}  # fmt: skip


def card(facts: Facts, made: Record, sections: Mapping[str, str]) -> Markup:
    """Model card, and the table of what is asked for; ``sections`` are the headings of those that are on the page."""
    learned = learner_facts(facts.model)["learner"]
    audited: Content = "none"
    if facts.audit is not None:
        audited = join([count(len(facts.audit), "audited row"), "; ", _link("groups", "by group")])
    fields: dict[str, Content] = {
        "Model": f"A classifier of {facts.label.column} as it should have been recorded: "
        f"{WORDS.get(learned, learned)} of {count(len(feature_names(facts.model)), 'column')}",
        "Intended use": made.purpose or NOT_STATED,
        "Not for": "people unlike those in the data; as the only ground of a decision about anybody",
        "Groups": "; ".join(group for division in facts.divisions for group in division.way.groups),
        "Training data": f"{count(len(facts.data), 'row')} of recorded data, given for this report",
        "Evaluation data": audited,
        "Metrics": "share of right decisions, kinds of errors, and disparity, each by group and with intervals",
        "Limits": _link("limits", "Limits and warnings"),
    }
    rows = [
        [asked, join([_link(name, sections[name]) for name in where if name in sections], ", ") or "not on this page"]
        for asked, where in ASKED
    ]
    told = (
        "What laws on automated decisions commonly ask to be documented, and where this page speaks of it. The page "
        "states what was found; whether that is enough is for those who are responsible to say."
    )
    return join(
        [terms(fields), tag("p", told), table(["Asked for", "Answered in"], rows, caption="Where to look")], "\n"
    )


def glossary() -> Markup:
    """The words of the page."""
    return terms(GLOSSARY)


def _link(section: str, words: str) -> Markup:
    return tag("a", words, href=f"#{section}")
