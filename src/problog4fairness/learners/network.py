"""Small networks, any number of them fitted as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from problog4fairness.learners.base import Fitted, Learner, Shape, Task
from problog4fairness.learners.encoder import Encoder, encode, make_encoder, prepared
from problog4fairness.learners.encoder_state import (
    encoder_of,
    encoder_shapes,
    encoder_state,
    with_numbers,
)
from problog4fairness.learners.fit import fit_many
from problog4fairness.learners.history import Fit
from problog4fairness.learners.job import Job
from problog4fairness.learners.mlp import MLP
from problog4fairness.learners.plain import check_history, require
from problog4fairness.learners.settings import Loss, Settings
from problog4fairness.program.observed import log_outcomes

# Inputs that the network looks at together when predicting; and numbers in them, however wide a model file says it is.
CHUNK, NUMBERS = 1 << 16, 1 << 24
# What a model file may ask for.
MAX_LAYERS = 100
MAX_WIDTH = 1 << 24


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

    def check_options(self) -> None:
        """See :meth:`Learner.check_options`."""
        self.settings()

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

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        """See :meth:`Fitted.categories`."""
        return self.encoder.categories

    def check(self, table: pd.DataFrame) -> None:
        """See :meth:`Fitted.check`."""
        self.encoder.check(table)

    def log_proba(self, table: pd.DataFrame) -> Tensor:
        """See :meth:`Fitted.log_proba`."""
        return log_outcomes((self.network.sizes[-1],), self.logits(table))

    def logits(self, table: pd.DataFrame) -> Tensor:
        """``[rows, outputs]`` in float64, so that they do not depend on which rows come with a row."""
        state = {name: tensor.double() for name, tensor in self.network.state_dict().items()}
        step = min(CHUNK, max(1, NUMBERS // max(1, self.encoder.width)))
        found = []
        with torch.no_grad():
            for start in range(0, max(1, len(table)), step):
                x = torch.from_numpy(encode(self.encoder, table.iloc[start : start + step])).double()
                for layer in range(len(self.network.sizes) - 1):
                    weight, bias = state[f"layers.{layer}.weight"], state[f"layers.{layer}.bias"]
                    x = torch.nn.functional.linear(x.relu() if layer else x, weight, bias)
                found.append(x)
        return torch.cat(found)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """See :meth:`Fitted.state`."""
        tensors = {name: value.contiguous() for name, value in self.network.state_dict().items()}
        numbers, plain = encoder_state(self.encoder)
        sizes, dropout = list(self.network.sizes), self.network.dropout.p
        return tensors | numbers, {"encoder": plain, "sizes": sizes, "dropout": dropout, "history": self._history}

    @classmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:
        """See :meth:`Fitted.shapes`."""
        require(set(plain) == {"encoder", "sizes", "dropout", "history"}, "its network is another one")
        encoder = encoder_of(plain["encoder"], columns)
        sizes = plain["sizes"]
        require(isinstance(sizes, list) and 2 <= len(sizes) <= MAX_LAYERS, "its layers are too many")
        require(all(type(size) is int and 0 < size < MAX_WIDTH for size in sizes), "its layers are not numbers")
        fit = sizes[0] == encoder.width and sizes[-1] == (1 if classes == 2 else classes)
        require(fit, "its layers do not fit its columns and labels")
        require(type(plain["dropout"]) is float and 0 <= plain["dropout"] < 1, "its dropout is not a share")
        check_history(plain["history"])
        shapes = encoder_shapes(encoder)
        for layer, (ins, outs) in enumerate(pairwise(sizes)):
            shapes[f"layers.{layer}.weight"] = (outs, ins), torch.float32
            shapes[f"layers.{layer}.bias"] = (outs,), torch.float32
        return shapes

    @classmethod
    def from_state(cls, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> FittedNetwork:
        """See :meth:`Fitted.from_state`."""
        own = dict(tensors)
        encoder = with_numbers(encoder_of(plain["encoder"]), own)
        sizes = plain["sizes"]
        with torch.device("meta"):  # no numbers are drawn, so nobody else's random numbers change
            network = MLP(sizes[0], sizes[1:-1], sizes[-1], plain["dropout"])
        network.load_state_dict(own, assign=True)
        return cls(encoder, network.eval().requires_grad_(), plain["history"])
