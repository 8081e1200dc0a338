from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.learners.networks.training import History, Settings


@pytest.mark.parametrize(
    ("rows", "batch", "rate", "patience"),
    [(1, 1, 6.25e-5, 10), (300, 64, 1e-3, 10), (10_000, 512, 4e-3, 5), (10**6, 1024, 6.35e-3, 5)],
)
def test_batch_size_learning_rate_and_patience_suit_the_rows(rows, batch, rate, patience):
    suited = Settings().suited(rows)
    assert (suited.batch_size, suited.learning_rate) == (batch, pytest.approx(rate, rel=1e-3))
    assert suited.patience == patience
    own = Settings(batch_size=16, learning_rate=0.5, patience=3).suited(10**6)
    assert (own.batch_size, own.learning_rate, own.patience) == (16, 0.5, 3)


def test_numbers_of_a_grid_search_become_plain_ones():
    settings = Settings(hidden=[np.int64(8)], batch_size=np.int64(16), learning_rate=np.float32(0.5), dropout=0)
    assert settings.hidden == (8,)
    assert type(settings.batch_size) is int
    assert type(settings.learning_rate) is float
    assert settings == Settings(hidden=(8,), batch_size=16, learning_rate=0.5)


def test_no_hidden_layer_and_no_held_out_rows_are_allowed():
    assert Settings(hidden=(), validation=0).hidden == ()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hidden", 32, "hidden=32 is not a sequence of widths"),
        ("hidden", (32, 0), r"hidden\[1\]=0 is not a whole number of at least 1"),
        ("hidden", "ab", r"hidden\[0\]='a' is not a whole number"),
        ("dropout", 1.0, "dropout=1.0 is not a number of at least 0 and below 1"),
        ("dropout", -0.1, "dropout=-0.1"),
        ("learning_rate", 0, "learning_rate=0 is not a number above 0"),
        ("learning_rate", math.nan, "learning_rate=nan"),
        ("learning_rate", "fast", "learning_rate='fast'"),
        ("weight_decay", -1, "weight_decay=-1 is not a number of at least 0"),
        ("batch_size", 0, "batch_size=0 is not a whole number"),
        ("batch_size", 6.5, "batch_size=6.5"),
        ("max_epochs", True, "max_epochs=True"),
        ("patience", 0, "patience=0"),
        ("validation", 1, "validation=1"),
        ("gamma", math.inf, "gamma=inf"),
        ("loss", "hinge", "loss='hinge' is unknown; take one of cross_entropy, focal"),
    ],
)
def test_a_wrong_value_is_named_in_one_line(name, value, message):
    with pytest.raises(TrainingError, match=message) as caught:
        Settings(**{name: value})
    assert isinstance(caught.value, P4FError)
    assert "\n" not in str(caught.value)


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


def test_the_best_epoch_is_the_first_with_the_lowest_validation_loss():
    history = History()
    improved = [history.add(train, validation) for train, validation in [(1, 3), (0, 2), (9, 4), (0, 2), (0, 2)]]
    assert improved == [True, True, False, False, False]
    assert (history.best_epoch, history.epochs) == (2, 5)


def test_patience_counts_the_epochs_after_the_best():
    history = History()
    assert not history.waited(1)
    for validation, waited in [(3, False), (4, False), (2, False), (5, False), (2, True)]:
        history.add(0, validation)
        assert history.waited(2) is waited


def test_a_fit_has_what_was_seen():
    history = History([0.5, 0.4], [0.6, 0.7], 1)
    network = nn.Identity()
    fit = history.fit(network, seed=3)
    assert (fit.network, fit.seed, fit.best_epoch, fit.epochs) == (network, 3, 1, 2)
    assert (fit.train_loss, fit.validation_loss) == ((0.5, 0.4), (0.6, 0.7))
