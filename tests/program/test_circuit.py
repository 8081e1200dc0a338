"""Shapes, types, callables and outcomes: what a circuit accepts and what it gives."""

from __future__ import annotations

import pytest
import torch

import problog4fairness as p4f
from problog4fairness import Program
from problog4fairness.program.circuit.compiled import Structure
from tests import extremes

LABEL = r"""
nn(h,X) :: y(X).   nn(a,X) :: a(X).
p1 :: neg(X) :- a(X).   p2 :: pos(X) :- a(X).
y_(X) :- y(X), \+neg(X).   y_(X) :- \+y(X), pos(X).
?- y_(x).
"""
CLASSES = r"""
nn(h,[X],Y,[low,middle,high]) :: y(X,Y).
p :: slip.
seen(X,Y) :- y(X,Y), \+slip.
seen(X,low) :- slip, \+y(X,low).
seen(X,middle) :- slip, y(X,low).
query(seen(x,low)).  query(seen(x,middle)).  query(seen(x,high)).
"""


def test_results_have_the_broadcast_shape_and_the_queries_last():
    circuit = p4f.Program(LABEL).compile()
    models = {"p1": torch.rand(3, 1), "p2": 0.1}
    result = circuit.probability(nn={"h": torch.rand(3, 5), "a": torch.ones(5)}, parameters=models)
    assert result.shape == (3, 5, 1)
    assert result.dtype == torch.float32


def test_a_model_dimension_gives_what_each_model_gives_alone():
    circuit = p4f.Program(LABEL).compile()
    h, a, p1 = (
        torch.rand(3, 5, dtype=torch.float64),
        torch.tensor([0.0, 1, 1, 0, 1]),
        torch.tensor([[0.1], [0.5], [1.0]]),
    )
    together = circuit.probability(nn={"h": h, "a": a}, parameters={"p1": p1, "p2": 0.2})
    for model in range(3):
        alone = circuit.probability(nn={"h": h[model], "a": a}, parameters={"p1": p1[model], "p2": 0.2})
        torch.testing.assert_close(together[model], alone)


def test_numbers_alone_are_computed_in_float64():
    result = p4f.Program(LABEL).compile().probability(nn={"h": 0.7, "a": 1}, parameters={"p1": 0.3, "p2": 0.05})
    assert result.dtype == torch.float64
    assert result.item() == pytest.approx(0.7 * 0.7 + 0.3 * 0.05, abs=1e-15)


def test_a_callable_gets_the_ground_arguments():
    seen = []

    def network(vector, index):
        seen.append((vector, index))
        return 0.25

    program = p4f.Program("nn(n,V,I) :: n(V,I). q :- n(x_(1,0),2), n(x_(0,f(a)),3), n([1,b],4). query(q).")
    assert program.probability(nn={"n": network})["q"].item() == 0.25**3
    assert set(seen) == {
        (Structure("x_", (1, 0)), 2),
        (Structure("x_", (0, Structure("f", ("a",)))), 3),
        ((1, "b"), 4),
    }


def test_one_ground_leaf_can_have_its_own_value():
    program = p4f.Program("nn(h,X) :: y(X). p(N) :: f(N). query(y(1)). query(y(2)). query(f(1)). query(f(2)).")
    found = program.probability(nn={"h": 0.5, "h( 2 )": 0.75}, parameters={"p": 0.125, "p(1)": 0.25})
    assert {name: value.item() for name, value in found.items()} == {
        "y(1)": 0.5,
        "y(2)": 0.75,
        "f(1)": 0.25,
        "f(2)": 0.125,
    }


@pytest.mark.parametrize("form", ["nn(h,X) :: y(X).", "nn(h,[X]) :: y(X)."])
def test_both_ways_to_write_a_binary_network_mean_the_same(form):
    program = p4f.Program(form + " query(y(x)).")
    assert [str(leaf) for leaf in program.compile().leaves] == ["h(x)"]
    assert program.probability(nn={"h": 0.375})["y(x)"].item() == 0.375


def test_several_outcomes_sum_to_one_and_stay_exact_at_huge_logits():
    circuit = p4f.Program(CLASSES).compile()
    logits = torch.tensor([[0.0, 50.0, -50.0], [300.0, -300.0, 0.0], [1.0, 2.0, 3.0]], requires_grad=True)
    logs = circuit.log_probability(logits={"h": logits}, parameters={"p": 0.0})
    torch.testing.assert_close(logs, torch.log_softmax(logits, -1))
    (ours,) = torch.autograd.grad(logs.sum(), logits, retain_graph=True)
    (theirs,) = torch.autograd.grad(torch.log_softmax(logits, -1).sum(), logits)
    torch.testing.assert_close(ours, theirs)
    total = circuit.probability(logits={"h": logits}, parameters={"p": 0.3}).sum(-1)
    torch.testing.assert_close(total, torch.ones(3))


