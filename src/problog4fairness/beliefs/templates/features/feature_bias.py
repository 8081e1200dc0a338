"""What biases of features have in common, and a distorted feature with its parameters, clauses and sentences."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import OTHERS
from problog4fairness.beliefs.describe.words import Label, joined, share
from problog4fairness.beliefs.description import Columns
from problog4fairness.beliefs.likelihood.combinations import Combinations, occurring
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.variables import Strength, flip_rules, goal, parameter_name, strengths
from problog4fairness.data import Codes, Floats, Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import Diagram, Node, atom, comment
from problog4fairness.statistics import Cell, Parameter, known_values


class FeatureBias(Belief):
    """Some recorded features are distorted copies of the fair ones, alone or before biases of the label in a chain."""

    what = "features"

    def _take_features(self, features: str | Sequence[str]) -> None:
        self.features = (features,) if isinstance(features, str) else tuple(features)
        if not self.features:
            raise P4FError("name one or more different features")
        for name in set(self.features) & set(self.variable.columns):
            raise P4FError(f"column {name!r} cannot be both a distorted feature and the sensitive variable")

    @property
    def columns(self) -> Columns:
        """See :meth:`Belief.columns`: an audit finds out fair features."""
        return replace(super().columns, audited=self.features)

    @property
    def variable(self) -> Sensitive:
        """The sensitive variable."""
        return self.variables[0]

    @property
    @abstractmethod
    def names(self) -> dict[str, str]:
        """The name of each feature in the program."""

    @abstractmethod
    def before_label(self) -> tuple[list[str], list[str]]:
        """For a chain: what the head of its program says of the features, and their clauses, in paragraphs."""

    @abstractmethod
    def observed(
        self, rows: Rows, groups: Combinations, place: int, labels: Tensor | None, record: Codes | None
    ) -> Observation:
        """Observe rows whose label is distorted besides.

        ``groups`` are the combinations of groups that occur in them, and ``place`` says which of their variables is
        that of this belief; ``labels`` are ``[combinations, fair, recorded]``, None where the recorded label is the
        fair one, and ``record`` is ``[rows]``: what was recorded, by its position in them.
        """

    @abstractmethod
    def feature_sentences(self) -> list[str]:
        """What it says of each feature and group on which it acts."""

    @abstractmethod
    def drawn(self) -> list[Node]:
        """The nodes of its picture, without the label."""

    def _of_feature(self, strength: Strength, feature: str) -> Strength:
        """What is stated of one feature, where features are told apart."""
        if not isinstance(strength, Mapping) or not set(strength) & set(self.features):
            return strength
        stated: Strength = strength.get(feature)
        return stated

    def _observation(self, rows: Rows) -> Observation:
        """Through each feature by itself, not all combinations of them."""
        return self.observed(rows, occurring(self.variables, rows), 0, None, self.record.outcomes(rows).codes)

    def words(self, label: Label | None = None) -> list[str]:
        first = (
            f"The recorded labels are taken as fair, but some recorded {self.what} are taken as distorted copies of "
            "the fair ones, and the label depends on the fair ones."
        )
        return [first, *self.sentences()]

    def sentences(self, **options: Any) -> list[str]:
        """What it says of each feature and group."""
        levels = range(len(self.variable.levels))
        untouched = [self.variable.group_text(level) for level in levels if level not in self.affected]
        last = [f"Where {group}, recorded {self.what} are taken as right." for group in untouched]
        return [*self.feature_sentences(**options), *last]

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`; the label on record is the fair one."""
        name = "label" if label is None else label.column
        return Diagram((*self.drawn(), Node(name, self.fair_features(), observed=True, classifier=True)))

    def fair_features(self, fair: str = "fair") -> tuple[str, ...]:
        """The nodes of its picture that the label depends on."""
        return (OTHERS, *(f"{name} ({fair})" for name in self.names))


# Recorded and fair value of a binary feature that was recorded too low, and too high.
NEGATIVE, POSITIVE = (0, 1), (1, 0)
# Combinations of values of features that are distorted together, at most: their square is the number of parameters.
MOST_TOGETHER = 64


