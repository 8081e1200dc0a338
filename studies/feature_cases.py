"""Made data in which features go wrong, not labels: a number, twenty binary features, features that go together."""

from __future__ import annotations

from abc import abstractmethod
from itertools import product
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from problog4fairness import DebiasedClassifier, MeasurementBias, NumericMeasurementBias
from problog4fairness.beliefs import Belief
from studies.belief_cases import AUDITED, Case, Made, Random, fitted, people

CALIBRATION, ONE_BY_ONE = "regression calibration", "features one by one"
# Of the record, beside what the people really have.
TRUE = "true "


class FeatureCase(Case):
    """Features that are distorted in group 1; 400 people are audited.

    Attributes
    ----------
    distorted
        The features that go wrong.
    """

    tools: ClassVar[tuple[str, ...]] = (CALIBRATION,)
    distorted: ClassVar[tuple[str, ...]]

    @abstractmethod
    def recorded(self, frame: pd.DataFrame, strength: float, rng: Random) -> pd.DataFrame:
        """What is recorded of the distorted features."""

    @abstractmethod
    def belief(self) -> Belief:
        """The belief, before any audit."""

    def made(self, frame: pd.DataFrame, strength: float, rng: Random) -> Made:
        """See :meth:`Case.made`: labels are right."""
        true = frame[list(self.distorted)].add_prefix(TRUE)
        told = frame.assign(**self.recorded(frame, strength, rng)).join(true)
        return Made(told, frame["fair"].to_numpy())

    def _audit(self, made: Made) -> tuple[pd.DataFrame, dict[str, Any]]:
        names = list(self.distorted)
        return made.people[:AUDITED], {"recorded": names, "fair": [TRUE + name for name in names]}

    def estimated(self, made: Made) -> Belief:
        """See :meth:`Case.estimated`: from audited people."""
        audit, columns = self._audit(made)
        return self.belief().estimate(audit, **columns)

    def as_it_is(self, made: Made) -> tuple[pd.DataFrame, Any]:
        """See :meth:`Case.as_it_is`: recorded features."""
        return made.people, made.record

    def by_tool(self, tool: str, made: Made, seed: int) -> DebiasedClassifier:  # noqa: ARG002
        """See :meth:`Case.by_tool`: each feature replaced by its mean given recorded ones, by group."""
        features, people = list(self.features), made.people.copy()
        audit = people[:AUDITED]
        for group in (0, 1):
            inside = (people["group"] == group).to_numpy()
            known, whole = (_with_one(part, features) for part in (audit[audit["group"] == group], people[inside]))
            for name in self.distorted:
                line, *_ = np.linalg.lstsq(known, audit.loc[audit["group"] == group, TRUE + name], rcond=None)
                people[name] = people[name].astype(float)
                people.loc[inside, name] = whole @ line
        return fitted(None, people, made.record, None, seed, self.features)


def _with_one(frame: pd.DataFrame, features: list[str]) -> Any:
    return np.column_stack([np.ones(len(frame)), frame[features].to_numpy(dtype=float)])


class Misread(FeatureCase):
    """A number is recorded too low, squeezed and with noise in group 1, and with a little noise in group 0."""

    name = "measured numbers"
    distorted = ("x",)
    noise = 0.3

    def _numbers(self, strength: float) -> tuple[dict[int, float], ...]:
        factor, shift = {1: 1 - strength / 2, 0: 1.0}, {1: -2 * strength, 0: 0.0}
        return factor, shift, {1: self.noise + strength, 0: self.noise}

    def true(self, strength: float) -> Belief:
        """See :meth:`Case.true`."""
        return NumericMeasurementBias("x", "group", *self._numbers(strength), mean=0.0, spread=1.0)

    def recorded(self, frame: pd.DataFrame, strength: float, rng: Random) -> pd.DataFrame:
        """See :meth:`FeatureCase.recorded`."""
        factor, shift, noise = (frame["group"].map(own).to_numpy() for own in self._numbers(strength))
        return pd.DataFrame({"x": frame["x"] * factor + shift + noise * rng.normal(size=len(frame))})

    def belief(self) -> Belief:
        """See :meth:`FeatureCase.belief`."""
        return NumericMeasurementBias("x", "group")


