"""Random programs, and the comparison of their circuits with problog.

``python -m tests.fuzz N [--seed S]`` tries N programs and stops at the first one that comes out wrong. The same
generator feeds hypothesis (``cases()``), so ``make test`` runs a few hundred of them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch
from hypothesis import strategies as st
from problog.errors import ProbLogError
from torch import Tensor

from problog4fairness.errors import InconsistentEvidenceError, NegativeCycleError, P4FError
from problog4fairness.program import Circuit, CircuitData
from problog4fairness.program.circuit.grounding import compile_text
from problog4fairness.program.language.syntax import parse
from tests import oracle

EXACT, SINGLE = 1e-9, 1e-6
COLOURS = ("red", "green", "blue", "grey")


@dataclass(frozen=True)
class Case:
    """A program and a value for everything that it leaves open.

    ``loose`` names the networks that may have any other value too: no annotated disjunction limits them.
    """

    text: str
    nn: dict[str, Any]
    parameters: dict[str, float]
    loose: frozenset[str]

    def __str__(self) -> str:
        return f"{self.text}\n% nn={self.nn}\n% parameters={self.parameters}"


def cases(*, smooth: bool = False) -> st.SearchStrategy[Case]:
    """The generator as a hypothesis strategy."""
    return st.randoms(use_true_random=False).map(lambda rng: generate(rng, smooth=smooth))


def generate(rng: Random, *, smooth: bool = False) -> Case:
    """One random program. ``smooth``: all probabilities well inside (0, 1), where derivatives exist."""
    return _Writer(rng, smooth).write()


@dataclass
class _Writer:
    """Writes a program block by block; a block uses the atoms of earlier blocks, with or without negation."""

    rng: Random
    smooth: bool
    clauses: list[str] = field(default_factory=list)
    atoms: list[str] = field(default_factory=list)
    families: list[str] = field(default_factory=list)
    nn: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)
    from_networks: list[str] = field(default_factory=list)
    tight: set[str] = field(default_factory=set)
    unbound: set[str] = field(default_factory=set)
    names: Counter[str] = field(default_factory=Counter)

    def write(self) -> Case:
        blocks = [
            self.facts, self.family, self.family, self.disjunction, self.disjunction_family, self.network,
            self.network_family, self.outcomes, self.rules, self.rules, self.family_rule, self.graph, self.lists,
            self.counting,
        ]  # fmt: skip
        self.clauses.append("dom(1). dom(2). dom(3).")
        self.facts()
        if self.chance(0.7):
            known = len(self.atoms)
            self.rng.choice([self.network, self.network_family, self.outcomes])()
            self.from_networks = self.atoms[known:]
        for _ in range(self.rng.randint(1, 5)):
            self.rng.choice(blocks)()
        self.rules()
        self.rng.shuffle(self.clauses)
        self.queries()
        self.evidence()
        loose = frozenset(map(_network, self.nn)) - self.tight
        return Case("\n".join(self.clauses), self.nn, self.parameters, loose)

    # Pieces.

    def name(self, stem: str) -> str:
        self.names[stem] += 1
        return f"{stem}{self.names[stem]}"

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def value(self) -> float:
        if not self.smooth and self.chance(0.12):
            return float(self.rng.choice([0, 1]))
        return self.rng.randint(5, 95) / 100

    def parameter(self, value: float | None = None) -> str:
        """A parameter, sometimes one that is already there."""
        if value is None and self.parameters and self.chance(0.3):
            return self.rng.choice(sorted(self.parameters))
        name = self.name("p")
        if self.chance(0.3):
            name = f"{name}({self.rng.choice(['1', 'k', '2,k', 'f(k)'])})"
        self.parameters[name] = self.value() if value is None else value
        return name

    def weight(self) -> str:
        kind = self.rng.randint(0, 9)
        if kind < 6:
            return f"{self.value():g}"
        if kind < 8:
            return self.parameter()
        if kind == 8:
            return f"t({self.value():g})"
        return self.rng.choice(["1-{0}", "0.5*{0}", "{0}*{0}", "{0}/2", "0.25+{0}/2"]).format(self.parameter())

    def literal(self, positive: list[str]) -> str:
        if positive and self.chance(0.35):
            return self.rng.choice(positive)
        atom = self.rng.choice(self.from_networks if self.from_networks and self.chance(0.3) else self.atoms)
        return f"\\+{atom}" if self.chance(0.35) else atom

    def body(self, positive: list[str]) -> str:
        goals = [self.literal(positive) for _ in range(self.rng.randint(1, 3))]
        if len(goals) > 1 and self.chance(0.3):
            goals[:2] = [f"({goals[0]};{goals[1]})"]
        if self.chance(0.1):
            goals.append(f"\\+({self.rng.choice(self.atoms)},{self.rng.choice(self.atoms)})")
        if self.chance(0.1):
            goals.append(self.rng.choice(["1 < 2", "X is 1+2, X =:= 3", "a \\= b", "[U|V] = [1,2], U < 2", "true"]))
        return ", ".join(goals)

    def split(self, count: int) -> list[float]:
        """Probabilities that sum to at most 1; often to exactly 1, as far as floating point allows."""
        parts = [self.rng.randint(1, 9) for _ in range(count)]
        rest = self.rng.randint(2, 6) if self.smooth or self.chance(0.5) else 0
        values = [part / (sum(parts) + rest) for part in parts]
        return values if self.chance(0.5) else [math.floor(value * 100) / 100 for value in values]

    # Blocks.

    def facts(self) -> None:
        for _ in range(self.rng.randint(1, 3)):
            atom = self.name("f")
            self.clauses.append(f"{self.weight()}::{atom}.")
            self.atoms.append(atom)

    def family(self) -> None:
        """A fact for every member of the domain: its weight a number, a parameter, p(X), or computed from X."""
        name = self.name("u")
        kind = self.rng.randint(0, 3)
        if kind == 0:
            self.clauses.append(f"{self.weight()}::{name}(X) :- dom(X).")
        elif kind == 1:
            self.clauses += [f"{self.weight()}::{name}({x})." for x in self.rng.sample([1, 2, 3], 2)]
            self.clauses.append(f"{name}(X) :- dom(X), X > 2, {self.rng.choice(self.atoms)}.")
        elif kind == 2:
            parameter = self.name("p")
            self.parameters |= {f"{parameter}({x})": self.value() for x in (1, 2, 3)}
            self.clauses.append(f"{parameter}(X)::{name}(X) :- dom(X).")
        else:
            low = self.rng.randint(1, 4)
            self.clauses.append(f"P::{name}(X) :- dom(X), P is (X+{low})/{low + 5}.")
        self._add_family(name)

    def _add_family(self, name: str) -> None:
        self.families.append(name)
        self.atoms += [f"{name}({x})" for x in (1, 2, 3)]

    def disjunction(self) -> None:
        count = self.rng.randint(2, 4)
        atoms = [self.name("d") for _ in range(count)]
        heads = []
        for atom, value in zip(atoms, self.split(count), strict=True):
            kind = self.rng.randint(0, 5)
            weight = f"{value!r}"
            if kind == 0:
                weight = self.parameter(value)
            elif kind == 1:
                network = self.name("h")
                self.nn[network], weight = value, f"nn({network},x)"
                self.tight.add(network)
            heads.append(f"{weight}::{atom}")
        body = f" :- {self.body(atoms if self.chance(0.2) else [])}" if self.chance(0.4) else ""
        self.clauses.append("; ".join(heads) + body + ".")
        self.atoms += self.rng.sample(atoms, self.rng.randint(1, count))

    def disjunction_family(self) -> None:
        name = self.name("c")
        count = self.rng.randint(2, 4)
        heads = [f"{v!r}::{name}(X,{c})" for v, c in zip(self.split(count), COLOURS, strict=False)]
        condition = f", {self.rng.choice(self.families)}(X)" if self.families and self.chance(0.4) else ""
        self.clauses.append("; ".join(heads) + f" :- dom(X){condition}.")
        self.atoms += [f"{name}({self.rng.randint(1, 3)},{c})" for c in COLOURS[:count]]

    def network(self) -> None:
        name = self.name("h")
        self.nn[name] = self.value()
        form = self.rng.choice(["nn({0},x)", "nn({0},[x])", "nn({0},[x,z(1,0)])", "nn({0},x_(0,1))"]).format(name)
        for _ in range(self.rng.randint(1, 2)):  # used twice, it is two independent facts with one weight
            atom = self.name("y")
            body = f" :- {self.body([])}" if self.chance(0.2) else ""
            self.clauses.append(f"{form}::{atom}{body}.")
            self.atoms.append(atom)

    def network_family(self) -> None:
        network, name = self.name("h"), self.name("y")
        if self.chance(0.5):
            self.nn |= {f"{network}({x})": self.value() for x in (1, 2, 3)}
        else:
            self.nn[network] = self.value()
        form = self.rng.choice([f"nn({network},X)", f"nn({network},[X])"])
        if self.chance(0.5):
            self.clauses.append(f"{form}::{name}(X).")
            self.atoms += [f"{name}({x})" for x in (1, 2, 3)]
            self.unbound.add(name)
        else:
            self.clauses.append(f"{form}::{name}(X) :- dom(X), {self.literal([])}.")
            self._add_family(name)

    def outcomes(self) -> None:
        network, name = self.name("h"), self.name("o")
        count = self.rng.randint(2, 4)
        outcomes = [*COLOURS[: count - 1], self.rng.choice(["7", "v(1)", "black"])]
        values = self.split(count)
        if not self.smooth and self.chance(0.1):
            values = [0.0] * count
        values[-1] = 1 - sum(values[:-1])
        self.nn[network] = tuple(values)
        shown = ",".join(outcomes)
        if self.chance(0.5):
            body = f" :- {self.body([])}" if self.chance(0.3) else ""
            self.clauses.append(f"nn({network},[x],Y,[{shown}])::{name}(Y){body}.")
            self.atoms += self.rng.sample([f"{name}({o})" for o in outcomes], self.rng.randint(1, count))
        else:
            self.clauses.append(f"nn({network},[X],Y,[{shown}])::{name}(X,Y) :- dom(X).")
            self.atoms += [f"{name}({self.rng.randint(1, 3)},{o})" for o in outcomes]

    def rules(self) -> None:
        """Atoms that may depend on each other, in circles too, but never through negation."""
        atoms = [self.name("r") for _ in range(self.rng.randint(1, 3))]
        for atom in atoms:
            for _ in range(self.rng.randint(1, 3)):
                weight = f"{self.weight()}::" if self.chance(0.25) else ""
                self.clauses.append(f"{weight}{atom} :- {self.body(atoms)}.")
        self.atoms += atoms

    def family_rule(self) -> None:
        if not self.families:
            return self.family()
        name, first, second = self.name("v"), *(self.rng.choice(self.families) for _ in range(2))
        body = self.rng.choice([
            f"dom(X), {first}(X), \\+{second}(X)", f"dom(X), ({first}(X) ; {second}(X))",
            f"dom(X), Y is X-1, {first}(Y), {second}(X)", f"dom(X), \\+({first}(X), {second}(X))",
            f"dom(X), dom(Y), X \\= Y, {first}(X), {second}(Y)", f"dom(X), forall(dom(Y), {first}(Y))",
        ])  # fmt: skip
        self.clauses.append(f"{name}(X) :- {body}.")
        return self._add_family(name)

    def graph(self) -> None:
        edge, path = self.name("edge"), self.name("path")
        size = self.rng.randint(3, 4)
        pairs = [(a, b) for a in range(1, size + 1) for b in range(1, size + 1) if a != b]
        chosen = self.rng.sample(pairs, self.rng.randint(2, min(6, len(pairs))))
        self.clauses += [f"{self.weight()}::{edge}({a},{b})." for a, b in chosen]
        step = self.rng.choice([f"{path}(X,Z), {edge}(Z,Y)", f"{edge}(X,Z), {path}(Z,Y)"])
        self.clauses += [f"{path}(X,Y) :- {edge}(X,Y).", f"{path}(X,Y) :- {step}."]
        self.atoms += [
            f"{path}(1,{size})",
            f"{path}({size},1)",
            f"{path}(2,2)",
            f"{edge}({chosen[0][0]},{chosen[0][1]})",
        ]

    def lists(self) -> None:
        name, member = self.name("l"), self.name("mem")
        if self.chance(0.2):
            self.clauses.append(":- use_module(library(lists)).")
            member = "member"
        else:
            self.clauses += [f"{member}(X,[X|_]).", f"{member}(X,[_|T]) :- {member}(X,T)."]
        items = self.rng.sample(["a", "b", "[1,2]", "f(z)", "3", "2.5"], self.rng.randint(2, 3))
        self.clauses.append(f"{self.weight()}::{name}(X) :- {member}(X,[{','.join(items)}]).")
        self.atoms += [f"{name}({item})" for item in items]

    def counting(self) -> None:
        if not self.families:
            return self.family()
        name, counted = self.name("n"), self.rng.choice(self.families)
        self.clauses.append(f"{name}(N) :- findall(X, (dom(X), {counted}(X)), L), length(L,N).")
        self.atoms += [f"{name}({self.rng.randint(0, 3)})"]
        return None

    # What is asked, and what is known.

    def queries(self) -> None:
        wanted = self.rng.sample(self.atoms, min(len(self.atoms), self.rng.randint(0, 3)))
        wanted += self.atoms[-1:] if self.chance(0.8) or not wanted else []
        for atom in wanted:
            if self.chance(0.15) and atom.endswith(")"):
                functor, arguments = atom.split("(", 1)
                if arguments.count(",") == 0 and functor not in self.unbound:
                    atom = f"{functor}(_)"
            elif self.chance(0.05):
                self.clauses.append(f"query(\\+{atom}).")
                continue
            self.clauses.append(self.rng.choice(["query({0}).", "?- {0}."]).format(atom))

    def evidence(self) -> None:
        if self.chance(0.5):
            return
        for atom in self.rng.sample(self.atoms, min(len(self.atoms), self.rng.randint(1, 3))):
            forms = ["evidence({0}).", "evidence(\\+{0}).", "evidence({0},true).", "evidence({0},false)."]
            self.clauses.append(self.rng.choice(forms).format(atom))


# Comparison.


class MismatchError(AssertionError):
    """A program for which the circuit and problog, or two ways to evaluate the circuit, differ."""


def compiled(text: str) -> Circuit:
    """The circuit of a program, without the worker process."""
    data = CircuitData.from_json(compile_text(text))
    starts = {p["name"]: p["default"] for p in parse(text).summary()["parameters"] if p["default"] is not None}
    return Circuit(data, starts)


def given(
    circuit: Circuit, case: Case, dtype: torch.dtype = torch.float64
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The values of a case that the circuit has a use for."""
    known = {name for leaf in circuit.leaves for name in (leaf.name, str(leaf))}

    def kept(values: dict[str, Any]) -> dict[str, Tensor]:
        return {name: torch.tensor(value, dtype=dtype) for name, value in values.items() if name in known}

    return kept(case.nn), kept(case.parameters)


