"""Measurement bias: the recorded features are distorted copies of the fair ones."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.combinations import answers, every, occurring
from problog4fairness.beliefs.design import design_json, design_of
from problog4fairness.beliefs.favourable import favourable_json
from problog4fairness.beliefs.flips import flip_rules
from problog4fairness.beliefs.observation import Observation
from problog4fairness.beliefs.picturing import OTHERS, features, sensitive
from problog4fairness.beliefs.priors import Beta
from problog4fairness.beliefs.probabilities import Cell, Parameter, parameters_from_json, parameters_json
from problog4fairness.beliefs.sensitive import (
    Strength,
    acting_groups,
    declaration,
    goal,
    parameter_name,
    sensitive_comment,
    sensitive_from_json,
    sensitive_json,
    strengths,
)
from problog4fairness.beliefs.strata import Drawn, Strata, feature_strata
from problog4fairness.beliefs.tables import changed, feature_codes, observe_tables
from problog4fairness.beliefs.text import atom, comment, predicates
from problog4fairness.beliefs.words import Label, joined, share
from problog4fairness.errors import P4FError
from problog4fairness.program.diagram import Diagram, Node
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.sensitive import Sensitive
from problog4fairness.rows.types import Codes, Floats, Level
from problog4fairness.rows.values import plain

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs.audit_table import AuditTable

# Recorded and fair value of a binary feature that was recorded too low, and too high.
NEGATIVE, POSITIVE = (0, 1), (1, 0)


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

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.MeasurementBias(["employed"], "parent", negative={1: 0.3}, positive=False, groups=[1])
    >>> belief.parameters["meaning"].tolist()
    ['employed recorded as 0 is fairly 1 where parent = 1']
    >>> belief.program().probability(nn={"employed": 0.0, "a": 1.0})
    {'employed(x)': tensor(0.3000, dtype=torch.float64)}
    """

    title = "measurement bias"
    command = "measurement"

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
        self.groups = acting_groups(variable, groups)
        self.probabilities = tuple(
            parameter
            for name, options in self.values.items()
            for parameter in (
                self._binary(name, negative, positive) if len(options) == 2 else self._table(name, negative, positive)
            )
        )

    @property
    def variable(self) -> Sensitive:
        """The sensitive variable."""
        return self.variables[0]

    @functools.cached_property
    def names(self) -> dict[str, str]:
        """The name of each feature in the program."""
        return dict(zip(self.features, predicates(self.features, "f", {"a"}), strict=True))

    def _binary(self, feature: str, negative: Strength, positive: Strength) -> list[Parameter]:
        """The parameters of a feature with two values."""
        return [
            self._parameter(Cell(level, fair, recorded, feature), value)
            for (recorded, fair), strength, name in ((NEGATIVE, negative, "negative"), (POSITIVE, positive, "positive"))
            for level, value in strengths(self._of_feature(strength, feature), self.variable, self.groups, name).items()
        ]

    def _of_feature(self, strength: Strength, feature: str) -> Strength:
        """What was said of one feature, where features are told apart."""
        if not isinstance(strength, Mapping) or not set(strength) & set(self.features):
            return strength
        own: Strength = strength.get(feature)
        return own

    def _table(self, feature: str, negative: Strength, positive: Strength) -> list[Parameter]:
        """The parameters of a feature with more values: one for each pair of them, to be estimated or bound."""
        if any(strength is not None and not isinstance(strength, Mapping) for strength in (negative, positive)):
            raise P4FError(f"feature {feature!r} has more than two values; estimate its table, or bind its parameters")
        count = range(len(self.values[feature]))
        return [
            self._parameter(Cell(level, f, r, feature), None)
            for level in self.groups
            for r in count
            for f in count
            if r != f
        ]

    def _parameter(self, cell: Cell, value: float | None) -> Parameter:
        feature = str(cell.feature)
        options, name, where = self.values[feature], self.names[feature], self.variable.group_text(cell.group)
        recorded, fair = options[cell.recorded], options[cell.fair]
        meaning = f"{feature} recorded as {recorded} is fairly {fair} where {where}"
        if len(options) == 2:
            called = parameter_name(self.variable, cell.group, cell.fair == 1, name)
        else:
            called = f"p({name},{atom(self.variable.levels[cell.group])},{atom(recorded)},{atom(fair)})"
        return Parameter(called, meaning, value, cell=cell)

    def by_cell(self) -> dict[str, dict[Cell, Parameter]]:
        """The parameters of each feature."""
        found: dict[str, dict[Cell, Parameter]] = {feature: {} for feature in self.features}
        for own in self.probabilities:
            if own.cell is not None:
                found[str(own.cell.feature)][own.cell] = own
        return found

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
        return [
            "\n".join((self._binary_rules if len(self.values[feature]) == 2 else self._table_rules)(feature, own))
            for feature, own in self.by_cell().items()
        ]

    def _binary_rules(self, feature: str, parameters: Mapping[Cell, Parameter]) -> list[str]:
        name = self.names[feature]
        lines, biased = [comment(feature), f"nn({name},X) :: {name}_(X)."], []
        for change, kind, body in ((NEGATIVE, "neg", f"\\+{name}_(X)"), (POSITIVE, "pos", f"{name}_(X)")):
            found = [
                f"{own.weight} :: {name}_{kind}_bias(X) :- {goal(self.variable, cell.group)}.{own.remark}"
                for cell, own in sorted(parameters.items(), key=lambda entry: -entry[0].group)
                if (cell.recorded, cell.fair) == change
            ]
            lines += found
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
        return [*lines, f"?- {name}(x)."]

    def _table_rules(self, feature: str, parameters: Mapping[Cell, Parameter]) -> list[str]:
        name, options = self.names[feature], self.values[feature]
        lines = [comment(feature), f"nn({name},[X],V,[{','.join(map(atom, options))}]) :: {name}_(X,V)."]
        chances = {(cell.group, cell.recorded, cell.fair): own for cell, own in parameters.items()}
        facts, rules = flip_rules(self.variable, options, chances, before=f"{name}_", after=name, name=name)
        lines += [*facts, *rules]
        return [*lines, *(f"?- {name}(x,{atom(v)})." for v in options)]

    def feature_tables(self, groups: Codes | None = None) -> dict[str, Tensor]:
        """P(fair value | recorded value, groups) of each feature, ``[groups, recorded, fair]``."""
        self.require_known()
        groups = every(self.variables) if groups is None else groups
        circuit = self.bound_program().compile()
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
        return observe_tables(
            rows, groups, None, self.feature_tables(groups.levels), self.values, self.record(rows).codes
        )

    def feature_distortion(self, rows: Rows) -> dict[str, Floats]:
        """See :meth:`Belief.feature_distortion`."""
        groups = occurring(self.variables, rows)
        return changed(groups, self.feature_tables(groups.levels), feature_codes(rows, self.values))

    def estimate(
        self,
        audit: pd.DataFrame | None = None,
        *,
        recorded: Any,
        fair: Any,
        sensitive_features: Any = None,
        favourable: Any = None,
        confidence: float = 0.95,
        prior: Mapping[str, Beta] | None = None,
        sequential: bool = False,
        drawn_from: Any = None,
    ) -> Self:
        """Estimate the parameters from audited rows, for which recorded and fair features are both known.

        Parameters
        ----------
        audit
            A data frame with the columns that are named in the other arguments.
        recorded, fair
            For each feature its column or its values: a mapping by feature, or a sequence in the order of ``features``.
        sensitive_features
            The sensitive columns, where they are not in ``audit``.
        favourable
            The label that counts as 1, to be noted; the parameters do not depend on it.
        confidence
            Of the intervals.
        prior
            As for :meth:`Belief.estimate`.
        sequential, drawn_from
            As for :meth:`Belief.estimate`; rows may have been drawn by group and recorded features.
        """
        from problog4fairness.beliefs.estimation import counted_features, warn_few

        estimated, design = counted_features(
            self._awaiting(prior), audit, recorded, fair, sensitive_features, confidence, sequential, drawn_from
        )
        warn_few(estimated)
        found = self.with_probabilities(estimated)
        found.design = design
        return found.with_favourable(self.favourable if favourable is None else favourable)

    @property
    def _kinds(self) -> Strata:
        """The kinds of rows that its parameters are about: by group and recorded features."""
        groups = tuple(self.variable.group_text(level) for level in range(len(self.variable.levels)))
        words = tuple(tuple(str(plain(value)) for value in own) for own in self.values.values())
        return Strata(groups, self.features, words, self.features)

    def _audit_strata(self, table: Any, recorded: Any, sensitive_features: Any, favourable: Any) -> Drawn:  # noqa: ARG002
        """See :meth:`Belief._audit_strata`: by group and recorded features."""
        return feature_strata(self, table, self._kinds, self.values, sensitive_features)

    @classmethod
    def from_table(cls, table: AuditTable) -> Self:
        """See :meth:`Belief.from_table`."""
        return cls(
            [recorded for recorded, _ in table.feature_pairs],
            table.sensitive,
            None if table.negative else False,
            None if table.positive else False,
            levels=table.levels,
            groups=table.acting,
            values=table.feature_values,
        )

    def estimate_table(self, table: AuditTable) -> Self:
        """See :meth:`Belief.estimate_table`."""
        fair = dict(table.feature_pairs)
        recorded = {name: name for name in self.features}
        return self.estimate(table.measured, recorded=recorded, fair=fair, **table.options)

    def words(self, label: Label | None = None) -> list[str]:  # noqa: ARG002
        """See :meth:`Belief.words`."""
        first = (
            "The recorded labels are taken as fair, but some recorded features are taken as distorted copies of the "
            "fair ones, and the label depends on the fair ones."
        )
        return [first, *self.sentences()]

    def sentences(self, verb: str = "should have been recorded with") -> list[str]:
        """What it says of each feature and group; ``verb`` leads from the recorded value to the fair one."""
        variable, found = self.variable, []
        for feature, parameters in self.by_cell().items():
            values = self.values[feature]
            for level in reversed(range(len(variable.levels))):
                group = variable.group_text(level)
                parts = [
                    f"of the people with {group} and {feature} = {values[cell.recorded]} on record, {share(own)} "
                    f"{verb} {values[cell.fair]}"
                    for cell, own in parameters.items()
                    if cell.group == level
                ]
                if parts:
                    found.append(joined(parts, f"the people with {group} and", "those with"))
        untouched = [variable.group_text(i) for i in range(len(variable.levels)) if i not in self.groups]
        return found + [f"Where {group}, recorded features are taken as right." for group in untouched]

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`; the label on record is the fair one."""
        name = "label" if label is None else label.column
        return Diagram((*self.drawn(), Node(name, self.fair_features(), observed=True, classifier=True)))

    def drawn(self, fair: str = "fair") -> list[Node]:
        """The nodes of its picture, without the label."""
        parameters = {name: own.values() for name, own in self.by_cell().items()}
        distorted = features(self.features, self.variable.columns, parameters, fair)
        return [Node(OTHERS, observed=True), *sensitive(self.variables), *distorted]

    def fair_features(self, fair: str = "fair") -> tuple[str, ...]:
        """The nodes of its picture that the label depends on."""
        return (OTHERS, *(f"{name} ({fair})" for name in self.features))

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Belief.to_json`."""
        return {
            "kind": "MeasurementBias",
            "features": list(self.features),
            "values": {name: list(values) for name, values in self.values.items()},
            **sensitive_json(self.variable),
            "groups": list(self.groups),
            "probabilities": parameters_json(self.probabilities),
            **favourable_json(self),
            **design_json(self),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Self:
        belief = cls.__new__(cls)
        belief.features = tuple(value["features"])
        belief.values = {name: tuple(values) for name, values in value["values"].items()}
        belief.variables = (sensitive_from_json(value),)
        belief.groups = tuple(value["groups"])
        belief.probabilities = parameters_from_json(value["probabilities"])
        belief.favourable = value.get("favourable")
        belief._check_cells()
        belief.design = design_of(value, belief._kinds.shape)
        return belief

    def _check_cells(self) -> None:
        """Raise a ``ValueError`` where parameters that came from a file are not those of their cells."""
        for own in self.probabilities:
            cell = own.cell
            size = 0 if cell is None else len(self.values.get(str(cell.feature), ()))
            fits = cell is not None and cell.group in self.groups and max(cell.fair, cell.recorded) < size
            if cell is None or not fits or own.name != self._parameter(cell, None).name:
                raise ValueError(f"parameter {own.name} is not about its cell")


def _certain(value: Tensor, size: int) -> Tensor:
    """What the network of a feature says where its value is known, by position."""
    return value.double() if size == 2 else torch.eye(size).double()[value]
