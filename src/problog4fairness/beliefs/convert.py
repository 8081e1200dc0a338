"""From what a user passes to a belief."""

from __future__ import annotations

from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.custom import ProgramBelief
from problog4fairness.beliefs.none import NoBias
from problog4fairness.errors import P4FError
from problog4fairness.program.program import Program


def as_belief(belief: object) -> Belief:
    """A belief as an object: None is no bias, a program or its text a belief of one's own."""
    if belief is None:
        return NoBias()
    if isinstance(belief, Belief):
        return belief
    if isinstance(belief, Program | str):
        return ProgramBelief(belief)
    raise P4FError(f"a belief is a template such as LabelBias, a Program or its text, not {type(belief).__name__}")
