"""The paper's programs, as printed, against closed forms and against problog."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

import problog4fairness as p4f
from tests.oracle import problog_answer

EXAMPLES = Path(__file__).parents[2] / "examples"
GRID = (0.0, 0.3, 1.0)


def load(name: str) -> p4f.program.Circuit:
    return p4f.Program.from_file(EXAMPLES / f"{name}.pl").compile()


def label_form(h: Tensor, a: Tensor, p: dict[str, Tensor]) -> Tensor:
    negative = a * p["p1"] + (1 - a) * p["p2"]
    positive = a * p["p3"] + (1 - a) * p["p4"]
    return h * (1 - negative) + (1 - h) * positive


def parameter_grid() -> dict[str, Tensor]:
    """Every combination of p1..p4 from the grid, and h and a from it too: ``[3^6]`` each."""
    names = ("p1", "p2", "p3", "p4", "h", "a")
    columns = torch.tensor(list(itertools.product(GRID, repeat=len(names))), dtype=torch.float64)
    return {name: columns[:, i].clone().requires_grad_() for i, name in enumerate(names)}


def test_loan_example_has_the_papers_numbers():
    answer = p4f.Program.from_file(EXAMPLES / "loan.pl").probability()
    assert {name: value.item() for name, value in answer.items()} == {"gets_loan(mary)": 0.9, "gets_loan(john)": 1.0}


def test_loan_with_noise_agrees_with_its_closed_form():
    h = torch.linspace(0, 1, 11, dtype=torch.float64)
    for poor, noise in itertools.product((0.0, 1.0, 0.5), (0.0, 0.1, 1.0)):
        granted = h * (1 - 0.21 * poor)
        expected = granted * (1 - noise) + (1 - granted) * noise
        answer = load("loan_noise").probability(nn={"h": h, "poor": poor}, parameters={"p_noise": noise})
        torch.testing.assert_close(answer[:, 0], expected, rtol=0, atol=1e-12)


def test_label_listing_agrees_with_its_closed_form_in_value_and_gradient():
    values = parameter_grid()
    parameters = {name: values[name] for name in ("p1", "p2", "p3", "p4")}
    found = load("label").probability(nn={"h": values["h"], "a": values["a"]}, parameters=parameters)[:, 0]
    expected = label_form(values["h"], values["a"], parameters)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    leaves = list(values.values())
    for ours, theirs in zip(
        torch.autograd.grad(found.sum(), leaves), torch.autograd.grad(expected.sum(), leaves), strict=True
    ):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_log_space_gradient_is_exact_where_probabilities_are_0_or_1():
    values = parameter_grid()
    parameters = {name: values[name] for name in ("p1", "p2", "p3", "p4")}
    circuit = load("label")
    nn = {"h": values["h"], "a": values["a"]}
    expected = label_form(values["h"], values["a"], parameters)
    possible = expected.detach() > 0
    leaves = list(values.values())
    found = circuit.log_probability(nn=nn, parameters=parameters)[:, 0]
    torch.testing.assert_close(found.exp(), expected, rtol=0, atol=1e-12)
    ours = torch.autograd.grad(found[possible].sum(), leaves)
    theirs = torch.autograd.grad(expected[possible].log().sum(), leaves)
    for mine, reference in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, reference, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("zero", ["walk", "specialised"])
def test_without_bias_the_likelihood_is_cross_entropy_also_at_huge_logits(dtype, zero):
    z = torch.tensor([-200.0, -50.0, -1.0, 0.0, 2.0, 50.0, 200.0], dtype=dtype, requires_grad=True)
    recorded = torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0], dtype=dtype)
    area = torch.tensor([0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0], dtype=dtype)
    nothing = dict.fromkeys(("p1", "p2", "p3", "p4"), 0.0)
    circuit = load("label")
    if zero == "walk":
        both = [
            circuit.log_probability(nn={"a": area}, logits={"h": z}, parameters=nothing, negated=negated)[:, 0]
            for negated in (True, False)
        ]
        likelihood = torch.where(recorded.bool(), both[1], both[0])
    else:
        likelihood = circuit.specialise(nn={"a": area}, parameters=nothing).observe(recorded)(z.unsqueeze(-1))
    reference = -binary_cross_entropy_with_logits(z, recorded, reduction="none")
    torch.testing.assert_close(likelihood, reference)
    (ours,) = torch.autograd.grad(likelihood.sum(), z)
    (theirs,) = torch.autograd.grad(reference.sum(), z)
    torch.testing.assert_close(ours, theirs)


def test_float32_is_within_the_promised_error():
    values = {name: value.detach() for name, value in parameter_grid().items()}
    parameters = {name: values[name] for name in ("p1", "p2", "p3", "p4")}
    circuit = load("label")
    exact = label_form(values["h"], values["a"], parameters)
    single = {name: value.float().requires_grad_() for name, value in values.items()}
    found = circuit.probability(
        nn={"h": single["h"], "a": single["a"]}, parameters={name: single[name] for name in parameters}
    )[:, 0]
    assert found.dtype == torch.float32
    assert (found.double() - exact).abs().max() < 1e-6
    (slope,) = torch.autograd.grad(found.sum(), single["h"])
    expected = 1 - (values["a"] * values["p1"] + (1 - values["a"]) * values["p2"])
    expected = expected - (values["a"] * values["p3"] + (1 - values["a"]) * values["p4"])
    assert (slope.double() - expected).abs().max() < 1e-5


def test_three_attribute_listing_is_a_chain_of_flips():
    generator = torch.Generator().manual_seed(0)
    names = ("hc", "bl", "sm")
    columns = {name: torch.randint(0, 2, (64,), generator=generator).double() for name in names}
    parameters = {
        f"p{i}_{name}": torch.rand((), generator=generator, dtype=torch.float64) for name in names for i in range(1, 5)
    }
    z = torch.randn(64, generator=generator, dtype=torch.float64).requires_grad_()
    expected = torch.sigmoid(z)
    for name in names:
        flips = {f"p{i}": parameters[f"p{i}_{name}"] for i in range(1, 5)}
        expected = label_form(expected, columns[name], flips)
    circuit = load("three_attributes")
    walked = circuit.probability(nn=columns, logits={"h": z}, parameters=parameters)[:, 0]
    torch.testing.assert_close(walked, expected, rtol=0, atol=1e-12)
    special = circuit.specialise(nn=columns, parameters=parameters)
    assert special.affine
    torch.testing.assert_close(special.log_probability(z.unsqueeze(-1))[:, 0, 1].exp(), expected, rtol=0, atol=1e-12)
    slopes = [torch.autograd.grad(value.sum(), z, retain_graph=True)[0] for value in (walked, expected)]
    torch.testing.assert_close(*slopes, rtol=0, atol=1e-12)


def test_measurement_listing_is_a_weighted_sum_over_flipped_vectors():
    generator = torch.Generator().manual_seed(1)
    recorded = torch.randint(0, 2, (40, 4), generator=generator).double()
    area = torch.randint(0, 2, (40,), generator=generator).double()
    rates = torch.rand(4, 4, generator=generator, dtype=torch.float64)
    parameters = {f"p{i + 1}({n + 1})": rates[i, n] for i in range(4) for n in range(4)}

    def column(vector, n):
        return 1 - recorded[:, n - 1] if vector.arguments[n - 1] == 1 else recorded[:, n - 1]

    circuit = load("measurement")
    special = circuit.specialise(nn={"n": column, "a": area}, parameters=parameters)
    assert special.affine
    assert len(special.free) == 16
    logits = torch.randn(40, 16, generator=generator, dtype=torch.float64)
    flip = torch.where(
        recorded == 0,
        torch.where(area.bool().unsqueeze(1), rates[0], rates[1]),
        torch.where(area.bool().unsqueeze(1), rates[2], rates[3]),
    )
    expected = torch.zeros(40, dtype=torch.float64)
    for column_index, leaf in enumerate(special.free):
        bits = torch.tensor(leaf.arguments[0].arguments)
        weight = torch.where(bits == 1, flip, 1 - flip).prod(1)
        expected = expected + weight * torch.sigmoid(logits[:, column_index])
    torch.testing.assert_close(special.log_probability(logits)[:, 0, 1].exp(), expected, rtol=0, atol=1e-12)
    values = {str(leaf): logits[:, i] for i, leaf in enumerate(special.free)}
    walked = circuit.probability(nn={"n": column, "a": area}, logits=values, parameters=parameters)
    torch.testing.assert_close(walked[:, 0], expected, rtol=0, atol=1e-12)


def test_a_soft_sensitive_variable_is_a_new_atom_for_every_flipped_vector():
    """As problog reads the printed listing at n = 2; one shared A would give 0.247300 with these numbers."""
    text = r"""
    nn(h,X) :: y_h(X).  nn(n,X_,N) :: n(X_,N).  nn(a,X_) :: a(X_).
    debias_n(1, x_(0,X), x_(1,X)).
    debias_n(2, x_(R,0), x_(R,1)).
    p1(N) :: n_neg_bias(X_,N) :- a(X_).
    p2(N) :: n_neg_bias(X_,N) :- \+a(X_).
    p3(N) :: n_pos_bias(X_,N) :- a(X_).
    p4(N) :: n_pos_bias(X_,N) :- \+a(X_).
    n_biased(X_,N) :- \+n(X_,N), n_neg_bias(X_,N).
    n_biased(X_,N) :- n(X_,N), n_pos_bias(X_,N).
    debias(X_, X_, 0).
    debias(X_, X, N) :- >(N,0), is(N2,N-1), n_biased(X_,N), debias_n(N,X_,Xf), debias(Xf,X,N2).
    debias(X_, X, N) :- >(N,0), is(N2,N-1), \+n_biased(X_,N), debias(X_,X,N2).
    y(X_) :- debias(X_,X,2), y_h(X).
    ?- y(x_(0,0)).
    """
    nn = {"a": 0.5, "n": 0.0, "h(x_(0,0))": 0.1, "h(x_(0,1))": 0.3, "h(x_(1,0))": 0.5, "h(x_(1,1))": 0.9}
    parameters = {"p1": 0.4, "p2": 0.1, "p3": 0.0, "p4": 0.0}
    found = p4f.Program(text).probability(nn=nn, parameters=parameters)["y(x_(0,0))"].item()
    assert found == pytest.approx(problog_answer(text, nn=nn, parameters=parameters)["y(x_(0,0))"], abs=1e-12)


@pytest.mark.parametrize("name", ["loan", "loan_noise", "label", "measurement", "three_attributes"])
def test_every_example_agrees_with_problog(name):
    program = p4f.Program.from_file(EXAMPLES / f"{name}.pl")
    generator = torch.Generator().manual_seed(3)
    for _ in range(3):
        leaves = program.compile().leaves
        numbers = torch.rand(len(leaves), generator=generator, dtype=torch.float64).tolist()
        nn = {str(leaf): value for leaf, value in zip(leaves, numbers, strict=True) if leaf.kind == "network"}
        parameters = {str(leaf): value for leaf, value in zip(leaves, numbers, strict=True) if leaf.kind == "parameter"}
        expected = problog_answer(program.text, nn=nn, parameters=parameters)
        found = program.probability(nn=nn, parameters=parameters)
        assert {name: value.item() for name, value in found.items()} == pytest.approx(expected, abs=1e-12)
