"""Observations that the tests of learners share."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import torch
from torch import Tensor

from problog4fairness.beliefs import FairInputs, Observation
from problog4fairness.learners.base import Task
from problog4fairness.program import AffineObserved, Observed


def observe(
    coefficients: Tensor, codes: Tensor, index: Tensor, classes: int = 2, kernel: type[AffineObserved] = AffineObserved
):
    """An observation of rows with these coefficients ``[entries, variants * classes]``."""
    outputs = 1 if classes == 2 else classes
    variants = index.shape[1]
    observed = kernel((outputs,) * variants, torch.zeros(len(coefficients)).double(), coefficients.double(), codes)
    return Observation(FairInputs(pd.DataFrame(), index, variants), None, observed, outputs)


def recorded_label(
    label: Tensor, index: Tensor | None = None, classes: int = 2, kernel: type[AffineObserved] = AffineObserved
):
    """The recorded label is the fair one."""
    place = torch.arange(len(label)) if index is None else index
    return observe(torch.eye(classes), label.long(), place.reshape(-1, 1), classes, kernel)


class Unstackable(AffineObserved):
    """Cannot be stacked with others."""

    def stacked(self, others: Sequence[Observed]) -> Observed | None:
        return None


def alone(label: Tensor) -> Observation:
    return recorded_label(label, kernel=Unstackable)


def broken(label: Tensor, rows: Sequence[int]) -> Observation:
    """NaN in some rows."""

    class Broken(Unstackable):
        def __call__(self, logits: Tensor, chosen: Tensor | None = None) -> Tensor:
            found = super().__call__(logits, chosen)
            bad = torch.isin(chosen, torch.tensor(rows))
            return found.masked_fill(bad, torch.nan)

    return recorded_label(label, kernel=Broken)


def data(rows: int, features: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Inputs, and a label that depends on them with some noise."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(rows, features, generator=generator)
    label = inputs.sum(1) + torch.randn(rows, generator=generator) > 0
    return inputs, label


def blend(rows: int, distinct: int, variants: int = 4, seed: int = 0) -> tuple[Tensor, Observation]:
    """Few inputs and rows that each need several of them: P(recorded = 1) = sum_v c_v sigmoid(z_v)."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(distinct, 3, generator=generator)
    index = torch.randint(0, distinct, (rows, variants), generator=generator)
    shares = torch.rand(rows, variants, generator=generator)
    chance = (shares * torch.sigmoid(2 * inputs.sum(1))[index]).sum(1) / shares.sum(1)
    label = torch.rand(rows, generator=generator) < chance
    shares = shares / shares.sum(1, keepdim=True)
    both = torch.stack([shares * ~label.unsqueeze(1), shares * label.unsqueeze(1)], dim=-1)
    return inputs, observe(both.flatten(1), torch.arange(rows), index)


def blended(rows: int, distinct: int, data_seed: int = 0, **options) -> Task:
    """A task on such inputs."""
    inputs, observation = blend(rows, distinct, seed=data_seed)
    return Task(observation, inputs=inputs, **options)
