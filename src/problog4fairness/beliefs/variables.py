"""How a sensitive variable is written: in a program, in the names of parameters, and as plain data."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from problog4fairness.data import Codes, Floats, Level, Rows, Sensitive, named_groups
from problog4fairness.errors import P4FError
from problog4fairness.program import atom, number
from problog4fairness.statistics import Parameter, known_values

if TYPE_CHECKING:
    from problog4fairness.beliefs.belief import Belief

# What a user says of a bias: one number, one for each group, None to be estimated, False for "does not happen".
Strength = float | Mapping[Any, Any] | Literal[False] | None


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


def sensitive_comment(variable: Sensitive) -> str:
    """What the sensitive variable is, for the head of a program."""
    if not variable.people:
        meant = variable.group_text(1) if variable.binary else ", ".join(variable.columns)
        return f"{variable.name} is something else that the bias depends on: {meant}."
    if variable.binary:
        return f"{variable.name} is the sensitive variable: {variable.group_text(1)}."
    return f"{variable.name} is the sensitive variable: {', '.join(variable.columns)}."


def parameter_name(variable: Sensitive, level: int, negative: bool, feature: str = "", suffix: str = "") -> str:
    """The name of the parameter of a group: the paper's p1 to p4 for two groups, otherwise neg(group) and pos(group).

    Parameters
    ----------
    variable, level
        The sensitive variable and the position of the group.
    negative
        Whether it is about values that were recorded too low.
    feature
        The name of the feature in the program; none for the label.
    suffix
        What keeps the stages of a chain apart.
    """
    head = f"p{1 + (level == 0) + 2 * (not negative)}" if variable.binary else "neg" if negative else "pos"
    inside = ([feature] if feature else []) + ([] if variable.binary else [atom(variable.levels[level])])
    return head + suffix + (f"({','.join(inside)})" if inside else "")


def acting_groups(variable: Sensitive, affected: Collection[Level] | str | None) -> tuple[int, ...]:
    """The groups on which a bias acts, by position; all by default."""
    if affected is None:
        return tuple(range(len(variable.levels)))
    named = named_groups(affected)
    if not named or not set(named) <= set(variable.levels):
        raise P4FError(f"affected must be some of the groups {list(variable.levels)}, not {list(named)}")
    return tuple(i for i, level in enumerate(variable.levels) if level in named)


def strengths(strength: Strength, variable: Sensitive, groups: Sequence[int], name: str) -> dict[int, float | None]:
    """What was said of each group on which a bias acts; of two, the sensitive one comes first, as in the paper."""
    if strength is False:
        return {}
    if isinstance(strength, Mapping):
        unknown = [group for group in strength if group not in variable.levels]
        if unknown:
            known = list(variable.levels)
            raise P4FError(
                f"{name} names the group {unknown[0]!r}, which is not among {known}; name all groups by groups=[...]"
            )
    values = {}
    for level in sorted(groups, reverse=variable.binary):
        value = strength.get(variable.levels[level]) if isinstance(strength, Mapping) else strength
        values[level] = None if value is None else _number(value, name)
    return values


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise P4FError(
            f"{name} is a number, one for each group, None or False, not {type(value).__name__}; a bias that depends "
            "on the row is a RowBias"
        ) from None


@dataclass(frozen=True)
class Cells:
    """The combinations of values of several variables, numbered with the last variable fastest.

    Attributes
    ----------
    variables
        The variables.
    """

    variables: tuple[Sensitive, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many values each variable has."""
        return tuple(len(variable.levels) for variable in self.variables)

    @property
    def count(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    def place(self, cell: int) -> tuple[int, ...]:
        """The value of each variable in a cell, by position."""
        return tuple(map(int, np.unravel_index(cell, self.shape)))

    def values(self, cell: int) -> tuple[Level, ...]:
        """The value of each variable in a cell."""
        return tuple(v.levels[level] for v, level in zip(self.variables, self.place(cell), strict=True))

    def words(self, cell: int, first: int = 0) -> str:
        """A cell for people, from the ``first`` of its variables on."""
        pairs = list(zip(self.variables, self.place(cell), strict=True))[first:]
        return " and ".join(variable.group_text(level) for variable, level in pairs)

    def arguments(self, cell: int) -> str:
        """What stands for a cell between the brackets of a term."""
        return ",".join(map(atom, self.values(cell)))

    def goals(self, cell: int) -> str:
        """What holds in a cell, as the body of a clause."""
        return ", ".join(goal(v, level) for v, level in zip(self.variables, self.place(cell), strict=True))

    def positions(self, rows: Rows) -> Codes | Floats:
        """``[rows]``: the cell of each row; where some value is uncertain, ``[rows, cells]``: how likely each is."""
        codes = [rows.positions(variable) for variable in self.variables]
        if all(groups.ndim == 1 for groups in codes):
            return np.asarray(np.ravel_multi_index([groups.astype(np.int64) for groups in codes], self.shape))
        shares = np.ones((len(rows), 1))
        for variable in self.variables:
            shares = (shares[:, :, None] * rows.shares(variable)[:, None, :]).reshape(len(rows), -1)
        return shares


def favourable_comment(belief: Belief) -> list[str]:
    """The same as a line for the head of a program, where it is not 1."""
    known = belief.favourable
    if known is None or known == 1:
        return []
    return [f"The favourable label{', which counts as 1,' if belief.record.classes is None else ''} is {known}."]


def flip_rules(
    variable: Sensitive,
    values: Sequence[int | str],
    chances: Mapping[tuple[int, int, int], Parameter],
    *,
    before: str,
    after: str,
    name: str,
    suffix: str = "",
) -> tuple[list[str], list[str]]:
    """The probabilistic facts, and the rules.

    Parameters
    ----------
    variable
        The sensitive variable.
    values
        The values.
    chances
        The parameter of each (group, value before, value after), by position.
    before, after
        The predicates of the value, ``before(X,V)`` and ``after(X,V)``.
    name, suffix
        Of the predicates that are made: ``name_flip_suffix``.
    """
    flip, flipped = f"{name}_flip{suffix}", f"{name}_flipped{suffix}"
    heads: dict[tuple[int, int], list[str]] = {}
    used = known_values(chances.values())
    for (group, old, new), parameter in chances.items():
        weight = number(used[parameter.name]) if parameter.name in used else parameter.name
        outcome = f"{weight} :: {flip}(X,{atom(values[old])},{atom(values[new])})"
        heads.setdefault((group, old), []).append(outcome)
    facts = [" ;\n    ".join(outcomes) + f" :- {goal(variable, group)}." for (group, _), outcomes in heads.items()]
    return facts, [
        f"{flipped}(X,V) :- {flip}(X,V,_).",
        f"{after}(X,V) :- {before}(X,V), \\+{flipped}(X,V).",
        f"{after}(X,W) :- {before}(X,V), {flip}(X,V,W).",
    ]
