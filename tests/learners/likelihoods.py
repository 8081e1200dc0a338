"""Likelihoods that the tests of training share."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from problog4fairness.learners.likelihood import Likelihood, RecordedLabel


class Blend(Likelihood):
    """P(recorded = 1) = sum_v c_v sigmoid(z_v): several inputs for each row, as under measurement bias."""

    outputs = 1

    def __init__(self, label: Tensor, shares: Tensor, index: Tensor) -> None:
        self.label, self.shares, self.index = label.float(), shares, index

    def __call__(self, logits: Tensor, rows: Tensor) -> Tensor:
        share = self.shares[rows].log()
        z = logits.squeeze(-1)
        yes = (share + torch.nn.functional.logsigmoid(z)).logsumexp(-1)
        no = (share + torch.nn.functional.logsigmoid(-z)).logsumexp(-1)
        return torch.where(self.label[rows] > 0, yes, no)

    def stacked(self, others: Sequence[Likelihood], inputs: Sequence[int]) -> Likelihood | None:
        members = [self, *(other for other in others if isinstance(other, Blend))]
        return Blend(
            torch.cat([member.label for member in members]),
            torch.cat([member.shares for member in members]),
            torch.cat([member.index + start for member, start in zip(members, inputs, strict=True)]),
        )


class Alone(RecordedLabel):
    """Cannot be stacked with others."""

    def stacked(self, others: Sequence[Likelihood], inputs: Sequence[int]) -> Likelihood | None:
        return None


class Broken(RecordedLabel):
    """NaN in some rows: in the loss, or only in its gradient."""

    def __init__(self, label: Tensor, broken: Sequence[int], gradient: bool = False) -> None:
        super().__init__(label)
        self.broken, self.gradient = torch.tensor(broken), gradient

    def __call__(self, logits: Tensor, rows: Tensor) -> Tensor:
        found = super().__call__(logits, rows)
        bad = torch.isin(rows, self.broken)
        if not self.gradient:
            return found.masked_fill(bad, torch.nan)
        return found + torch.where(bad, logits[..., 0, 0] * 0, 1.0).sqrt() - 1 + bad

    def stacked(self, others: Sequence[Likelihood], inputs: Sequence[int]) -> Likelihood | None:
        return None


def data(rows: int, features: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Inputs, and a label that depends on them with some noise."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(rows, features, generator=generator)
    label = inputs.sum(1) + torch.randn(rows, generator=generator) > 0
    return inputs, label


def blend(rows: int, distinct: int, variants: int = 4, seed: int = 0) -> tuple[Tensor, Blend]:
    """Few inputs and rows that each need several of them."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(distinct, 3, generator=generator)
    index = torch.randint(0, distinct, (rows, variants), generator=generator)
    shares = torch.rand(rows, variants, generator=generator)
    chance = (shares * torch.sigmoid(2 * inputs.sum(1))[index]).sum(1) / shares.sum(1)
    label = torch.rand(rows, generator=generator) < chance
    return inputs, Blend(label, shares / shares.sum(1, keepdim=True), index)