class Bits(FeatureCase):
    """Binary features that are lost with a probability, which in group 0 is a quarter of that in group 1."""

    # How far the features of a person go together, and how much each says of the label.
    together: ClassVar[float] = 0.0
    slopes: ClassVar[tuple[float, ...]]

    def people(self, rows: int, rng: Random) -> pd.DataFrame:
        """See :meth:`Case.people`."""
        frame = people(rows, rng)[["group", "w"]]
        common = self.together * rng.normal(size=(rows, 1))
        bits = (common + rng.normal(size=(rows, len(self.slopes))) > 0).astype(int)
        chance = 1 / (1 + np.exp(-(bits - 0.5) @ np.array(self.slopes)))
        told = pd.DataFrame(dict(zip(self.distorted, bits.T, strict=True)))
        return frame.join(told).assign(fair=(rng.random(rows) < chance).astype(int))

    def recorded(self, frame: pd.DataFrame, strength: float, rng: Random) -> pd.DataFrame:
        """See :meth:`FeatureCase.recorded`."""
        bits = frame[list(self.distorted)]
        chance = frame["group"].map(_losses(strength)).to_numpy()[:, None]
        return bits.mask(rng.random(bits.shape) < chance, 0)


class Twenty(Bits):
    """Twenty of them, which have nothing to do with each other."""

    name, slopes = "20 binary features", (0.8,) * 20
    distorted = tuple(f"b{number}" for number in range(20))
    features = (*distorted, "w")

    def true(self, strength: float) -> Belief:
        """See :meth:`Case.true`: half of all are fairly 1."""
        chances = {group: lost / (1 + lost) for group, lost in _losses(strength).items()}
        return MeasurementBias(self.distorted, "group", chances, False)

    def belief(self) -> Belief:
        """See :meth:`FeatureCase.belief`."""
        return MeasurementBias(self.distorted, "group", None, False)


class Together(Bits):
    """Four of them, which go together: who has one mostly has the others."""

    name, slopes, together = "dependent features", (2.0, 4.0, -4.0, 2.0), 2.5
    tools = (ONE_BY_ONE, CALIBRATION)
    distorted = tuple(f"b{number}" for number in range(4))
    features = (*distorted, "w")

    def true(self, strength: float) -> Belief:
        """See :meth:`Case.true`: by Bayes' rule from the distribution of fair vectors."""
        belief = self.belief()
        chances = {own: fair_vector(own, self.together) for own in product((0, 1), repeat=len(self.slopes))}
        values = {}
        for own in belief.parameters:
            group, *places = own.cell[:3]  # type: ignore[index]
            fair, recorded = (list(chances)[place] for place in places)
            lost = _losses(strength)[group]
            every = {vector: chance * _lost(vector, recorded, lost) for vector, chance in chances.items()}
            values[own.name] = every[fair] / sum(every.values())
        return belief.bind(values)

    def belief(self) -> Belief:
        """See :meth:`FeatureCase.belief`."""
        return MeasurementBias(self.distorted, "group", None, False, joint=True)

    def by_tool(self, tool: str, made: Made, seed: int) -> DebiasedClassifier:
        """See :meth:`Case.by_tool`."""
        if tool == CALIBRATION:
            return super().by_tool(tool, made, seed)
        audit, columns = self._audit(made)
        belief = MeasurementBias(self.distorted, "group", None, False).estimate(audit, **columns)
        return fitted(belief, made.people, made.record, self.beside(made.people), seed, self.features)


def _losses(strength: float) -> dict[int, float]:
    """How likely a feature is lost in each group."""
    return {1: strength, 0: strength / 4}


def _lost(fair: tuple[int, ...], recorded: tuple[int, ...], strength: float) -> float:
    """P(recorded vector | fair vector)."""
    chances = {(1, 1): 1 - strength, (1, 0): strength, (0, 0): 1.0, (0, 1): 0.0}
    return float(np.prod([chances[pair] for pair in zip(fair, recorded, strict=True)]))


def fair_vector(vector: tuple[int, ...], together: float) -> float:
    """The probability of a fair vector: of each feature alone given what all have in common, summed over that."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    yes = np.array([NormalDist().cdf(together * point) for point in points])
    each = np.prod([np.where(bit, yes, 1 - yes) for bit in vector], axis=0)
    return float((each * weights).sum() / weights.sum())


FEATURE_CASES: tuple[Case, ...] = (Misread(), Twenty(), Together())