def logits_of(probabilities: Tensor) -> Tensor:
    """Logits that give these probabilities, one per outcome where there are several."""
    return probabilities.log() if probabilities.ndim and probabilities.shape[-1] > 1 else torch.logit(probabilities)


def check(case: Case, rng: Random, *, backend: str = "sdd") -> str:
    """Compare; returns what kind of program it was, raises :class:`MismatchError`."""
    try:
        expected = oracle.problog_answer(case.text, case.nn, case.parameters, backend=backend)
    except oracle.InconsistentEvidenceError:
        expected = None
    except (ProbLogError, AssertionError) as problem:
        return _check_failure(case, problem)
    try:
        circuit = compiled(case.text)
        nn, parameters = given(circuit, case)
        probability = circuit.probability(nn, parameters)
    except InconsistentEvidenceError:
        if expected is not None:
            raise MismatchError(f"inconsistent evidence, but problog says {expected}") from None
        return "inconsistent"
    if expected is None:
        raise MismatchError(f"problog says inconsistent evidence, the circuit {probability.tolist()}")
    if set(circuit.queries) != set(expected):
        raise MismatchError(f"queries {circuit.queries}, but problog has {sorted(expected)}")
    truth = torch.tensor([expected[query] for query in circuit.queries], dtype=torch.float64)
    _compare("probability", probability, truth, EXACT)
    _compare("log_probability", *_logs(circuit.log_probability(nn, parameters), truth))
    _compare("log_probability(negated)", *_logs(circuit.log_probability(nn, parameters, negated=True), 1 - truth))
    _check_logits(circuit, nn, parameters, truth)
    _check_single(circuit, case, truth)
    return _check_specialised(circuit, case, nn, parameters, rng)


