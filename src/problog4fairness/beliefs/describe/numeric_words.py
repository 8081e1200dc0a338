"""Measurement bias of numbers as a program, in words and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from problog4fairness.beliefs.describe.diagrams import OTHERS, sensitive
from problog4fairness.beliefs.templates.features.measurement_model import NEUTRAL, Amount
from problog4fairness.beliefs.variables import declaration, goal, sensitive_comment
from problog4fairness.data import Floats, Sensitive
from problog4fairness.program import Node, comment, number

# An amount in a sentence: where it is not known, and what stands before it where it is.
_SAID = {
    "factor": ("a factor", ""),
    "shift": ("an amount", ""),
    "noise": ("a standard deviation", "a standard deviation of "),
    "mean": ("a mean", "a mean of "),
    "spread": ("a standard deviation", "a standard deviation of "),
}


def numeric_program(
    variable: Sensitive, names: Mapping[str, str], amounts: Sequence[Amount], nodes: Floats, weights: Floats
) -> str:
    """The label through every point of every group.

    Parameters
    ----------
    variable
        The sensitive variable.
    names
        The name of each feature in the program.
    amounts
        How they are recorded.
    nodes, weights
        The points of a standard normal number.
    """
    places = [f"K{i + 1}" for i in range(len(names))]
    head = [
        "Measurement bias of numbers: recorded = factor * fair + shift + noise, by group. The fair value of a row is",
        f"one of {len(nodes)} points: its mean, given the recorded value and the group, plus a multiple of its",
        f"standard deviation. x_(g,{','.join(places).lower()}) is the row with fair values at these points, by the "
        "numbers of group g.",
        sensitive_comment(variable),
        *(f"{own.name}, {own.meaning}: {own}" for own in amounts),
    ]
    start = [comment(*head), declaration(variable) + "\nnn(h,X) :: y_h(X)."]
    return "\n\n".join([*start, *numeric_rules(variable, names, nodes, weights), "?- y(x)."]) + "\n"


def numeric_rules(
    variable: Sensitive, names: Mapping[str, str], nodes: Floats, weights: Floats, fair: str = "y", asked: str = "y_h"
) -> list[str]:
    """The clauses that make ``fair`` of what the classifier is ``asked`` about each point, in paragraphs."""
    places, parts = [f"K{i + 1}" for i in range(len(names))], []
    multiples = ", ".join(f"{z:.4f}" for z in nodes)
    for feature, name in names.items():
        points = " ;\n    ".join(f"{number(w)} :: {name}(X,{k + 1})" for k, w in enumerate(weights))
        parts.append(f"{comment(f'{feature}: at its mean plus {multiples} standard deviations')}\n{points}.")
    at = ", ".join(f"{name}(X,{place})" for name, place in zip(names.values(), places, strict=True))
    rules = [
        f"{fair}(X) :- {goal(variable, level)}, {at}, {asked}(x_({level},{','.join(places)}))."
        for level in range(len(variable.levels))
    ]
    return [*parts, "\n".join(rules)]


def numeric_words(variable: Sensitive, gauges: Mapping[tuple[str, int], Mapping[str, Amount]]) -> list[str]:
    """A sentence for each feature and group."""
    found = []
    for (feature, level), own in reversed(list(gauges.items())):
        said = {kind: _said(kind, own.get(kind)) for kind in NEUTRAL}
        found.append(
            f"Where {variable.group_text(level)}, the recorded {feature} is the fair one times {said['factor']}, plus "
            f"{said['shift']}, plus chance with {said['noise']}; fair values have {said['mean']} and {said['spread']}."
        )
    acting = {level for _, level in gauges}
    untouched = [variable.group_text(level) for level in range(len(variable.levels)) if level not in acting]
    return found + [f"Where {group}, recorded numbers are taken as right." for group in untouched]


def _said(kind: str, amount: Amount | None) -> str:
    unknown, before = _SAID[kind]
    if amount is not None and amount.value is None:
        return f"{unknown} that is not known yet"
    return f"{before}{f'{NEUTRAL[kind]:g}' if amount is None else amount}"


def numeric_nodes(variable: Sensitive, features: Sequence[str], amounts: Sequence[Amount]) -> list[Node]:
    """The fair numbers, which nobody has seen, and the recorded ones below them."""
    nodes = [Node(OTHERS, observed=True), *sensitive([variable])]
    for name in features:
        own = [amount for amount in amounts if amount.feature == name]
        fair = tuple(amount.name for amount in own if amount.measure in ("mean", "spread"))
        moved = tuple(amount.name for amount in own if amount.name not in fair)
        nodes.append(Node(f"{name} (fair)", variable.columns, fair))
        nodes.append(Node(f"{name} (recorded)", (f"{name} (fair)", *variable.columns), moved, observed=True))
    return nodes
