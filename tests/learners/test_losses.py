from __future__ import annotations

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from problog4fairness.learners.networks.training import Settings


def test_cross_entropy_is_that_of_torch():
    z = torch.linspace(-60, 60, 25)
    label = (torch.arange(25) % 2).float()
    found = Settings().costs(logsigmoid(z * (2 * label - 1)))
    torch.testing.assert_close(found, binary_cross_entropy_with_logits(z, label, reduction="none"))


def focal(logs: torch.Tensor, gamma: float = 2.0) -> torch.Tensor:
    return Settings(loss="focal", gamma=gamma).costs(logs)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0, 3.7])
def test_focal_is_its_formula_with_its_gradient(gamma):
    p = torch.linspace(0.001, 0.999, 50, dtype=torch.float64)
    torch.testing.assert_close(focal(p.log(), gamma), -((1 - p) ** gamma) * p.log())
    logs = p.log().requires_grad_()
    assert torch.autograd.gradcheck(lambda lp: focal(lp, gamma), (logs,))


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_focal_stays_finite_where_a_row_is_certain_or_hopeless(gamma, dtype):
    # A log-likelihood can come out a rounding error above 0.
    logs = torch.tensor([0.0, 1e-7, -1e-45, -1e-30, -1e-8, -90.0, -1e4, -1e30], dtype=dtype, requires_grad=True)
    losses = focal(logs, gamma)
    (slope,) = torch.autograd.grad(losses.sum(), logs)
    assert torch.isfinite(losses).all()
    assert torch.isfinite(slope).all()
    torch.testing.assert_close(losses[5:], -logs[5:].detach())
    torch.testing.assert_close(slope[5:], -torch.ones(3, dtype=dtype))
    if gamma >= 1:
        torch.testing.assert_close(slope[:4], torch.zeros(4, dtype=dtype), atol=1e-5, rtol=0)


def test_focal_is_exact_for_rows_that_are_almost_certain():
    logs = torch.tensor([-1e-6, -1e-9])
    torch.testing.assert_close(focal(logs), logs.double().neg().pow(3).float(), rtol=1e-4, atol=0.0)
