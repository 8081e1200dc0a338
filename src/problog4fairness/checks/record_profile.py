"""What recorded rows alone tell of parameters: the likelihood of the record, with a linear learner fitted to it.

    l(p) = max over w of  sum_i log P(recorded_i | x_i, A_i; w, p) - penalty / 2 sum_j (sd_j w_j)²

At the maximum the slope in p is that with w held fixed, so it takes no further fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from problog4fairness.beliefs import Belief, Observation
from problog4fairness.data import Floats, Rows
from problog4fairness.learners import Bar, FittedLinear, Linear, Task, fit_again

# How far slopes look to either side, and curvatures.
STEP, APART = 1e-4, 5e-3


class Profile:
    """The likelihood of recorded rows as a function of some parameters of a belief.

    Parameters
    ----------
    belief
        With a value for every parameter.
    names
        The parameters that vary.
    rows
        What was recorded.
    """

    def __init__(self, belief: Belief, names: Sequence[str], rows: Rows) -> None:
        self._belief, self._names, self._rows = belief, list(names), rows
        self._weights = torch.ones(len(rows)) if rows.weights is None else torch.from_numpy(rows.weights).float()
        first = Linear().fit_task(self._task(belief.observe(rows)), Bar())
        self._near: FittedLinear = first
        self.penalty = first.penalty

    def at(self, point: Floats) -> tuple[float, Floats]:
        """The penalised log-likelihood and its slopes."""
        observation = self._observation(point)
        found = fit_again(Linear(self.penalty), self._near, [self._task(observation)], progress=False)[0]
        self._near = found if isinstance(found, FittedLinear) else self._near
        value = -self._near.history["training"][-1] * float(self._weights.double().sum())
        logs = self._near.log_proba(observation.table)
        logits = logs[:, 1:] - logs[:, :1] if observation.outputs == 1 else logs
        slopes = []
        for place in range(len(point)):
            low, high = point.copy(), point.copy()
            low[place], high[place] = max(0.0, point[place] - STEP), min(1.0, point[place] + STEP)
            ends = [self._likelihood(self._observation(end), logits) for end in (low, high)]
            slopes.append((ends[1] - ends[0]) / (high[place] - low[place]))
        return value, np.array(slopes)

    def information(self, point: Floats) -> Floats:
        """How sharply the likelihood falls around a point, ``[parameters, parameters]``."""
        columns = []
        for place in range(len(point)):
            low, high = point.copy(), point.copy()
            low[place], high[place] = max(STEP, point[place] - APART), min(1 - STEP, point[place] + APART)
            change = self.at(high)[1] - self.at(low)[1]
            columns.append(-change / (high[place] - low[place]))
        matrix = np.array(columns).reshape(len(point), len(point))
        return np.asarray((matrix + matrix.T) / 2)

    def _observation(self, point: Floats) -> Observation:
        values = dict(zip(self._names, map(float, point), strict=True))
        return self._belief.with_values(values).observe(self._rows)

    def _task(self, observation: Observation) -> Task:
        return Task(observation, 0, weights=self._weights)

    def _likelihood(self, observation: Observation, logits: torch.Tensor) -> float:
        with torch.no_grad():
            return float(self._weights.double() @ observation.log_likelihood(logits))
