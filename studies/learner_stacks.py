"""One learner on the same people three times: through the belief, knowing the fair labels, and on the record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier

from problog4fairness.beliefs import Belief, NoBias, restore
from problog4fairness.data import Rows
from problog4fairness.datasets import SyntheticSettings
from problog4fairness.learners import Fitted, Learner, Reweighted, Task, named_learner
from studies.cells import Array, Cell, Codes, People
from studies.engine.stack import Identity, Keys, Stack, Table, Work
from studies.paper_scores import paper_scores
from studies.student_cells import OURS, Pupils, believed
from studies.synthetic_cells import Bias, Point, people_of

Method: TypeAlias = Literal["belief", "upper", "record"]

METHODS: tuple[Method, ...] = ("belief", "upper", "record")
EM = "EM, hist. boosting"
LEARNERS = ("linear", "boosted", "network", "auto", EM)
# What is measured of each: the upper, which learns from other labels, does not say what is recorded.
FAIR = ("accuracy", "disparity", "calibration")
MEASURES: dict[Method, tuple[str, ...]] = {
    "belief": (*FAIR, "likelihood"),
    "upper": FAIR,
    "record": (*FAIR, "likelihood"),
}
BINS = 10


def learner_of(name: str) -> Learner:
    """One of :data:`LEARNERS`, as a user gets it by default."""
    return Reweighted(HistGradientBoostingClassifier()) if name == EM else named_learner(name)


@dataclass(frozen=True, eq=False)
class Trial:
    """People to learn from and people to be tested on, and what is believed of them."""

    people: People
    belief: Belief
    seed: int
    train: Codes
    test: Codes


@dataclass(frozen=True)
class LearnerStack(Stack, ABC):
    """A learner and a method at some places, for all seeds.

    Attributes
    ----------
    learner
        One of :data:`LEARNERS`.
    method
        ``"belief"``; ``"upper"``, which knows the fair labels, and the features of the kind that it is tested on;
        ``"record"``, which takes the recorded ones for true.
    seeds
        Of the people, the splits and the learner.
    """

    learner: str
    method: Method
    seeds: tuple[int, ...]

    @property
    @abstractmethod
    def data(self) -> str:
        """What the people are called in the results."""

    @property
    @abstractmethod
    def places(self) -> Sequence[float]:
        """The strengths of bias."""

    @abstractmethod
    def trials(self, place: float, seed: int) -> list[Trial]:
        """What to learn and test; tests of several are judged together."""

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.learner} by {self.method} on {self.data}"

    @property
    def cells(self) -> int:
        """See :meth:`Stack.cells`."""
        return len(self.places) * len(self.seeds)

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`."""
        return {"learner": self.learner, "method": self.method, "seeds": self.seeds, "places": list(self.places)}

    def keys(self) -> Keys:
        """See :meth:`Stack.keys`."""
        every = MEASURES[self.method]
        return [
            (self.data, place, self.learner, self.method, seed, metric)
            for place in self.places
            for seed in self.seeds
            for metric in every
        ]

    def compute(self, work: Work) -> Table:  # noqa: ARG002
        """See :meth:`Stack.compute`; all fits together, for networks share a stack."""
        groups = [self.trials(place, seed) for place in self.places for seed in self.seeds]
        flat = [trial for group in groups for trial in group]
        fits = iter(learner_of(self.learner).fit_many([_task(trial, self.method) for trial in flat], progress=False))
        found = [_numbers([(trial, next(fits)) for trial in group], self.method) for group in groups]
        values = [value for numbers in found for value in numbers]
        return [[*key, value] for key, value in zip(self.keys(), values, strict=True)]


