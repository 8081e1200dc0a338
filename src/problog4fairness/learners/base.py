"""What all learners share: a learner is fitted through an observation, and then knows the fair label of any input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import pandas as pd
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from problog4fairness.beliefs import Belief, Observation
from problog4fairness.data import Rows
from problog4fairness.errors import P4FError

# The shape of a tensor and its type.
Shape: TypeAlias = tuple[tuple[int, ...], torch.dtype]


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
        Rows of the observation to learn from, by number, such as those of a fold; all by default.
    weights
        ``[rows]``: how much each row counts.
    validation_rows
        Rows that say when to stop; by default a random share of ``train_rows``.
    audited
        ``[rows]``: how many people an audited row stands for, 0 where the fair label is not known; such rows say how
        strongly to regularise.
    near
        What was learned from almost these rows, where a quick fit near it is enough (:func:`.again.fit_tasks`).

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
    near: Fitted | None = None


class Learner(BaseEstimator, ABC):  # type: ignore[misc]
    """Learns the fair label from what was recorded; knows a belief only as an :class:`Observation`.

    A learner holds options, and nothing that it has learned: that is in the :class:`Fitted` that it gives.

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

    @abstractmethod
    def fit_many(self, tasks: Sequence[Task], progress: bool | None = None) -> Sequence[Fitted]:
        """Fit one classifier for each task.

        Parameters
        ----------
        tasks
            What to fit.
        progress
            Whether to show a progress bar; by default only where standard error is a terminal.
        """

    @abstractmethod
    def check_options(self) -> None:
        """Raise the error that names an option which makes no sense."""

    def fit(
        self,
        through: Belief | Observation,
        rows: Rows | None = None,
        *,
        seed: int = 0,
        weights: Tensor | None = None,
        progress: bool | None = None,
    ) -> Fitted:
        """Fit one classifier.

        Parameters
        ----------
        through, rows
            A belief and the rows to observe through it, or an observation.
        seed, weights
            As in :class:`Task`.
        progress
            As in :meth:`fit_many`.
        """
        return self.fit_many([Task(observation_of(through, rows), seed, weights=weights)], progress)[0]


class Fitted(ABC):
    """A classifier of the fair label.

    Attributes
    ----------
    kinds
        The kinds of fitted classifiers by name, for reading model files.

    Examples
    --------
    >>> from problog4fairness.learners import Fitted
    >>> {"linear", "boosted", "network"} <= set(Fitted.kinds)  # what model files may hold
    True
    """

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Fitted]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Fitted.kinds[cls.kind] = cls

    @abstractmethod
    def log_proba(self, table: pd.DataFrame) -> Tensor:
        """log P(fair class), ``[rows, classes]`` in float64, of inputs with the columns that were learned from."""

    def check(self, table: pd.DataFrame) -> None:  # noqa: B027  most learners take any cell
        """Raise the error that names row and column of a cell that is not of the kind that was learned from."""

    @property
    def categories(self) -> Mapping[str, Sequence[str]]:
        """The columns that are texts to this classifier, and the values that it knows of each."""
        return {}

    @property
    def concerns(self) -> Sequence[str]:
        """What speaks against this classifier, a sentence each: that training stopped too early."""
        return ()

    @property
    @abstractmethod
    def history(self) -> Mapping[str, list[float]]:
        """How training went: for each quantity its value after every round."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """All that was learned, as tensors and as plain data; :meth:`from_state` makes an equal classifier of it."""

    @classmethod
    @abstractmethod
    def shapes(cls, plain: Mapping[str, Any], columns: Sequence[str], classes: int) -> dict[str, Shape]:
        """The tensors that go with plain data from a stranger; ``ValueError`` where that is not of the known shape.

        Parameters
        ----------
        plain
            The plain data of :meth:`state`.
        columns
            The columns that the classifier reads.
        classes
            How many classes the label has.
        """

    @classmethod
    @abstractmethod
    def from_state(cls, tensors: Mapping[str, Tensor], plain: Mapping[str, Any]) -> Fitted:
        """The inverse of :meth:`state`, after :meth:`shapes` has checked it."""


def observation_of(through: Belief | Observation, rows: Rows | None) -> Observation:
    """An observation, or that of rows through a belief."""
    if isinstance(through, Observation):
        return through
    if not isinstance(through, Belief):
        raise P4FError(f"a learner is fitted through a belief or an observation, not {type(through).__name__}")
    if rows is None:
        raise P4FError("a belief needs rows to observe: pass them after the belief")
    return through.observe(rows)
