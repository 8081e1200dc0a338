"""Random programs against problog, and their derivatives against finite differences.

``python -m tests.fuzz N`` tries as many more as you like.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import torch
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from problog4fairness.errors import InconsistentEvidenceError, P4FError
from tests import fuzz, oracle
from tests.fuzz import Case, cases, compiled, generate, logits_of


@pytest.mark.parametrize("seed", range(200))
def test_seeded_programs_agree_with_problog(seed):
    case = generate(Random(seed))
    print(case)  # shown where it fails
    fuzz.check(case, Random(seed), backend="ddnnf" if seed % 20 == 0 else "sdd")


@settings(max_examples=150)
@given(case=cases(), rng=st.randoms(use_true_random=False))
def test_programs_that_hypothesis_finds_agree_with_problog(case: Case, rng: Random):
    note(str(case))
    fuzz.check(case, rng)


@settings(max_examples=60)
@given(case=cases(smooth=True))
def test_derivatives_agree_with_finite_differences(case: Case):
    """P and log P, for network outputs as probabilities and as logits, and for parameters."""
    note(str(case))
    try:
        circuit = compiled(case.text)
        nn, parameters = fuzz.given(circuit, case)
        probability = circuit.probability(nn, parameters)
    except P4FError:
        assume(False)
    inside = (probability > 1e-4) & (probability < 1 - 1e-4)
    assume(bool(inside.any()) and bool(nn or parameters))
    networks, others = list(nn), list(parameters)

    def split(values):
        return dict(zip(networks, values, strict=False)), dict(zip(others, values[len(networks) :], strict=True))

    def linear(*values):
        given_nn, given_parameters = split(values)
        return circuit.probability(given_nn, given_parameters)[inside]

    def log(*values):
        given_nn, given_parameters = split(values)
        return circuit.log_probability(given_nn, given_parameters)[inside]

    def linear_of_logits(*values):
        logits, given_parameters = split(values)
        return circuit.probability(parameters=given_parameters, logits=logits)[inside]

    def log_of_logits(*values):
        logits, given_parameters = split(values)
        logs = [circuit.log_probability(parameters=given_parameters, logits=logits, negated=n) for n in (False, True)]
        return torch.stack(logs)[:, inside]

    plain = [value.clone().requires_grad_() for value in (*nn.values(), *parameters.values())]
    logits = [logits_of(value) for value in nn.values()] + list(parameters.values())
    logits = [value.detach().clone().requires_grad_() for value in logits]
    assert torch.autograd.gradcheck(linear, plain)
    assert torch.autograd.gradcheck(log, plain)
    assert torch.autograd.gradcheck(linear_of_logits, logits)
    assert torch.autograd.gradcheck(log_of_logits, logits)


def test_derivatives_do_not_need_room_around_the_value():
    """At 0 and 1, where a finite difference would leave [0, 1]: P is a polynomial, so its slopes are known."""
    circuit = compiled("p1::a. nn(h,x)::b. q :- a, \\+b. q :- \\+a, b. query(q).")
    for a in (0.0, 1.0):
        for b in (0.0, 1.0):
            p, h = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (a, b))
            circuit.probability({"h": h}, {"p1": p}).sum().backward()
            assert (p.grad, h.grad) == (1 - 2 * b, 1 - 2 * a)


@pytest.mark.parametrize("weights", [(0.06, 0.57, 0.37), (0.06, 0.58, 0.36), (0.1, 0.2, 0.7), (0.5, 0.25, 0.25)])
def test_none_of_a_certain_choice_is_impossible(weights):
    """1 - (0.06 + 0.57 + 0.37) is 1.1e-16 in floating point, which is not a probability of anything."""
    heads = ";".join(f"{weight}::a{i}" for i, weight in enumerate(weights))
    known = " ".join(f"evidence(\\+a{i})." for i in range(3))
    text = f"{heads}. {known} 0.5::b. query(b)."
    with pytest.raises(oracle.InconsistentEvidenceError):
        oracle.problog_answer(text)
    with pytest.raises(InconsistentEvidenceError):
        compiled(text).probability()


def test_command_line():
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", "3", "--seed", "7"], cwd=root, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("3 programs agree with problog")


def test_comparison_notices_a_wrong_circuit(monkeypatch):
    """The comparison must fail where it should: here one weight is off by a millionth."""
    case = Case("p1::a. nn(h,x)::b. q :- a, b. query(q).", {"h": 0.5}, {"p1": 0.5}, frozenset({"h"}))
    assert fuzz.check(case, Random(0)) in ("affine", "nothing free")
    monkeypatch.setattr(fuzz.oracle, "problog_answer", lambda *_, **__: {"q": 0.25 + 1e-6})
    with pytest.raises(fuzz.Mismatch):
        fuzz.check(case, Random(0))
