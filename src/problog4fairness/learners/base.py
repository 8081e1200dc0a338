"""What all learners share: a learner is fitted through an observation, and then knows the fair label of any input."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from typing import ClassVar

from sklearn.base import BaseEstimator
from torch import Tensor

from problog4fairness.beliefs import Belief, Observation
from problog4fairness.data import Rows
from problog4fairness.errors import P4FError
from problog4fairness.learners.fitted import SPEEDUP, Fitted
from problog4fairness.learners.progress import Bar, listening, progress_bar
from problog4fairness.learners.validation import check_seed, checked_options

# Below this many rows, a part of them says too little about when to stop.
FEW = 20_000


@dataclass(frozen=True, eq=False)
class Task:
    """Something to fit.

    Parameters
    ----------
    observation
        What was recorded, and what it tells of the fair label.
    seed
        All that is random in this fit is drawn from it.
    train_rows
        Rows of the observation to learn from, by number, such as those of a fold; by default all that are not
        ``validation_rows``.
    weights
        ``[rows]``: how much each row counts. Rows of weight 0 are left out.
    validation_rows
        Rows that say when to stop; by default a random share of ``train_rows``.
    audited
        ``[rows]``: how many people an audited row stands for, 0 where the fair label is not known; such rows say how
        strongly to regularise.
    previous
        What was learned from almost these rows, where a quick fit near it is enough (:func:`fit_tasks`).
    inputs
        ``[distinct, features]`` in float32, for :func:`fit_many` alone: the inputs that ``observation.inputs`` points
        at. Tasks that learn from the same data should hold the same tensor: it is then stored once.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> observation = p4f.NoBias().observe(rows)
    >>> tasks = [p4f.learners.Task(observation, seed) for seed in range(3)]
    >>> len(p4f.learners.Linear().fit_many(tasks))
    3
    """

    observation: Observation
    seed: int = 0
    train_rows: Tensor | None = None
    weights: Tensor | None = None
    validation_rows: Tensor | None = None
    audited: Tensor | None = None
    previous: Fitted | None = None
    inputs: Tensor | None = None


class Learner(BaseEstimator, ABC):  # type: ignore[misc]
    """Learns the fair label from what was recorded; knows a belief only as an :class:`Observation`.

    A learner is a data class of options, and holds nothing that it has learned: that is in the :class:`Fitted` that it
    gives. It defines :meth:`fit_task`, or :meth:`fit_many` where fitting many at once is quicker.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> learner = p4f.learners.named_learner("linear")
    >>> learner.fit(belief, rows).log_proba(data.loans[["income", "savings"]]).exp().sum(1).round(decimals=6).unique()
    tensor([1.], dtype=torch.float64)
    """

    # What a round is called on the progress bar.
    unit: ClassVar[str] = "fit"

    @property
    def most_rounds(self) -> int:
        """How many rounds a fit has at most."""
        return 1

    def fit_task(self, task: Task, bar: Bar) -> Fitted:
        """Fit one classifier, and report every round to the bar."""
        raise NotImplementedError(f"{type(self).__name__} has neither fit_task nor fit_many")

    def fit_many(self, tasks: Sequence[Task], progress: bool | None = None) -> Sequence[Fitted]:
        """Fit one classifier for each task; by default one after another.

        ``progress`` says whether to show a progress bar; by default only where standard error is a terminal.
        """
        self.check_options()
        fits = []
        with progress_bar(len(tasks) * self.most_rounds, self.most_rounds, progress, self.unit) as bar:
            for number, task in enumerate(tasks, start=1):
                check_seed(task.seed)
                bar.begin(f"{number}/{len(tasks)} {type(self).__name__.lower()}")
                # What is fitted within a fit is not reported.
                with listening(lambda *_: None):
                    fits.append(self.fit_task(task, bar))
        return fits

    def refit(
        self, fitted: Fitted, tasks: Sequence[Task], progress: bool | None = None, speedup: int = 1
    ) -> Sequence[Fitted]:
        """Fit one classifier for each task, quickly where possible: near what it learned from almost the same rows.

        A learner that starts from nothing may learn ``speedup`` times as quickly.
        """
        return self.fit_many(tasks, progress)

    def check_options(self) -> None:
        """Raise the error that names an option which makes no sense."""
        if is_dataclass(self):
            checked_options(self)

    def fit(
        self,
        through: Belief | Observation,
        rows: Rows | None = None,
        *,
        seed: int = 0,
        weights: Tensor | None = None,
        progress: bool | None = None,
    ) -> Fitted:
        """Fit one classifier through a belief and the rows to observe, or through an observation."""
        return self.fit_many([Task(observation_of(through, rows), seed, weights=weights)], progress)[0]


def observation_of(through: Belief | Observation, rows: Rows | None) -> Observation:
    """An observation, or that of rows through a belief."""
    if isinstance(through, Observation):
        return through
    if not isinstance(through, Belief):
        raise P4FError(f"a learner is fitted through a belief or an observation, not {type(through).__name__}")
    if rows is None:
        raise P4FError("a belief needs rows to observe: pass them after the belief")
    return through.observe(rows)


def fit_tasks(learner: Learner, tasks: Sequence[Task], progress: bool | None = None) -> list[Fitted]:
    """Fit one classifier for each task; quickly where a task has a previous fit of almost the same rows."""
    first = [task for task in tasks if task.previous is None]
    fits = dict(zip(map(id, first), learner.fit_many(first, progress) if first else [], strict=True))
    for fitted in {id(task.previous): task.previous for task in tasks if task.previous is not None}.values():
        refits = [task for task in tasks if task.previous is fitted]
        # Where rows are few, choosing the number of trees takes the time, not growing them: the trees stay as they are.
        speedup = SPEEDUP if len(refits[0].observation) >= FEW else 1
        fits |= zip(map(id, refits), fitted.refit(learner, refits, progress, speedup), strict=True)
    return [fits[id(task)] for task in tasks]
