"""What a program holds, and what in it looks like a slip."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from problog4fairness.program.data import FALSE, TRUE, CircuitData
from problog4fairness.program.program import Network, Program


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
        """Name and value of each finding, for a person."""
        evidence = ", ".join(atom if holds else f"\\+{atom}" for atom, holds in self.evidence)
        return [
            ("networks", ", ".join(map(_network_text, self.networks)) or "none"),
            ("parameters", ", ".join(self.parameters) or "none"),
            ("queries", ", ".join(self.queries)),
            ("evidence", evidence or "none"),
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
