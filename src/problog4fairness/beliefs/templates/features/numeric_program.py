"""Measurement bias of numbers as a program, in words and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from problog4fairness.beliefs.describe.diagrams import OTHERS, sensitive
from problog4fairness.beliefs.templates.features.measurement_model import NEUTRAL
from problog4fairness.beliefs.variables import goal
from problog4fairness.data import Floats, Sensitive
from problog4fairness.program import Node, comment, number
from problog4fairness.statistics import Parameter

# A parameter in a sentence: where it is not known, and what stands before it where it is.
_WORDS = {
    "factor": ("a factor", ""),
    "shift": ("an amount", ""),
    "noise": ("a standard deviation", "a standard deviation of "),
    "mean": ("a mean", "a mean of "),
    "spread": ("a standard deviation", "a standard deviation of "),
}


def with_interval(own: Parameter) -> str:
    """The value of a parameter with its interval."""
    if own.value is None:
        return "unknown"
    known = "" if own.low is None or own.high is None else f" ({own.low:.4g} to {own.high:.4g})"
    return f"{own.value:.4g}{known}"


def numeric_rules(
    variable: Sensitive, names: Mapping[str, str], nodes: Floats, weights: Floats, fair: str, asked: str
) -> list[str]:
    """The clauses that make ``fair`` of what the classifier is ``asked`` about each point, in paragraphs.

    Parameters
    ----------
    variable
        The sensitive variable.
    names
        The name of each feature in the program.
    nodes, weights
        The points of a standard normal number.
    fair, asked
        Predicates.
    """
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


def numeric_words(variable: Sensitive, groups: Mapping[tuple[str, int], Mapping[str, Parameter]]) -> list[str]:
    """A sentence for each feature and group; the parameters are by what they are: factor, shift and so on."""
    sentences = []
    for (feature, level), parameters in reversed(list(groups.items())):
        words = {kind: _in_words(kind, parameters.get(kind)) for kind in NEUTRAL}
        sentences.append(
            f"Where {variable.group_text(level)}, the recorded {feature} is the fair one times {words['factor']}, plus "
            f"{words['shift']}, plus chance with {words['noise']}; fair values have {words['mean']} and "
            f"{words['spread']}."
        )
    return sentences


def _in_words(kind: str, parameter: Parameter | None) -> str:
    unknown, before = _WORDS[kind]
    if parameter is not None and parameter.value is None:
        return f"{unknown} that is not known yet"
    return f"{before}{f'{NEUTRAL[kind]:g}' if parameter is None else with_interval(parameter)}"


def numeric_nodes(variable: Sensitive, names: Mapping[str, Sequence[str]]) -> list[Node]:
    """The fair numbers, which nobody has seen, and the recorded ones below them; with the parameters of each."""
    nodes = [Node(OTHERS, observed=True), *sensitive([variable])]
    for feature, parameters in names.items():
        fair = tuple(name for name in parameters if name.startswith(("mean(", "spread(")))
        moved = tuple(name for name in parameters if name not in fair)
        nodes.append(Node(f"{feature} (fair)", variable.columns, fair))
        nodes.append(Node(f"{feature} (recorded)", (f"{feature} (fair)", *variable.columns), moved, observed=True))
    return nodes
