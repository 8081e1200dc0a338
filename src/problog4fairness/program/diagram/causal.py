"""The causal graph of a ground program: which random variable depends on which.

This module runs in the worker process (see :mod:`.sandbox`), never in the caller's.
"""

from __future__ import annotations

from typing import Any

from problog.logic import Term

from problog4fairness.program.circuit.grounding import ground
from problog4fairness.program.language.syntax import parse, term_text

_INTERNAL = ("choice", "body_")


def causal_graph(text: str) -> dict[str, Any]:
    """Nodes with their weights and parents, as JSON.

    Every atom that depends on at least one probabilistic choice is a node, and so is every query. The parents of a node
    are the atoms in the bodies of its ground clauses.
    """
    syntax = parse(text)
    formula = ground(syntax, keep_all=True, avoid_name_clash=True)
    nodes = {index: node for index, node, _ in formula}
    queries = {term_text(name): key for name, key in formula.queries()}
    evidence = {term_text(abs(name)) if name.is_negated() else term_text(name) for name, _ in formula.evidence()}
    names = {index: name for index, node in nodes.items() if (name := _user_name(node)) is not None}
    for name, key in queries.items():
        if key is not None and key != 0 and abs(key) not in names:
            names[abs(key)] = name
    predicates = {name: str(nodes[index].name.signature) for index, name in names.items() if nodes[index].name}
    predicates |= {term_text(name): str(name.signature) for name, _ in formula.queries()}
    random = _random(nodes)
    graph = []
    for index, name in names.items():
        if index not in random and name not in queries:
            continue
        parents, weights = _parents(index, nodes, names, random)
        graph.append(
            {
                "name": name,
                "predicate": predicates.get(name, name),
                "parents": sorted({names[parent] for parent in parents}),
                "weights": weights,
                "query": name in queries,
                "evidence": name in evidence,
            }
        )
    for name, key in queries.items():
        if key is None or key == 0:
            unrelated = {"parents": [], "weights": [], "query": True, "evidence": False}
            graph.append({"name": name, "predicate": predicates[name], **unrelated})
    return {"nodes": graph}


def _user_name(node: Any) -> str | None:
    name = getattr(node, "name", None)
    if not isinstance(name, Term) or str(name.functor).startswith(_INTERNAL) or str(name) == "true":
        return None
    return term_text(name)


def _random(nodes: dict[int, Any]) -> set[int]:
    """The nodes that depend on a probabilistic choice; a fixed point, because a ground program may hold cycles."""
    random = {
        index for index, node in nodes.items() if type(node).__name__ == "atom" and node.probability not in (None, True)
    }
    changed = True
    while changed:
        changed = False
        for index, node in nodes.items():
            if index not in random and any(abs(child) in random for child in getattr(node, "children", ()) if child):
                random.add(index)
                changed = True
    return random


def _parents(index: int, nodes: dict[int, Any], names: dict[int, str], random: set[int]) -> tuple[set[int], list[str]]:
    """The named random nodes right below ``index``, and the weights of the choices that belong to it."""
    parents: set[int] = set()
    weights: list[str] = []
    visited = {index}
    pending = [index]
    while pending:
        node = nodes[pending.pop()]
        if type(node).__name__ == "atom":
            if node.probability not in (None, True):
                weights.append(term_text(node.probability))
            continue
        for child in node.children:
            child = abs(child or 0)
            if child == 0 or child in visited or child not in random:
                continue
            visited.add(child)
            if child in names and child != index:
                parents.add(child)
            else:
                pending.append(child)
    return parents, sorted(weights)
