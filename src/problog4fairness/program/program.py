"""A ProbLog program as a value: read it, bind its parameters, compile it, ask it."""

from __future__ import annotations

import html
import numbers
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.errors import (
    P4FError,
    ProbabilityError,
    ProgramSyntaxError,
    UnknownNameError,
    UnreadableFileError,
    among,
)
from problog4fairness.program.circuit.compiled import FALSE, TRUE, CircuitData, spaceless
from problog4fairness.program.sandbox.cache import MAX_TEXT, result_of
from problog4fairness.program.sandbox.process import Limits

if TYPE_CHECKING:
    from torch import Tensor

    from problog4fairness.program.circuit.circuit import Circuit
    from problog4fairness.program.circuit.weights import Values
    from problog4fairness.program.diagram.diagram import Diagram

# Of each list that is shown to a person: so many names of so many characters.
SHOWN, LONGEST = 100, 200
_FILE = re.compile(r"[^\n%:]{1,255}\.(pl|problog)")


@dataclass(frozen=True)
class Network:
    """A neural predicate: its name, how many inputs it takes, and its outcomes where it has more than two."""

    name: str
    inputs: int
    outcomes: tuple[str, ...] | None = None


@dataclass(frozen=True)
class LintResult:
    """The result of :meth:`Program.lint`."""

    networks: tuple[Network, ...]
    parameters: tuple[str, ...]
    queries: tuple[str, ...]
    evidence: tuple[tuple[str, bool], ...]
    nodes: int
    edges: int
    variables: int
    seconds: float
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """Name and value of each finding, for a person: the first ones where there are many."""
        evidence = _listed(atom if holds else f"\\+{atom}" for atom, holds in self.evidence)
        return [
            ("networks", _listed(map(_network_text, self.networks))),
            ("parameters", _listed(self.parameters)),
            ("queries", _listed(self.queries)),
            ("evidence", evidence),
            ("circuit", f"{self.nodes} nodes, {self.edges} edges, {self.variables} variables"),
            ("compiled in", f"{self.seconds * 1000:.0f} ms"),
        ]


