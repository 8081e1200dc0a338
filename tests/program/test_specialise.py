"""Fixing what is known: the affine and the folded form against plain evaluation."""

from __future__ import annotations

import pytest
import torch

import problog4fairness as p4f
from problog4fairness.errors import InconsistentEvidenceError, MissingValueError, ShapeError
from problog4fairness.program.circuit import circuit as circuit_module

LABEL = r"""
nn(h,X) :: y(X).   nn(a,X) :: a(X).
p1 :: neg(X) :- a(X).  p2 :: neg(X) :- \+a(X).  p3 :: pos(X) :- a(X).  p4 :: pos(X) :- \+a(X).
y_(X) :- y(X), \+neg(X).   y_(X) :- \+y(X), pos(X).
?- y_(x).
"""
PAIR = (
    r"nn(h,X) :: y(X). p :: e. both :- y(1), y(2), e. either :- y(1), \+e. either :- y(2). query(both). query(either)."
)
CLASSES = r"""
nn(h,[X],Y,[a,b,c]) :: y(X,Y).   nn(s,X) :: s(X).   p :: slip(X) :- s(X).
r(X,Y) :- y(X,Y), \+slip(X).   r(X,a) :- slip(X), y(X,b).   r(X,b) :- slip(X), \+y(X,b).
query(r(x,a)).  query(r(x,b)).  query(r(x,c)).
"""


def columns(special: p4f.program.Specialised, logits: torch.Tensor) -> dict[str, torch.Tensor]:
    """The logits of each free leaf, by name."""
    values, start = {}, 0
    for leaf in special.free:
        width = len(leaf.outcomes) if leaf.outcomes else 1
        part = logits[..., start : start + width]
        values[str(leaf)] = part if leaf.outcomes else part[..., 0]
        start += width
    return values


