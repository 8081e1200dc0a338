"""From what a user passes to a belief."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

from problog4fairness.audit import AuditTable
from problog4fairness.beliefs.belief import KINDS, Belief
from problog4fairness.beliefs.describe.files import read_belief
from problog4fairness.beliefs.templates.custom import ProgramBelief
from problog4fairness.beliefs.templates.none import NoBias
from problog4fairness.errors import P4FError, among
from problog4fairness.program import Program


def as_belief(belief: object) -> Belief:
    """A belief as an object: None is no bias, a program or its text a belief of one's own."""
    if belief is None:
        return NoBias()
    if isinstance(belief, Belief):
        return belief
    if isinstance(belief, str) and not set(belief) & set(".:("):
        raise P4FError(f"{belief!r} is no belief; pass one such as LabelBias('column'), a Program, or a program's text")
    if isinstance(belief, Program | str):
        return ProgramBelief(belief)
    raise P4FError(f"a belief is a template such as LabelBias, a Program or its text, not {type(belief).__name__}")


def named_belief(name: str, table: AuditTable) -> Belief:
    """The belief of a name, or of a file, for an audited table; its parameters are still to be estimated.

    Kinds of beliefs that other packages define are found by the entry point ``problog4fairness.beliefs``.

    Parameters
    ----------
    name
        ``label``, ``measurement``, ``historical``, the ``command`` of any other kind of belief, or a program FILE.pl.
    table
        The audited table.
    """
    kinds = belief_types()
    if name in kinds:
        return table.used_by(kinds[name]._from_table(table))
    if not name.endswith(".pl") and not Path(name).exists():
        word = name.replace("-", "").lower()
        in_python = [
            name_of_class
            for name_of_class, template in known_kinds().items()
            if template.kind.command is None and name_of_class.lower().startswith(word)
        ]
        if word and in_python:
            raise P4FError(
                f"{in_python[0]} is stated in Python: write p4f.beliefs.belief_text(p4f.{in_python[0]}(...)) to a file"
            )
        raise P4FError(f"there is no belief {name!r}; {among(name, sorted(kinds))}, or a program FILE.pl")
    return table.used_by(read_belief(Path(name), sensitive=table.sensitive, groups=table.levels))


def estimate_on_table(belief: Belief, table: AuditTable) -> Belief:
    """The belief, its parameters estimated from an audited table as it was read."""
    return belief._estimate_table(table)


def belief_types() -> dict[str, type[Belief]]:
    """The beliefs that a command line or a form can offer, by their command; those of other packages among them."""
    return {t.kind.command: t for t in known_kinds().values() if t.kind.command is not None}


def known_kinds() -> dict[str, type[Belief]]:
    """All kinds of beliefs by the name of their class; those of other packages by their entry points."""
    from problog4fairness import beliefs

    for name in beliefs.__all__:
        getattr(beliefs, name)  # a class is known once its module was imported
    for point in entry_points(group="problog4fairness.beliefs"):
        point.load()
    return KINDS
