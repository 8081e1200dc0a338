"""The cells of the studies on made-up people, of whom everything is known."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness import datasets
from problog4fairness.beliefs import Belief, HistoricalBias, LabelBias, MeasurementBias
from problog4fairness.datasets import SyntheticSettings
from studies.cells import Cell, People
from studies.engine.stack import Identity
from studies.table_stack import TableStack

Bias: TypeAlias = Literal["label", "measurement", "historical"]


@dataclass(frozen=True)
class Point:
    """One place on the axis of a study.

    Attributes
    ----------
    bias
        The kind of bias, which is also the column of the figure.
    x
        Where on the axis: the strength of the bias, or the strength that is assumed.
    settings
        What the people are drawn from.
    assumed
        What a method that needs to know the bias believes of them; None for the truth.
    """

    bias: Bias
    x: float
    settings: SyntheticSettings
    assumed: SyntheticSettings | None = None

    @property
    def tested_on(self) -> Literal["fair", "recorded"]:
        """Which features classifiers see of the people they are tested on: the past is all that is known of history."""
        return "recorded" if self.bias == "historical" else "fair"

    @property
    def dependent(self) -> bool:
        """Whether the fair label depends on A."""
        return self.settings.alpha_a != 0

    @property
    def fair_settings(self) -> SyntheticSettings:
        """The point's people without any bias and noise: with the same seed, the same fair people."""
        return replace(self.settings, label_bias=0.0, measurement_bias=0.0, historical_bias=0.0, label_noise=0.0,
                       feature_noise=0.0)  # fmt: skip

    def belief(self) -> Belief:
        """The belief, with the exact parameters of what is believed."""
        settings = self.settings if self.assumed is None else self.assumed
        if self.bias == "label":
            return LabelBias("a").bind(settings.label_rates())
        template = MeasurementBias if self.bias == "measurement" else HistoricalBias
        options = tuple(range(settings.n_values))
        values = None if settings.n_values == 2 else dict.fromkeys(settings.features, options)
        return template(settings.features, "a", values=values).bind(settings.measurement_rates())


@dataclass(frozen=True)
class SyntheticStack(TableStack):
    """All seeds and folds of a method, at all points that it can fit together.

    Attributes
    ----------
    points
        The places on the axis.
    rows
        People of each seed.
    """

    points: tuple[Point, ...] = field(kw_only=True)
    rows: int = field(kw_only=True)

    @property
    def name(self) -> str:
        """For messages: method, bias and place on the axis."""
        biases = ", ".join(dict.fromkeys(point.bias for point in self.points))
        places = sorted({point.x for point in self.points})
        where = f"{places[0]:g}" if len(places) == 1 else f"{places[0]:g} to {places[-1]:g}"
        return f"{self.method} at {biases} {where}"

    @property
    def together(self) -> Hashable:
        """Methods on the same people."""
        people = {point.settings for point in self.points}
        return people.pop() if len(people) == 1 else self

    @property
    def settings(self) -> Identity:
        """See :meth:`Stack.settings`."""
        return {**super().settings, "points": [asdict(point) for point in self.points], "rows": self.rows}

    @property
    def places(self) -> Sequence[tuple[str, float]]:
        """Kind of bias and place on the axis."""
        return [(point.bias, point.x) for point in self.points]

    def cell(self, place: int, seed: int, fold: int) -> Cell:
        """See :meth:`TableStack.cell`."""
        point = self.points[place]
        settings = shared_settings(self.method, point)
        people = people_of(settings, self.rows, seed, "fair" if self.method == "upper" else point.tested_on)
        belief = _belief(point) if self.method == "ours" else None
        return Cell(people, seed, fold, self.folds, belief, point.dependent and belief is not None)


def shared_settings(method: str, point: Point) -> SyntheticSettings:
    """Points for which this is equal make one stack; the fair people, all that upper learns from, know no bias."""
    return point.fair_settings if method == "upper" else point.settings


_belief = lru_cache(maxsize=64)(Point.belief)


@lru_cache(maxsize=16)
def people_of(settings: SyntheticSettings, rows: int, seed: int, tested_on: Literal["fair", "recorded"]) -> People:
    """Made-up people; the same object for the same people, so that what was learned from them is found again."""
    data = datasets.synthetic(settings, rows=rows, seed=seed)
    recorded, fair = (pd.concat([data.sensitive, own], axis=1) for own in (data.recorded_features, data.fair_features))
    return People(
        recorded_frame=recorded,
        fair_frame=fair,
        tested_frame=fair if tested_on == "fair" else recorded,
        sensitive="a",
        recorded=np.array(data.recorded_label, dtype=np.int64),
        fair=np.array(data.fair_label, dtype=np.int64),
    )