@dataclass(frozen=True)
class MadeUp(LearnerStack):
    """Made-up people: ``rows`` to learn from, ``tested`` others to be tested on."""

    bias: Bias
    betas: tuple[float, ...]
    rows: int
    tested: int

    @property
    def data(self) -> str:
        """See :meth:`LearnerStack.data`."""
        return self.bias

    @property
    def places(self) -> Sequence[float]:
        """See :meth:`LearnerStack.places`."""
        return self.betas

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`."""
        return {**super().settings, "people": [asdict(self._point(beta).settings) for beta in self.betas],
                "rows": (self.rows, self.tested)}  # fmt: skip

    def _point(self, beta: float) -> Point:
        return Point(self.bias, beta, SyntheticSettings.of_paper(self.bias, beta))

    def trials(self, place: float, seed: int) -> list[Trial]:
        """See :meth:`LearnerStack.trials`."""
        point, total = self._point(place), self.rows + self.tested
        people = people_of(point.settings, total, seed, point.tested_on)
        return [Trial(people, point.belief(), seed, np.arange(self.rows), np.arange(self.rows, total))]


@dataclass(frozen=True, eq=False)
class OfPupils(LearnerStack):
    """The student data: every row is tested once, and all of a seed are judged together."""

    pupils: Pupils
    folds: int

    @property
    def data(self) -> str:
        """See :meth:`LearnerStack.data`."""
        return "student"

    @property
    def places(self) -> Sequence[float]:
        """See :meth:`LearnerStack.places`; there is one."""
        return (0.0,)

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`."""
        return {**super().settings, "pupils": self.pupils.digest, "folds": self.folds}

    def trials(self, place: float, seed: int) -> list[Trial]:  # noqa: ARG002
        """See :meth:`LearnerStack.trials`."""
        belief, _ = believed(OURS, self.pupils.data)
        people = self.pupils.people
        cells = [Cell(people, seed, fold, self.folds) for fold in range(self.folds)]
        return [Trial(people, belief, cell.random_state, cell.train, cell.test) for cell in cells]


def _task(trial: Trial, method: Method) -> Task:
    belief, rows = _seen(trial, method, trial.train)
    return Task(belief.observe(rows), trial.seed)


def _seen(trial: Trial, method: Method, chosen: Codes) -> tuple[Belief, Rows]:
    """What a method believes, and what it sees of some people, with their labels."""
    people = trial.people
    if method == "belief":
        return trial.belief, _rows(people, people.recorded, chosen, aware=False)
    if method == "record":
        return NoBias(), _rows(people, people.recorded, chosen, aware=True)
    tested = Rows(people.tested_frame, people.features(True), (0, 1), people.fair)
    return NoBias(), tested.take(chosen)


def _rows(people: People, label: Codes, chosen: Codes, aware: bool) -> Rows:
    return Rows(people.recorded_frame, people.features(aware), (0, 1), label).take(chosen)


def _numbers(tried: Sequence[tuple[Trial, Fitted]], method: Method) -> list[float]:
    """What is measured of the people of some trials together."""
    fair, groups = (
        np.concatenate([values[trial.test] for trial, _ in tried for values in [getattr(trial.people, name)]])
        for name in ("fair", "groups")
    )
    chance = np.concatenate([_fair(trial, fitted, method) for trial, fitted in tried])
    scores = paper_scores(fair, chance, groups)
    found = [scores["accuracy"], scores["disparity"], calibration_error(fair, chance)]
    if method != "upper":
        found.append(float(np.concatenate([_likelihoods(trial, fitted, method) for trial, fitted in tried]).mean()))
    return found


def _fair(trial: Trial, fitted: Fitted, method: Method) -> Array:
    """P(fair label = 1) of the people who are tested."""
    belief = trial.belief if method == "belief" and trial.belief.kind.predicts_from == "biased" else NoBias()
    seen = restore(belief, trial.people.tested_rows(trial.test, aware=method != "belief"))
    return np.asarray(seen.fair_proba(fitted.log_proba(seen.table))[:, 1].numpy())


def _likelihoods(trial: Trial, fitted: Fitted, method: Method) -> Array:
    """log P(recorded label) of each of the people who are tested, as they are on file."""
    belief, rows = _seen(trial, method, trial.test)
    seen = belief.observe(rows)
    logs = fitted.log_proba(seen.table)
    with torch.no_grad():
        return np.asarray(seen.log_likelihood(logs[:, 1:] - logs[:, :1]).numpy())


def calibration_error(label: Codes, chance: Array) -> float:
    """The expected calibration error in ten bins of equal width: how far mean chance and share of 1 are apart."""
    place = np.minimum((chance * BINS).astype(np.int64), BINS - 1)
    gap = np.bincount(place, chance - label, BINS)
    return float(np.abs(gap).sum() / len(label))
