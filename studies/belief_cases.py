"""Made data that go wrong in a known way: what is recorded, what the belief is estimated from, and the nearest tool.

A further kind of belief is one more :class:`Case` in :data:`CASES`; those about features are in ``feature_cases``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from problog4fairness import (
    Annotators,
    ChangedBias,
    DebiasedClassifier,
    LabelBias,
    PositiveUnlabelled,
    RowBias,
    SelectiveLabels,
    UnknownGroup,
    depends_on,
)
from problog4fairness.beliefs import Belief

FEATURES = ["x", "z", "w"]
CODES = ("a1", "b2", "c3")
IN_GROUP = {"a1": 0.1, "b2": 0.5, "c3": 0.9}
# How far w lies around the group, and the limits of its bands.
SPREAD, BANDS = 0.7, (0.0, 1.0)
# Rows that somebody looked at, where a case needs an audit.
AUDITED = 400
# The same, where the bias is to be known by officer, or by period.
AUDITED_MORE = 800

Random = np.random.Generator


def people(rows: int, rng: Random) -> pd.DataFrame:
    """People whose fair label depends on x and z; w tells of the group and of nothing else."""
    group = rng.integers(0, 2, rows)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "z": rng.normal(size=rows), "group": group})
    frame["w"] = group + SPREAD * rng.normal(size=rows)
    chance = 1 / (1 + np.exp(-(2.5 * frame["x"] - 1.5 * frame["z"])))
    return frame.assign(fair=(rng.random(rows) < chance).astype(int))


@dataclass(frozen=True, eq=False)
class Made:
    """People with their record.

    Attributes
    ----------
    people
        From :func:`people`, and what the belief reads besides.
    record
        What was recorded, as ``fit`` takes it.
    """

    people: pd.DataFrame
    record: Any


class Case(ABC):
    """One way in which data go wrong.

    Attributes
    ----------
    name
        In the results.
    tools
        The nearest existing tools, in words.
    also
        What else is measured of the belief's model: names of shares that should be near 1.
    features
        The columns that models read.
    """

    name: ClassVar[str]
    tools: ClassVar[tuple[str, ...]]
    also: ClassVar[tuple[str, ...]] = ()
    features: Sequence[str] = tuple(FEATURES)

    def people(self, rows: int, rng: Random) -> pd.DataFrame:
        """People as they are, with their group and their fair label."""
        return people(rows, rng)

    @abstractmethod
    def true(self, strength: float) -> Belief:
        """The belief with the parameters by which the record is made."""

    @abstractmethod
    def made(self, frame: pd.DataFrame, strength: float, rng: Random) -> Made:
        """The record of these people."""

    @abstractmethod
    def estimated(self, made: Made) -> Belief:
        """The belief as a user would estimate it."""

    @abstractmethod
    def as_it_is(self, made: Made) -> tuple[pd.DataFrame, Any]:
        """People and labels of who takes the record for true."""

    @abstractmethod
    def by_tool(self, tool: str, made: Made, seed: int) -> DebiasedClassifier:
        """One of the nearest existing tools, fitted."""

    def beside(self, frame: pd.DataFrame) -> pd.DataFrame:
        """What the belief reads besides the features."""
        return frame[["group"]]

    def others(self, belief: Belief, made: Made, decided: Any) -> list[float]:  # noqa: ARG002
        """The values of :attr:`also`, where the model gives these probabilities to the people it learned from."""
        return []


def fitted(
    belief: Belief | None,
    frame: pd.DataFrame,
    labels: Any,
    beside: Any,
    seed: int,
    features: Sequence[str] = tuple(FEATURES),
) -> DebiasedClassifier:
    """A linear model of the features, through a belief or as the labels are."""
    model = DebiasedClassifier(belief, "linear", random_state=seed)
    return model.fit(frame[list(features)], labels, sensitive_features=beside)


class Positives(Case):
    """Of the positives, fewer are recorded in one group; nobody is audited."""

    name, tools = "positive-unlabelled", ("two steps (Elkan and Noto)",)

    def true(self, strength: float) -> Belief:
        """See :meth:`Case.true`."""
        return PositiveUnlabelled("group", {1: 0.9 - strength, 0: 0.9})

    def made(self, frame: pd.DataFrame, strength: float, rng: Random) -> Made:
        """See :meth:`Case.made`."""
        chance = np.where(frame["group"] == 1, 0.9 - strength, 0.9)
        return Made(frame, (frame["fair"].to_numpy() == 1) & (rng.random(len(frame)) < chance))

    def estimated(self, made: Made) -> Belief:
        """See :meth:`Case.estimated`: from the record alone."""
        return PositiveUnlabelled("group").estimate(
            made.people.assign(recorded=made.record.astype(int)), recorded="recorded", features=FEATURES
        )

    def as_it_is(self, made: Made) -> tuple[pd.DataFrame, Any]:
        """See :meth:`Case.as_it_is`: who is not recorded is negative."""
        return made.people, made.record.astype(int)

    def by_tool(self, tool: str, made: Made, seed: int) -> DebiasedClassifier:  # noqa: ARG002
        """See :meth:`Case.by_tool`: one propensity, the mean score of recorded positives, then weights by it."""
        first = fitted(None, made.people, made.record.astype(int), None, seed)
        score = first.predict_proba(made.people[FEATURES])[:, 1]
        propensity = float(np.clip(score[made.record].mean(), 0.01, 0.99))
        positive = np.clip(score / (1 - score) * (1 - propensity) / propensity, 0, 1)
        # Unlabelled rows count as positive and as negative, by how likely each is.
        both = pd.concat([made.people, made.people[~made.record]], ignore_index=True)
        labels = np.concatenate([np.ones(len(made.people), dtype=int), np.zeros(int((~made.record).sum()), dtype=int)])
        weights = np.concatenate([np.where(made.record, 1.0, positive), 1 - positive[~made.record]])
        model = DebiasedClassifier(None, "linear", random_state=seed)
        return model.fit(both[FEATURES], labels, sample_weight=weights)


class Accepted(Case):
    """The label is known of the accepted, fewer of whom are of one group; nobody is audited."""

    name, tools = "selective labels", ("complete cases",)

    def _chances(self, strength: float) -> tuple[dict[int, float], dict[int, float]]:
        return {1: 0.9 - strength, 0: 0.9}, {1: 0.4 * (1 - strength), 0: 0.4}

    def true(self, strength: float) -> Belief:
        """See :meth:`Case.true`."""
        return SelectiveLabels("group", *self._chances(strength))

    def made(self, frame: pd.DataFrame, strength: float, rng: Random) -> Made:
        """See :meth:`Case.made`."""
        good, bad = (frame["group"].map(own).to_numpy() for own in self._chances(strength))
        accepted = rng.random(len(frame)) < np.where(frame["fair"] == 1, good, bad)
        return Made(frame, np.where(accepted, frame["fair"], np.nan))

    def estimated(self, made: Made) -> Belief:
        """See :meth:`Case.estimated`: from the record alone."""
        return SelectiveLabels("group").estimate(
            made.people.assign(recorded=made.record), recorded="recorded", features=FEATURES
        )

    def as_it_is(self, made: Made) -> tuple[pd.DataFrame, Any]:
        """See :meth:`Case.as_it_is`: who was turned down counts as 0."""
        return made.people, np.nan_to_num(made.record).astype(int)

    def by_tool(self, tool: str, made: Made, seed: int) -> DebiasedClassifier:  # noqa: ARG002
        """See :meth:`Case.by_tool`."""
        known = ~np.isnan(made.record)
        return fitted(None, made.people[known], made.record[known].astype(int), None, seed)


class Voted(Case):
    """Four annotators who are harder on one group; nobody is audited."""

    name, tools = "annotators", ("majority vote", "Dawid-Skene")
    names = ("ann", "bob", "cleo", "dan")

    def _errors(self, strength: float) -> tuple[dict[str, Any], dict[str, Any]]:
        steps = zip(self.names, (0.6, 0.8, 1.0, 1.2), strict=True)
        negative = {name: {1: strength * step, 0: 0.1} for name, step in steps}
        return negative, {name: {1: 0.05, 0: 0.1} for name in self.names}

    def true(self, strength: float) -> Belief:
        """See :meth:`Case.true`."""
        return Annotators(self.names, "group", *self._errors(strength))

    def made(self, frame: pd.DataFrame, strength: float, rng: Random) -> Made:
        """See :meth:`Case.made`: a fifth of the votes is not given."""
        negative, positive = self._errors(strength)
        votes, fair = {}, frame["fair"].to_numpy()
        for name in self.names:
            wrong = np.where(fair == 1, frame["group"].map(negative[name]), frame["group"].map(positive[name]))
            vote = np.where(rng.random(len(frame)) < wrong, 1 - fair, fair)
            votes[name] = np.where(rng.random(len(frame)) < 0.2, np.nan, vote)
        return Made(frame, pd.DataFrame(votes))

    def estimated(self, made: Made) -> Belief:
        """See :meth:`Case.estimated`: from the votes and the features."""
        table = pd.concat([made.people.reset_index(drop=True), made.record], axis=1)
        return Annotators(self.names, "group").estimate(table, features=FEATURES)

    def as_it_is(self, made: Made) -> tuple[pd.DataFrame, Any]:
        """See :meth:`Case.as_it_is`: what one of them said."""
        known = made.record["cleo"].notna().to_numpy()
        return made.people[known], made.record["cleo"][known].astype(int)

    def by_tool(self, tool: str, made: Made, seed: int) -> DebiasedClassifier:
        """See :meth:`Case.by_tool`: labels of the majority, without ties; or of Dawid and Skene, all groups alike."""
        share = made.record.mean(axis=1)
        if tool == "Dawid-Skene":
            share = pd.Series(Annotators(self.names).estimate(made.record).fair_proba(made.record))
        known = (share.notna() & (share != 0.5)).to_numpy()
        return fitted(None, made.people[known], (share[known] > 0.5).astype(int), None, seed)


class Guessed(Case):
    """The label of one group is biased, and the group is known by a postcode, and of 400 audited people."""

    name, tools, also = "unknown group", ("complete cases",), ("bounds of the disparity hold the true one",)
    proxies: ClassVar[dict[str, tuple[Any, ...]]] = {"code": CODES}
    additive = False

    def _shares(self) -> dict[Any, float]:
        return dict(IN_GROUP)

    def _inside(self, strength: float | None) -> LabelBias:
        return LabelBias("group", None if strength is None else {1: strength}, False, affected=[1])

    def true(self, strength: float) -> Belief:
        """See :meth:`Case.true`."""
        return UnknownGroup("group", self.proxies, self._shares(), belief=self._inside(strength))

    def made(self, frame: pd.DataFrame, strength: float, rng: Random) -> Made:
        """See :meth:`Case.made`."""
        # Codes such that P(group | code) is as the belief says; all codes are as frequent as each other.
        inside = np.array([IN_GROUP[code] for code in CODES])
        chance = np.where(frame["group"].to_numpy()[:, None] == 1, inside, 1 - inside)
        chance /= chance.sum(axis=1, keepdims=True)
        drawn = (chance.cumsum(axis=1) < rng.random(len(frame))[:, None]).sum(axis=1)
        lost = (frame["group"] == 1) & (rng.random(len(frame)) < strength)
        told = frame.assign(code=np.array(CODES)[drawn], band=np.digitize(frame["w"], BANDS))
        return Made(told, np.where(lost, 0, frame["fair"]))

    def _table(self, made: Made) -> pd.DataFrame:
        table = made.people.assign(recorded=made.record)
        table["group"] = table["group"].astype(float).where(np.arange(len(table)) < AUDITED)
        return table

    def estimated(self, made: Made) -> Belief:
        """See :meth:`Case.estimated`: from the people who were audited, of whom the group is known, too."""
        belief = UnknownGroup("group", self.proxies, belief=self._inside(None))
        audit = self._table(made)[:AUDITED]
        return belief.estimate(audit, recorded="recorded", fair="fair", additive=self.additive)

    def as_it_is(self, made: Made) -> tuple[pd.DataFrame, Any]:
        """See :meth:`Case.as_it_is`."""
        return made.people, made.record

    def by_tool(self, tool: str, made: Made, seed: int) -> DebiasedClassifier:  # noqa: ARG002
        """See :meth:`Case.by_tool`: the rows whose group is known, through the belief about the label."""
        some = made.people[:AUDITED]
        inside = self.estimated(made).belief  # type: ignore[attr-defined]
        return fitted(inside, some, made.record[:AUDITED], some[["group"]], seed)

    def beside(self, frame: pd.DataFrame) -> pd.DataFrame:
        """See :meth:`Case.beside`: the group of most people is missing."""
        known = frame["group"].astype(float).where(np.arange(len(frame)) < AUDITED)
        return frame[["code", "band"]].assign(group=known)

    def others(self, belief: Belief, made: Made, decided: Any) -> list[float]:
        """See :meth:`Case.others`: whether the disparity of the decisions, by the true groups, is within the bounds."""
        found = belief.disparity(self.beside(made.people), decided)  # type: ignore[attr-defined]
        inside = made.people["group"].to_numpy() == 1
        return [float(found.low <= decided[inside].mean() - decided[~inside].mean() <= found.high)]


class GuessedByMore(Guessed):
    """The same, and the feature that tells of the group, too, is named as a proxy, in three bands."""

    name = "unknown group, both proxies"
    proxies: ClassVar[dict[str, tuple[Any, ...]]] = {"code": CODES, "band": (0, 1, 2)}

    def _shares(self) -> dict[Any, float]:
        below = [[0.0, *(NormalDist(group, SPREAD).cdf(limit) for limit in BANDS), 1.0] for group in (0, 1)]
        bands = np.diff(below)
        found = {}
        for code, inside in IN_GROUP.items():
            for band in range(3):
                yes, no = inside * bands[1][band], (1 - inside) * bands[0][band]
                found[code, band] = float(yes / (yes + no))
        return found


# Officers, from one who distorts nothing to one who distorts twice as much as they do on average.
OFFICERS: dict[str, float] = {f"o{number}": number / 4 for number in range(9)}
REFORM = np.datetime64("2021-01-01")


class GuessedByModel(GuessedByMore):
    """The same, by a model of both proxies instead of a count for each combination of their values."""

    name, additive = "unknown group, learned", True


class ByRow(Case):
    """The label of one group is biased, more so by some officers, who see other people than their colleagues."""

    name, tools = "bias by officer", ("one number for each group",)

    def _chances(self, frame: pd.DataFrame, strength: float) -> Any:
        """For each person of the group the probability that a fair 1 is recorded as 0."""
        return strength * frame["officer"].map(OFFICERS).to_numpy() * 0.8

    def _told(self, frame: pd.DataFrame, rng: Random) -> pd.DataFrame:
        """The people with what the bias depends on."""
        near = frame["x"].to_numpy() + 0.5 * rng.normal(size=len(frame))
        number = np.digitize(near, np.quantile(near, np.arange(1, 9) / 9))
        return frame.assign(officer=np.array(list(OFFICERS))[number])

    def _belief(self) -> Belief:
        return RowBias("group", depends_on("officer"), False, affected=[1])

    def true(self, strength: float) -> Belief:
        """See :meth:`Case.true`."""
        belief = RowBias("group", depends_on({"officer": tuple(OFFICERS)}), False, affected=[1])
        return belief.bind({f"neg(1,{name})": 0.8 * strength * factor for name, factor in OFFICERS.items()})

    def made(self, frame: pd.DataFrame, strength: float, rng: Random) -> Made:
        """See :meth:`Case.made`."""
        told = self._told(frame, rng)
        lost = (frame["group"] == 1) & (rng.random(len(frame)) < self._chances(told, strength))
        return Made(told, np.where(lost, 0, frame["fair"]))

    def _audit(self, made: Made, belief: Belief) -> Belief:
        table = made.people.assign(recorded=made.record)
        return belief.estimate(table[:AUDITED_MORE], recorded="recorded", fair="fair")

    def estimated(self, made: Made) -> Belief:
        """See :meth:`Case.estimated`: from audited people."""
        return self._audit(made, self._belief())

    def as_it_is(self, made: Made) -> tuple[pd.DataFrame, Any]:
        """See :meth:`Case.as_it_is`."""
        return made.people, made.record

    def by_tool(self, tool: str, made: Made, seed: int) -> DebiasedClassifier:  # noqa: ARG002
        """See :meth:`Case.by_tool`: the same audit for a bias that is the same in all rows of a group."""
        constant = self._audit(made, LabelBias("group", positive=False, affected=[1]))
        return fitted(constant, made.people, made.record, made.people[["group"]], seed)

    def beside(self, frame: pd.DataFrame) -> pd.DataFrame:
        """See :meth:`Case.beside`."""
        return frame[["group", "officer"]]


class ByPeriod(ByRow):
    """The label of one group was biased until a day that nobody knows; later people are others than earlier ones."""

    name = "bias that changed"

    def _chances(self, frame: pd.DataFrame, strength: float) -> Any:
        return np.where(frame["day"].to_numpy() < REFORM, 1.5 * strength, 0.25 * strength)

    def _told(self, frame: pd.DataFrame, rng: Random) -> pd.DataFrame:
        late = -frame["x"].to_numpy() + 0.5 * rng.normal(size=len(frame))
        days = np.argsort(np.argsort(late)) * 1000 // len(frame)
        return frame.assign(day=np.datetime64("2020-01-01") + days)

    def _belief(self) -> Belief:
        return ChangedBias("group", "day", positive=False, affected=[1])

    def true(self, strength: float) -> Belief:
        """See :meth:`Case.true`."""
        belief = ChangedBias("group", "day", str(REFORM), positive=False, affected=[1])
        return belief.bind({"neg(1,0)": 1.5 * strength, "neg(1,1)": 0.25 * strength})

    def beside(self, frame: pd.DataFrame) -> pd.DataFrame:
        """See :meth:`Case.beside`."""
        return frame[["group", "day"]]


_GROUPS = (Guessed(), GuessedByMore(), GuessedByModel())
CASES: dict[str, Case] = {case.name: case for case in (Positives(), Accepted(), Voted(), *_GROUPS, ByRow(), ByPeriod())}
