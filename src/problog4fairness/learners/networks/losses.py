"""What a row costs, given log P(what was recorded in it)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from problog4fairness.learners.settings import Settings

_SMALLEST = torch.finfo(torch.float32).tiny


def cross_entropy(log_likelihood: Tensor) -> Tensor:
    """-log P of each row."""
    return -log_likelihood


def focal(log_likelihood: Tensor, gamma: float = 2.0) -> Tensor:
    """-(1 - P)^gamma log P of each row: rows that are explained well count little.

    Near P = 1 the power is taken of a number above 0, so that its gradient is finite for gamma below 1 too.
    """
    return -(-torch.expm1(log_likelihood)).clamp(min=_SMALLEST).pow(gamma) * log_likelihood


def loss_of(settings: Settings) -> Callable[[Tensor], Tensor]:
    """The loss that the settings ask for."""
    return cross_entropy if settings.loss == "cross_entropy" else partial(focal, gamma=settings.gamma)
