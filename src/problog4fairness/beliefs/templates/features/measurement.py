"""Measurement bias: the recorded features are distorted copies of the fair ones."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from torch import Tensor

from problog4fairness.audit import (
    Audit,
    AuditRules,
    AuditTable,
    Strata,
    as_audit,
    by_feature,
    counted_features,
    planned_error,
    warn_few,
)
from problog4fairness.beliefs.describe.diagrams import OTHERS, features, sensitive
from problog4fairness.beliefs.description import BeliefKind, Question
from problog4fairness.beliefs.fields import AFFECTED, GROUPS, SENSITIVE, Field
from problog4fairness.beliefs.likelihood.combinations import Combinations, every
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.likelihood.tables import observe_tables
from problog4fairness.beliefs.templates.features.feature_bias import Distorted, FeatureBias
from problog4fairness.beliefs.variables import Strength, declaration, sensitive_comment
from problog4fairness.data import Codes, Level, Rows, plain
from problog4fairness.errors import P4FError
from problog4fairness.program import Node, comment, predicates
from problog4fairness.statistics import Beta, Cell, Parameter

if TYPE_CHECKING:
    import pandas as pd


class MeasurementBias(FeatureBias):
    """The recorded features are distorted copies of the fair ones; the label depends on the fair ones.

    P(label) = sum over fair vectors v of h(v) times, for each feature i, P(v_i | recorded_i, A)

    Use it where a proxy under-counts one group: days worked in the past three years, for people who took parental
    leave. The parameters say how to get *back*: the probability of the fair value given the recorded one. Features are
    independent of each other given what was recorded and A, unless ``joint`` says so; others pass through unchanged.

    What identifies it: audited rows, of which recorded and fair features are both known, of every group and recorded
    value; the record alone does not.

    Parameters
    ----------
    features
        The columns that are distorted.
    negative, positive
        For binary features: probability that a recorded 0 is a fair 1 (the recording was too low), and that a recorded
        1 is a fair 0. One number for all, one per group, one per feature (a number or one per group), None to be
        estimated, False for "does not happen". In the program, p1(feature) and p2(feature) are negative for A = 1 and
        A = 0, p3 and p4 positive.
    sensitive, groups, affected
        As for :class:`LabelBias`.
    values
        The values of features that are not 0 and 1: ``{"education": ("low", "middle", "high")}``. With two values the
        second one counts as 1. With more, each group has a table of parameters ``p(feature,group,recorded,fair)``.
    joint
        Whether fair features depend on each other, given recorded ones: True for all, or two or more of their names, of
        at most 64 combinations of values. Then the parameters are P(fair vector | recorded vector, group), shrunk
        towards features that are distorted each by itself where audited rows are few.
    inputs
        How many fair vectors a row stands for, at most; with more, the likeliest ones and draws of the others, so that
        weights are right on average. None for all up to 1,024, and 32 beyond; :attr:`Observation.drawn` tells how much
        of the weight was drawn.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.MeasurementBias(["employed"], "parent", negative={1: 0.3}, positive=False, affected=[1])
    >>> belief.parameter_table()["meaning"].tolist()
    ['employed recorded as 0 is fairly 1 where parent = 1']
    >>> belief.program().probability(nn={"employed": 0.0, "a": 1.0})
    {'employed(x)': tensor(0.3000, dtype=torch.float64)}
    """

    title = "measurement bias"
    kind = BeliefKind(
        fields=(
            Field("features", "columns", "The features that are distorted"),
            SENSITIVE,
            Field("negative", "probability", "A feature may have been recorded too low", True),
            Field("positive", "probability", "A feature may have been recorded too high", True),
            GROUPS,
            AFFECTED,
            Field("values", "values", "The values of each feature, where they are not 0 and 1"),
            Field("joint", "columns", "Features that depend on each other, given recorded ones"),
            Field("inputs", "count", "Fair vectors that a row stands for, at most", high=1 << 62),
        ),
        command="measurement",
        identified_by="audited rows with recorded and fair features of every group; the record alone does not.",
        question=Question(
            "feature",
            "It was measured unfairly",
            "Arrests are counted instead of crimes: more of them where police look more.",
            (("?fair feature", "group"), ("recorded feature",)),
        ),
    )

    def __init__(
        self,
        features: str | Sequence[str],
        sensitive: str | Sequence[str],
        negative: Strength = None,
        positive: Strength = None,
        *,
        groups: Sequence[Level] | None = None,
        affected: Sequence[Level] | str | None = None,
        values: Mapping[str, Sequence[int | str]] | None = None,
        joint: bool | Sequence[str] | None = False,
        inputs: int | None = None,
    ) -> None:
        names = (features,) if isinstance(features, str) else tuple(features)
        unknown = set(values or {}) - set(names)
        if unknown:
            raise P4FError(f"values names {unknown.pop()!r}, which is not among the features")
        self.values = {name: tuple((values or {}).get(name, (0, 1))) for name in names}
        self.joint = _joint(joint, names)
        super().__init__(
            names,
            sensitive,
            negative,
            positive,
            groups=groups,
            affected=affected,
            values={name: options for name, options in self.values.items() if options != (0, 1)} or None,
            joint=self.joint or None,
            inputs=inputs,
        )
        self._take_features(names)
        self.inputs = inputs
        for name, options in self.values.items():
            if len(set(options)) < 2:
                raise P4FError(f"feature {name!r} needs two or more values")
        self.parameters = tuple(
            parameter
            for part in self.parts
            for parameter in part.parameters(
                self.variable,
                self.affected,
                *(self._of_feature(strength, part.title) for strength in (negative, positive)),
            )
        )

    @functools.cached_property
    def parts(self) -> tuple[Distorted, ...]:
        """The features one by one, and those that are distorted together as one."""
        alone = [(name,) for name in self.features if name not in self.joint]
        together = [*([self.joint] if self.joint else []), *alone]
        names = predicates(("_".join(features) for features in together), "f", {"a"})
        return tuple(
            Distorted(features, tuple(self.values[feature] for feature in features), name)
            for features, name in zip(together, names, strict=True)
        )

    @property
    def names(self) -> dict[str, str]:
        """The name of each part in the program."""
        return {part.title: part.name for part in self.parts}

    def by_cell(self) -> dict[str, dict[Cell, Parameter]]:
        """The parameters of each part."""
        by_part: dict[str, dict[Cell, Parameter]] = {part.title: {} for part in self.parts}
        for parameter in self.parameters:
            if parameter.cell is not None:
                by_part[str(parameter.cell.feature)][parameter.cell] = parameter
        return by_part

    def text(self) -> str:
        head = [
            "Measurement bias: recorded features are distorted copies of fair ones. Each query is the probability of a",
            "fair feature, given the recorded one and the group. The label is the classifier's answer for the fair",
            "features, weighted by the product of their probabilities.",
            sensitive_comment(self.variable),
        ]
        return "\n\n".join([comment(*head), declaration(self.variable), *self.rules()]) + "\n"

    def rules(self) -> list[str]:
        """A paragraph of clauses for each part."""
        parameters = self.by_cell()
        return [part.rules(self.variable, parameters[part.title]) for part in self.parts]

    def feature_tables(self, groups: Codes | None = None) -> dict[str, Tensor]:
        """P(fair value | recorded value, groups) of each part, ``[groups, recorded, fair]``."""
        self._require_known()
        groups = every(self.variables) if groups is None else groups
        parameters, count = self.by_cell(), len(self.variable.levels)
        return {part.title: part.table(count, parameters[part.title])[groups[:, 0]] for part in self.parts}

    def before_label(self) -> tuple[list[str], list[str]]:
        return [], ["% First, the recorded features are taken to the fair ones.", *self.rules()]

    def observed(
        self, rows: Rows, groups: Combinations, place: int, labels: Tensor | None, record: Codes | None
    ) -> Observation:
        """See :meth:`FeatureBias.observed`: through one small table for each feature."""
        tables = self.feature_tables(groups.levels[:, [place]])
        return observe_tables(rows, groups, labels, tables, self.parts, record, self.inputs)

    def estimate(
        self,
        audit: pd.DataFrame | Audit,
        *,
        recorded: Any,
        fair: Any,
        favourable: Any = None,
        confidence: float = 0.95,
        prior: Mapping[str, Beta] | None = None,
        drawn_from: Any = None,
    ) -> Self:
        """Estimate the parameters from audited rows, for which recorded and fair features are both known.

        Parameters
        ----------
        audit, confidence, prior, drawn_from
            As for :meth:`Belief.estimate`; rows may have been sampled by group and recorded features.
        recorded, fair
            The column of each feature: a mapping by feature, or a sequence in the order of ``features``.
        favourable
            The label that counts as 1, to be noted; the parameters do not depend on it.
        """
        columns = by_feature(recorded, self.features, "recorded"), by_feature(fair, self.features, "fair")
        audit = as_audit(audit, tuple(columns[1].values()), drawn_from)
        estimated, design = counted_features(self._prepared(prior, confidence), audit, *columns, confidence, drawn_from)
        warn_few(
            [parameter for parameter in estimated if parameter.cell is None or parameter.cell.feature in self.features],
            error=planned_error(audit),
        )
        belief = self._with_parameters(estimated)
        belief._design = design
        return belief._with_favourable(self.favourable if favourable is None else favourable)

    @property
    def strata(self) -> Strata:
        """The kinds of rows that its parameters are about: by group and recorded features."""
        groups = tuple(self.variable.group_text(level) for level in range(len(self.variable.levels)))
        words = tuple(tuple(str(plain(value)) for value in options) for options in self.values.values())
        return Strata(groups, self.features, words, self.features)

    @property
    def audit_rules(self) -> AuditRules:
        """See :attr:`Belief.audit_rules`: rows are sampled by group and recorded features."""
        joint = "features that are distorted together have more parameters than a plan can be for"
        undivided = joint if self.joint else ""
        return replace(super().audit_rules, features=self.strata, values=self.values, undivided=undivided)

    def _estimate_table(self, table: AuditTable) -> Self:
        fair = dict(table.feature_pairs)
        recorded = {name: name for name in self.features}
        audit = table.sampled(table.measured, *fair.values())
        return self.estimate(audit, recorded=recorded, fair=fair, drawn_from=table.drawn_from)

    def feature_sentences(self, verb: str = "should have been recorded with") -> list[str]:
        """See :meth:`FeatureBias.feature_sentences`; ``verb`` leads from the recorded value to the fair one."""
        variable, parameters = self.variable, self.by_cell()
        return [
            parameter for part in self.parts for parameter in part.sentences(variable, parameters[part.title], verb)
        ]

    def drawn(self, fair: str = "fair") -> list[Node]:
        """The nodes of its picture, without the label."""
        parameters = {name: parameter.values() for name, parameter in self.by_cell().items()}
        distorted = features(parameters, self.variable.columns, parameters, fair)
        return [Node(OTHERS, observed=True), *sensitive(self.variables), *distorted]


def _joint(joint: bool | Sequence[str] | None, features: tuple[str, ...]) -> tuple[str, ...]:
    """The features that are distorted together."""
    if isinstance(joint, bool) or joint is None:
        return features if joint and len(features) > 1 else ()
    if set(joint) - set(features) or isinstance(joint, str) or len(set(joint)) < 2:
        raise P4FError(f"joint={joint!r} must be True, False, or two or more of the features {list(features)}")
    return tuple(name for name in features if name in joint)
