"""What is said of all beliefs of a kind, as data: how a person finds it, what it asks for, what identifies it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from problog4fairness.beliefs.fields import Field


class Question(NamedTuple):
    """How a person finds the belief that is theirs.

    Attributes
    ----------
    doubted
        What cannot be trusted: ``label``, ``feature``, ``group`` or ``other``.
    answer, example
        How that came about, and a case of it.
    boxes
        A sketch: the causes above and the effects below; ``*`` marks what the classifier gives, ``?`` what nobody saw.
    """

    doubted: str
    answer: str
    example: str
    boxes: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class BeliefKind:
    """What is said of all beliefs of a kind.

    Attributes
    ----------
    fields
        The arguments of its constructor but ``favourable``; see :mod:`problog4fairness.beliefs.fields`.
    command
        Its name for ``p4f estimate --belief``; None where it is stated in Python only.
    question
        How a person finds it in a form.
    identified_by
        What tells its parameters, in a few words.
    overlap
        Whether two of its parameters may explain the same errors.
    predicts_from
        Whether new rows have ``"fair"`` features, or ``"biased"`` ones to which the belief is applied first.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.LabelBias.kind.command, [field.name for field in p4f.LabelBias.kind.fields][:3]
    ('label', ['sensitive', 'negative', 'positive'])
    """

    fields: tuple[Field, ...] = ()
    command: str | None = None
    question: Question | None = None
    identified_by: str = ""
    overlap: bool = False
    predicts_from: Literal["fair", "biased"] = "fair"