class Program:
    r"""A ProbLog program. Immutable; two programs are equal when their clauses and bound parameters mean the same.

    Everything that ProbLog can say about facts, rules, negation, recursion, arithmetic, lists, annotated disjunctions
    and evidence is accepted, and means what ProbLog says it means. In addition:

    - ``nn(h,X) :: y(X)``: the probability comes from the network ``h``. ``nn(h,[X]) :: y(X)`` says the same, and
      ``nn(h,[X],Y,[a,b,c]) :: y(X,Y)`` is a network with several outcomes.
    - ``p1 :: f`` and ``p1(N) :: f(N)``: the probability is a named parameter; ``t(0.3) :: f`` is one that can be
      learned, called ``t_1``, ``t_2``, ... in the order of the text.
    - ``?- q.`` is a query, like ``query(q).``

    A program is read, ground and compiled in another process under ``limits``; it cannot run code, open files or hang
    the caller, whoever wrote it.

    Parameters
    ----------
    text
        The program.
    limits
        Time and memory that grounding and compiling may take.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> program = p4f.Program(r"p1 :: biased. granted :- \+biased. ?- granted.")
    >>> program.parameters
    ('p1',)
    >>> program.probability(parameters={"p1": 0.25})["granted"].item()
    0.75
    """

    def __init__(self, text: str, *, limits: Limits | None = None) -> None:
        self._set(text, limits or Limits(), None, {})

    @classmethod
    def _made(cls, *state: Any) -> Program:
        program = cls.__new__(cls)
        program._set(*state)
        return program

    def _set(self, text: str, limits: Limits, source: str | None, bound: dict[str, float]) -> None:
        if not isinstance(text, str):
            raise ProgramSyntaxError(f"a program is text, not {type(text).__name__}")
        if source is None and _FILE.fullmatch(text.strip()):
            raise ProgramSyntaxError(
                f"{text.strip()!r} is the name of a file, not a program; Program.from_file(...) reads one, and "
                "read_belief takes a pathlib.Path"
            )
        self._text = text
        self._limits = limits
        self._source = source
        self._bound = bound
        self._summary = result_of("read", text, limits, source)

    @classmethod
    def from_file(cls, path: str | PathLike[str], *, limits: Limits | None = None) -> Program:
        """Read a program from a UTF-8 file; errors name the file."""
        return cls._made(read_text(path), limits or Limits(), str(path), {})

    @property
    def limits(self) -> Limits:
        """Time and memory that grounding and compiling may take; on the rows of a table, one pass has the time, too."""
        return self._limits

    @property
    def text(self) -> str:
        """The program as it was written."""
        return self._text

    @property
    def networks(self) -> tuple[Network, ...]:
        """The neural predicates."""
        return tuple(
            Network(n["name"], n["inputs"], None if n["outcomes"] is None else tuple(n["outcomes"]))
            for n in self._summary["networks"]
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters, bound or not."""
        return tuple(parameter["name"] for parameter in self._summary["parameters"])

    @property
    def bound(self) -> dict[str, float]:
        """The parameters that have a value: bound ones, and learnable ones with a starting value."""
        starts = {p["name"]: p["default"] for p in self._summary["parameters"] if p["default"] is not None}
        return {**starts, **self._bound}

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries as they are written; a compiled circuit has the ground ones."""
        return tuple(self._summary["queries"])

    @property
    def evidence(self) -> tuple[tuple[str, bool], ...]:
        """What is known to be true or false."""
        return tuple((atom, value) for atom, value in self._summary["evidence"])

    def bind(self, parameters: Mapping[str, float]) -> Program:
        """The same program with values for some of its parameters.

        ``{"p1": 0.3}`` gives all of ``p1``, ``p1(1)``, ``p1(2)``, ... that value; ``{"p1(2)": 0.4}`` one of them.
        """
        values = {spaceless(name): value for name, value in parameters.items()}
        for name, value in values.items():
            if name not in self.parameters and name.partition("(")[0] not in self.parameters:
                raise UnknownNameError(
                    f"the program has no parameter {name!r}; {among(name, self.parameters, 'it has')}"
                )
            if not _is_probability(value):
                raise ProbabilityError(f"probability {value!r} of parameter {name} is not between 0 and 1")
        bound = {**self._bound, **{name: float(value) for name, value in values.items()}}
        return Program._made(self._text, self._limits, self._source, bound)

    def compile(self) -> Circuit:
        """Ground and compile. Done once for a text: the result is kept in memory and in the user's cache folder."""
        from problog4fairness.program.circuit.circuit import Circuit

        return Circuit(self.compiled(), self.bound, [network.name for network in self.networks], self.parameters)

    def compiled(self) -> CircuitData:
        """The compiled program as plain data, without torch."""
        data: CircuitData = result_of("compile", self._text, self._limits, self._source)
        return data

    def probability(
        self, nn: Values | None = None, parameters: Values | None = None, *, logits: Values | None = None
    ) -> dict[str, Tensor]:
        """P(query | evidence) for each query; see :meth:`Circuit.probability` for what the values may be."""
        circuit = self.compile()
        values = circuit.probability(nn, parameters, logits=logits)
        return dict(zip(circuit.queries, values.unbind(-1), strict=True))

    def diagram(self, classifier: str = "h") -> Diagram:
        """The causal picture: one node per predicate, dashed where it is not observed.

        Its ``nodes`` and the Mermaid text have one for each random variable of the ground program.

        Parameters
        ----------
        classifier
            The network that is the classifier; all others are columns of the data, hence observed.
        """
        from problog4fairness.program.diagram.diagram import Diagram

        graph = result_of("diagram", self._text, self._limits, self._source)
        return Diagram.from_json(graph, classifier=classifier, limits=self._limits)

    def lint(self) -> LintResult:
        """Compile, and list what the program has: sizes, and warnings about what looks like a slip."""
        data = self.compiled()
        return LintResult(
            networks=self.networks,
            parameters=self.parameters,
            queries=tuple(query.name for query in data.queries),
            evidence=self.evidence,
            nodes=len(data.nodes),
            edges=data.edges,
            variables=len(data.variables),
            seconds=data.seconds,
            warnings=tuple(_warnings(self, data)),
        )

    def __str__(self) -> str:
        bound = "".join(f"% {name} = {value:g}\n" for name, value in sorted(self._bound.items()))
        return bound + self._text

    def _repr_html_(self) -> str:
        """In a notebook: its picture, and what it leaves open."""
        try:
            svg = self.diagram()._repr_svg_()
            picture = svg[svg.find("<svg") :]
        except P4FError as error:
            picture = f"<p>{html.escape(str(error))}</p>"
        names = [*(f"nn({network.name})" for network in self.networks), *self.parameters]
        left = ", ".join(name for name in names if name not in self._bound) or "nothing"
        return f"<div>{picture}<p>Left open: {html.escape(left)}.</p></div>"

    def __repr__(self) -> str:
        parts = [f"networks={[n.name for n in self.networks]}", f"parameters={list(self.parameters)}"]
        if self._bound:
            parts.append(f"bound={self._bound}")
        return f"Program(queries={list(self.queries)}, {', '.join(parts)})"

    def _meaning(self) -> tuple[Any, ...]:
        return tuple(self._summary["canonical"]), frozenset(self._bound.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self._meaning() == other._meaning()

    def __hash__(self) -> int:
        return hash(self._meaning())

    def __reduce__(self) -> tuple[Any, ...]:
        return Program._made, (self._text, self._limits, self._source, self._bound)


def _is_probability(value: Any) -> bool:
    return isinstance(value, numbers.Real) and 0 <= float(value) <= 1


def read_text(path: str | PathLike[str]) -> str:
    """The text of a program file, or the error that says why it has none."""
    file = Path(path)
    source = str(path)
    try:
        if not file.is_file():
            reason = (
                "is a folder" if file.is_dir() else "does not exist" if not file.exists() else "is not a plain file"
            )
            raise UnreadableFileError(f"the file {reason}", source=source)
        with file.open("rb") as handle:
            content = handle.read(MAX_TEXT + 1)
    except OSError as error:
        raise UnreadableFileError(f"the file cannot be read: {error.strerror}", source=source) from None
    if b"\0" in content:
        raise UnreadableFileError("the file holds binary data, not a program", source=source)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UnreadableFileError("the file is not UTF-8; save it as UTF-8", source=source, line=line) from None


def _warnings(program: Program, data: CircuitData) -> list[str]:
    used = {(leaf.kind, name) for leaf in data.leaves for name in (leaf.name, str(leaf))}
    warnings = [
        f"network {network.name} does not matter for any query"
        for network in program.networks
        if ("network", network.name) not in used
    ]
    warnings += [
        f"parameter {name} does not matter for any query"
        for name in program.parameters
        if ("parameter", name) not in used and ("parameter", name.partition("/")[0]) not in used
    ]
    for query in data.queries:
        if query.true in (FALSE, TRUE) or query.false == FALSE:
            always = "false" if query.true == FALSE else "true"
            warnings.append(f"query {query.name} is always {always}, whatever the networks and parameters say")
    return warnings


def _network_text(network: Network) -> str:
    inputs = "" if network.inputs == 1 else f"/{network.inputs}"
    return network.name + inputs + (f" ({', '.join(network.outcomes)})" if network.outcomes else "")


def _listed(names: Iterable[str]) -> str:
    """Names as a person may want to read them."""
    texts = [name if len(name) <= LONGEST else f"{name[:LONGEST]} ..." for name in names]
    more = [f"and {len(texts) - SHOWN:,} more"] if len(texts) > SHOWN else []
    return ", ".join([*texts[:SHOWN], *more]) or "none"
