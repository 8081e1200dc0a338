"""How a sensitive variable is written in a program."""

from __future__ import annotations

from problog4fairness.beliefs.text import atom
from problog4fairness.rows.sensitive import Sensitive


def declaration(variable: Sensitive) -> str:
    """The neural predicate that brings it into the program."""
    if variable.binary:
        return f"nn({variable.name},X) :: {variable.name}(X)."
    groups = ",".join(atom(level) for level in variable.levels)
    return f"nn({variable.name},[X],G,[{groups}]) :: {variable.name}(X,G)."


def goal(variable: Sensitive, level: int) -> str:
    """The goal that holds for the group at position ``level``."""
    if variable.binary:
        return f"{variable.name}(X)" if level == 1 else f"\\+{variable.name}(X)"
    return f"{variable.name}(X,{atom(variable.levels[level])})"
