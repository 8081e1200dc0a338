"""A belief in plain words, for readers who do not read programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from problog4fairness.beliefs import HistoricalBias, LabelBias, MeasurementBias, Mechanism, ProgramMechanism
from problog4fairness.beliefs.chains import Chain
from problog4fairness.beliefs.rates import Rate
from problog4fairness.reporting.amounts import percent_interval


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


def in_words(mechanism: Mechanism | None, label: Label | None = None) -> list[str]:
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
    if mechanism is None:
        return ["There is no belief: the recorded labels are taken as fair, and the model repeats them."]
    if isinstance(mechanism, LabelBias):
        first = "The features are taken as they are. The recorded label is taken as a distorted copy of the fair one."
        return [first, *_label(mechanism, label)]
    if isinstance(mechanism, MeasurementBias):
        first = (
            "The recorded labels are taken as fair, but some recorded features are taken as distorted copies of the "
            "fair ones, and the label depends on the fair ones."
        )
        return [first, *_features(mechanism, "should have been recorded with")]
    if isinstance(mechanism, HistoricalBias):
        return _historical(mechanism, label)
    if isinstance(mechanism, Chain):
        return _chain(mechanism, label)
    if isinstance(mechanism, ProgramMechanism):
        return _program(mechanism)
    return [f"The belief is a {type(mechanism).__name__}; its program says what it means."]


def share(rate: Rate) -> str:
    """A rate as a percentage with its interval."""
    return "an unknown share" if rate.value is None else percent_interval(rate.value, rate.low, rate.high)


def _label(
    mechanism: LabelBias,
    label: Label,
    had: str = "who should have",
    became: str = "were recorded with",
    untouched: str = "recorded labels are taken as right",
) -> list[str]:
    variable, cells = mechanism.variable, mechanism.cells()
    sentences = []
    for level in reversed(range(len(variable.levels))):
        group = variable.group_text(level)
        own = [(cells[rate.name], rate) for rate in mechanism.rates if cells.get(rate.name, (None,))[0] == level]
        parts = [
            f"of the people with {group} {had} {_name(mechanism, label, fair)}, {share(rate)} {became} "
            f"{_name(mechanism, label, recorded)}"
            for (_, fair, recorded), rate in own
        ]
        if parts:
            parts[1:] = [part.replace(f"the people with {group} who", "those who") for part in parts[1:]]
            sentences.append(_sentence("; ".join(parts)))
        else:
            sentences.append(f"Where {group}, {untouched}.")
    if mechanism.noise:
        sentences.append(f"Besides, a mistake turned the label of {share(mechanism.rates[-1])} of all people around.")
    return sentences


def _name(mechanism: LabelBias, label: Label, position: int) -> str:
    if mechanism.classes is not None:
        return f"{label.column} = {mechanism.classes[position]}"
    return label.good if position == 1 else label.bad


def _features(mechanism: MeasurementBias, verb: str) -> list[str]:
    variable, cells = mechanism.variable, mechanism.cells()
    sentences = []
    for feature, values in mechanism.values.items():
        for level in reversed(range(len(variable.levels))):
            group = variable.group_text(level)
            own = [(cells[r.name], r) for r in mechanism.rates if cells[r.name][:2] == (feature, level)]
            parts = [
                f"of the people with {group} and {feature} = {values[recorded]} on record, {share(rate)} {verb} "
                f"{values[fair]}"
                for (_, _, recorded, fair), rate in own
            ]
            if parts:
                parts[1:] = [part.replace(f"the people with {group} and", "those with") for part in parts[1:]]
                sentences.append(_sentence("; ".join(parts)))
    untouched = [variable.group_text(i) for i in range(len(variable.levels)) if i not in mechanism.groups]
    return sentences + [f"Where {group}, recorded features are taken as right." for group in untouched]


def _historical(mechanism: HistoricalBias, label: Label) -> list[str]:
    first = (
        "The features are recorded correctly, but discrimination made some of them worse than they would be in a fair "
        "world. The model predicts as if a person had lived in that world."
    )
    sentences = [first, *_features(mechanism.measurement, "would have, in a fair world,")]
    if mechanism.label is not None:
        sentences += [
            "The recorded label is, besides, taken as a distorted copy of the fair one.",
            *_label(mechanism.label, label),
        ]
    return sentences


def _chain(mechanism: Chain, label: Label) -> list[str]:
    sentences = ["Several biases are taken to act one after the other."]
    if mechanism.measurement is not None:
        sentences += ["First, recorded features.", *_features(mechanism.measurement, "should have been recorded with")]
    for number, stage in enumerate(mechanism.stages, start=1):
        place = f"Label bias {number} of {len(mechanism.stages)}, by {', '.join(stage.variable.columns)}."
        # A later bias acts on what the earlier ones left.
        had = "who should have" if number == 1 else "who then had"
        became = "were recorded with" if number == len(mechanism.stages) else "were given"
        untouched = "recorded labels are taken as right" if len(mechanism.stages) == 1 else "it changed nothing"
        sentences += [place, *_label(stage, label, had, became, untouched)]
    return sentences


def _program(mechanism: ProgramMechanism) -> list[str]:
    columns = ", ".join(dict.fromkeys(mechanism.columns.values())) or "no column"
    sentences = [
        "The belief is a program of its own. It says how the recorded label comes from the fair one, which the model "
        f"predicts; besides, it reads {columns}."
    ]
    known = [f"{rate.name} is {share(rate)}" for rate in mechanism.rates if rate.value is not None]
    if known:
        sentences.append(_sentence("among its probabilities, " + ", ".join(known)))
    return sentences


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:] + "."
