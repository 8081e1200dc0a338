"""Measurement bias: the recorded features are distorted copies of the fair ones."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from problog4fairness.beliefs.base import Belief, level_json, levels_from_json, parameters_from_json, parameters_json
from problog4fairness.beliefs.combinations import answers, every, occurring
from problog4fairness.beliefs.label import sensitive_comment
from problog4fairness.beliefs.observation import Observation
from problog4fairness.beliefs.probabilities import Parameter
from problog4fairness.beliefs.sensitive import declaration, goal
from problog4fairness.beliefs.tables import changed, feature_codes, observe_tables
from problog4fairness.beliefs.text import atom, comment, predicates
from problog4fairness.beliefs.words import Label, joined, share
from problog4fairness.errors import P4FError
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.sensitive import Sensitive
from problog4fairness.rows.types import Codes, Floats, Level

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs.audit import Column

Strength = float | Mapping[Any, Any] | Literal[False] | None


class MeasurementBias(Belief):
    """The recorded features are distorted copies of the fair ones; the label depends on the fair ones.

    P(label) = sum over fair vectors v of h(v) times, for each feature i, P(v_i | recorded_i, A)

    Use it where a proxy under-counts one group: days worked in the past three years, for people who took parental
    leave. The parameters say how to get *back*: the probability of the fair value given the recorded one. Features are
    independent of each other given what was recorded and A; other features pass through unchanged.

    Parameters
    ----------
    features
        The columns that are distorted.
    sensitive
        The column of the sensitive variable, or several columns whose values together make a group.
    negative, positive
        For binary features: probability that a recorded 0 is a fair 1 (the recording was too low), and that a recorded
        1 is a fair 0. One number for all, one per group, one per feature (a number or one per group), None to be
        estimated, False for "does not happen". In the program, p1(feature) and p2(feature) are negative for A = 1 and
        A = 0, p3 and p4 positive.
    levels, groups
        The groups, and those on which the bias acts; as for :class:`LabelBias`.
    values
        The values of features that are not 0 and 1: ``{"education": ("low", "middle", "high")}``. With two values the
        second one counts as 1. With more, each group has a table of parameters ``p(feature,group,recorded,fair)``.
    """

    title = "measurement bias"

    def __init__(
        self,
        features: str | Sequence[str],
        sensitive: str | Sequence[str],
        negative: Strength = None,
        positive: Strength = None,
        *,
        levels: Sequence[Level] = (0, 1),
        groups: Sequence[Level] | None = None,
        values: Mapping[str, Sequence[int | str]] | None = None,
    ) -> None:
        self.features = (features,) if isinstance(features, str) else tuple(features)
        if not self.features or len(set(self.features)) != len(self.features):
            raise P4FError("name one or more different features")
        variable = Sensitive.of(sensitive, levels, name="a")
        self.variables = (variable,)
        overlap = set(self.features) & set(variable.columns)
        if overlap:
            raise P4FError(f"column {overlap.pop()!r} cannot be both a distorted feature and the sensitive variable")
        unknown = set(values or {}) - set(self.features)
        if unknown:
            raise P4FError(f"values names {unknown.pop()!r}, which is not among the features")
        self.values = {name: tuple((values or {}).get(name, (0, 1))) for name in self.features}
        for name, options in self.values.items():
            if len(set(options)) < 2:
                raise P4FError(f"feature {name!r} needs two or more values")
        known = set(variable.levels)
        if groups is not None and (not groups or not set(groups) <= known):
            raise P4FError(f"groups must be some of the levels {list(variable.levels)}, not {list(groups)}")
        acting = variable.levels if groups is None else tuple(groups)
        self.groups = tuple(i for i, level in enumerate(variable.levels) if level in acting)
        self.probabilities = tuple(
            parameter for name in self.features for parameter in self._feature_parameters(name, negative, positive)
        )

    @property
    def variable(self) -> Sensitive:
        """The sensitive variable."""
        return self.variables[0]

    @functools.cached_property
    def names(self) -> dict[str, str]:
        """The name of each feature in the program."""
        return dict(zip(self.features, predicates(self.features, "f", {"a"}), strict=True))

    def _feature_parameters(self, feature: str, negative: Strength, positive: Strength) -> list[Parameter]:
        options, name, variable = self.values[feature], self.names[feature], self.variable
        probabilities = []
        if len(options) == 2:
            for kind, strength in (("neg", negative), ("pos", positive)):
                if isinstance(strength, Mapping) and feature in strength:
                    strength = strength[feature]
                elif isinstance(strength, Mapping) and set(strength) & set(self.features):
                    strength = None
                if strength is False:
                    continue
                recorded, fair = (options[0], options[1]) if kind == "neg" else (options[1], options[0])
                for level in sorted(self.groups, reverse=variable.binary):
                    value = strength.get(variable.levels[level]) if isinstance(strength, Mapping) else strength
                    meaning = f"{feature} recorded as {recorded} is fairly {fair} where {variable.group_text(level)}"
                    probabilities.append(Parameter(self._binary_name(kind, level, name), meaning, value))
            return probabilities
        for strength in (negative, positive):
            if strength is not None and not isinstance(strength, Mapping):
                raise P4FError(
                    f"feature {feature!r} has more than two values; estimate its table, or bind its parameters"
                )
        for level in self.groups:
            for r in options:
                for f in options:
                    if r != f:
                        meaning = f"{feature} recorded as {r} is fairly {f} where {variable.group_text(level)}"
                        probabilities.append(Parameter(self._table_name(name, level, r, f), meaning))
        return probabilities

    def _binary_name(self, kind: str, level: int, name: str) -> str:
        if self.variable.binary:
            which = {("neg", 1): "p1", ("neg", 0): "p2", ("pos", 1): "p3", ("pos", 0): "p4"}[kind, level]
            return f"{which}({name})"
        return f"{kind}({name},{atom(self.variable.levels[level])})"

    def _table_name(self, name: str, level: int, recorded: int | str, fair: int | str) -> str:
        return f"p({name},{atom(self.variable.levels[level])},{atom(recorded)},{atom(fair)})"

    def text(self) -> str:
        """The program as text."""
        head = [
            "Measurement bias: recorded features are distorted copies of fair ones. Each query is the probability of a",
            "fair feature, given the recorded one and the group. The label is the classifier's answer for the fair",
            "features, weighted by the product of their probabilities.",
            sensitive_comment(self.variable),
        ]
        return "\n\n".join([comment(*head), declaration(self.variable), *self.rules()]) + "\n"

    def rules(self) -> list[str]:
        """A paragraph of clauses for each feature."""
        by_name = {parameter.name: parameter for parameter in self.probabilities}
        return [self._feature_rules(feature, by_name) for feature in self.features]

    def _feature_rules(self, feature: str, probabilities: Mapping[str, Parameter]) -> str:
        name, options = self.names[feature], self.values[feature]
        if len(options) > 2:
            return self._table_rules(feature, probabilities)
        lines = [comment(feature), f"nn({name},X) :: {name}_(X)."]
        biased = []
        for kind, body in (("neg", f"\\+{name}_(X)"), ("pos", f"{name}_(X)")):
            found = [
                (level, probabilities[self._binary_name(kind, level, name)])
                for level in reversed(range(len(self.variable.levels)))
                if self._binary_name(kind, level, name) in probabilities
            ]
            lines += [
                f"{parameter.weight} :: {name}_{kind}_bias(X) :- {goal(self.variable, level)}.{parameter.remark}"
                for level, parameter in found
            ]
            if found:
                biased.append(f"{name}_biased(X) :- {body}, {name}_{kind}_bias(X).")
        lines += biased
        if biased:
            lines += [
                f"{name}(X) :- {name}_(X), \\+{name}_biased(X).",
                f"{name}(X) :- \\+{name}_(X), {name}_biased(X).",
            ]
        else:
            lines.append(f"{name}(X) :- {name}_(X).")
        return "\n".join([*lines, f"?- {name}(x)."])

    def _table_rules(self, feature: str, probabilities: Mapping[str, Parameter]) -> str:
        name, options = self.names[feature], self.values[feature]
        lines = [comment(feature), f"nn({name},[X],V,[{','.join(map(atom, options))}]) :: {name}_(X,V)."]
        for level in self.groups:
            for recorded in options:
                heads = [
                    f"{probabilities[self._table_name(name, level, recorded, fair)].weight} :: "
                    f"{name}_flip(X,{atom(recorded)},{atom(fair)})"
                    for fair in options
                    if fair != recorded
                ]
                lines.append(" ;\n    ".join(heads) + f" :- {goal(self.variable, level)}.")
        lines += [
            f"{name}_flipped(X,R) :- {name}_flip(X,R,_).",
            f"{name}(X,R) :- {name}_(X,R), \\+{name}_flipped(X,R).",
            f"{name}(X,V) :- {name}_(X,R), {name}_flip(X,R,V).",
        ]
        return "\n".join([*lines, *(f"?- {name}(x,{atom(v)})." for v in options)])

    def feature_values(self) -> dict[str, tuple[Level, ...]]:
        """See :meth:`Belief.feature_values`."""
        return dict(self.values)

    def feature_tables(self, groups: Codes | None = None) -> dict[str, Tensor]:
        """See :meth:`Belief.feature_tables`."""
        self.require_known()
        groups = every(self.variables) if groups is None else groups
        circuit = self.program().compile()
        tables, first = {}, 0
        for feature, options in self.values.items():
            # Every query is about one feature, so the others may have any value.
            recorded = torch.arange(len(options))
            cases = {
                self.names[other]: _certain(recorded if other == feature else torch.zeros_like(recorded), len(values))
                for other, values in self.values.items()
            }
            answer = answers(circuit, self.variables, groups, cases)
            if len(options) == 2:
                yes = answer[..., first : first + 1]
                tables[feature] = torch.cat([1 - yes, yes], dim=-1)
                first += 1
            else:
                tables[feature] = answer[..., first : first + len(options)]
                first += len(options)
        return tables

    def observe(self, rows: Rows) -> Observation:
        """See :meth:`Belief.observe`: through one small table for each feature, not all combinations of them."""
        self.require_known()
        self.require_columns(rows)
        groups = occurring(self.variables, rows)
        return observe_tables(rows, groups, None, self.feature_tables(groups.levels), self.values)

    def feature_distortion(self, rows: Rows) -> dict[str, Floats]:
        """See :meth:`Belief.feature_distortion`."""
        groups = occurring(self.variables, rows)
        return changed(groups, self.feature_tables(groups.levels), feature_codes(rows, self.values))

    def cells(self) -> dict[str, tuple[str, int, int, int]]:
        """For each parameter its cell: feature, group, recorded value, fair value (by position)."""
        cells: dict[str, tuple[str, int, int, int]] = {}
        for feature, options in self.values.items():
            name = self.names[feature]
            for level in self.groups:
                if len(options) == 2:
                    cells[self._binary_name("neg", level, name)] = (feature, level, 0, 1)
                    cells[self._binary_name("pos", level, name)] = (feature, level, 1, 0)
                    continue
                for r, recorded in enumerate(options):
                    for f, fair in enumerate(options):
                        if r != f:
                            cells[self._table_name(name, level, recorded, fair)] = (feature, level, r, f)
        return {parameter.name: cells[parameter.name] for parameter in self.probabilities}

    def estimate(
        self,
        audit: pd.DataFrame | None = None,
        *,
        recorded: Mapping[str, Column] | Sequence[Any],
        fair: Mapping[str, Column] | Sequence[Any],
        sensitive_features: Any = None,
        confidence: float = 0.95,
    ) -> MeasurementBias:
        """Estimate the parameters from audited rows, for which recorded and fair features are both known.

        Parameters
        ----------
        audit
            A data frame with the columns that are named in the other arguments.
        recorded, fair
            For each feature its column or its values: a mapping by feature, or a sequence in the order of ``features``.
        sensitive_features
            The sensitive columns, where they are not in ``audit``.
        confidence
            Of the intervals.
        """
        from problog4fairness.beliefs.estimation import estimate_features

        return estimate_features(self, audit, recorded, fair, sensitive_features, confidence)

    def words(self, label: Label | None = None) -> list[str]:  # noqa: ARG002
        """See :meth:`Belief.words`."""
        first = (
            "The recorded labels are taken as fair, but some recorded features are taken as distorted copies of the "
            "fair ones, and the label depends on the fair ones."
        )
        return [first, *self.sentences()]

    def sentences(self, verb: str = "should have been recorded with") -> list[str]:
        """What it says of each feature and group; ``verb`` leads from the recorded value to the fair one."""
        variable, cells, found = self.variable, self.cells(), []
        for feature, values in self.values.items():
            for level in reversed(range(len(variable.levels))):
                group = variable.group_text(level)
                parts = [
                    f"of the people with {group} and {feature} = {values[recorded]} on record, {share(parameter)} "
                    f"{verb} {values[fair]}"
                    for parameter in self.probabilities
                    for name, own, recorded, fair in [cells[parameter.name]]
                    if (name, own) == (feature, level)
                ]
                if parts:
                    found.append(joined(parts, f"the people with {group} and", "those with"))
        untouched = [variable.group_text(i) for i in range(len(variable.levels)) if i not in self.groups]
        return found + [f"Where {group}, recorded features are taken as right." for group in untouched]

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Belief.to_json`."""
        return {
            "kind": "MeasurementBias",
            "features": list(self.features),
            "values": {name: list(values) for name, values in self.values.items()},
            "columns": list(self.variable.columns),
            "levels": level_json(self.variable.levels),
            "name": self.variable.name,
            "groups": list(self.groups),
            "probabilities": parameters_json(self.probabilities),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> MeasurementBias:
        belief = cls.__new__(cls)
        belief.features = tuple(value["features"])
        belief.values = {name: tuple(values) for name, values in value["values"].items()}
        variable = Sensitive(tuple(value["columns"]), levels_from_json(value["levels"]), str(value["name"]))
        belief.variables = (variable,)
        belief.groups = tuple(value["groups"])
        belief.probabilities = parameters_from_json(value["probabilities"])
        return belief


def _certain(value: Tensor, size: int) -> Tensor:
    """What the network of a feature says where its value is known, by position."""
    return value.double() if size == 2 else torch.eye(size).double()[value]