@dataclass(frozen=True)
class Distorted:
    """One feature; or several, whose values together are then one value.

    Attributes
    ----------
    features
        Their columns.
    options
        For each of them the values that it can take.
    name
        In the program.
    """

    features: tuple[str, ...]
    options: tuple[tuple[Any, ...], ...]
    name: str

    def __post_init__(self) -> None:
        count = math.prod(self.sizes)
        if self.together and count > MOST_TOGETHER:
            raise P4FError(
                f"{len(self.features)} features have {count:,} combinations of values, "
                f"more than the {MOST_TOGETHER} that joint=... takes together; name those few that depend on each other"
            )

    @property
    def together(self) -> bool:
        """Whether it is several features."""
        return len(self.features) > 1

    @property
    def title(self) -> str:
        """What it is called in parameters."""
        return ", ".join(self.features)

    @property
    def values(self) -> tuple[Any, ...]:
        """The values that it can take; of several features, tuples."""
        return tuple(product(*self.options)) if self.together else self.options[0]

    @property
    def listed(self) -> dict[str, tuple[Any, ...]]:
        """The values that each of its features can take."""
        return dict(zip(self.features, self.options, strict=True))

    @property
    def binary(self) -> bool:
        """Whether it has two values, and so two parameters in each group."""
        return len(self.values) == 2

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each of its features has."""
        return tuple(map(len, self.options))

    def codes(self, codes: Mapping[str, Codes]) -> Codes:
        """Its value in each row, by position, from those of the features."""
        return np.ravel_multi_index(tuple(codes[name] for name in self.features), self.sizes).astype(np.int64)

    def places(self, codes: Codes) -> Iterator[tuple[str, tuple[Any, ...], Codes]]:
        """The inverse of :meth:`codes`: each feature, its values, and which of them it has."""
        return zip(self.features, self.options, np.unravel_index(codes, self.sizes), strict=True)

    def parameters(
        self, variable: Sensitive, groups: Sequence[int], negative: Strength, positive: Strength
    ) -> list[Parameter]:
        """Its parameters in each group on which the bias acts."""
        if not self.binary:
            return self._table(variable, groups, (negative, positive))
        return [
            self.parameter(variable, Cell(level, fair, recorded, self.title), value)
            for (recorded, fair), strength, name in ((NEGATIVE, negative, "negative"), (POSITIVE, positive, "positive"))
            for level, value in strengths(strength, variable, groups, name).items()
        ]

    def _table(self, variable: Sensitive, groups: Sequence[int], stated: Sequence[Strength]) -> list[Parameter]:
        """One for each pair of values, to be estimated or bound."""
        excluded = {change for strength, change in zip(stated, (NEGATIVE, POSITIVE), strict=True) if strength is False}
        binary = self.together and set(self.sizes) == {2}
        for strength in stated:
            if not (strength is None or isinstance(strength, Mapping) or (binary and strength is False)):
                what = f"{self.title} together have" if self.together else f"feature {self.title!r} has"
                raise P4FError(f"{what} more than two values; estimate the table, or bind its parameters")
        # Of the values of each feature by position: which pairs of them would be changes that do not happen.
        values = list(np.ndindex(self.sizes))
        return [
            self.parameter(variable, Cell(level, fair, recorded, self.title))
            for level in groups
            for recorded, fair in permutations(range(len(values)), 2)
            if excluded.isdisjoint(zip(values[recorded], values[fair], strict=True))
        ]

    def parameter(self, variable: Sensitive, cell: Cell, value: float | None = None) -> Parameter:
        """The parameter of a cell."""
        recorded, fair = (self.value_text(place) for place in (cell.recorded, cell.fair))
        meaning = f"{self.title} recorded as {recorded} is fairly {fair} where {variable.group_text(cell.group)}"
        if self.binary:
            called = parameter_name(variable, cell.group, cell.fair == 1, self.name)
        else:
            inside = (variable.levels[cell.group], self.values[cell.recorded], self.values[cell.fair])
            called = f"p({','.join([self.name, *map(atom, inside)])})"
        return Parameter(called, meaning, value, cell=cell)

    def value_text(self, place: int) -> str:
        """A value as people read it."""
        value = self.values[place]
        return ", ".join(map(str, value)) if self.together else str(value)

    def rules(self, variable: Sensitive, parameters: Mapping[Cell, Parameter]) -> str:
        """Its clauses."""
        return "\n".join((self._binary_rules if self.binary else self._table_rules)(variable, parameters))

    def _binary_rules(self, variable: Sensitive, parameters: Mapping[Cell, Parameter]) -> list[str]:
        name = self.name
        lines, biased = [comment(self.title), f"nn({name},X) :: {name}_(X)."], []
        for change, kind, body in ((NEGATIVE, "neg", f"\\+{name}_(X)"), (POSITIVE, "pos", f"{name}_(X)")):
            facts = [
                parameter.fact(f"{name}_{kind}_bias(X)", goal(variable, cell.group))
                for cell, parameter in sorted(parameters.items(), key=lambda entry: -entry[0].group)
                if (cell.recorded, cell.fair) == change
            ]
            lines += facts
            if facts:
                biased.append(f"{name}_biased(X) :- {body}, {name}_{kind}_bias(X).")
        lines += biased
        if biased:
            lines += [
                f"{name}(X) :- {name}_(X), \\+{name}_biased(X).",
                f"{name}(X) :- \\+{name}_(X), {name}_biased(X).",
            ]
        else:
            lines.append(f"{name}(X) :- {name}_(X).")
        return [*lines, f"?- {name}(x)."]

    def _table_rules(self, variable: Sensitive, parameters: Mapping[Cell, Parameter]) -> list[str]:
        name, values = self.name, self.values
        lines = [comment(self.title), f"nn({name},[X],V,[{','.join(map(atom, values))}]) :: {name}_(X,V)."]
        chances = {(cell.group, cell.recorded, cell.fair): parameter for cell, parameter in parameters.items()}
        facts, rules = flip_rules(variable, values, chances, before=f"{name}_", after=name, name=name)
        return [*lines, *facts, *rules, *(f"?- {name}(x,{atom(v)})." for v in values)]

    def table(self, groups: int, parameters: Mapping[Cell, Parameter]) -> Tensor:
        """P(fair value | recorded value, group), ``[groups, recorded, fair]``: what its clauses say, looked up."""
        chances = torch.zeros(groups, len(self.values), len(self.values), dtype=torch.float64)
        used = known_values(parameters.values())
        for cell, parameter in parameters.items():
            chances[cell.group, cell.recorded, cell.fair] = used.get(parameter.name, math.nan)
        return chances + torch.diag_embed(1 - chances.sum(dim=-1))

    def sentences(self, variable: Sensitive, parameters: Mapping[Cell, Parameter], verb: str) -> list[str]:
        """What is said of each group; ``verb`` leads from the recorded value to the fair one."""
        sentences = []
        for level in reversed(range(len(variable.levels))):
            group, acting = variable.group_text(level), {c: p for c, p in parameters.items() if c.group == level}
            if self.together and acting:
                sentences.append(self._summary(group, list(acting.values())))
            elif acting:
                parts = [
                    f"of the people with {group} and {self.title} = {self.value_text(cell.recorded)} on record, "
                    f"{share(parameter)} {verb} {self.value_text(cell.fair)}"
                    for cell, parameter in acting.items()
                ]
                sentences.append(joined(parts, f"the people with {group} and", "those with"))
        return sentences

    def _summary(self, group: str, parameters: Sequence[Parameter]) -> str:
        """Several features have too many parameters to be read out."""
        known = [parameter.value for parameter in parameters if parameter.value is not None]
        sentence = (
            f"Where {group}, {self.title} are distorted together: {len(parameters)} parameters say how likely each "
            "fair combination is, given the recorded one"
        )
        if len(known) < len(parameters):
            return f"{sentence}."
        right = 1 - sum(known) / len(self.values)
        return f"{sentence}; over all recorded ones alike, it is the fair one with probability {right:.2f}."

    def changed(self, table: Floats) -> dict[str, Floats]:
        """P(fair value != recorded value) of each feature, ``[..., recorded]``, from ``[..., recorded, fair]``."""
        places = np.stack(np.unravel_index(np.arange(len(self.values)), self.sizes))
        return {
            name: (table * (place[:, None] != place)).sum(axis=-1)
            for name, place in zip(self.features, places, strict=True)
        }
