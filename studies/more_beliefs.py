"""More ways in which data go wrong: each belief between the record as it is, knowing the truth, and other tools."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs import Belief
from problog4fairness.errors import LearningWarning
from studies.belief_cases import CASES as OF_LABELS
from studies.belief_cases import fitted
from studies.engine.claims import Claim, Measured, Values, everywhere, often
from studies.engine.stack import Identity, Keys, Stack, Table, Work
from studies.engine.study import Study
from studies.feature_cases import FEATURE_CASES
from studies.paper_scores import paper_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CASES = OF_LABELS | {case.name: case for case in FEATURE_CASES}
METHODS = ("belief", "upper", "record")
MEASURES = ("accuracy", "disparity")
COVERED = "covered"
STRENGTHS, MIDDLE = (0.2, 0.4, 0.6), 0.4
WAY, COVERAGE = 0.8, 0.93


@dataclass(frozen=True)
class BeliefStack(Stack):
    """One case at one strength, for all seeds.

    Attributes
    ----------
    case
        One of :data:`CASES`.
    strength
        Of the bias.
    seeds
        Of the people and what is recorded of them.
    rows, tested
        People to learn from, and others to be tested on.
    """

    case: str
    strength: float
    seeds: tuple[int, ...]
    rows: int
    tested: int

    @property
    def name(self) -> str:
        """See :meth:`Stack.name`."""
        return f"{self.case} at {self.strength:g}"

    @property
    def cells(self) -> int:
        """See :meth:`Stack.cells`."""
        return len(self.seeds)

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`."""
        own = {"case": self.case, "strength": self.strength, "seeds": self.seeds}
        return own | {"rows": (self.rows, self.tested)}

    def keys(self) -> Keys:
        """See :meth:`Stack.keys`."""
        every = [(method, measure) for method in (*METHODS, *CASES[self.case].tools) for measure in MEASURES]
        return [
            (self.case, self.strength, method, seed, measure)
            for seed in self.seeds
            for method, measure in [*every, *(("belief", also) for also in (COVERED, *CASES[self.case].also))]
        ]

    def compute(self, work: Work) -> Table:
        """See :meth:`Stack.compute`."""
        values: list[float] = []
        for number, seed in enumerate(self.seeds):
            values += self._numbers(seed)
            work.report((number + 1) / len(self.seeds))
        return [[*key, value] for key, value in zip(self.keys(), values, strict=True)]

    def _numbers(self, seed: int) -> list[float]:
        case, rng = CASES[self.case], np.random.default_rng([seed, round(100 * self.strength)])
        frame, new = case.people(self.rows, rng), case.people(self.tested, rng)
        made = case.made(frame, self.strength, rng)
        with warnings.catch_warnings():
            # What is uncertain is measured here.
            warnings.simplefilter("ignore", AuditWarning)
            warnings.simplefilter("ignore", LearningWarning)
            belief = case.estimated(made)
            models = (
                fitted(belief, made.people, made.record, case.beside(made.people), seed, case.features),
                fitted(None, frame, frame["fair"], None, seed, case.features),
                fitted(None, *case.as_it_is(made), None, seed, case.features),
                *(case.by_tool(tool, made, seed) for tool in case.tools),
            )
        found = []
        for model in models:
            chance = model.predict_proba(new[list(case.features)])[:, 1]
            scores = paper_scores(new["fair"].to_numpy(), chance, new["group"].to_numpy())
            found += [float(scores[measure]) for measure in MEASURES]
        decided = models[0].predict_proba(made.people[list(case.features)])[:, 1]
        return [*found, covered(belief, case.true(self.strength)), *case.others(belief, made, decided)]


def covered(found: Belief, truth: Belief) -> float:
    """The share of parameters whose interval holds the true value, of those that have one."""
    known = found.parameter_table().dropna(subset=["low", "high"])
    true = truth.parameter_table()["value"].loc[known.index].dropna()
    known = known.loc[true.index]
    return float(true.between(known["low"], known["high"]).mean())


