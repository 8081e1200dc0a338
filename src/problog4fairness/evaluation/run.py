"""Methods on all folds of all seeds, what they have to fit fitted together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.data import Floats
from problog4fairness.errors import P4FError
from problog4fairness.estimators import GroupUse, choose_group_use, drawn_seed, settled
from problog4fairness.evaluation.data import Cell, ComparedRows
from problog4fairness.evaluation.methods.method import Method, Steps, ThroughBelief, Trained, Training
from problog4fairness.learners import Bar, Fitted, Learner, Task, fit_tasks, listening, progress_bar
from problog4fairness.metrics import scores

COLUMNS = ("method", "seed", "fold", "labels", "metric", "value")
# Numbers in the inputs of what is fitted together: 512 MiB.
AT_ONCE = 1 << 27
# Of a column of texts, so many are told apart at most.
MOST_CATEGORIES = 256


@dataclass(frozen=True, eq=False)
class Predictions:
    """What methods predict for the test rows of each cell.

    ``chances`` are, by method, P(label = 1) of the rows of ``cell.test`` for each cell; of more than two classes
    P(class), ``[rows, classes]``. ``witnessed`` has the same for :attr:`ComparedRows.witnesses`; ``drawn`` what the
    first belief would predict for these with parameters drawn from their posterior, and ``repeated`` what fits with
    another random state predict, each after the number of its cell. ``left_out`` are methods that could not run on
    these rows, and why; ``randomised`` those whose predictions are the chances of a random decision.
    """

    chances: dict[str, list[Floats]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    witnessed: dict[str, list[Floats]] = field(default_factory=dict)
    drawn: list[tuple[int, Floats]] = field(default_factory=list)
    repeated: list[tuple[int, dict[str, Floats]]] = field(default_factory=list)
    randomised: frozenset[str] = frozenset()


def predictions(
    data: ComparedRows,
    methods: Sequence[Method],
    cells: Sequence[Cell],
    learner: Learner,
    progress: bool | None = None,
    class_weight: Any = None,
) -> Predictions:
    """Train every method in every cell and predict the test rows.

    All that methods ask for is fitted at once, for as many cells as fit into memory; what several methods ask for is
    fitted once. A classifier comes out as it would have alone.
    """
    titles = [method.title for method in methods]
    for title in titles:
        if titles.count(title) > 1:
            raise P4FError(f"two methods have the name {title!r}")
    predictions = Predictions(randomised=frozenset(method.title for method in methods if method.randomised))
    for method in methods:
        try:
            method.check(data.rows)
        except P4FError as error:
            predictions.left_out[method.title] = str(error)
    count = max(1, AT_ONCE // max(1, _numbers(data) * len(methods)))
    able = [method for method in methods if method.title not in predictions.left_out]
    with progress_bar(len(cells) * len(able), len(cells), progress, "split") as bar:
        bar.begin("compare")
        for start in range(0, len(cells), count):
            runs = [
                _Run(method, cell, method.steps(training if method.takes_gaps else complete))
                for cell in cells[start : start + count]
                for training, complete in [_trainings(data, cell, class_weight)]
                for method in able
                if method.title not in predictions.left_out
            ]
            _take_steps(runs, learner, predictions.left_out, bar, start)
            _predict(data, runs, predictions)
    for title in predictions.left_out:
        predictions.chances.pop(title, None)
        predictions.witnessed.pop(title, None)
    return predictions


def _predict(data: ComparedRows, runs: Sequence[_Run], predictions: Predictions) -> None:
    """Note what those that are trained predict for their test rows."""
    for run in runs:
        if run.trained is not None:
            tested = len(run.cell.test)
            asked = np.concatenate([run.cell.test, data.witnesses])
            chance = np.clip(run.trained.proba(data.rows.take(asked)), 0, 1)
            chance = chance[:, 1] if chance.shape[1] == 2 else chance
            predictions.chances.setdefault(run.method.title, []).append(chance[:tested])
            predictions.witnessed.setdefault(run.method.title, []).append(chance[tested:])


def chosen_learner(learner: Learner, data: ComparedRows, method: Method, cell: Cell, class_weight: Any) -> Learner:
    """The learner that :class:`~problog4fairness.learners.Auto` chooses for a method in a cell."""
    method.check(data.rows)
    training, complete = _trainings(data, cell, class_weight)
    task = next(method.steps(training if method.takes_gaps else complete))
    return settled(learner, learner.fit_many([task])[0])


def chosen_group_use(
    method: ThroughBelief, data: ComparedRows, cell: Cell, learner: Learner, class_weight: Any
) -> GroupUse:
    """Whether a belief's classifier uses the group, by the audited rows that it learns from in a cell."""
    method.check(data.rows)
    training = _trainings(data, cell, class_weight)[0]
    free = method.inputs(training.rows)
    names = [name for name in method.inputs(training.rows, use_sensitive=True) if name not in free]
    return choose_group_use(method.belief, training.rows.with_features(free), names, learner, cell.random_state)


