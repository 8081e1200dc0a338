"""A compiled program as plain data: what leaves the worker, lies in the cache, and builds a :class:`Circuit`.

Nodes are numbered: 0 is false, 1 is true, ``2 + 2 i`` says that variable i holds and ``3 + 2 i`` that it does not; the
decision nodes follow, children before parents. A decision node is a list of pairs (prime, sub); its value is the sum of
the products of its pairs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

FALSE, TRUE, FIRST_LITERAL = 0, 1, 2
_SPACES = re.compile(r"('[^']*')|\s+")


@dataclass(frozen=True)
class Structure:
    """A compound ground term: ``x_(1,0)``."""

    functor: str
    arguments: tuple[Ground, ...]

    def __str__(self) -> str:
        return call_text(self.functor, self.arguments)


Ground: TypeAlias = int | float | str | Structure | tuple["Ground", ...]


def ground_text(term: Ground) -> str:
    """The term as ProbLog text, without spaces."""
    if isinstance(term, tuple):
        return "[" + ",".join(map(ground_text, term)) + "]"
    return str(term)


def call_text(name: str, arguments: tuple[Ground, ...]) -> str:
    """``name(arg,...)``, or the bare name where there are no arguments."""
    return f"{name}({','.join(map(ground_text, arguments))})" if arguments else name


def spaceless(name: str) -> str:
    """A name without spaces, except inside quotes."""
    return _SPACES.sub(lambda match: match.group(1) or "", name)


def to_json(term: Ground) -> Any:
    """The term as JSON."""
    if isinstance(term, Structure):
        return {"functor": term.functor, "arguments": [to_json(a) for a in term.arguments]}
    if isinstance(term, tuple):
        return [to_json(a) for a in term]
    return term


def from_json(value: Any) -> Ground:
    """The inverse of :func:`to_json`."""
    if isinstance(value, dict):
        return Structure(str(value["functor"]), tuple(from_json(a) for a in value["arguments"]))
    if isinstance(value, list):
        return tuple(from_json(a) for a in value)
    if isinstance(value, (int, float, str)):
        return value
    raise ValueError(f"not a ground term: {value!r}")


@dataclass(frozen=True)
class Leaf:
    r"""A value that a program leaves open: one output of a network, or one parameter.

    Attributes
    ----------
    kind
        ``"network"`` or ``"parameter"``.
    name, arguments
        ``h`` and ``("x",)`` for ``nn(h,x)``; ``p1`` and ``(3,)`` for ``p1(3)``.
    outcomes
        The outcomes of a network that has more than two, otherwise None.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> circuit = p4f.Program(r"nn(h,X) :: y(X). p1(N) :: lost(N). z :- y(x), \+lost(3). ?- z.").compile()
    >>> [(leaf.kind, str(leaf)) for leaf in circuit.leaves]
    [('network', 'h(x)'), ('parameter', 'p1(3)')]
    """

    kind: Literal["network", "parameter"]
    name: str
    arguments: tuple[Ground, ...] = ()
    outcomes: tuple[Ground, ...] | None = None

    def __str__(self) -> str:
        return call_text(self.name, self.arguments)


@dataclass(frozen=True)
class Query:
    """A query, and the nodes of "it holds" and "it does not hold" (both together with the evidence)."""

    name: str
    true: int
    false: int


@dataclass(frozen=True)
class Variable:
    """A Boolean variable of the circuit: the atom it decides, and its weight as a nested list (see :mod:`.weights`)."""

    name: str
    weight: tuple[Any, ...]


@dataclass(frozen=True)
class Group:
    """Variables of which exactly one holds: the heads of an annotated disjunction, and "none of them"."""

    members: tuple[int, ...]
    extra: int


@dataclass(frozen=True)
class CircuitData:
    """A compiled program."""

    leaves: tuple[Leaf, ...]
    variables: tuple[Variable, ...]
    groups: tuple[Group, ...]
    nodes: tuple[tuple[tuple[int, int], ...], ...]
    queries: tuple[Query, ...]
    evidence: int
    conditioned: bool
    seconds: float

    @property
    def first_decision(self) -> int:
        """The number of the first decision node."""
        return FIRST_LITERAL + 2 * len(self.variables)

    @property
    def roots(self) -> list[int]:
        """The nodes that are asked for: the evidence; then, for each query, that it does not hold and that it holds."""
        return [self.evidence, *(root for query in self.queries for root in (query.false, query.true))]

    @property
    def edges(self) -> int:
        """Number of products that one evaluation computes."""
        return sum(map(len, self.nodes))

    @classmethod
    def from_json(cls, value: Any) -> CircuitData:
        """Read what the worker or the cache gives; raises ValueError where it does not hang together."""
        try:
            data = cls(
                leaves=tuple(_leaf(leaf) for leaf in value["leaves"]),
                variables=tuple(Variable(v["name"], _tupled(v["weight"])) for v in value["variables"]),
                groups=tuple(Group(tuple(g["members"]), g["extra"]) for g in value["groups"]),
                nodes=tuple(tuple((p, s) for p, s in node) for node in value["nodes"]),
                queries=tuple(Query(q["name"], q["true"], q["false"]) for q in value["queries"]),
                evidence=value["evidence"],
                conditioned=value["conditioned"],
                seconds=float(value["seconds"]),
            )
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"not a compiled program: {error!r}") from None
        data._check()
        return data

    def _check(self) -> None:
        first = self.first_decision
        for number, node in enumerate(self.nodes, start=first):
            if not all(0 <= child < number for pair in node for child in pair):
                raise ValueError("a node refers to a later node")
        if not all(0 <= root < first + len(self.nodes) for root in self.roots):
            raise ValueError("a query refers to a node that does not exist")
        members = [variable for group in self.groups for variable in (*group.members, group.extra)]
        if not all(0 <= variable < len(self.variables) for variable in members):
            raise ValueError("a group refers to a variable that does not exist")


def _leaf(value: Any) -> Leaf:
    outcomes = value.get("outcomes")
    return Leaf(
        kind=value["kind"],
        name=value["name"],
        arguments=tuple(from_json(argument) for argument in value["arguments"]),
        outcomes=None if outcomes is None else tuple(from_json(outcome) for outcome in outcomes),
    )


def _tupled(value: Any) -> Any:
    return tuple(_tupled(item) for item in value) if isinstance(value, list) else value