def test_an_outcome_that_no_query_needs_is_part_of_the_rest():
    program = p4f.Program("nn(h,[X],Y,[a,b,c]) :: y(X,Y). q :- y(x,a). r :- \\+y(x,a), \\+y(x,b). query(q). query(r).")
    logits = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    expected = torch.softmax(logits, -1)
    found = program.probability(logits={"h": logits})
    torch.testing.assert_close(found["q"], expected[0])
    torch.testing.assert_close(found["r"], expected[2])
    alone = p4f.Program("nn(h,[X],Y,[a,b,c]) :: y(X,Y). query(y(x,b)).").compile()
    far = torch.tensor([0.0, 80.0, 0.0], dtype=torch.float64)
    torch.testing.assert_close(
        alone.log_probability(logits={"h": far}, negated=True)[0], torch.log_softmax(far, -1)[[0, 2]].logsumexp(-1)
    )


def test_evidence_conditions_values_and_logarithms():
    circuit = p4f.Program(
        "p :: rain. 0.5 :: sprinkler. wet :- rain. wet :- sprinkler. evidence(wet). query(rain)."
    ).compile()
    p = torch.tensor([0.0, 0.2, 1.0], dtype=torch.float64)
    expected = p / (p + (1 - p) * 0.5)
    torch.testing.assert_close(circuit.probability(parameters={"p": p})[:, 0], expected)
    torch.testing.assert_close(circuit.log_probability(parameters={"p": p})[:, 0], expected.log())
    torch.testing.assert_close(circuit.log_probability(parameters={"p": p}, negated=True)[:, 0], (1 - expected).log())


def test_arithmetic_over_parameters():
    program = p4f.Program("p :: a. 1-p :: b. p*(1-p)/2 :: c. query(a). query(b). query(c).")
    found = program.probability(parameters={"p": 0.25})
    assert [value.item() for value in found.values()] == [0.25, 0.75, 0.25 * 0.75 / 2]


def test_learnable_parameters_are_named_and_start_where_the_text_says():
    program = p4f.Program("t(0.25) :: a. t(_) :: b. t(_,X) :: c(X). query(a). query(b). query(c(1)).")
    assert program.bound == {"t_1": 0.25}
    assert [str(leaf) for leaf in program.compile().leaves] == ["t_1", "t_2", "t_3(1)"]
    start = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    found = program.probability(parameters={"t_2": start, "t_3": 0.75})
    assert [value.item() for value in found.values()] == [0.25, 0.5, 0.75]
    found["b"].backward()
    assert start.grad.item() == 1


def test_a_certain_query_has_no_gradient_and_no_nan():
    circuit = p4f.Program(
        "nn(h,X) :: y(X). fact. never :- fact, \\+fact. query(fact). query(never). query(y(x))."
    ).compile()
    z = torch.tensor([0.5], requires_grad=True)
    assert circuit.probability(logits={"h": z})[0, :2].tolist() == [1, 0]
    logs = circuit.log_probability(logits={"h": z})
    assert logs[0, :2].tolist() == [0, -torch.inf]
    logs[0, 2].backward()
    assert z.grad.isfinite().all()


def test_no_nan_at_the_far_ends():
    """Logits up to 500 either way and parameters of 0 and 1, in both types; ``python -m tests.extremes`` tries more."""
    for seed in range(300):
        extremes.check(seed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("first", [-45.0, -100.0, -500.0])
def test_a_probability_under_unlikely_evidence_has_a_slope(first, dtype):
    """Given that a or b holds, which of two unlikely ones was it? sigmoid(first - second), all but exactly."""
    circuit = Program("nn(h,x)::a. nn(g,x)::b. e :- a. e :- b. evidence(e). query(a).").compile()
    h, g = (torch.tensor(value, dtype=dtype, requires_grad=True) for value in (first, first - 1))
    probability = circuit.probability(logits={"h": h, "g": g})
    probability.sum().backward()
    expected = torch.sigmoid(torch.tensor(1.0))
    assert probability.item() == pytest.approx(expected.item(), rel=1e-4)
    assert h.grad.item() == pytest.approx((expected * (1 - expected)).item(), rel=1e-3)
    assert g.grad.item() == pytest.approx(-(expected * (1 - expected)).item(), rel=1e-3)


def test_the_slope_of_a_conditional_probability_at_0():
    """P(a | a or b) = p / (p + b - p b): at p = 0 its slope is 1 / b, and beyond the largest number it ends there."""
    circuit = Program("p::a. nn(g,x)::b. e :- a. e :- b. evidence(e). query(a).").compile()
    for dtype, logit, slope in ((torch.float64, -3.0, 1 / 0.04742587), (torch.float32, -500.0, 1e32)):
        p = torch.tensor(0.0, dtype=dtype, requires_grad=True)
        circuit.probability(logits={"g": torch.tensor(logit, dtype=dtype)}, parameters={"p": p}).sum().backward()
        assert p.grad.item() == pytest.approx(slope, rel=1e-5) or slope <= p.grad.item() < float("inf")
