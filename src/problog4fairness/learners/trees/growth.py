"""Trees that LightGBM grows one after another, while held-out rows say how many are enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.data import Codes, Floats
from problog4fairness.learners.derivatives import Slopes
from problog4fairness.learners.encoder import Encoder
from problog4fairness.learners.linear.newton import minimise
from problog4fairness.learners.progress import Bar
from problog4fairness.learners.trees.arrays import light

# How sure the constant that trees are added to may be.
CERTAIN = 10.0


class Growth:
    """Trees in growth, on the rows of ``train``, while ``held`` says when to stop; None where nothing does.

    Trees read all inputs of the observation, ``table``, through the encoder, and are added to ``constant``, the logits
    ``[outputs]`` of the best classifier that says the same of all inputs.
    """

    def __init__(
        self,
        train: Slopes,
        held: Slopes | None,
        outputs: int,
        encoder: Encoder,
        table: pd.DataFrame,
        parameters: dict[str, Any],
    ) -> None:
        self._train, self.held = train, held
        self.constant = best_constant(train, outputs)
        self._booster: Any = None
        matrix = encoder.columns(inputs_of(table, train.inputs))
        package = light()
        if not (matrix != matrix[:1]).any():
            return  # nothing to split by, which LightGBM takes for a mistake
        places = list(range(len(encoder.numbers), len(encoder.numbers) + len(encoder.categories)))
        options = {**parameters, "objective": "none", "metric": "none", "num_class": outputs}
        data = package.Dataset(
            matrix, categorical_feature=places, init_score=self._start(train), params=options, free_raw_data=True
        )
        self._booster = package.Booster(options, data)
        if held is not None:
            columns = encoder.columns(inputs_of(table, held.inputs))
            valid = data.create_valid(columns, init_score=self._start(held), params=data.params)
            self._booster.add_valid(valid, "held")

    def grow(self) -> bool:
        """Add a tree for each output; whether there was one to add."""
        return self._booster is not None and not self._booster.update(fobj=self._slope)

    def loss(self) -> float:
        """The loss of the held-out rows, summed."""
        if self.held is None:
            return 0.0
        if self._booster is None:
            return self.held.loss(np.tile(self.constant, (len(self.held.inputs), 1)))
        return float(self._booster.eval_valid(self._evaluated)[0][2])

    def text(self, trees: int) -> str:
        """So many trees for each output, as LightGBM writes them."""
        return "" if self._booster is None else str(self._booster.model_to_string(num_iteration=trees))

    def _start(self, slopes: Slopes) -> Floats:
        if len(self.constant) == 1:
            return np.full(len(slopes.inputs), self.constant[0])
        return np.tile(self.constant, (len(slopes.inputs), 1))

    def _slope(self, scores: Floats, _: Any) -> tuple[Floats, Floats]:
        gradient, curvature = self._train.curved(scores.reshape(-1, len(self.constant), order="A"))
        return (gradient[:, 0], curvature[:, 0]) if len(self.constant) == 1 else (gradient, curvature)

    def _evaluated(self, scores: Floats, _: Any) -> tuple[str, float, bool]:
        if self.held is None:
            raise TypeError
        return "loss", self.held.loss(scores.reshape(-1, len(self.constant), order="A")), False


def grow(runs: Sequence[Growth], trees: int, patience: int, bar: Bar) -> list[float]:
    """Grow all runs, tree by tree, until their held-out rows did not become more likely for ``patience`` trees.

    The mean loss of held-out rows after each tree; empty where nothing is held out, and all trees are grown.
    """
    total = sum(run.held.total for run in runs if run.held is not None)
    losses: list[float] = []
    for tree in range(trees):
        more = [run.grow() for run in runs]
        if total:
            losses.append(sum(run.loss() for run in runs) / total)
        bar.show(tree + 1, losses[-1] if losses else float("nan"), 1)
        if not any(more) or (losses and len(losses) - 1 - int(np.argmin(losses)) >= patience):
            break
    return losses


def inputs_of(table: pd.DataFrame, chosen: Codes) -> pd.DataFrame:
    """These rows of a table; the table itself where they are all of it."""
    return table if len(chosen) == len(table) else table.iloc[chosen]


def best_constant(slopes: Slopes, outputs: int) -> Floats:
    """The logits ``[outputs]`` of the best classifier that says the same of all inputs."""
    nothing = np.zeros((len(slopes.inputs), 0))
    numbers, _ = minimise(slopes, nothing, np.zeros(0), 0.0, np.zeros((1, outputs)))
    constant: Floats = np.clip(numbers[0], -CERTAIN, CERTAIN)
    return constant
