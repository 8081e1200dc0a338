"""A program's causal graph, to read, to draw and to put into a paper.

Every random variable of the ground program is a box, with the probabilities that belong to it on its second line; an
arrow leads from what a variable depends on to the variable. As in the paper, a dashed outline says *unobserved*. What
a query or evidence names, and what a network other than the classifier reads off the data, is observed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.errors import LimitError, P4FError
from problog4fairness.program.sandbox.process import Limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf", ".mmd")
# A tint of sky blue from Okabe and Ito's palette, which colour-blind readers tell apart; in print it is a light grey.
CLASSIFIER_FILL, FILL, INK = "#9AD2F2", "#FFFFFF", "#1A1A1A"

MOST_BOXES, MOST_ARROWS = 400, 800  # in a picture
MOST_WEIGHTS = 5  # of a summarised predicate
LONGEST_LABEL = 240  # characters of a name, or of all weights of a node

_NETWORK = re.compile(r"(?<![\w'])nn\(('(?:[^'\\]|\\.)*'|\w+)[,)]")
_LONG = re.compile(r"(?<![\w.])\d+\.\d{5,}(?![\w.])")
# Mermaid reads a label as Markdown with HTML, so it is the harmless characters that are listed. An underscore is
# harmless after a letter or a digit; anywhere else it could begin emphasis.
_UNSAFE_IN_MERMAID = re.compile(r"[^\w (),.'+/=-]|(?<![^\W_])_")


@dataclass(frozen=True)
class Node:
    """One random variable of a ground program.

    Attributes
    ----------
    name
        The atom: ``label_neg_bias(x)``.
    parents
        The names of the atoms that its clauses depend on.
    weights
        The probabilities in front of its clauses: ``("p1", "p2")``.
    query
        Whether the program asks for it.
    observed
        Whether its value is known from the data; drawn with a solid outline, otherwise with a dashed one.
    classifier
        Whether it is an output of the network that is being trained; drawn with a fill.
    predicate
        Name and number of arguments, ``label_neg_bias/1``: what a large graph is summarised by.
    """

    name: str
    parents: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    query: bool = False
    observed: bool = False
    classifier: bool = False
    predicate: str = ""

    @property
    def remark(self) -> str:
        """Its weights for a label, numbers with four digits."""
        return ", ".join(_LONG.sub(lambda match: f"{float(match[0]):.4g}", weight) for weight in self.weights)


@dataclass(frozen=True)
class Diagram:
    """The causal graph of a program: read its ``nodes`` and ``edges``, draw it, or save it as a picture.

    A notebook shows it as a picture; ``print(diagram)`` gives its Mermaid text.
    """

    nodes: tuple[Node, ...]
    limits: Limits = field(default=Limits(), repr=False, compare=False)

    @classmethod
    def from_json(cls, value: Mapping[str, Any], classifier: str = "h", limits: Limits | None = None) -> Diagram:
        """The diagram of what :func:`.causal.causal_graph` returns, with the outputs of network ``classifier`` marked.

        An atom that several clauses define can have several entries there; here it is one node.
        """
        entries: dict[str, list[Mapping[str, Any]]] = {}
        for entry in value["nodes"]:
            entries.setdefault(entry["name"], []).append(entry)
        return cls(tuple(_node(name, same, classifier) for name, same in entries.items()), limits or Limits())

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The arrows, as pairs (parent, child) of names."""
        return tuple((parent, node.name) for node in self.nodes for parent in node.parents)

    def summary(self) -> Diagram:
        """The same graph with one node for all atoms of a predicate: ``edge/2 (870 atoms)``."""
        members: dict[str, list[Node]] = {}
        for node in self.nodes:
            members.setdefault(node.predicate or node.name, []).append(node)
        titles = {
            predicate: same[0].name if len(same) == 1 else f"{predicate} ({len(same)} atoms)"
            for predicate, same in members.items()
        }
        title_of = {node.name: titles[predicate] for predicate, same in members.items() for node in same}
        return Diagram(tuple(_merged(titles[key], same, title_of) for key, same in members.items()), self.limits)

    def drawable(self) -> Diagram:
        """One node for each predicate; an error where even that is too large for a picture."""
        diagram = self.summary()
        if len(diagram.nodes) > MOST_BOXES or len(diagram.edges) > MOST_ARROWS:
            raise too_large(diagram)
        return diagram

    def mermaid(self) -> str:
        """The diagram as a Mermaid flowchart, which GitHub and many editors show as a picture."""
        ids = {node.name: f"n{index}" for index, node in enumerate(self.nodes)}
        lines = ["flowchart LR"]
        for node in self.nodes:
            label = "<br/>".join(_mermaid_text(cut(part)) for part in (node.name, node.remark) if part)
            lines.append(f'    {ids[node.name]}["{label}"]')
        lines += [f"    {ids[parent]} --> {ids[child]}" for parent, child in self.edges]
        box = f"fill:{FILL},stroke:{INK},color:{INK}"
        lines += [
            f"    classDef observed {box}",
            f"    classDef unobserved {box},stroke-dasharray:5 3",
            # Later classes win: a classifier keeps its outline and gets its own fill.
            f"    classDef classifier fill:{CLASSIFIER_FILL},stroke-width:2px",
        ]
        for kind, members in (
            ("observed", [node for node in self.nodes if node.observed]),
            ("unobserved", [node for node in self.nodes if not node.observed]),
            ("classifier", [node for node in self.nodes if node.classifier]),
        ):
            if members:
                lines.append(f"    class {','.join(ids[node.name] for node in members)} {kind}")
        return "\n".join(lines) + "\n"

    __str__ = mermaid

    def draw(self, ax: Axes | None = None) -> Figure:
        """Draw on a new figure, as large as the graph needs, or on ``ax``, scaled to the size that it has now.

        No window opens and no global state of matplotlib changes.
        """
        from problog4fairness.program.diagram.plotting import draw

        return draw(self, ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a picture (``.svg``, ``.pdf``, or ``.png`` with 200 dpi) or the Mermaid text (``.mmd``).

        The same program gives the same bytes. The file is written whole or not at all.
        """
        from problog4fairness.data import write_atomically

        path = Path(path)
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            raise P4FError(f"cannot save a diagram as {path.name!r}; use one of the suffixes {', '.join(SUFFIXES)}")
        content = self.mermaid().encode() if suffix == ".mmd" else self._rendered(suffix[1:])
        write_atomically(path, content)

    def _rendered(self, kind: str) -> bytes:
        from problog4fairness.program.diagram.plotting import render

        return render(self, kind)

    def _repr_svg_(self) -> str:
        return self._rendered("svg").decode()


def _node(name: str, entries: Sequence[Mapping[str, Any]], classifier: str) -> Node:
    weights = sorted(weight for entry in entries for weight in entry["weights"])
    networks = {network.strip("'") for weight in weights for network in _NETWORK.findall(weight)}
    query = any(entry["query"] for entry in entries)
    return Node(
        name,
        parents=tuple(sorted({parent for entry in entries for parent in entry["parents"]} - {name})),
        weights=tuple(weights),
        query=query,
        observed=query or any(entry["evidence"] for entry in entries) or bool(networks - {classifier}),
        classifier=classifier in networks,
        predicate=entries[0].get("predicate", ""),
    )


def _merged(name: str, nodes: Sequence[Node], title_of: Mapping[str, str]) -> Node:
    parents = tuple(sorted({title_of[parent] for node in nodes for parent in node.parents} - {name}))
    if len(nodes) == 1:
        return replace(nodes[0], parents=parents)
    weights = sorted({_without_arguments(weight) for node in nodes for weight in node.weights})
    return Node(
        name,
        parents=parents,
        weights=tuple(weights[:MOST_WEIGHTS]) + (("...",) if len(weights) > MOST_WEIGHTS else ()),
        query=any(node.query for node in nodes),
        observed=all(node.observed for node in nodes),
        classifier=any(node.classifier for node in nodes),
        predicate=nodes[0].predicate,
    )


def _without_arguments(weight: str) -> str:
    """What the weights of many atoms have in common: ``p1`` of ``p1(3)``, ``nn(h)`` of ``nn(h,x_(0,1))``."""
    network = _NETWORK.match(weight)
    return f"nn({network[1]})" if network else re.sub(r"^([a-z]\w*)\(.*\)$", r"\1", weight)


def cut(text: str) -> str:
    """The text, or its beginning where it is too long for a label."""
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 4] + " ..."


def too_large(diagram: Diagram) -> LimitError:
    """The error for a diagram that cannot be drawn."""
    return LimitError(
        f"a graph of {len(diagram.nodes)} boxes and {len(diagram.edges)} arrows is too large for a picture; "
        "save its text, with the suffix .mmd, or draw a part of the program"
    )


def _mermaid_text(text: str) -> str:
    return _UNSAFE_IN_MERMAID.sub(lambda match: "#quot;" if match[0] == '"' else f"#{ord(match[0])};", text)
