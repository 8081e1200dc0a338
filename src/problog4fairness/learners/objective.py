"""The loss of recorded rows as a function of a classifier's logits, with its gradient and curvature.

For row i with weight w_i and the logit z_v of a fair input v, with h = P(fair class | x_v) and q the posterior:

    loss      = - sum_i w_i log P(recorded_i)
    gradient  = sum_i w_i (q_iv h(x_v) - q_iv1)
    curvature = sum_i w_i q_iv h(x_v) (1 - h(x_v))            what it would be if q were known, never below the truth

Where rows need one input each, the curvature is the information that they are expected to bring, (dP/dz)² / P(1 - P):
a booster then needs less than half as many trees for the same likelihood.

Rows that ask about the same input in the same way are one, with the sum of their weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy

import numpy as np
import pandas as pd
import torch
from scipy.special import softmax
from torch import Tensor

from problog4fairness.beliefs import CHUNK, Observation
from problog4fairness.data import Codes, Floats
from problog4fairness.learners.splits import check_weights
from problog4fairness.program import AffineTerms, log_outcomes

# Logits beyond this are as good as certain, and their probabilities still above 0 in float64.
CERTAIN = 500.0


class Objective(ABC):
    """The loss of some rows of an observation, and its derivatives at the logits of the inputs that they need.

    ``inputs`` are the rows of ``observation.table`` that they need, ``input_weights`` the total weight of the rows that
    need each, and ``total`` that of all rows.
    """

    def __init__(self, inputs: Codes, places: Codes, weights: Floats) -> None:
        self.inputs = inputs
        self.total = float(weights.sum())
        repeated = np.repeat(weights, places.shape[1]) if places.shape[1] > 1 else weights
        self.input_weights = _sums(places.reshape(-1), repeated, len(inputs))

    def inputs_of(self, table: pd.DataFrame) -> pd.DataFrame:
        """Those rows of the table of all inputs; the table itself where they are all of it."""
        return table if len(self.inputs) == len(table) else table.iloc[self.inputs]

    @abstractmethod
    def loss(self, logits: Floats) -> float:
        """The loss at logits ``[inputs, outputs]``."""

    @abstractmethod
    def gradient(self, logits: Floats) -> tuple[float, Floats]:
        """The loss and its gradient ``[inputs, outputs]``."""

    @abstractmethod
    def gradient_and_curvature(self, logits: Floats) -> tuple[Floats, Floats]:
        """Gradient and curvature, both ``[inputs, outputs]``."""


def objective_of(observation: Observation, rows: Tensor | None = None, weights: Tensor | None = None) -> Objective:
    """The objective of some rows by number, or of all; ``weights`` are those of all rows of the observation."""
    check_weights(weights, len(observation))
    observation.require_possible()
    chosen = torch.arange(len(observation)) if rows is None else rows
    row_weights = np.ones(len(chosen)) if weights is None else weights[chosen].double().numpy()
    inputs, places = _needed(observation, chosen, rows is None)
    terms = observation.terms()
    if terms is None:
        return GeneralObjective(observation, chosen, inputs, places, row_weights)
    # A run of inputs is known by its first one.
    key = places[:, 0] if observation.variants == 1 or observation.runs is not None else None
    return objective_of_terms(terms, terms.codes[chosen].numpy(), inputs, places, key, row_weights)


def objective_of_terms(
    terms: AffineTerms, codes: Codes, inputs: Codes, places: Codes, key: Codes | None, weights: Floats
) -> Objective:
    """The objective of rows whose likelihood is affine: row i needs the inputs ``places[i]``, with entry ``codes[i]``.

    Rows that need the same inputs have the same number in ``key``, where there is one.
    """
    kind = BinaryObjective if terms.width == 1 else ClassObjective
    return kind(terms, codes, inputs, places, key, weights)


def _needed(observation: Observation, rows: Tensor, all_rows: bool) -> tuple[Codes, Codes]:
    """The inputs that rows need, and which of them each row needs, ``[rows, variants]``."""
    needs = observation.needs(rows).numpy()
    count = len(observation.table)
    used = np.zeros(count, dtype=bool)
    used[needs.reshape(-1)] = True
    if all_rows and used.all():
        return np.arange(count), needs
    return np.flatnonzero(used), (np.cumsum(used) - 1)[needs]


class BinaryObjective(Objective):
    """Two classes and a likelihood that is affine in h: all of it in a few operations on whole columns."""

    def __init__(
        self, terms: AffineTerms, codes: Codes, inputs: Codes, places: Codes, key: Codes | None, weights: Floats
    ) -> None:
        super().__init__(inputs, places, weights)
        merged, self._weights = _merged(key, codes, weights, len(inputs) // places.shape[1])
        places, codes = places[merged], codes[merged]
        no, yes = (terms.coefficients[:, side::2].numpy() for side in (0, 1))
        base = terms.base.numpy()
        self.single_input = places.shape[1] == 1
        if self.single_input:
            places, no, yes = places[:, 0], no[:, 0], yes[:, 0]
        # Each input is needed once, row by row: nothing is looked up, and nothing added up.
        in_order = places.size == len(inputs) and bool((places.reshape(-1) == np.arange(len(inputs))).all())
        self._places, self._shape = None if in_order else places, places.shape
        self._no, self._yes, self._base = no[codes], yes[codes], base[codes] if base.any() else None
        self._rises, self._not_no, self._not_yes = self._no - self._yes, 1 - self._no, 1 - self._yes

    def loss(self, logits: Floats) -> float:
        return -float(self._weights @ np.log(self._forward(logits)[3]))

    def gradient(self, logits: Floats) -> tuple[float, Floats]:
        high, low, _, total = self._forward(logits)
        loss = -float(self._weights @ np.log(total))
        return loss, self._by_input(self._rises * self._factor(high, low, total))

    def gradient_and_curvature(self, logits: Floats) -> tuple[Floats, Floats]:
        """Where rows need one input each, the curvature is the expected information."""
        return self._total_gradient_curvature(logits)[1:]

    def loss_gradient_information(self, logits: Floats) -> tuple[float, Floats, Floats]:
        """Loss, gradient and expected information, where rows need one input each."""
        total, gradient, information = self._total_gradient_curvature(logits)
        return -float(self._weights @ np.log(total)), gradient[:, 0], information[:, 0]

    def _total_gradient_curvature(self, logits: Floats) -> tuple[Floats, Floats, Floats]:
        high, low, terms, total = self._forward(logits)
        factor = self._factor(high, low, total)
        gradient = self._rises * factor
        curvature = self._information(high, low, total, gradient) if self.single_input else terms * factor
        return total, self._by_input(gradient), self._by_input(curvature)

    def _information(self, high: Floats, low: Floats, total: Floats, gradient: Floats) -> Floats:
        """(dP/dz)² / (P (1 - P)): never negative, and near the optimum the true curvature."""
        rest = self._not_no * low
        rest += self._not_yes * high
        information = gradient * gradient
        information *= total
        # Rows without weight bring nothing; certain ones next to nothing.
        rest *= self._weights
        information /= np.maximum(rest, 1e-300, out=rest)
        return information

    def sample(self, count: int) -> tuple[BinaryObjective, Codes]:
        """A random part of the rows, where rows need one input each; and the inputs that they need, in order."""
        rows = np.random.default_rng(0).permutation(len(self._weights))[:count]
        chosen = rows if self._places is None else self._places[rows]
        inputs, places = np.unique(chosen, return_inverse=True)
        part = copy(self)
        part.inputs, part._places, part._shape = self.inputs[inputs], places, places.shape
        part._weights = self._weights[rows] * (len(self._weights) / len(rows))
        for name in ("_no", "_yes", "_rises", "_not_no", "_not_yes"):
            setattr(part, name, getattr(self, name)[rows])
        return part, inputs

    def _forward(self, logits: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """h and 1 - h of what each row needs, the terms of the probability of what was recorded, and their sum."""
        z = logits[:, 0].reshape(self._shape) if self._places is None else logits[:, 0][self._places]
        low = np.clip(z, -CERTAIN, CERTAIN)
        np.exp(np.negative(low, out=low), out=low)
        high = 1 + low
        np.divide(1, high, out=high)
        low *= high
        terms = self._no * low
        terms += self._yes * high
        total = terms if self.single_input else terms.sum(1)
        return high, low, terms, total if self._base is None else total + self._base

    def _factor(self, high: Floats, low: Floats, total: Floats) -> Floats:
        """w h (1 - h) / P: what gradients and curvatures are multiples of."""
        factor: Floats = high * low
        share = self._weights / total
        factor *= share if self.single_input else share[:, None]
        return factor

    def _by_input(self, values: Floats) -> Floats:
        if self._places is None:
            return values.reshape(-1, 1)
        return _sums(self._places.reshape(-1), values.reshape(-1), len(self.inputs))[:, None]


class ClassObjective(Objective):
    """More than two classes and a likelihood that is affine in h."""

    def __init__(
        self, terms: AffineTerms, codes: Codes, inputs: Codes, places: Codes, key: Codes | None, weights: Floats
    ) -> None:
        super().__init__(inputs, places, weights)
        merged, self._weights = _merged(key, codes, weights, len(inputs) // places.shape[1])
        self._places, codes = places[merged], codes[merged]
        self._terms = terms.coefficients.numpy()[codes].reshape(*self._places.shape, -1)
        self._base = terms.base.numpy()[codes]

    def loss(self, logits: Floats) -> float:
        return -float(self._weights @ np.log(self._forward(logits)[2]))

    def gradient(self, logits: Floats) -> tuple[float, Floats]:
        chance, terms, total = self._forward(logits)
        return -float(self._weights @ np.log(total)), self._gradient_and_share(chance, terms, total)[0]

    def gradient_and_curvature(self, logits: Floats) -> tuple[Floats, Floats]:
        chance, terms, total = self._forward(logits)
        gradient, share = self._gradient_and_share(chance, terms, total)
        return gradient, share * chance * (1 - chance)

    def _forward(self, logits: Floats) -> tuple[Floats, Floats, Floats]:
        """h of all inputs, the terms of each row, and their sum."""
        chance = softmax(np.clip(logits - logits.max(1, keepdims=True), -CERTAIN, 0), axis=1)
        terms = self._terms * chance[self._places]
        return chance, terms, terms.sum((1, 2)) + self._base

    def _gradient_and_share(self, chance: Floats, terms: Floats, total: Floats) -> tuple[Floats, Floats]:
        """The gradient, and the expected weight of each input."""
        posterior = terms * (self._weights / total)[:, None, None]
        places, count = self._places.reshape(-1), len(self.inputs)
        classes = range(chance.shape[1])
        expected = np.column_stack([_sums(places, posterior[..., label].reshape(-1), count) for label in classes])
        share = expected.sum(1, keepdims=True)
        return share * chance - expected, share


def _merged(key: Codes | None, codes: Codes, weights: Floats, inputs: int) -> tuple[Codes | slice, Floats]:
    """Rows that ask about the same inputs in the same way as one: a row of each kind, and the weight of each kind."""
    if key is None or 2 * inputs > len(key):
        return slice(None), weights
    _, first, kinds = np.unique(key * (int(codes.max()) + 1) + codes, return_index=True, return_inverse=True)
    return first, _sums(kinds, weights, len(first))


def _sums(places: Codes, values: Floats, count: int) -> Floats:
    """The sum of the values at each of ``count`` places."""
    return np.bincount(places, values, count).astype(np.float64, copy=False)


class GeneralObjective(Objective):
    """Any likelihood: its gradient by automatic differentiation, its curvature from the posterior."""

    def __init__(self, observation: Observation, rows: Tensor, inputs: Codes, places: Codes, weights: Floats) -> None:
        super().__init__(inputs, places, weights)
        self._observation = observation
        size = max(1, CHUNK // observation.variants)
        parts = (rows, torch.from_numpy(places), torch.from_numpy(weights))
        self._chunks = list(zip(*(part.split(size) for part in parts), strict=True))

    def loss(self, logits: Floats) -> float:
        z = torch.from_numpy(logits)
        with torch.no_grad():
            return -sum(float(weights @ self._observation(z[places], rows)) for rows, places, weights in self._chunks)

    def gradient(self, logits: Floats) -> tuple[float, Floats]:
        z = torch.from_numpy(logits).requires_grad_()
        loss, gradient = 0.0, torch.zeros_like(z)
        with torch.enable_grad():
            for rows, places, weights in self._chunks:
                part = -(weights * self._observation(z[places], rows)).sum()
                gradient += torch.autograd.grad(part, z)[0]
                loss += float(part.detach())
        return loss, gradient.numpy()

    def gradient_and_curvature(self, logits: Floats) -> tuple[Floats, Floats]:
        z = torch.from_numpy(logits)
        outputs, classes = self._observation.outputs, self._observation.classes
        kernel = self._observation.observed
        share = torch.zeros(len(z), dtype=torch.float64)
        for rows, places, weights in self._chunks:
            posterior = kernel.posterior(z[places].flatten(-2), rows)  # type: ignore[union-attr]  # checked before
            by_input = posterior.unflatten(-1, (-1, classes)).sum(-1) * weights.unsqueeze(1)
            share.index_add_(0, places.reshape(-1), by_input.reshape(-1))
        chance = log_outcomes((outputs,), z).exp()
        spread = (chance * (1 - chance))[:, -outputs:]
        return self.gradient(logits)[1], (share.unsqueeze(1) * spread).numpy()
