"""A circuit over many rows: in pieces that memory holds, and refused where one pass would take too long."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.beliefs.likelihood import observation
from problog4fairness.errors import LimitError
from problog4fairness.program.circuit import passes

TEXT = """
nn(h,X) :: y1(X). nn(h,X) :: y2(X). nn(a,X) :: a(X). nn(b,X) :: b(X).
0.7 :: r(X) :- y1(X), a(X). 0.4 :: r(X) :- y2(X), \\+b(X). 0.2 :: r(X) :- a(X), b(X). ?- r(x).
"""
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.integers(0, 2, 200), "b": RNG.integers(0, 2, 200), "income": RNG.normal(size=200)})
ROWS = p4f.data.Rows(FRAME, ("income",), recorded=RNG.integers(0, 2, 200))


def results() -> list[torch.Tensor]:
    seen = p4f.ProgramBelief(TEXT).observe(ROWS)
    logits = torch.linspace(-2, 2, len(seen.table), dtype=torch.float64).unsqueeze(1).requires_grad_()
    likelihood = seen.log_likelihood(logits)
    likelihood.sum().backward()
    both = torch.nn.functional.logsigmoid(torch.cat([-logits, logits], dim=1).detach())
    posterior = seen.posterior(both).weights
    return [likelihood.detach(), logits.grad, posterior, seen.recorded_proba(both)]


def test_pieces_give_what_the_whole_gives(monkeypatch):
    whole = results()
    monkeypatch.setattr(passes, "CHUNK", 100)
    for one, other in zip(whole, results(), strict=True):
        torch.testing.assert_close(one, other)
    monkeypatch.setattr(observation, "NUMBERS", 500)
    for one, other in zip(whole, results(), strict=True):
        torch.testing.assert_close(one, other)


def test_evidence_in_pieces(monkeypatch):
    program = p4f.Program("nn(h,X)::y(X). 0.3::n. r :- y(x), \\+n. r :- n. evidence(r). ?- y(x).")
    values = torch.linspace(0.1, 0.9, 50, dtype=torch.float64, requires_grad=True)
    whole = program.probability({"h": values})["y(x)"]
    (slope,) = torch.autograd.grad(whole.sum(), values)
    monkeypatch.setattr(passes, "CHUNK", 30)
    parts = program.probability({"h": values})["y(x)"]
    torch.testing.assert_close(parts, whole)
    torch.testing.assert_close(torch.autograd.grad(parts.sum(), values)[0], slope)


def test_one_pass_that_would_take_too_long_is_refused(monkeypatch):
    monkeypatch.setattr("problog4fairness.beliefs.likelihood.general.PRODUCTS", 1)
    with pytest.raises(LimitError, match=r"more than 6\.0e\+01"):
        p4f.ProgramBelief(TEXT).observe(ROWS)
    long = p4f.Program(TEXT, limits=p4f.program.Limits(seconds=1e6))
    assert len(p4f.ProgramBelief(long).observe(ROWS)) == 200