def scored(
    data: ComparedRows, methods: Sequence[Method], cells: Sequence[Cell], predictions: Predictions
) -> pd.DataFrame:
    """The scores of predictions on recorded labels, and on fair ones where they are known, by :data:`COLUMNS`."""
    rows: list[tuple[str, int, int, str, str, float]] = []
    for method in methods:
        for cell, chance in zip(cells, predictions.chances.get(method.title, ()), strict=False):
            judged_by = {"fair": data.fair[cell.test], "recorded": data.recorded[cell.test]}
            for labels, truth in judged_by.items():
                known = truth >= 0
                if not known.any():
                    continue
                groups = data.groups[cell.test][known]
                audit = data.sampled(cell.test[known]) if labels == "fair" else None
                values = scores(truth[known], chance[known], groups, randomised=method.randomised, audit=audit)
                rows += [(method.title, cell.seed, cell.fold, labels, name, value) for name, value in values.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _trainings(data: ComparedRows, cell: Cell, class_weight: Any) -> tuple[Training, Training]:
    """What is learned from in a cell: all rows, and those with a recorded label; the same where all have one."""
    recorded, seed = data.recorded[cell.train] >= 0, drawn_seed(cell.random_state)
    whole = Training(data.rows.take(cell.train), seed, class_weight)
    return whole, whole if recorded.all() else Training(data.rows.take(cell.train[recorded]), seed, class_weight)


def _numbers(data: ComparedRows) -> int:
    """How many numbers the inputs of one classifier have, about."""
    frame = data.rows.frame
    widths = [
        1 if pd.api.types.is_numeric_dtype(frame[name]) else min(MOST_CATEGORIES, frame[name].nunique())
        for name in data.rows.features
    ]
    return len(data) * sum(widths)


@dataclass(eq=False)
class _Run:
    """A method in a cell: what it waits for, and in the end what predicts."""

    method: Method
    cell: Cell
    steps: Steps
    task: Task | None = None
    trained: Trained | None = None
    taken: int = 0

    def advance(self, fitted: Fitted | None) -> None:
        """Take the next step, with what was fitted for the last one."""
        self.taken += fitted is not None
        try:
            self.task = next(self.steps) if fitted is None else self.steps.send(fitted)
        except StopIteration as end:
            self.task, self.trained = None, end.value
        except P4FError as error:
            raise P4FError(f"{error} (seed {self.cell.seed}, fold {self.cell.fold})") from None

    def share(self, more: float = 0) -> float:
        """About how much of it is done, after a part of one more fit."""
        return 1.0 if self.trained is not None else min((self.taken + more) / self.method.fits, 1.0)


def _take_steps(runs: Sequence[_Run], learner: Learner, left_out: dict[str, str], bar: Bar, before: int) -> None:
    """Take all steps of all runs, in rounds; a method that fails is noted in ``left_out``.

    ``before`` is how many splits were done earlier, for the bar.
    """
    fitted: dict[int, Fitted] = {}
    waiting, methods = list(runs), len({run.method.title for run in runs})
    shown = 0.0

    def show(fit: float) -> None:
        nonlocal shown
        done = sum(run.share(fit) for run in runs)
        bar.show(before + done / methods, float("nan"), done - shown)
        shown = done

    while waiting:
        for run in waiting:
            if run.method.title not in left_out:
                try:
                    run.advance(fitted.get(id(run.task)))
                except P4FError as error:
                    left_out[run.method.title] = str(error)
        waiting = [run for run in runs if run.task is not None and run.method.title not in left_out]
        show(0)
        with listening(lambda _label, _epoch, _loss, share: show(share)):
            fitted = _fitted(waiting, learner, left_out)


def _fitted(runs: Sequence[_Run], learner: Learner, left_out: dict[str, str]) -> dict[int, Fitted]:
    """What all runs wait for, each task once; where that fails, method by method, to tell whose fault it is."""
    tasks = {id(run.task): run.task for run in runs if run.task is not None}
    titles = dict.fromkeys(run.method.title for run in runs)
    try:
        return dict(zip(tasks, fit_tasks(learner, list(tasks.values()), False), strict=True))
    except P4FError as error:
        if len(titles) == 1:
            left_out[runs[0].method.title] = str(error)
            return {}
    alone = [[run for run in runs if run.method.title == title] for title in titles]
    return {task: fitted for part in alone for task, fitted in _fitted(part, learner, left_out).items()}
