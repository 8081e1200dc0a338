"""From checked clauses to a circuit, as plain data.

problog grounds the program; PySDD compiles every query, together with the evidence and the constraints of annotated
disjunctions, into one shared sentential decision diagram. What leaves this module is JSON: numbered nodes, and for
every variable the weight that it gets later. Both truth values of every query are compiled, so that log P(query) and
log P(not query) can be computed without ever subtracting from 1.

This module runs in the worker process (see :mod:`.sandbox`), never in the caller's.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import problog.errors as problog_errors
from problog.engine import NonGroundProbabilisticClause, UnknownClause
from problog.eval_nodes import NegativeCycle
from problog.formula import LogicDAG, LogicFormula
from problog.logic import ArithmeticError as ProbLogArithmeticError
from problog.logic import Constant, Term
from problog.sdd_formula import SDD

from problog4fairness.errors import (
    DisjunctionError,
    GroundingError,
    InconsistentEvidenceError,
    LimitError,
    NegativeCycleError,
    NonGroundError,
    Place,
    ProbabilityError,
    ProgramError,
    ProgramSyntaxError,
    UnknownPredicateError,
)
from problog4fairness.program.circuit.compiled import FALSE, FIRST_LITERAL, TRUE, Ground, Structure, to_json
from problog4fairness.program.language.safety import SafeEngine
from problog4fairness.program.language.syntax import SUM_TOLERANCE, Syntax, parse, term_text


def compile_text(text: str) -> dict[str, Any]:
    """The circuit of a program, as JSON (see :class:`~problog4fairness.program.circuit.compiled.CircuitData`)."""
    syntax = parse(text)
    started = time.perf_counter()
    formula = ground(syntax)
    with problog_problems():
        diagram = SDD.create_from(LogicDAG.create_from(formula))
    weights = _Weights(diagram, syntax)
    nodes = _Nodes(weights)
    manager = diagram.get_manager()
    conditions = [diagram.get_constraint_inode()]
    for name, key in diagram.evidence():
        if diagram.is_false(key):
            raise InconsistentEvidenceError(f"the evidence on {term_text(name)} can never hold")
        conditions.append(diagram.get_inode(key))
    condition = manager.conjoin(*conditions)
    evidence = nodes.add(condition)
    if evidence == FALSE:
        raise InconsistentEvidenceError("the evidence can never hold")
    queries = []
    for name, key in diagram.queries():
        truth = diagram.get_inode(key)
        queries.append(
            {
                "name": term_text(name),
                "true": nodes.add(manager.conjoin(truth, condition)),
                "false": nodes.add(manager.conjoin(manager.negate(truth), condition)),
            }
        )
    return {
        "leaves": weights.leaves,
        "variables": weights.variables,
        "groups": weights.groups,
        "nodes": nodes.elements,
        "queries": queries,
        "evidence": evidence,
        "conditioned": bool(diagram.evidence()),
        "seconds": time.perf_counter() - started,
    }


def ground(syntax: Syntax, **options: Any) -> Any:
    """The ground program, with problog's complaints as our own errors."""
    with problog_problems():
        formula = SafeEngine(label_all=True).ground_all(syntax, target=LogicFormula(**options))
        for name, key in formula.queries():
            if not name.is_ground() and formula.is_probabilistic(key):
                raise NonGroundError(f"the query {term_text(name)} still holds variables after grounding")
        return formula


# Our error for what problog raises, where its own message does not help.
_PROBLEMS: dict[type, tuple[type[ProgramError], str]] = {
    UnknownClause: (UnknownPredicateError, "nothing defines {0.signature}; define it, or correct its name or arity"),
    NonGroundProbabilisticClause: (NonGroundError, "this probabilistic fact holds variables; bind them in its body"),
    problog_errors.NonGroundQuery: (NonGroundError, "the query holds variables that nothing binds"),
    NegativeCycle: (NegativeCycleError, "an atom depends on its own negation"),
}


@contextmanager
def problog_problems() -> Iterator[None]:
    """Turn problog's errors into ours, with line and column where problog knows them."""
    try:
        yield
    except problog_errors.ProbLogError as error:
        if type(error) in _PROBLEMS:
            kind, message = _PROBLEMS[type(error)]
            raise kind(message.format(error), **_place(error.location)) from None
        message = str(getattr(error, "base_message", error)).rstrip(".")
        message = message[:1].lower() + message[1:]
        arithmetic = isinstance(error, ProbLogArithmeticError)
        raise GroundingError(message.lower() if arithmetic else message, **_place(error.location)) from None
    except RecursionError:
        raise LimitError("the program is nested too deeply to be ground") from None


def _place(location: Any) -> Place:
    if isinstance(location, tuple) and len(location) == 3 and location[0] is None:
        return {"line": location[1], "column": location[2]}
    return {}


def to_ground(term: Any) -> Ground:
    """A problog term as a plain value."""
    if isinstance(term, Constant):
        value = term.functor
        return value.strip('"') if isinstance(value, str) else value
    if term.functor == "." and term.arity == 2:
        items = []
        while isinstance(term, Term) and term.functor == "." and term.arity == 2:
            items.append(to_ground(term.args[0]))
            term = term.args[1]
        return tuple(items)
    if term.args:
        return Structure(str(term.functor), tuple(to_ground(argument) for argument in term.args))
    return () if term.functor == "[]" else str(term.functor)


