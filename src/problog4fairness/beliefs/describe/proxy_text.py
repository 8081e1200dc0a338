"""P(group | proxies) as a user says it, and as a program has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from problog4fairness.beliefs.variables import declaration
from problog4fairness.data import Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import atom, comment, number
from problog4fairness.statistics import Parameter, known_values

# How far the probabilities of a table may be from a sum of 1.
ROUNDING = 1e-6
# Reads the recorded group, where there is one.
NETWORK = "known_group"


def stated_shares(key: Any, given: Any, variable: Sensitive) -> list[float | None]:
    """The probability of each group from what was said of a value of the proxies."""
    if given is None:
        return [None] * len(variable.levels)
    if isinstance(given, int | float) and variable.binary:
        return [1 - float(given), float(given)]
    whole = dict(given) if isinstance(given, Mapping) else given
    fits = isinstance(whole, dict) and set(whole) == set(variable.levels)
    if not fits or abs(sum(whole.values()) - 1) > ROUNDING:
        raise P4FError(f"shares of {key!r} must be one for each of {list(variable.levels)} and sum to 1, not {whole}")
    return [float(whole[level]) for level in variable.levels]


def proxy_text(group: Sensitive, proxies: Sequence[Sensitive], own: Sequence[Parameter], inner: str) -> str:
    """The program of a belief in which the group is recorded, or follows from the proxies.

    Parameters
    ----------
    group, proxies
        The sensitive variable, and what tells of it.
    own
        P(group | values of the proxies), by cell; the first group has what is left.
    inner
        The program in which the group is a network.
    """
    networks = [f"nn({NETWORK},[X],G,[{_listed(group)},missing]) :: {NETWORK}(X,G)."]
    networks += [f"nn({proxy.name},[X],V,[{_listed(proxy)}]) :: {proxy.name}(X,V)." for proxy in proxies]
    facts: list[str] = []
    used = known_values(own)
    cells: dict[int, dict[int, Parameter]] = {}
    for parameter in own:
        if parameter.cell is not None:
            cells.setdefault(parameter.cell.group, {})[parameter.cell.recorded] = parameter
    for place, key in enumerate(product(*(proxy.levels for proxy in proxies))):
        goals = ", ".join(f"{proxy.name}(X,{atom(value)})" for proxy, value in zip(proxies, key, strict=True))
        here = cells.get(place, {})
        weights = {level: number(used[p.name]) if p.name in used else p.name for level, p in here.items()}
        heads = [f"{weight} :: {_guess(group, level)}" for level, weight in weights.items()]
        facts.append(f"{'; '.join(heads)} :- {goals}.{here[1].remark if len(here) == 1 else ''}")
    rules = [clause for level in range(group.binary, len(group.levels)) for clause in _rules(group, level)]
    head = comment("The group is known of some people; of the others, proxies tell how likely it is.")
    inner = inner.replace(declaration(group) + "\n", "")
    return "\n\n".join([head, *("\n".join(part) for part in (networks, facts, rules)), inner])


def _rules(group: Sensitive, level: int) -> list[str]:
    """When somebody is of a group: it is known, or guessed; the first one where no other is."""
    name = atom(group.levels[level])
    goal = f"{group.name}(X)" if group.binary else f"{group.name}(X,{name})"
    guess = _guess(group, level) if level else ", ".join(f"\\+{_guess(group, k)}" for k in range(1, len(group.levels)))
    return [f"{goal} :- {NETWORK}(X,{name}).", f"{goal} :- {NETWORK}(X,missing), {guess}."]


def _guess(group: Sensitive, level: int) -> str:
    return "label_guess(X)" if group.binary else f"label_guess(X,{atom(group.levels[level])})"


def _listed(variable: Sensitive) -> str:
    return ",".join(map(atom, variable.levels))
