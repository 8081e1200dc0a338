"""Which rows made a loss that is not finite.

A fit looks at its losses once an epoch, because looking more often costs time. Where one is not finite, the epoch is
run again from where it began, and each step is looked at here.
"""

from __future__ import annotations

import torch
from torch import Tensor

from problog4fairness.errors import TrainingError
from problog4fairness.learners.networks.training import SuitedSettings
from problog4fairness.learners.splits import numbered


class Watch:
    """Looks at each step of one network in a stack, and raises at the first that is not finite.

    Parameters
    ----------
    model
        The network's place in the stack.
    first_row
        Where its rows begin in the stacked observation.
    epoch
        The epoch, from 1.
    settings
        What the advice refers to.
    """

    def __init__(self, model: int, first_row: int, epoch: int, settings: SuitedSettings) -> None:
        self._model = model
        self._first_row = first_row
        self._epoch = epoch
        self._settings = settings

    def look(self, rows: Tensor, weights: Tensor, losses: Tensor, logits: Tensor) -> None:
        """Raise if the network's loss or its gradient is not finite in this batch ``[models, n]``."""
        if self._model >= len(rows):
            return
        used = weights[self._model] > 0
        own = rows[self._model][used] - self._first_row
        check_finite(own, losses[self._model][used], logits[self._model][used], self._epoch, self._settings)
        if losses.requires_grad:
            (slopes,) = torch.autograd.grad(losses[self._model].sum(), logits, retain_graph=True)
            wrong = own[~torch.isfinite(slopes[self._model][used].flatten(1)).all(1)]
            if len(wrong):
                raise TrainingError(
                    f"the gradient of the loss is not finite in epoch {self._epoch} at the {numbered(wrong)}; "
                    "check what is recorded there, and that the observation is differentiable"
                )

    def unknown(self) -> TrainingError:
        """What to raise if all steps looked finite."""
        return TrainingError(f"the loss is not finite in epoch {self._epoch}; lower {_rate(self._settings)}")


def check_finite(rows: Tensor, losses: Tensor, logits: Tensor, epoch: int, settings: SuitedSettings) -> None:
    """Raise if a loss is not finite, and say which rows and what to do.

    Parameters
    ----------
    rows
        ``[n]``: the numbers of the rows.
    losses, logits
        ``[n]`` and ``[n, variants, outputs]``.
    epoch, settings
        For the message.
    """
    bad = ~torch.isfinite(losses)
    if not bool(bad.any()):
        return
    where = f"the loss is not finite in epoch {epoch} at the {numbered(rows[bad])}"
    if bool(torch.isfinite(logits[bad]).all()):
        raise TrainingError(f"{where}: the network's output is, so check what is recorded there, and its weight")
    raise TrainingError(f"{where}: nor is the network's output; check the inputs, or lower {_rate(settings)}")


def _rate(settings: SuitedSettings) -> str:
    return f"the learning rate (now {settings.learning_rate:g})"
