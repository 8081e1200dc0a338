"""Which belief is mine? Two questions that lead to a template, each answer with its picture."""

from __future__ import annotations

from dataclasses import dataclass

from problog4fairness.app.studio.belief_form.filled import PROGRAM

# The first question: what cannot be trusted? Each answer, and the second question that it leads to.
DOUBTED = {
    "label": ("The label", "How did it get on record?"),
    "feature": ("A feature", "How did it become unfair?"),
    "group": ("Who is in which group", "What is known of it?"),
    "other": ("Something else", "Say it yourself"),
}


@dataclass(frozen=True)
class Kind:
    """A template as a person would choose it.

    Attributes
    ----------
    doubted
        The answer to the first question.
    name, about
        The answer to the second one, and a case of it.
    boxes
        Its picture, as :func:`~problog4fairness.app.studio.belief_form.sketch.sketch` takes it.
    """

    doubted: str
    name: str
    about: str
    boxes: tuple[tuple[str, ...], ...]


KINDS = {
    "label": Kind(
        "label",
        "Somebody recorded it unfairly",
        "Officers turned down people who should have been accepted.",
        (("*fair label", "group"), ("recorded label",)),
    ),
    "row": Kind(
        "label",
        "Some decided more unfairly than others",
        "One officer turned down most applicants from poor areas, another one none.",
        (("*fair label", "group", "officer"), ("recorded label",)),
    ),
    "changed": Kind(
        "label",
        "Unfairly, until something changed",
        "Before a reform many were turned down, after it hardly any.",
        (("*fair label", "group", "day"), ("recorded label",)),
    ),
    "selective": Kind(
        "label",
        "It is known of some only",
        "Only of loans that were granted it is known whether they were repaid.",
        (("*fair label", "group"), ("label, if accepted",)),
    ),
    "positive-unlabelled": Kind(
        "label",
        "Only one label is written down",
        "Who was diagnosed is ill; who was not may be ill, too.",
        (("*fair label", "group"), ("yes, or nothing",)),
    ),
    "annotators": Kind(
        "label",
        "Several people gave it",
        "They labelled the same rows and disagree; nobody knows who is right.",
        (("*fair label", "group"), ("Ann says", "Bob says")),
    ),
    "measurement": Kind(
        "feature",
        "It was measured unfairly",
        "Arrests are counted instead of crimes: more of them where police look more.",
        (("?fair feature", "group"), ("recorded feature",)),
    ),
    "numeric": Kind(
        "feature",
        "It is a number, and its scale is unfair",
        "A test in a foreign language gives lower scores for the same knowledge.",
        (("?fair number", "group"), ("recorded number",)),
    ),
    "historical": Kind(
        "feature",
        "An unfair past shaped it",
        "It is measured rightly, but a fair world would have led to another value.",
        (("?in a fair world", "group"), ("feature",)),
    ),
    "unknown": Kind(
        "group",
        "Other columns tell of it",
        "The group is missing for some or for all; a postcode or a first name makes it likely.",
        (("postcode", "first name"), ("?group",)),
    ),
    PROGRAM: Kind(
        "other",
        "Write the program",
        "Rules, several biases at once, anything that ProbLog says.",
        (("*fair label", "group", "?your rules"), ("recorded label",)),
    ),
}
