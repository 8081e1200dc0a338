"""Clauses that turn one of several values into another, with a probability for each group and pair of values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from problog4fairness.beliefs.variables import goal
from problog4fairness.data import Sensitive
from problog4fairness.program import atom, number
from problog4fairness.statistics import Parameter, known_values


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
    for (group, old, new), own in chances.items():
        weight = number(used[own.name]) if own.name in used else own.name
        outcome = f"{weight} :: {flip}(X,{atom(values[old])},{atom(values[new])})"
        heads.setdefault((group, old), []).append(outcome)
    facts = [" ;\n    ".join(own) + f" :- {goal(variable, group)}." for (group, _), own in heads.items()]
    return facts, [
        f"{flipped}(X,V) :- {flip}(X,V,_).",
        f"{after}(X,V) :- {before}(X,V), \\+{flipped}(X,V).",
        f"{after}(X,W) :- {before}(X,V), {flip}(X,V,W).",
    ]
