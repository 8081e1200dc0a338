"""Small networks, any number of them fitted as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.learners.base import Fitted, Learner, Task
from problog4fairness.learners.encoder import Encoder, encode, make_encoder, prepared
from problog4fairness.learners.fit import fit_many
from problog4fairness.learners.history import Fit
from problog4fairness.learners.job import Job
from problog4fairness.learners.mlp import MLP
from problog4fairness.learners.settings import Loss, Settings
from problog4fairness.program.observed import log_outcomes

# Inputs that the network looks at together when predicting.
CHUNK = 1 << 16


class Network(Learner):
    """A network with ReLU layers on encoded columns: numbers scaled, categories as indicators.

    Networks that are fitted for several tasks are fitted in stacks, each as it would have been alone.

    Parameters
    ----------
    hidden, dropout, learning_rate, weight_decay, batch_size, max_epochs, patience, validation, loss, gamma
        See :class:`Settings`.
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = Settings.hidden,
        dropout: float = Settings.dropout,
        learning_rate: float | None = Settings.learning_rate,
        weight_decay: float = Settings.weight_decay,
        batch_size: int | None = Settings.batch_size,
        max_epochs: int = Settings.max_epochs,
        patience: int = Settings.patience,
        validation: float = Settings.validation,
        loss: Loss = Settings.loss,
        gamma: float = Settings.gamma,
    ) -> None:
        self.hidden = hidden
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation = validation
        self.loss = loss
        self.gamma = gamma

    def settings(self) -> Settings:
        """The options, checked."""
        return Settings(**self.get_params(deep=False))

    def fit_many(self, tasks: Sequence[Task], progress: bool | None = None) -> list[FittedNetwork]:
        """See :meth:`Learner.fit_many`."""
        settings = self.settings()
        encoded: dict[object, tuple[Encoder, Tensor]] = {}
        jobs, encoders = [], []
        for task in tasks:
            encoder, matrix = _encoded(task, encoded)
            encoders.append(encoder)
            jobs.append(Job(matrix, task.observation, task.seed, task.train_rows, task.weights, task.validation_rows))
        fits = fit_many(jobs, settings, progress)
        return [FittedNetwork.of(encoder, fit) for encoder, fit in zip(encoders, fits, strict=True)]


def _encoded(task: Task, known: dict[object, tuple[Encoder, Tensor]]) -> tuple[Encoder, Tensor]:
    """An encoder fitted on the inputs that the task learns from, and all its inputs; the same for the same inputs."""
    table, rows = task.observation.table, task.train_rows
    key = (id(table), None if rows is None else rows.numpy().tobytes())
    if key not in known:
        seen = table if rows is None else table.iloc[task.observation.needs(rows).unique().numpy()]
        encoder = make_encoder(prepared(seen))
        known[key] = encoder, torch.from_numpy(encode(encoder, table))
    return known[key]


class FittedNetwork(Fitted):
    """A trained network and the encoder in front of it."""

    kind = "network"

    def __init__(self, encoder: Encoder, network: MLP, history: Mapping[str, list[float]]) -> None:
        self.encoder, self.network, self._history = encoder, network, history

    @classmethod
    def of(cls, encoder: Encoder, fit: Fit[MLP]) -> FittedNetwork:
        """What a fit gave."""
        history = {"training": list(fit.train_loss), "validation": list(fit.validation_loss)}
        return cls(encoder, fit.network, history)

    @property
    def history(self) -> Mapping[str, list[float]]:
        """See :meth:`Fitted.history`: training and validation loss of every epoch."""
        return self._history

    def check(self, table: pd.DataFrame) -> None:
        """See :meth:`Fitted.check`."""
        self.encoder.check(table)

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        """See :meth:`Fitted.log_proba`."""
        return log_outcomes((self.network.sizes[-1],), self.logits(table))

    def logits(self, table: pd.DataFrame) -> Tensor:
        """``[rows, outputs]`` in float64, so that they do not depend on which rows come with a row."""
        weights = [(layer.weight.double(), layer.bias.double()) for layer in self.network.layers]
        matrix = torch.from_numpy(encode(self.encoder, table))
        found = []
        with torch.no_grad():
            for part in matrix.split(CHUNK):
                x = part.double()
                for number, (weight, bias) in enumerate(weights):
                    x = torch.nn.functional.linear(x if number == 0 else x.relu(), weight, bias)
                found.append(x)
        return torch.cat(found) if found else matrix.new_zeros(0, self.network.sizes[-1], dtype=torch.float64)