def _check_failure(case: Case, problem: Exception) -> str:
    """problog gives up where a negated goal, or findall, waits for a positive cycle to end; so must the library."""
    try:
        compile_text(case.text)
    except NegativeCycleError:
        return "negative cycle"
    except (P4FError, type(problem)):
        return "too much for problog"
    raise MismatchError(f"problog fails with {problem!r}, the library does not")


def _compare(what: str, found: Tensor, expected: Tensor, tolerance: float) -> None:
    if found.shape != expected.shape or not torch.allclose(found.double(), expected, rtol=tolerance, atol=tolerance):
        raise MismatchError(f"{what} is {found.tolist()}, expected {expected.tolist()}")


def _logs(found: Tensor, expected: Tensor) -> tuple[Tensor, Tensor, float]:
    """Logarithms to compare; where the probability itself is lost in rounding, only that it is tiny."""
    tiny = expected < 1e-7
    if bool((found[tiny].exp() > 2e-7).any()):
        raise MismatchError(f"log_probability {found.tolist()} where the probability is {expected.tolist()}")
    return found.masked_fill(tiny, 0), expected.log().masked_fill(tiny, 0), 1e-7


def _check_logits(circuit: Circuit, nn: dict[str, Tensor], parameters: dict[str, Tensor], truth: Tensor) -> None:
    if nn:
        logits = {name: logits_of(value) for name, value in nn.items()}
        _compare("probability(logits)", circuit.probability(parameters=parameters, logits=logits), truth, EXACT)
        logs = circuit.log_probability(parameters=parameters, logits=logits)
        _compare("log_probability(logits)", *_logs(logs, truth))


