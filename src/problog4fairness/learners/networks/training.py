"""How to train a network, what a row costs, and how a fit went. The paper's numbers are in its studies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar, get_args

import torch
from torch import Tensor, nn

from problog4fairness.errors import TrainingError
from problog4fairness.learners.splits import row_list
from problog4fairness.learners.validation import COUNT, NOT_NEGATIVE, POSITIVE, SHARE, checked_options, option

Loss = Literal["cross_entropy", "focal"]
Network = TypeVar("Network", bound=nn.Module)
_SMALLEST = torch.finfo(torch.float32).tiny


@dataclass(frozen=True)
class Settings:
    """How to train a network.

    Parameters
    ----------
    hidden
        Width of each hidden layer; ``()`` is logistic regression.
    dropout
        Share of hidden units that are switched off in each training step.
    learning_rate, weight_decay
        Step size and weight decay of AdamW; None for a step size that suits the batch size.
    batch_size
        Rows in one training step; None for one that suits the number of rows, between 64 and 1024.
    max_epochs
        Passes over the training rows at most. The paper does not say how many it made; 200 is more than early stopping
        leaves most fits.
    patience
        Stop after this many epochs in a row without a lower validation loss; None for 10 below 4,000 rows, where the
        loss of few held-out rows jumps, and otherwise 5.
    validation
        Share of the training rows that is held out, at random, to choose the best epoch; 0 takes the training rows
        themselves instead.
    loss
        ``"cross_entropy"``, or ``"focal"`` to look mostly at the rows that are explained badly.
    gamma
        How strongly the focal loss does so; 0 is cross-entropy.

    Examples
    --------
    >>> from problog4fairness.learners import Settings
    >>> Settings(max_epochs=50, batch_size=64).max_epochs
    50
    """

    hidden: tuple[int, ...] = (32, 32, 32)
    dropout: float = option(0.0, SHARE)
    learning_rate: float | None = option(None, POSITIVE.or_else(None))
    weight_decay: float = option(0.01, NOT_NEGATIVE)
    batch_size: int | None = option(None, COUNT.or_else(None))
    max_epochs: int = option(200, COUNT)
    patience: int | None = option(None, COUNT.or_else(None))
    validation: float = option(0.1, SHARE)
    loss: Loss = "cross_entropy"
    gamma: float = option(2.0, NOT_NEGATIVE)

    def __post_init__(self) -> None:
        try:
            hidden = tuple(COUNT(f"hidden[{layer}]", width) for layer, width in enumerate(self.hidden))
        except TypeError:
            raise TrainingError(f"hidden={self.hidden!r} is not a sequence of widths such as (32, 32, 32)") from None
        if self.loss not in get_args(Loss):
            raise TrainingError(f"loss={self.loss!r} is unknown; take one of {', '.join(get_args(Loss))}")
        for name, value in {"hidden": hidden, **checked_options(self)}.items():
            object.__setattr__(self, name, value)

    def costs(self, log_likelihood: Tensor) -> Tensor:
        """What rows cost, given log P of what was recorded in each.

        -log P, or the focal loss -(1 - P)^gamma log P, by which rows that are explained well count little.
        """
        if self.loss == "cross_entropy":
            return -log_likelihood
        # Near P = 1 the power is taken of a number above 0, so that its gradient is finite for gamma below 1 too.
        return -(-torch.expm1(log_likelihood)).clamp(min=_SMALLEST).pow(self.gamma) * log_likelihood

    def suited(self, rows: int) -> SuitedSettings:
        """The same with a batch size, a learning rate and a patience that suit so many rows.

        Batches of 1/20 of the rows, a power of 2 between 64 and 1024; the learning rate grows from 1e-3 at 64 to 4e-3
        at 512, because the gradient of a larger batch is surer. On 10,000 synthetic rows this takes a third of the
        time of batches of 128 with a learning rate of 1.4e-3 and a patience of 10, and ends as well.
        """
        batch = 64
        while batch < 1024 and rows >= 20 * batch:
            batch *= 2
        # Batches are padded to their size: larger ones than there are rows would only take memory.
        size = min(batch if self.batch_size is None else self.batch_size, max(1, rows))
        rate = 1e-3 * (size / 64) ** (2 / 3) if self.learning_rate is None else self.learning_rate
        patience = (10 if rows < 4_000 else 5) if self.patience is None else self.patience
        return SuitedSettings(**{**vars(self), "batch_size": size, "learning_rate": rate, "patience": patience})


@dataclass(frozen=True)
class SuitedSettings(Settings):
    """Settings in which nothing is left open."""

    learning_rate: float = 1e-3
    batch_size: int = 64
    patience: int = 10


@dataclass(frozen=True)
class Fit(Generic[Network]):
    """A fitted network and how it came to be.

    Attributes
    ----------
    network
        The network of the best epoch, in evaluation mode.
    best_epoch
        The epoch, from 1, with the lowest validation loss.
    train_loss, validation_loss
        Weighted mean loss of each epoch: over its training batches as they came, and over the validation rows after it.
    seed
        The seed it was fitted with.

    Examples
    --------
    >>> import pandas as pd
    >>> import torch
    >>> import problog4fairness as p4f
    >>> x = torch.linspace(-1, 1, 200).unsqueeze(1)
    >>> rows = p4f.data.Rows(pd.DataFrame({"x": x.squeeze(1)}), ("x",), recorded=(x.squeeze(1) > 0).long().numpy())
    >>> settings = p4f.learners.Settings(max_epochs=3)
    >>> fit = p4f.learners.fit_module(torch.nn.Linear(1, 1), x, p4f.NoBias(), rows, settings=settings)
    >>> fit.epochs, 1 <= fit.best_epoch <= 3
    (3, True)
    """

    network: Network
    best_epoch: int
    train_loss: tuple[float, ...]
    validation_loss: tuple[float, ...]
    seed: int

    @property
    def epochs(self) -> int:
        """How many epochs were run."""
        return len(self.validation_loss)


@dataclass
class History:
    """The losses so far."""

    train: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    best_epoch: int = 0

    @property
    def epochs(self) -> int:
        """Epochs so far."""
        return len(self.validation)

    def add(self, train: float, validation: float) -> bool:
        """Note one more epoch; whether it is the best so far."""
        lowest = self.validation[self.best_epoch - 1] if self.best_epoch else math.inf
        self.train.append(train)
        self.validation.append(validation)
        if validation < lowest:
            self.best_epoch = self.epochs
        return validation < lowest

    def waited(self, patience: int) -> bool:
        """Whether the last ``patience`` epochs brought no improvement."""
        return self.epochs - self.best_epoch >= patience

    def fit(self, network: Network, seed: int) -> Fit[Network]:
        """The outcome, with the network of the best epoch."""
        return Fit(network, self.best_epoch, tuple(self.train), tuple(self.validation), seed)


def check_finite(rows: Tensor, losses: Tensor, logits: Tensor, epoch: int, settings: SuitedSettings) -> None:
    """Raise if a loss ``[n]`` is not finite, and say in which of the ``rows`` and what to do.

    A fit looks at its losses once an epoch, because looking more often costs time; where one is not finite, it finds
    the step with this.
    """
    bad = ~torch.isfinite(losses)
    if not bool(bad.any()):
        return
    where = f"the loss is not finite in epoch {epoch} at the {row_list(rows[bad])}"
    if bool(torch.isfinite(logits[bad]).all()):
        raise TrainingError(f"{where}: the network's output is, so check what is recorded there, and its weight")
    rate = f"the learning rate (now {settings.learning_rate:g})"
    raise TrainingError(f"{where}: nor is the network's output; check the inputs, or lower {rate}")