@dataclass(frozen=True, eq=False)
class MoreBeliefs(Study):
    """Cases × strengths × methods × seeds.

    Attributes
    ----------
    cases, strengths, seeds, rows, tested
        As for :class:`BeliefStack`.
    """

    columns = ("case", "x", "method", "seed", "metric", "value")

    cases: tuple[str, ...] = tuple(CASES)
    strengths: tuple[float, ...] = STRENGTHS
    seeds: tuple[int, ...] = tuple(range(50))
    rows: int = 4_000
    tested: int = 20_000

    @property
    def name(self) -> str:
        """See :meth:`Study.name`."""
        return "more-beliefs"

    def stacks(self) -> list[BeliefStack]:
        """See :meth:`Study.stacks`."""
        return [
            BeliefStack(case, strength, self.seeds, self.rows, self.tested)
            for case in self.cases
            for strength in self.strengths
        ]

    def claims(self, results: pd.DataFrame) -> list[Claim]:
        """See :meth:`Study.claims`."""
        measured, found = Measured(results), list[Claim]()
        for case in dict.fromkeys(results["case"]):
            for metric in MEASURES:
                way = _way(measured, case, metric)
                middle = way[way.index.get_level_values("x") == MIDDLE]
                text = f"{case}: at least 80% of the way from the record to the truth in {metric}, middle strength"
                found += everywhere(text, middle, lambda number: number.mean - WAY)
                for tool in CASES[case].tools:
                    ahead = (middle - _way(measured, case, metric, tool)).dropna()
                    text = f"{case}: further on that way in {metric} than {tool}"
                    found += everywhere(text, ahead, lambda number: number.mean)
            shares = _tables(measured(case=case, method="belief", metric=COVERED))
            text = f"{case}: parameters in their 95% intervals at least 93% of the time"
            found += everywhere(text, shares, lambda number: number.mean - COVERAGE, f" of {len(shares)} tables")
            for also in CASES[case].also:
                held = _tables(measured(case=case, method="belief", metric=also))
                found.append(often(f"{case}: {also}, at least 93% of the time", held, COVERAGE))
        return found

    def figures(self, results: pd.DataFrame) -> Mapping[str, Figure]:
        """See :meth:`Study.figures`."""
        from studies.more_beliefs_figure import draw

        return {"figure": draw(results)}

    def about(self) -> list[str]:
        """See :meth:`Study.about`."""
        return [
            f"{len(self.seeds)} seeds; {self.rows:,} made-up people to learn from and {self.tested:,} others to be "
            "tested on, whose group no model sees. All models are linear. Parameters are estimated as a user would: "
            "from the record alone for positive and unlabelled data, selective labels and annotators; from 400 audited "
            "people whose group is known for the unknown group, by one proxy, though a feature tells of the group "
            "beyond it, which the belief assumes it does not; and by two, of which that feature in bands is one, "
            "counted or by a model. By one proxy it is what the proxy tells that is missing, not rows: with every "
            "parameter known and 40,000 people it went 55% of the way in disparity, with both proxies 93% (4 seeds, "
            "beside this study). From 400 audited people for features, which are right in those of the test. From 800 "
            "for the bias by officer, and for the one that changed, whose day is searched for.",
            "The record as it is: who is not recorded is 0, who was turned down is 0, one annotator, the label, and "
            "the recorded features. "
            f"The nearest tools: {'; '.join(f'{name}: {tools_of(name)}' for name in self.cases)}.",
            "Three cases were made so that a simpler belief falls short, which it need not: where officers and periods "
            "see the same kind of people, one number for each group does as well, and in most of nine settings that "
            "were tried, taking dependent features one by one cost nothing.",
            "The way from the record to the truth: 0 where a model is as far from knowing the fair labels as one that "
            "takes the record for true, 1 where it is as good.",
            "Shares of parameters in their intervals are those of a table, over the tables of all strengths and seeds. "
            "The bounds of a disparity hold because they are wide, at middle strength 0.63 by one proxy and 0.46 by "
            "both (3 seeds, beside this study).",
        ]


def tools_of(case: str) -> str:
    """The tools that a case is compared with, in words."""
    return ", ".join(CASES[case].tools)


def _way(measured: Measured, case: str, metric: str, method: str = "belief") -> Values:
    """How much of the distance between the record and the truth is gone, over seeds' means at each place."""
    own, upper, record = (measured(case=case, method=name, metric=metric) for name in (method, "upper", "record"))
    # By the mean distance of the record, so that a seed with a small one does not decide.
    distance = (record - upper).abs().groupby(level="x").transform("mean")
    off = (upper - own).clip(lower=0) if metric == "accuracy" else (own - upper).abs()
    return 1 - off / distance


def _tables(values: Values) -> Values:
    """The values of all strengths and seeds, each a table of its own."""
    every = pd.MultiIndex.from_arrays([[math.nan] * len(values), range(len(values))], names=["x", "seed"])
    return values.set_axis(every)


def more_beliefs(*, quick: bool = False, seeds: int | None = None) -> MoreBeliefs:
    """The study in full, or a quick one with fewer seeds and people.

    Parameters
    ----------
    quick
        Smaller.
    seeds
        How many, where not 50 (2 if quick).
    """
    every = tuple(range(seeds if seeds is not None else 2 if quick else 50))
    return MoreBeliefs(seeds=every, rows=1_500, tested=5_000) if quick else MoreBeliefs(seeds=every)
