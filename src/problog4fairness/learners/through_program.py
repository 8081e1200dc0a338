"""The likelihood of recorded rows under a program of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from problog4fairness.errors import NetworkError, P4FError
from problog4fairness.learners.likelihood import Likelihood
from problog4fairness.mechanisms.text import unquoted
from problog4fairness.program.observed import Observed
from problog4fairness.program.terms import Ground, Structure, text

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.mechanisms.custom import ProgramMechanism
    from problog4fairness.program.data import Leaf


class ProgramLikelihood(Likelihood):
    """What a specialised circuit says of the recorded outcomes."""

    def __init__(self, observed: Observed, index: Tensor, outputs: int) -> None:
        self.index = index
        self.outputs = outputs
        self._observed = observed

    def __call__(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`Likelihood.__call__`."""
        return self._observed(logits.flatten(-2), rows)

    def stacked(self, others: Sequence[Likelihood], inputs: Sequence[int]) -> Likelihood | None:
        """See :meth:`Likelihood.stacked`; programs are trained one after another."""
        return self if not others and inputs[0] == 0 else None


class ProgramView:
    """Rows as a program sees them: its networks bound to columns, and the inputs at which it needs the classifier.

    Parameters
    ----------
    mechanism
        The program and its bindings.
    frame
        The rows.
    index
        ``[rows, 2^features]``: the input of each combination of the features' values, the last fastest; ``[rows, 1]``
        where the program flips no features.
    """

    def __init__(self, mechanism: ProgramMechanism, frame: pd.DataFrame, index: Tensor) -> None:
        mechanism.require_rates()
        self._mechanism = mechanism
        self._frame = frame
        circuit = mechanism.program().compile()
        known = [leaf for leaf in circuit.leaves if leaf.kind == "network" and leaf.name != mechanism.classifier]
        self.specialised = circuit.specialise(nn={str(leaf): self._value(leaf) for leaf in known})
        self.index = torch.stack([self._input(leaf, index) for leaf in self.specialised.free], dim=1)

    def likelihood(self, recorded: np.ndarray[Any, Any], outputs: int) -> ProgramLikelihood:
        """The likelihood of recorded classes."""
        queries = len(self.specialised.queries)
        if queries != max(1, outputs):
            raise P4FError(
                f"the program has {queries} queries for {max(2, outputs)} classes; give it one for each class"
            )
        return ProgramLikelihood(self.specialised.observe(torch.from_numpy(recorded)), self.index, outputs)

    def log_probability(self, logits: Tensor) -> Tensor:
        """log P(recorded class), ``[rows, classes]``, for logits ``[rows, variants, outputs]``."""
        logs = self.specialised.log_probability(logits.flatten(-2))
        return logs[:, 0] if logs.shape[1] == 1 else logs[..., 1]

    def _input(self, leaf: Leaf, index: Tensor) -> Tensor:
        """The input of each row for the classifier at a leaf: the row itself, or the row with some features flipped."""
        flips = self._flips(leaf.arguments[0]) if leaf.arguments else ()
        if not flips:
            return index[:, 0] if index.shape[1] == 1 else index.gather(1, self._places(())).squeeze(1)
        return index.gather(1, self._places(flips)).squeeze(1)

    def _places(self, flips: Sequence[int]) -> Tensor:
        place = np.zeros(len(self._frame), dtype=np.int64)
        for position, feature in enumerate(self._mechanism.features):
            value = np.asarray(self._frame[feature], dtype=np.int64)
            place = 2 * place + (1 - value if flips and flips[position] else value)
        return torch.from_numpy(place).unsqueeze(1)

    def _flips(self, vector: Ground) -> tuple[int, ...]:
        """The bits of ``x_(b1,...,bn)``; none for any other term."""
        if not isinstance(vector, Structure):
            return ()
        bits = tuple(bit for bit in vector.arguments if bit in (0, 1))
        if len(bits) != len(self._mechanism.features) or len(bits) != len(vector.arguments):
            raise NetworkError(
                f"the program flips {text(vector)}, but features names {len(self._mechanism.features)} columns"
            )
        return tuple(int(bit) for bit in bits)

    def _value(self, leaf: Leaf) -> Tensor:
        """The column, or the function, behind a network other than the classifier."""
        mechanism = self._mechanism
        if leaf.name in mechanism.functions:
            values = mechanism.functions[leaf.name](self._frame)
            return torch.as_tensor(np.asarray(values), dtype=torch.float64)
        name, flipped = None, False
        if len(leaf.arguments) == 2 and isinstance(leaf.arguments[1], int) and mechanism.features:
            number = leaf.arguments[1]
            if not 1 <= number <= len(mechanism.features):
                raise NetworkError(
                    f"the program reads feature {number}, but features names {len(mechanism.features)} columns"
                )
            name = mechanism.features[number - 1]
            flips = self._flips(leaf.arguments[0])
            flipped = bool(flips and flips[number - 1])
        if leaf.outcomes is not None:
            column = mechanism.column(leaf.name, self._frame)
            names = [text(outcome) for outcome in leaf.outcomes]
            place = {unquoted(name): i for i, name in enumerate(names)}
            codes = column.map(lambda value: place.get(str(value), -1))
            if (codes < 0).any():
                raise P4FError(f"column {column.name!r} has values that are not among the outcomes {', '.join(names)}")
            return torch.eye(len(names), dtype=torch.float64)[torch.tensor(codes.to_numpy())]
        values = torch.tensor(mechanism.column_values(leaf.name, self._frame, name))
        return 1 - values if flipped else values
