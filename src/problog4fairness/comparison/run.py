"""Methods on all folds of all seeds, what they have to fit fitted together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from problog4fairness.baselines import Method, Steps, Trained, Training
from problog4fairness.classifier.fitting import drawn_seed
from problog4fairness.comparison.data import ComparedRows
from problog4fairness.comparison.splits import Cell
from problog4fairness.errors import P4FError
from problog4fairness.learners.base import Fitted, Learner, Task
from problog4fairness.metrics.table import scores
from problog4fairness.rows.types import Floats

COLUMNS = ("method", "seed", "fold", "labels", "metric", "value")
# Numbers in the inputs of what is fitted together: 512 MiB.
AT_ONCE = 1 << 27
# Of a column of texts, so many are told apart at most.
MOST_CATEGORIES = 256


@dataclass(frozen=True, eq=False)
class Predictions:
    """What methods predict for the test rows of each cell.

    Attributes
    ----------
    chances
        By method, P(label = 1) of the rows of ``cell.test`` for each cell.
    left_out
        Methods that could not run on these rows, and why, in one line.
    """

    chances: dict[str, list[Floats]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def predictions(
    data: ComparedRows,
    methods: Sequence[Method],
    cells: Sequence[Cell],
    learner: Learner,
    progress: bool | None = None,
) -> Predictions:
    """Train every method in every cell and predict the test rows.

    All that methods ask for is fitted at once, for as many cells as fit into memory; what several methods ask for is
    fitted once. A classifier comes out as it would have alone.

    Parameters
    ----------
    data
        The rows.
    methods
        What to compare; their titles must differ.
    cells
        Which rows to learn from and to be tested on.
    learner
        What learns.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.
    """
    titles = [method.title for method in methods]
    for title in titles:
        if titles.count(title) > 1:
            raise P4FError(f"two methods have the name {title!r}")
    found = Predictions()
    for method in methods:
        try:
            method.check(data.rows)
        except P4FError as error:
            found.left_out[method.title] = str(error)
    count = max(1, AT_ONCE // max(1, _numbers(data) * len(methods)))
    for start in range(0, len(cells), count):
        part = _Part(data, [m for m in methods if m.title not in found.left_out], cells[start : start + count])
        part.run(learner, progress, found.left_out)
        for title, chances in part.chances(found.left_out):
            found.chances.setdefault(title, []).extend(chances)
    for title in found.left_out:
        found.chances.pop(title, None)
    return found


def scored(data: ComparedRows, methods: Sequence[Method], cells: Sequence[Cell], found: Predictions) -> pd.DataFrame:
    """The scores of predictions on recorded labels, and on fair ones where they are known, by :data:`COLUMNS`.

    Parameters
    ----------
    data, methods, cells
        What the predictions are of.
    found
        The predictions.
    """
    rows: list[tuple[str, int, int, str, str, float]] = []
    for method in methods:
        for cell, chance in zip(cells, found.chances.get(method.title, ()), strict=False):
            fair, groups = data.fair[cell.test], data.groups[cell.test]
            known = fair >= 0
            for labels, truth, chosen in (("fair", fair, known), ("recorded", data.recorded[cell.test], known >= 0)):
                if not chosen.any():
                    continue
                own = scores(truth[chosen], chance[chosen], groups[chosen], randomised=method.randomised)
                rows += [(method.title, cell.seed, cell.fold, labels, name, value) for name, value in own.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _numbers(data: ComparedRows) -> int:
    """How many numbers the inputs of one classifier have, about."""
    frame = data.rows.frame
    widths = [
        1 if pd.api.types.is_numeric_dtype(frame[name]) else min(MOST_CATEGORIES, frame[name].nunique())
        for name in data.rows.features
    ]
    return len(data) * sum(widths)


class _Part:
    """Methods on some of the cells."""

    def __init__(self, data: ComparedRows, methods: Sequence[Method], cells: Sequence[Cell]) -> None:
        self._data, self._cells = data, cells
        training = [Training(data.rows.take(cell.train), drawn_seed(cell.random_state)) for cell in cells]
        self._steps = {method.title: [method.steps(own) for own in training] for method in methods}
        self._trained: dict[str, list[Trained | None]] = {title: [None] * len(cells) for title in self._steps}

    def run(self, learner: Learner, progress: bool | None, left_out: dict[str, str]) -> None:
        """Take all steps; a method that fails is noted in ``left_out``."""
        waiting = self._advanced({title: [None] * len(self._cells) for title in self._steps}, left_out)
        while waiting:
            fitted = _fitted(waiting, learner, progress, left_out)
            waiting = self._advanced(fitted, left_out)

    def chances(self, left_out: dict[str, str]) -> Iterator[tuple[str, list[Floats]]]:
        """Predictions for the test rows of each cell."""
        tests = [self._data.rows.take(cell.test) for cell in self._cells]
        for title, own in self._trained.items():
            if title in left_out:
                continue
            try:
                pairs = zip(own, tests, strict=True)
                chances = [trained.proba(rows)[:, 1] for trained, rows in pairs if trained is not None]
                yield title, [np.clip(chance, 0, 1) for chance in chances]
            except P4FError as error:
                left_out[title] = str(error)

    def _advanced(
        self, fitted: dict[str, list[Fitted | None]], left_out: dict[str, str]
    ) -> dict[str, list[Task | None]]:
        """Send what was fitted; what is to be fitted next, by method and cell, None for what is finished."""
        waiting: dict[str, list[Task | None]] = {}
        for title, own in fitted.items():
            tasks = []
            for number, (steps, sent) in enumerate(zip(self._steps[title], own, strict=True)):
                try:
                    tasks.append(self._next(title, number, steps, sent))
                except P4FError as error:
                    cell = self._cells[number]
                    left_out[title] = f"{error} (seed {cell.seed}, fold {cell.fold})"
                    break
            if title not in left_out and any(task is not None for task in tasks):
                waiting[title] = tasks
        return waiting

    def _next(self, title: str, number: int, steps: Steps, sent: Fitted | None) -> Task | None:
        if self._trained[title][number] is not None:
            return None
        try:
            return next(steps) if sent is None else steps.send(sent)
        except StopIteration as end:
            self._trained[title][number] = end.value
            return None


def _fitted(
    waiting: dict[str, list[Task | None]], learner: Learner, progress: bool | None, left_out: dict[str, str]
) -> dict[str, list[Fitted | None]]:
    """All tasks at once, each once; where that fails, method by method, to tell whose fault it is."""
    tasks = {id(task): task for own in waiting.values() for task in own if task is not None}
    try:
        fitted = dict(zip(tasks, learner.fit_many(list(tasks.values()), progress), strict=True))
    except P4FError as error:
        if len(waiting) == 1:
            left_out[next(iter(waiting))] = str(error)
            return {}
        alone = [_fitted({title: own}, learner, progress, left_out) for title, own in waiting.items()]
        return {title: own for part in alone for title, own in part.items()}
    return {title: [None if task is None else fitted[id(task)] for task in own] for title, own in waiting.items()}
