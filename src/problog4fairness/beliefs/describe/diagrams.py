"""Pictures of beliefs: what is on record, what would be fair, and what made the one from the other.

As in the paper's first figure, an arrow leads from a cause to its effect, a dashed outline says that nobody has seen
it, and a fill that the classifier gives it. Names are the user's columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from problog4fairness.program import Diagram, Node

if TYPE_CHECKING:
    from problog4fairness.data import Sensitive
    from problog4fairness.statistics import Parameter

FEATURES, OTHERS = "features", "other features"
MOST_NAMES = 8  # of parameters in a box
_READ = re.compile(r"nn\((\w+),.*\)")


def sensitive(variables: Iterable[Sensitive]) -> list[Node]:
    """A node for each sensitive column, which is on record."""
    columns = dict.fromkeys(column for variable in variables for column in variable.columns)
    return [Node(column, observed=True) for column in columns]


def recorded(name: str, causes: Iterable[str], parameters: Iterable[Parameter]) -> Node:
    """What is on record, below what it came from; ``parameters`` say how it was distorted."""
    return Node(name, tuple(causes), _named(parameters), observed=True)


def _named(parameters: Iterable[Parameter]) -> tuple[str, ...]:
    """Their names, of many the first and the last ones; how many there are, where a name is a whole sentence."""
    parameters = list(parameters)
    names = [parameter.name for parameter in parameters]
    if any(parameter.called != parameter.name for parameter in parameters):
        return (f"{len(names)} probabilities",) if len(names) > 1 else ("a probability",)
    return tuple(names if len(names) <= MOST_NAMES else [*names[:2], "...", names[-1]])


def features(
    names: Iterable[str], groups: tuple[str, ...], parameters: Mapping[str, Iterable[Parameter]], fair: str = "fair"
) -> list[Node]:
    """Two nodes for each distorted feature: the fair one, which nobody has seen, and the recorded one."""
    return [
        node
        for name in names
        for node in (
            Node(f"{name} ({fair})"),
            recorded(f"{name} (recorded)", [f"{name} ({fair})", *groups], parameters[name]),
        )
    ]


def labelled(fair: str, variables: Iterable[Sensitive], *more: Node) -> Diagram:
    """A label that the classifier gives from features, and what came of it."""
    given = Node(fair, (FEATURES,), classifier=True)
    return Diagram((Node(FEATURES, observed=True), *sensitive(variables), given, *more))


def with_proxies(diagram: Diagram, group: str, proxies: Iterable[str], parameters: Iterable[Parameter]) -> Diagram:
    """A picture in which the group is not on record, and proxies tell of it."""
    unseen = Node(group, weights=_named(parameters))
    others = [node for node in diagram.nodes if node.name != group]
    return replace(diagram, nodes=(unseen, *(Node(proxy, (group,), observed=True) for proxy in proxies), *others))


def of_program(diagram: Diagram, columns: Mapping[str, str]) -> Diagram:
    """The picture of any program, one node for each predicate, with the columns that its networks read.

    Parameters
    ----------
    diagram
        The picture of all atoms.
    columns
        The column that each network other than the classifier reads.
    """

    def column_of(weight: str) -> str:
        network = _READ.fullmatch(weight)
        return columns.get(network[1], weight) if network else weight

    summary = diagram.summary()
    nodes = (replace(node, weights=tuple(dict.fromkeys(map(column_of, node.weights)))) for node in summary.nodes)
    return replace(summary, nodes=tuple(nodes))