@pytest.mark.parametrize(("text", "affine"), [(LABEL, True), (PAIR, False), (CLASSES, True)])
def test_both_forms_agree_with_plain_evaluation_in_value_and_gradient(text, affine):
    generator = torch.Generator().manual_seed(0)
    circuit = p4f.Program(text).compile()
    rows = 50
    parameters = {
        leaf.name: torch.rand((), generator=generator).item() for leaf in circuit.leaves if leaf.kind == "parameter"
    }
    known = {
        name: torch.randint(0, 2, (rows,), generator=generator).double()
        for name in ("a", "s")
        if name in {leaf.name for leaf in circuit.leaves}
    }
    special = circuit.specialise(nn=known, parameters=parameters)
    assert special.affine is affine
    logits = (4 * torch.randn(rows, special.columns, generator=generator, dtype=torch.float64)).requires_grad_()
    found = special.log_probability(logits)
    for truth in (0, 1):
        expected = circuit.log_probability(
            nn=known, logits=columns(special, logits), parameters=parameters, negated=not truth
        )
        torch.testing.assert_close(found[..., truth], expected, rtol=1e-10, atol=1e-10)
        slopes = [torch.autograd.grad(v.sum(), logits, retain_graph=True)[0] for v in (found[..., truth], expected)]
        torch.testing.assert_close(*slopes, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("text", [LABEL, PAIR, CLASSES])
def test_gradients_agree_with_finite_differences(text):
    generator = torch.Generator().manual_seed(1)
    circuit = p4f.Program(text).compile()
    parameters = {leaf.name: 0.3 for leaf in circuit.leaves if leaf.kind == "parameter"}
    known = {
        name: torch.tensor([0.0, 1.0, 0.4]) for name in ("a", "s") if name in {leaf.name for leaf in circuit.leaves}
    }
    special = circuit.specialise(nn=known, parameters=parameters)
    logits = torch.randn(3, special.columns, generator=generator, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(special.log_probability, (logits,))
    assert torch.autograd.gradcheck(special.observe(torch.tensor([0, 1, 1])), (logits,))


@pytest.mark.parametrize("text", [LABEL, PAIR])
def test_observed_rows_pick_their_own_outcome_and_entry(text):
    generator = torch.Generator().manual_seed(2)
    circuit = p4f.Program(text).compile()
    known = {"a": torch.randint(0, 2, (30,), generator=generator).float()} if text is LABEL else {}
    outcome = torch.randint(0, 2, (30,), generator=generator)
    special = circuit.specialise(
        nn=known, parameters=dict.fromkeys(("p1", "p2", "p3", "p4"), 0.2) if known else {"p": 0.3}
    )
    observed = special.observe(outcome)
    rows = torch.tensor([7, 7, 3, 29])
    logits = torch.randn(4, special.columns, generator=generator)
    logs = special.log_probability(logits, rows)
    expected = logs[:, 0].gather(1, outcome[rows].unsqueeze(1)) if text is LABEL else logs[..., 1].gather(
        1, outcome[rows].unsqueeze(1)
    )  # fmt: skip
    torch.testing.assert_close(observed(logits, rows), expected.squeeze(1))


EVIDENCE = "nn(h,X) :: y(X). p :: e. r :- y(x), e. r :- \\+y(x), \\+e. w :- y(x). w :- e. evidence(w). query(r)."


@pytest.mark.parametrize("text", [LABEL, PAIR, CLASSES, EVIDENCE])
def test_posteriors_are_those_of_bayes(text):
    """P(outcome | recorded) is P(outcome) P(recorded | outcome) / P(recorded), each from plain evaluation."""
    circuit = p4f.Program(text).compile()
    names = {leaf.name for leaf in circuit.leaves}
    parameters = {leaf.name: 0.1 + 0.1 * i for i, leaf in enumerate(circuit.leaves) if leaf.kind == "parameter"}
    known = {name: torch.tensor([0.0, 1.0, 0.4]) for name in ("a", "s") if name in names}
    special = circuit.specialise(nn=known, parameters=parameters)
    logits = torch.randn(3, special.columns, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    outcome = torch.tensor([0, 1, 1])
    found = special.observe(outcome).posterior(logits)

    def joint(values):
        """log P(recorded, evidence) with the leaf's outcome certain, from P(recorded | evidence) P(evidence)."""
        given = special.log_probability(values).flatten(-2)
        pairs = outcome if len(special.queries) == 1 else 2 * outcome + 1
        log = given.gather(-1, pairs.unsqueeze(-1)).squeeze(-1)
        return log if special.affine else log + special.log_joint(values)[0]

    place, start = 0, 0
    for width in special.widths:
        part = logits[:, start : start + width]
        prior = torch.cat([(-part).sigmoid(), part.sigmoid()], -1) if width == 1 else part.softmax(-1)
        for result in range(max(2, width)):
            certain = logits.clone()
            if width == 1:
                certain[:, start] = 700.0 if result else -700.0
            else:
                certain[:, start : start + width] = torch.eye(width, dtype=torch.float64)[result] * 700
            expected = prior[:, result] * (joint(certain) - joint(logits)).exp()
            torch.testing.assert_close(found[:, place], expected, rtol=1e-8, atol=1e-8)
            place += 1
        start += width


def test_many_models_at_once_are_what_each_is_alone():
    generator = torch.Generator().manual_seed(3)
    circuit = p4f.Program(LABEL).compile()
    a = torch.randint(0, 2, (20,), generator=generator).double()
    y = torch.randint(0, 2, (20,), generator=generator)
    p1 = torch.tensor([[0.0], [0.3], [0.9]], dtype=torch.float64)
    rest = {"p2": 0.1, "p3": 0.2, "p4": 0.0}
    together = circuit.specialise(nn={"a": a}, parameters={"p1": p1, **rest}).observe(y)
    logits = torch.randn(3, 6, 1, generator=generator, dtype=torch.float64)
    rows = torch.randint(0, 20, (3, 6), generator=generator)
    found = together(logits, rows)
    assert found.shape == (3, 6)
    for model in range(3):
        alone = circuit.specialise(nn={"a": a}, parameters={"p1": p1[model].item(), **rest}).observe(y)
        torch.testing.assert_close(found[model], alone(logits[model], rows[model]))


def test_rows_with_equal_values_share_an_entry():
    a = torch.tensor([0.0, 1.0] * 5000)
    special = (
        p4f.Program(LABEL).compile().specialise(nn={"a": a}, parameters=dict.fromkeys(("p1", "p2", "p3", "p4"), 0.1))
    )
    assert special.coefficients.shape[0] == 2


def test_many_distinct_rows_are_expanded_in_pieces(monkeypatch):
    circuit = p4f.Program(LABEL).compile()
    a = torch.linspace(0, 1, 101, dtype=torch.float64)
    parameters = {"p1": 0.3, "p2": 0.1, "p3": 0.05, "p4": 0.2}
    whole = circuit.specialise(nn={"a": a}, parameters=parameters)
    monkeypatch.setattr(circuit_module, "CHUNK", 300)
    pieces = circuit.specialise(nn={"a": a}, parameters=parameters)
    torch.testing.assert_close(whole.coefficients, pieces.coefficients)
    torch.testing.assert_close(whole.base, pieces.base)


def test_evidence_that_the_networks_do_not_move_stays_affine():
    text = "nn(h,X) :: y(X). 0.5 :: e. p :: f. w :- e. w :- f. z :- y(x), e. evidence(w). query(z)."
    circuit = p4f.Program(text).compile()
    special = circuit.specialise(parameters={"p": 0.2})
    assert special.affine
    logits = torch.tensor([[0.3], [-2.0]], dtype=torch.float64)
    expected = circuit.log_probability(logits={"h": logits[:, 0]}, parameters={"p": 0.2})
    torch.testing.assert_close(special.log_probability(logits)[..., 1], expected)


def test_what_cannot_have_been_recorded_is_an_error():
    special = (
        p4f.Program(LABEL)
        .compile()
        .specialise(nn={"a": torch.tensor([1.0, 0.0])}, parameters={"p1": 1, "p2": 0, "p3": 0, "p4": 0})
    )
    with pytest.raises(InconsistentEvidenceError, match="1 of 2 recorded labels have probability 0"):
        special.observe(torch.tensor([1, 1]))


def test_parameters_cannot_stay_open():
    with pytest.raises(MissingValueError, match="parameter p2 has no value"):
        p4f.Program(LABEL).compile().specialise(nn={"a": 1}, parameters={"p1": 0.1})


def test_logits_of_the_wrong_width_are_named():
    special = p4f.Program(PAIR).compile().specialise(parameters={"p": 0.5})
    with pytest.raises(ShapeError, match=r"must be 2 \(h\(1\), h\(2\)\), not \[5, 3\]"):
        special.log_probability(torch.zeros(5, 3))
    with pytest.raises(ShapeError, match=r"0 .. 1"):
        special.observe(torch.tensor([0, 2]))
