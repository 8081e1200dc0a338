"""A belief in plain words, for readers who do not read programs.

A stand-in until the beliefs say themselves (S5); on merge that version wins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.chains import Chain
from problog4fairness.beliefs.custom import ProgramBelief
from problog4fairness.beliefs.historical import HistoricalBias
from problog4fairness.beliefs.label import LabelBias
from problog4fairness.beliefs.measurement import MeasurementBias
from problog4fairness.beliefs.none import NoBias
from problog4fairness.beliefs.probabilities import Parameter
from problog4fairness.errors import P4FError
from problog4fairness.rows.rows import Rows


@dataclass(frozen=True)
class Label:
    """How the label is called: its column, and its two values with the favourable one last.

    >>> Label("granted", (0, 1)).good
    'granted = 1'
    """

    column: str = "the label"
    values: tuple[Any, Any] = (0, 1)

    @property
    def good(self) -> str:
        """The favourable label."""
        return f"{self.column} = {self.values[1]}"

    @property
    def bad(self) -> str:
        """The other one."""
        return f"{self.column} = {self.values[0]}"


def in_words(belief: Belief, label: Label | None = None) -> list[str]:
    """What a belief says, a sentence or two at a time; the first sentence says what kind of belief it is.

    Examples
    --------
    >>> belief = LabelBias("poor_area", negative={1: 0.41}, positive=False, groups=[1])
    >>> for sentence in in_words(belief, Label("granted")):
    ...     print(sentence)
    The features are taken as they are. The recorded label is taken as a distorted copy of the fair one.
    Of the people with poor_area = 1 who should have granted = 1, 41% were recorded with granted = 0.
    Where poor_area = 0, recorded labels are taken as right.
    """
    label = label or Label()
    if isinstance(belief, NoBias):
        return ["There is no belief: the recorded labels are taken as fair, and the model repeats them."]
    if isinstance(belief, LabelBias):
        first = "The features are taken as they are. The recorded label is taken as a distorted copy of the fair one."
        return [first, *_label(belief, label)]
    if isinstance(belief, MeasurementBias):
        first = (
            "The recorded labels are taken as fair, but some recorded features are taken as distorted copies of the "
            "fair ones, and the label depends on the fair ones."
        )
        return [first, *_features(belief, "should have been recorded with")]
    if isinstance(belief, HistoricalBias):
        return _historical(belief, label)
    if isinstance(belief, Chain):
        return _chain(belief, label)
    if isinstance(belief, ProgramBelief):
        return _program(belief)
    return [f"The belief is a {type(belief).__name__}; its program says what it means."]


def share(rate: Parameter) -> str:
    """A rate as a percentage with its interval."""
    from problog4fairness.reporting.amounts import percent_interval

    return "an unknown share" if rate.value is None else percent_interval(rate.value, rate.low, rate.high)


def _label(
    belief: LabelBias,
    label: Label,
    had: str = "who should have",
    became: str = "were recorded with",
    untouched: str = "recorded labels are taken as right",
) -> list[str]:
    variable, cells = belief.variable, belief.cells()
    sentences = []
    for level in reversed(range(len(variable.levels))):
        group = variable.group_text(level)
        own = [(cells[rate.name], rate) for rate in belief.probabilities if cells.get(rate.name, (None,))[0] == level]
        parts = [
            f"of the people with {group} {had} {_name(belief, label, fair)}, {share(rate)} {became} "
            f"{_name(belief, label, recorded)}"
            for (_, fair, recorded), rate in own
        ]
        if parts:
            parts[1:] = [part.replace(f"the people with {group} who", "those who") for part in parts[1:]]
            sentences.append(_sentence("; ".join(parts)))
        else:
            sentences.append(f"Where {group}, {untouched}.")
    if belief.noise:
        sentences.append(
            f"Besides, a mistake turned the label of {share(belief.probabilities[-1])} of all people around."
        )
    return sentences


def _name(belief: LabelBias, label: Label, position: int) -> str:
    if belief.classes is not None:
        return f"{label.column} = {belief.classes[position]}"
    return label.good if position == 1 else label.bad


def _features(belief: MeasurementBias, verb: str) -> list[str]:
    variable, cells = belief.variable, belief.cells()
    sentences = []
    for feature, values in belief.values.items():
        for level in reversed(range(len(variable.levels))):
            group = variable.group_text(level)
            own = [(cells[r.name], r) for r in belief.probabilities if cells[r.name][:2] == (feature, level)]
            parts = [
                f"of the people with {group} and {feature} = {values[recorded]} on record, {share(rate)} {verb} "
                f"{values[fair]}"
                for (_, _, recorded, fair), rate in own
            ]
            if parts:
                parts[1:] = [part.replace(f"the people with {group} and", "those with") for part in parts[1:]]
                sentences.append(_sentence("; ".join(parts)))
    untouched = [variable.group_text(i) for i in range(len(variable.levels)) if i not in belief.groups]
    return sentences + [f"Where {group}, recorded features are taken as right." for group in untouched]


def _historical(belief: HistoricalBias, label: Label) -> list[str]:
    first = (
        "The features are recorded correctly, but discrimination made some of them worse than they would be in a fair "
        "world. The model predicts as if a person had lived in that world."
    )
    sentences = [first, *_features(belief.measurement, "would have, in a fair world,")]
    if belief.label is not None:
        sentences += [
            "The recorded label is, besides, taken as a distorted copy of the fair one.",
            *_label(belief.label, label),
        ]
    return sentences


def _chain(belief: Chain, label: Label) -> list[str]:
    sentences = ["Several biases are taken to act one after the other."]
    if belief.measurement is not None:
        sentences += ["First, recorded features.", *_features(belief.measurement, "should have been recorded with")]
    for number, stage in enumerate(belief.stages, start=1):
        place = f"Label bias {number} of {len(belief.stages)}, by {', '.join(stage.variable.columns)}."
        # A later bias acts on what the earlier ones left.
        had = "who should have" if number == 1 else "who then had"
        became = "were recorded with" if number == len(belief.stages) else "were given"
        untouched = "recorded labels are taken as right" if len(belief.stages) == 1 else "it changed nothing"
        sentences += [place, *_label(stage, label, had, became, untouched)]
    return sentences


def _program(belief: ProgramBelief) -> list[str]:
    columns = ", ".join(dict.fromkeys(belief.columns.values())) or "no column"
    sentences = [
        "The belief is a program of its own. It says how the recorded label comes from the fair one, which the model "
        f"predicts; besides, it reads {columns}."
    ]
    known = [f"{rate.name} is {share(rate)}" for rate in belief.probabilities if rate.value is not None]
    if known:
        sentences.append(_sentence("among its probabilities, " + ", ".join(known)))
    return sentences


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."


def admissible(belief: Belief, rate: Parameter, rows: Rows) -> tuple[float, float]:
    """Between which values the belief makes sense: labels stay informative, and probabilities sum to 1 at most."""
    value = rate.value or 0.0
    if isinstance(belief, ProgramBelief):
        # At exactly 1 some recorded label may be impossible.
        return 0.0, max(value, 0.99)
    from problog4fairness.beliefs.combinations import occurring

    groups = occurring(belief.variables, rows).levels
    probe = value / 2 if value > 0 else 0.01
    rates = tuple(replace(r, value=probe) if r.name == rate.name else r for r in belief.probabilities)
    try:
        there = _margins(belief.with_probabilities(rates), groups)
    except P4FError:
        return 0.0, value
    here = _margins(belief, groups)
    slope = (there - here) / (probe - value)
    room = here.clamp_min(0)
    falling, rising = slope < -1e-9, slope > 1e-9
    above = float((room[falling] / -slope[falling]).min()) if bool(falling.any()) else 1.0
    below = float((room[rising] / slope[rising]).min()) if bool(rising.any()) else 1.0
    return max(0.0, value - below), min(1.0, value + above)


def _margins(belief: Belief, groups: Any) -> Tensor:
    measurement = getattr(belief, "measurement", belief)
    tables = measurement.feature_tables(groups) if hasattr(measurement, "feature_tables") else {}
    parts = [table.flatten() for table in tables.values()]
    table = belief.label_table(groups)
    if table is not None:
        ahead = table.diagonal(dim1=-2, dim2=-1).unsqueeze(-2) - table
        others = ~torch.eye(table.shape[-1], dtype=torch.bool)
        parts.append(ahead[:, others].flatten() - 0.05)
    return torch.cat(parts) if parts else torch.ones(0, dtype=torch.float64)
