"""What training needs to know of a mechanism: the likelihood of each recorded row, given a network's logits.

A row may need the network at several inputs: under measurement bias at every vector of fair features that its recorded
ones may stand for. Many rows need the same ones, so the distinct inputs are kept once, and a row points at them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor


class Likelihood(ABC):
    """log P(recorded) of rows 0 .. n - 1, as a function of logits.

    Attributes
    ----------
    index
        ``[rows, variants]``: the inputs, by their position in the matrix of distinct inputs, that each row needs.
    runs
        ``[rows]``, where the inputs of every row are a run k n, k n + 1, ... k n + n - 1: the number k of its run.
        Then ``index`` follows from it and is not stored, which under measurement bias saves most of the memory.
    outputs
        How many logits the network has for one input: 1 for a binary label, k for k classes.
    """

    index: Tensor
    runs: Tensor | None = None
    outputs: int

    def __len__(self) -> int:
        return len(self.index) if self.runs is None else len(self.runs)

    @property
    def variants(self) -> int:
        """At how many inputs a row needs the network."""
        return int(self.index.shape[1])

    def needs(self, rows: Tensor) -> Tensor:
        """``[..., variants]``: the inputs that the rows ``[...]`` need."""
        if self.runs is None:
            return self.index[rows]
        return (self.runs[rows] * self.variants).unsqueeze(-1) + torch.arange(self.variants, device=self.runs.device)

    def input_range(self) -> tuple[int, int]:
        """The first and the last input that any row needs."""
        if self.runs is None:
            return int(self.index.min()), int(self.index.max())
        return int(self.runs.min()) * self.variants, (int(self.runs.max()) + 1) * self.variants - 1

    @abstractmethod
    def __call__(self, logits: Tensor, rows: Tensor) -> Tensor:
        """log P(recorded), ``[...]``, for the rows ``[...]`` with logits ``[..., variants, outputs]``.

        Logits broadcast: where all rows need the same inputs, their dimension may be 1.
        """

    @abstractmethod
    def stacked(self, others: Sequence[Likelihood], inputs: Sequence[int]) -> Likelihood | None:
        """One likelihood over the rows of this one, followed by those of the others; None where they do not fit.

        The same likelihood may occur several times, each time with inputs of its own.

        Parameters
        ----------
        others
            The likelihoods that follow.
        inputs
            For this one and each of the others, the position at which its inputs start in the common matrix.
        """


class RecordedLabel(Likelihood):
    """The recorded label is the label: ordinary cross-entropy, without a mechanism.

    Parameters
    ----------
    label
        ``[rows]``: the class of each row, 0 .. k - 1.
    index
        ``[rows]``: the input of each row.
    classes
        Number of classes.
    """

    def __init__(self, label: Tensor, index: Tensor | None = None, classes: int = 2) -> None:
        self.label = label.long()
        self.index = (torch.arange(len(label)) if index is None else index).reshape(-1, 1)
        self.outputs = 1 if classes == 2 else classes
        self._classes = classes

    def __call__(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`Likelihood.__call__`."""
        label = self.label[rows]
        logits = logits.squeeze(-2)
        if self.outputs == 1:
            return torch.nn.functional.logsigmoid(logits.squeeze(-1) * (2 * label - 1))
        return torch.log_softmax(logits, dim=-1).gather(-1, label.unsqueeze(-1)).squeeze(-1)

    def stacked(self, others: Sequence[Likelihood], inputs: Sequence[int]) -> Likelihood | None:
        """See :meth:`Likelihood.stacked`."""
        members = [self, *(other for other in others if isinstance(other, RecordedLabel))]
        if len(members) != len(others) + 1 or any(m.outputs != self.outputs for m in members):
            return None
        label = torch.cat([member.label for member in members])
        index = torch.cat([member.index + start for member, start in zip(members, inputs, strict=True)])
        return RecordedLabel(label, index, self._classes)
