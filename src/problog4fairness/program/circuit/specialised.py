"""A circuit in which everything but some networks is fixed: what the affine and the folded form share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from torch import Tensor

from problog4fairness.errors import ShapeError
from problog4fairness.program.circuit.compiled import Leaf
from problog4fairness.program.circuit.observed import Observed


class Specialised(ABC):
    r"""A circuit in which everything but some networks is fixed.

    Attributes
    ----------
    free
        The network outputs that are still open.
    widths
        How many logits each of them takes: one for a network with two outcomes, k for one with k.
    columns
        How many logits they take in all.
    queries
        The queries, as in the circuit.
    codes
        ``[rows]``: the entry of each row, rows with the same fixed values sharing one; None where all share it.
    affine
        Whether the probabilities are affine in the free outputs.

    Examples
    --------
    >>> import torch
    >>> import problog4fairness as p4f
    >>> circuit = p4f.Program(r"nn(h,X) :: y(X). p :: lost. z :- y(x), \+lost. ?- z.").compile()
    >>> left = circuit.specialise(parameters={"p": 0.2})
    >>> left.affine, [str(leaf) for leaf in left.free]
    (True, ['h(x)'])
    >>> half = torch.zeros(1, 1, dtype=torch.float64)
    >>> left.log_probability(half).exp().squeeze().round(decimals=4).tolist()  # not z, z
    [0.6, 0.4]
    """

    affine: bool

    def __init__(self, queries: Sequence[str], free: Sequence[Leaf], codes: Tensor | None) -> None:
        self.queries = tuple(queries)
        self.free = tuple(free)
        self.widths = tuple(len(leaf.outcomes) if leaf.outcomes else 1 for leaf in free)
        self.columns = sum(self.widths)
        self.codes = codes

    @abstractmethod
    def log_probability(self, logits: Tensor, rows: Tensor | None = None) -> Tensor:
        """log P of every query, ``[..., rows, queries, 2]``: last that it does not hold, and that it holds.

        Parameters
        ----------
        logits
            ``[..., rows, columns]``: the logits of the free networks.
        rows
            Which rows of the fixed values these are; all of them, in order, by default.
        """

    @abstractmethod
    def observed(self, outcome: Tensor) -> Observed:
        """As :meth:`observe`, also where some row has an outcome of probability 0."""

    def observe(self, outcome: Tensor) -> Observed:
        """The likelihood of what was recorded in each row.

        Parameters
        ----------
        outcome
            ``[rows]``. With one query: whether it holds (0 or 1). With several, of which one holds in each row: which
            one, by its position.
        """
        observed = self.observed(outcome)
        observed.require_possible()
        return observed

    def _entries(self, logits: Tensor, rows: Tensor | None) -> Tensor | None:
        """For each row of ``logits``, the entry of its fixed values; None where all rows share one."""
        if logits.ndim == 0 or logits.shape[-1] != self.columns:
            raise ShapeError(
                f"the last dimension of the logits must be {self.columns} ({', '.join(map(str, self.free))}), "
                f"not {list(logits.shape)}"
            )
        if self.codes is None:
            return None
        return self.codes if rows is None else self.codes[rows]

    def _pairs(self, outcome: Tensor) -> Tensor:
        """Position of each outcome among the (query, truth) pairs."""
        outcome = outcome.detach().long()
        count = 2 if len(self.queries) == 1 else len(self.queries)
        if outcome.numel() and not (int(outcome.min()) >= 0 and int(outcome.max()) < count):
            raise ShapeError(f"an outcome must be one of 0 .. {count - 1}")
        return outcome if len(self.queries) == 1 else 2 * outcome + 1