def _check_single(circuit: Circuit, case: Case, truth: Tensor) -> None:
    nn, parameters = given(circuit, case, torch.float32)
    if (nn or parameters) and not circuit.data.conditioned:
        found = circuit.probability(nn, parameters)
        if found.dtype != torch.float32:
            raise MismatchError(f"float32 values give {found.dtype}")
        _compare("probability(float32)", found, truth, SINGLE)


def _check_specialised(
    circuit: Circuit, case: Case, nn: dict[str, Tensor], parameters: dict[str, Tensor], rng: Random
) -> str:
    """Three rows, the first of them the case itself: what is specialised against what is not."""
    names = dict.fromkeys(leaf.name for leaf in circuit.leaves if leaf.kind == "network")
    loose = [n for n in names if n in case.loose and all(_is_inside(v) for key, v in nn.items() if _network(key) == n)]
    free = {name for name in loose if rng.random() < 0.7}
    rows = {
        name: torch.stack(
            [value, *(_other(value, rng) if name.partition("(")[0] in case.loose else value for _ in "ab")]
        )
        for name, value in nn.items()
    }
    fixed = {name: value for name, value in rows.items() if name.partition("(")[0] not in free}
    open_logits = {name: logits_of(value) for name, value in rows.items() if name not in fixed}
    specialised = circuit.specialise(fixed, parameters)
    columns = []
    for leaf in specialised.free:
        value = open_logits.get(str(leaf), open_logits.get(leaf.name))
        assert value is not None
        columns.append(value if leaf.outcomes else value.unsqueeze(-1))
    logits = torch.cat(columns, -1) if columns else torch.zeros(3, 0, dtype=torch.float64)
    found = specialised.log_probability(logits)
    plain = [circuit.log_probability(fixed, parameters, logits=open_logits, negated=n) for n in (True, False)]
    expected = torch.stack(plain, -1).expand(3, len(circuit.queries), 2)
    kind = "affine" if specialised.affine else "folded"
    kind = kind if specialised.free else "nothing free"
    _compare(f"specialised ({kind})", *_logs(found.expand(expected.shape), expected.exp()))
    _check_observed(specialised, logits, expected)
    return kind


