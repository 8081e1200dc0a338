"""What a program holds, and what in it looks like a slip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from problog4fairness.program.circuit.compiled import FALSE, TRUE, CircuitData
from problog4fairness.program.program import Network, Program

# Of each list that is shown to a person: so many names of so many characters.
SHOWN, LONGEST = 100, 200


@dataclass(frozen=True)
class Findings:
    """The result of :meth:`Program.check`."""

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


def check(program: Program) -> Findings:
    """See :meth:`Program.check`."""
    data = program.compiled()
    return Findings(
        networks=program.networks,
        parameters=program.parameters,
        queries=tuple(query.name for query in data.queries),
        evidence=program.evidence,
        nodes=len(data.nodes),
        edges=data.edges,
        variables=len(data.variables),
        seconds=data.seconds,
        warnings=tuple(_warnings(program, data)),
    )


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
    every = [name if len(name) <= LONGEST else f"{name[:LONGEST]} ..." for name in names]
    more = [f"and {len(every) - SHOWN:,} more"] if len(every) > SHOWN else []
    return ", ".join([*every[:SHOWN], *more]) or "none"