class _Weights:
    """The weight of every variable: a number, a parameter, a network's output, or arithmetic over these."""

    def __init__(self, diagram: Any, syntax: Syntax) -> None:
        self.leaves: list[dict[str, Any]] = []
        self.variables: list[dict[str, Any]] = []
        self.groups: list[dict[str, Any]] = []
        self._leaf_index: dict[str, int] = {}
        self._syntax = syntax
        atoms = sorted(diagram.var2atom.items())
        self.index = {variable: position for position, (variable, _) in enumerate(atoms)}
        by_atom = {atom: self.index[variable] for variable, atom in atoms}
        for _, atom in atoms:
            node = diagram.get_node(atom)
            name = _choice_head(node.name)
            weight = ["rest"] if node.is_extra else self._expression(node.probability, name)
            self.variables.append({"weight": weight, "name": name})
        for constraint in diagram.constraints():
            if constraint.is_nontrivial():
                members = sorted(by_atom[node] for node in constraint.nodes)
                self._check_sum(members)
                self.groups.append({"members": members, "extra": by_atom[constraint.extra_node]})

    def _check_sum(self, members: list[int]) -> None:
        weights = [self.variables[member]["weight"] for member in members]
        total = sum(weight[1] for weight in weights if weight[0] == "number")
        if total > 1 + SUM_TOLERANCE:
            names = "; ".join(self.variables[member]["name"] for member in members)
            raise DisjunctionError(f"the probabilities of {names} sum to {total:g}, which is more than 1")

    def _expression(self, term: Any, owner: str) -> list[Any]:
        expression = self._symbolic(term, owner)
        if expression[0] == "number" and not 0 <= expression[1] <= 1:
            raise ProbabilityError(f"probability {expression[1]:g} of {owner} is not between 0 and 1")
        return expression

    def _symbolic(self, term: Any, owner: str) -> list[Any]:
        if isinstance(term, Constant):
            if not (term.is_float() or term.is_integer()):
                raise ProgramSyntaxError(f"the probability {term} of {owner} is not a number")
            return ["number", float(term)]
        if not isinstance(term, Term) or term.functor in (".", "[]"):
            raise ProgramSyntaxError(f"the probability {term} of {owner} is not a number")
        functor = str(term.functor).strip("'")
        if functor == "nn":
            return self._network(term)
        if functor in ("+", "-", "*", "/") and 1 <= term.arity <= 2:
            parts = [self._symbolic(argument, owner) for argument in term.args]
            if any(part[0] != "number" for part in parts):
                if functor == "/" and parts[1][0] != "number":
                    raise ProgramSyntaxError(f"the probability {term_text(term)} of {owner} divides by a parameter")
                return [functor, *parts]
        value = self._number(term)
        if value is not None:
            return ["number", value]
        return ["leaf", self._leaf({"kind": "parameter", "name": functor, "arguments": _arguments(term.args)})]

    def _number(self, term: Any) -> float | None:
        try:
            value = term.compute_value()
        except ProbLogArithmeticError as error:
            if "Unknown function" in str(error):
                return None
            raise GroundingError(f"the probability {term_text(term)} cannot be computed: {error}") from None
        return None if value is None else float(value)

    def _network(self, term: Any) -> list[Any]:
        name, *rest = term.args
        declared = self._syntax.networks[term_text(name)]
        first = to_ground(rest[0]) if rest else ()
        several = declared["outcomes"] is not None
        if isinstance(first, tuple) and (several or len(rest) == 1):
            inputs = first
        else:
            inputs = (first,) if several else tuple(map(to_ground, rest))
        leaf = {"kind": "network", "name": term_text(name), "arguments": [to_json(value) for value in inputs]}
        if several:
            return ["outcome", self._leaf({**leaf, "outcomes": to_json(to_ground(rest[2]))}), int(rest[1])]
        return ["leaf", self._leaf(leaf)]

    def _leaf(self, leaf: dict[str, Any]) -> int:
        key = repr((leaf["kind"], leaf["name"], leaf["arguments"]))
        if key not in self._leaf_index:
            self._leaf_index[key] = len(self.leaves)
            self.leaves.append(leaf)
        return self._leaf_index[key]


def _arguments(terms: Any) -> list[Any]:
    return [to_json(to_ground(term)) for term in terms]


def _choice_head(name: Any) -> str:
    """``y(x)`` out of problog's ``choice(8,0,y(x),x)``."""
    if isinstance(name, Term) and name.functor == "choice" and name.arity >= 3:
        return term_text(name.args[2])
    return "" if name is None else term_text(name)


class _Nodes:
    """Numbers the nodes of a decision diagram, children first; equal nodes get one number."""

    def __init__(self, weights: _Weights) -> None:
        self.elements: list[list[list[int]]] = []
        self._weights = weights
        self._numbers: dict[int, int] = {}
        self._first = FIRST_LITERAL + 2 * len(weights.variables)

    def add(self, root: Any) -> int:
        """The number of ``root``; it and all below it get numbers."""
        pending = [root]
        while pending:
            node = pending[-1]
            if node.id in self._numbers:
                pending.pop()
            elif not node.is_decision():
                self._numbers[node.id] = self._constant_or_literal(node)
                pending.pop()
            else:
                pairs = [(prime, sub) for prime, sub in node.elements() if not sub.is_false()]
                missing = [child for pair in pairs for child in pair if child.id not in self._numbers]
                if missing:
                    pending.extend(missing)
                    continue
                self._numbers[node.id] = self._first + len(self.elements)
                self.elements.append([[self._numbers[p.id], self._numbers[s.id]] for p, s in pairs])
                pending.pop()
        return self._numbers[root.id]

    def _constant_or_literal(self, node: Any) -> int:
        if node.is_true():
            return TRUE
        if node.is_false():
            return FALSE
        position = self._weights.index[abs(node.literal)]
        return FIRST_LITERAL + 2 * position + int(node.literal < 0)