def _check_observed(specialised: Any, logits: Tensor, expected: Tensor) -> None:
    """The likelihood of either truth value of a single query, where it is possible."""
    if expected.shape[-2] != 1:
        return
    likely = expected[:, 0].argmax(-1)
    unlikely = torch.where(expected[:, 0].amin(-1) > math.log(1e-6), 1 - likely, likely)
    for outcome in (likely, unlikely):
        truth = expected[torch.arange(3), 0, outcome]
        observed = specialised.observe(outcome)
        _compare("observed", observed(logits), truth, 1e-7)
        _compare("observed, a selection", observed(logits[[2, 0]], torch.tensor([2, 0])), truth[[2, 0]], 1e-7)
        if bool((truth > math.log(1e-3)).all()):
            _compare("observed (float32)", observed(logits.float()), truth, 1e-4)


def _network(name: str) -> str:
    return name.partition("(")[0]


def _is_inside(value: Tensor) -> bool:
    return bool((value > 0).all() and (value < 1).all())


def _other(value: Tensor, rng: Random) -> Tensor:
    raw = torch.tensor([0.1 + rng.random() for _ in range(max(1, value.numel()))], dtype=torch.float64)
    return raw / raw.sum() if value.ndim else raw[0] / 1.2


def run(count: int, first: int) -> str:
    """Compare so many programs, and say how it went; raises :class:`MismatchError` at the first that is wrong."""
    kinds: Counter[str] = Counter()
    for seed in range(first, first + count):
        case = generate(Random(seed))
        try:
            kinds[check(case, Random(seed), backend="ddnnf" if seed % 20 == 0 else "sdd")] += 1
        except Exception as error:
            raise MismatchError(f"{case}\n\nprogram {seed}: {type(error).__name__}: {error}") from error
    return f"{count} programs agree with problog ({', '.join(f'{n} {kind}' for kind, n in kinds.most_common())})"
