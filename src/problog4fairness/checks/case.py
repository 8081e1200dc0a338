"""What all checks of a belief share: rows, what the circuit says of them, and out-of-fold predictions, made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import beta

from problog4fairness.beliefs import Belief, NoBias, Observation
from problog4fairness.checks.crossfit import LARGER, Crossfit, crossfit, fair_chances, folds_of, quick_learners
from problog4fairness.checks.finding import NotDone
from problog4fairness.data import Codes, Floats, Grouping, Rows
from problog4fairness.learners import Learner, make_encoder, slot_name
from problog4fairness.statistics import Parameter, equal_rows, probabilities

# Fewer recorded rows than this say nothing about a curve.
LEAST_ROWS = 100
# Simulated data sets behind a p-value, which is never below 1 / (SIMULATED + 1).
SIMULATED = 4999
# An interval that is worth more rows than this is as good as certainty.
CERTAIN_ROWS = 1e9
# How far a parameter is moved to see what depends on it.
STEP = 0.02


def is_uncertain(parameter: Parameter) -> bool:
    """Whether a parameter was estimated, with an interval that leaves something open."""
    return _beta(parameter) is not None


def _beta(parameter: Parameter) -> tuple[float, float] | None:
    """The Beta posterior of a parameter given as many rows as its interval is worth; None for a stated value."""
    if parameter.value is None or parameter.low is None or parameter.high is None:
        return None
    rows = max(equal_rows(parameter.value, parameter.low, parameter.high, parameter.confidence), 1e-3)
    if rows >= CERTAIN_ROWS:
        return None
    return parameter.value * rows + 0.5, (1 - parameter.value) * rows + 0.5


def moved(belief: Belief, place: int) -> tuple[Belief, float]:
    """The belief with one parameter a little lower, or higher where it is near 0; and by how much it was moved."""
    parameter = probabilities(belief.parameters)[place]
    value = parameter.used or 0.0
    step = -STEP if value >= STEP else STEP
    return belief.bind({parameter.name: value + step}), step


@dataclass(frozen=True, eq=False)
class Case:
    """A belief with all its parameters known, and what it is tested by.

    The rows are the recorded table, followed by audited rows that are not in it; unknown fair labels are -1.
    """

    belief: Belief
    rows: Rows
    size: int  # of the recorded table
    use_sensitive: bool = False  # whether the fair label may depend on the group as well as on the features
    label: str = "the label"  # what the recorded one is called
    # For each distorted feature whose fair value was audited that value, [rows], missing where nobody looked.
    fair_features: Mapping[str, pd.Series[Any]] = field(default_factory=dict)
    # [rows]: the number of each row in the table as it was given, -1 for rows that were only audited.
    numbers: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    when: str | None = None  # the column with the day of each row
    notes: tuple[str, ...] = ()  # what was left out, in words
    seed: int = 0  # all that is random is drawn from it
    learners: Mapping[str, Learner] = field(default_factory=quick_learners)
    chosen: set[str] = field(default_factory=set)  # the names of learners that predicted best so far

    def rng(self, check: int) -> np.random.Generator:
        """The random numbers of a check, which do not depend on the checks before it."""
        return np.random.default_rng([self.seed, 100 + check])

    @cached_property
    def recorded(self) -> Codes:
        """``[rows]``: what was recorded, by position in :attr:`outcomes`."""
        codes = np.asarray(self.rows.recorded)
        return np.where(codes < 0, len(self.rows.classes), codes)

    @property
    def outcomes(self) -> tuple[Any, ...]:
        """What can be recorded: the classes, and where the belief says when, nothing."""
        return (*self.rows.classes, "missing") if self.belief.record.gaps else self.rows.classes

    @cached_property
    def audited(self) -> Codes:
        """The audited rows, by number."""
        return np.flatnonzero(self.rows.fair >= 0) if self.rows.fair is not None else np.zeros(0, dtype=np.int64)

    @cached_property
    def audited_features(self) -> Codes:
        """The rows of which all distorted features were audited, by number."""
        return np.flatnonzero(np.all([fair.notna() for fair in self.fair_features.values()], axis=0))

    @property
    def fair(self) -> Codes:
        """The fair class of the audited rows."""
        return np.asarray(self.rows.fair)[self.audited]

    @property
    def stands_for(self) -> Floats:
        """``[audited]``: how many people each audited row stands for; 1 for each of a random sample."""
        return self.rows.sampling_weights()[self.audited]

    def average(self, values: Any, rows: Any) -> float:
        """The weighted mean of values ``[audited]`` over some audited rows, NaN where there is none."""
        return float(np.average(values[rows], weights=self.stands_for[rows])) if rows.any() else float("nan")

    @cached_property
    def table(self) -> Rows:
        """The recorded table alone, as if nobody had looked."""
        rows = self.rows.take(np.arange(self.size))
        return rows.with_labels(rows.recorded)

    @cached_property
    def groupings(self) -> list[Grouping]:
        """The ways in which the belief divides the rows."""
        return [grouping for grouping in self.belief.groupings(self.rows) if len(grouping.groups) > 1]

    @cached_property
    def groups(self) -> tuple[Codes, list[str]]:
        """``[rows]``: the combination of groups of each row; and what each is called."""
        place, names = np.zeros(len(self.rows), dtype=np.int64), [""]
        for grouping in self.groupings:
            place = place * len(grouping.groups) + grouping.shares.argmax(axis=1)
            names = [f"{before}, {group}" if before else group for before in names for group in grouping.groups]
        return place, names

    @property
    def certain(self) -> bool:
        """Whether the groups of all rows are known."""
        return all(grouping.certain for grouping in self.groupings)

    @cached_property
    def observation(self) -> Observation:
        """What the belief says of the rows, before their labels are looked at."""
        return self.belief.observe(self.rows.without_record())

    @cached_property
    def moved(self) -> dict[int, tuple[Belief, float, Observation]]:
        """For each uncertain parameter, by place, the belief with another value, by how much, and what it says."""
        rows = self.rows.without_record()
        moves = {int(place): moved(self.belief, int(place)) for place in np.flatnonzero(self.spread)}
        return {place: (other, step, other.observe(rows)) for place, (other, step) in moves.items()}

    @cached_property
    def given(self) -> Floats:
        """P(recorded class | fair class), ``[rows, fair, recorded]``, as the circuit says."""
        return np.asarray(self.observation.recorded_given().numpy())

    @cached_property
    def spread(self) -> Floats:
        """``[parameters]``: the standard deviation of each parameter; 0 for a stated one."""
        shapes = [_beta(parameter) for parameter in probabilities(self.belief.parameters)]
        return np.array([0.0 if shape is None else float(beta(*shape).std()) for shape in shapes])

    @cached_property
    def slopes(self) -> Floats:
        """``[parameters, rows, fair, recorded]``: how :attr:`given` changes with each parameter that is uncertain."""
        slopes = np.zeros((len(self.spread), *self.given.shape))
        for place, (_, step, observation) in self.moved.items():
            slopes[place] = (observation.recorded_given().numpy() - self.given) / step
        return slopes

    def drawn(self, rng: np.random.Generator) -> Floats:
        """``[draws, parameters]``: posterior draws of how far the parameters are from the values in use."""
        draws = np.zeros((SIMULATED, len(self.spread)))
        for place, parameter in enumerate(probabilities(self.belief.parameters)):
            if (shape := _beta(parameter)) is not None:
                draws[:, place] = rng.beta(*shape, SIMULATED) - (parameter.used or 0.0)
        return draws

    @cached_property
    def folds(self) -> Codes:
        """``[rows]``: the fold of each row of the table; -1 for rows that were only audited."""
        folds = np.full(len(self.rows), -1, dtype=np.int64)
        folds[: self.size] = folds_of(self.size, self.seed)
        return folds

    @cached_property
    def impossible(self) -> Codes:
        """The rows of the table that the belief rules out whatever their fair label is, by number."""
        limits = self.observation.recorded_range()
        if limits is None:
            return np.zeros(0, dtype=np.int64)
        chance = limits[1].numpy()[np.arange(self.size), self.recorded[: self.size]]
        return np.flatnonzero(chance <= 0)

    @cached_property
    def through(self) -> Crossfit:
        """The recorded table, learned through the belief."""
        if self.size < LEAST_ROWS:
            raise NotDone(f"fewer than {LEAST_ROWS} recorded rows")
        if len(self.impossible):
            raise NotDone("the belief rules recorded rows out, so that nothing can be learned through it")
        return self.learned(self.belief, self.table)

    @cached_property
    def plain(self) -> Crossfit:
        """The recorded table, learned as it is, by all columns that the belief reads, too."""
        names = dict.fromkeys([*self.rows.features, *self.belief.columns.context])
        rows = replace(self.table, classes=self.outcomes, recorded=self.recorded[: self.size])
        return self.learned(NoBias(), rows.with_features(list(names)))

    def learned(self, belief: Belief, rows: Rows, names: Sequence[str] | None = None) -> Crossfit:
        """Rows of the table, each predicted by the best of the quick learners, or of those named, without it."""
        learners = {name: self.learners[name] for name in names or self.learners}
        fits = crossfit(belief, rows, self.folds[: self.size], self.seed, learners)
        self.chosen.add(fits.learner)
        return fits

    @cached_property
    def simpler(self) -> Case | None:
        """The same case with smaller trees, where larger ones predicted better somewhere; None where they did not."""
        if LARGER not in self.chosen:
            return None
        learners = {name: learner for name, learner in self.learners.items() if name != LARGER}
        return replace(self, learners=learners, chosen=set())

    @cached_property
    def explained(self) -> tuple[Floats, float]:
        """log P(recorded) of each held-out row through the belief, and what better parameters would add to the sum.

        An estimated belief is not contradicted by data that other values, within its uncertainty, explain: its
        parameters take a step towards what explains the record best, the learner is fitted again, and what a further
        step would gain is given beside.
        """
        uncertain = np.flatnonzero(self.spread)
        if not len(uncertain):
            return self.through.likelihood, 0.0
        start = np.array([parameter.used or 0.0 for parameter in probabilities(self.belief.parameters)])
        step, _ = self._better(self.belief, self.through, np.zeros(len(start)))
        values = start + step
        values[uncertain] = np.clip(values[uncertain], 0.001, 0.999)
        belief = self.belief.bind({probabilities(self.belief.parameters)[i].name: float(values[i]) for i in uncertain})
        refit = self.learned(belief, self.table, [self.through.learner])
        _, gain = self._better(belief, refit, values - start)
        return max(refit, self.through, key=lambda fits: fits.mean).likelihood, gain

    def _better(self, belief: Belief, fits: Crossfit, moved_by: Floats) -> tuple[Floats, float]:
        """A step of the parameters towards what explains the record best, and what it would gain in all."""
        table, rows, uncertain = slice(0, self.size), np.arange(self.size), np.flatnonzero(self.spread)
        chance, label = fair_chances(belief, fits.fits, self.table, self.folds[table]), self.recorded[table]
        given = self.given[table] + np.tensordot(moved_by, self.slopes[:, table], axes=1)
        likely = np.maximum((chance * given[rows, :, label]).sum(axis=1), 1e-6)
        scores = np.stack([(chance * self.slopes[i, table][rows, :, label]).sum(axis=1) / likely for i in uncertain])
        known = 1 / self.spread[uncertain] ** 2
        slope = scores.sum(axis=1) - known * moved_by[uncertain]
        step = np.zeros(len(self.spread))
        step[uncertain] = np.linalg.solve(scores @ scores.T + np.diag(known), slope)
        return step, float(slope @ step[uncertain] / 2)

    @cached_property
    def chances(self) -> Floats:
        """P(fair class) of every row, ``[rows, classes]``, out of fold."""
        return fair_chances(self.belief, self.through.fits, self.rows, self.folds)

    @cached_property
    def posterior(self) -> Floats:
        """P(fair class | features, group, recorded label) of every row, ``[rows, classes]``, out of fold."""
        return self.conditioned(self.chances, self.given, np.arange(len(self.rows)))

    def conditioned(self, chances: Floats, given: Floats, rows: Codes) -> Floats:
        """P(fair class) of rows, conditioned on their recorded labels; unchanged where these are ruled out."""
        joint = chances * given[np.arange(len(rows)), :, self.recorded[rows]]
        total = joint.sum(axis=1, keepdims=True)
        return np.where(total > 0, joint / np.where(total > 0, total, 1.0), chances)

    @cached_property
    def membership(self) -> list[tuple[str, Floats, Floats]]:
        """For each group but the first of each way: its name, who is in it, and P(that | features), out of fold."""
        members = []
        for grouping in self.groupings:
            rows = Rows(self.rows.frame, self._others(), grouping.groups, grouping.shares.argmax(axis=1))
            if not rows.features:
                continue
            fits = self.learned(NoBias(), rows.take(np.arange(self.size))).fits
            chance, shares = fair_chances(NoBias(), fits, rows, self.folds), grouping.shares
            members += [(group, shares[:, k], chance[:, k]) for k, group in enumerate(grouping.groups) if k]
        return members

    def _others(self) -> tuple[str, ...]:
        """The features that are not sensitive."""
        return tuple(name for name in self.rows.features if name not in self.belief.columns.sensitive)

    @cached_property
    def encoded(self) -> tuple[Floats, list[str]]:
        """``[rows, inputs]``: the features as numbers, each with mean 0 and deviation 1; and their names."""
        frame = self.rows.frame[list(self._others())]
        encoder = make_encoder(frame.iloc[: self.size])
        matrix = encoder.transform(frame, np.float64)
        names = [slot_name(slot) for slot in encoder.slots]
        varies = matrix.std(axis=0) > 1e-9
        matrix = matrix[:, varies]
        scaled = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
        return scaled, [name for name, used in zip(names, varies, strict=True) if used]
