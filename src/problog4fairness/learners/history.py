"""How a fit went: the losses of each epoch, which epoch was best, and what is handed back at the end."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from torch import nn

Network = TypeVar("Network", bound=nn.Module)


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
    >>> job = p4f.learners.Job(x, p4f.NoBias().observe(rows))
    >>> (fit,) = p4f.learners.fit_many([job], p4f.learners.Settings(max_epochs=3))
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

    @property
    def best_loss(self) -> float:
        """The lowest validation loss so far."""
        return self.validation[self.best_epoch - 1] if self.best_epoch else math.inf

    def add(self, train: float, validation: float) -> bool:
        """Note one more epoch; whether it is the best so far."""
        improved = validation < self.best_loss
        self.train.append(train)
        self.validation.append(validation)
        if improved:
            self.best_epoch = self.epochs
        return improved

    def waited(self, patience: int) -> bool:
        """Whether the last ``patience`` epochs brought no improvement."""
        return self.epochs - self.best_epoch >= patience

    def fit(self, network: Network, seed: int) -> Fit[Network]:
        """The outcome, with the network of the best epoch."""
        return Fit(network, self.best_epoch, tuple(self.train), tuple(self.validation), seed)
