"""Measurement bias of numbers: what is recorded is the fair number stretched, moved and blurred, by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch
from torch import Tensor

from problog4fairness.audit import Audit, AuditPlan, AuditTable, as_audit, by_feature, warn_audit, warn_unweighted
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.description import BeliefKind, Columns, Question
from problog4fairness.beliefs.fields import AFFECTED, GROUPS, SENSITIVE, Field
from problog4fairness.beliefs.likelihood.combinations import Combinations
from problog4fairness.beliefs.likelihood.factored import row_groups
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.likelihood.sampled_inputs import likely_vectors, row_seeds
from problog4fairness.beliefs.likelihood.tables import SOME, observe_weighted
from problog4fairness.beliefs.templates.features.feature_bias import FeatureBias
from problog4fairness.beliefs.templates.features.measurement_model import (
    BOUNDS,
    MEANINGS,
    NEUTRAL,
    Recording,
    drawn_values,
    finite,
    from_fair_values,
    from_repeats,
    numeric_nodes,
    numeric_rules,
    numeric_words,
    require_enough,
    with_interval,
)
from problog4fairness.beliefs.variables import Strength, declaration, sensitive_comment, strengths
from problog4fairness.data import Codes, Floats, Level, Rows, column_values
from problog4fairness.errors import P4FError
from problog4fairness.program import Node, atom, comment, predicates
from problog4fairness.statistics import Parameter

if TYPE_CHECKING:
    import pandas as pd


MOST_POINTS = 15
# What the classifier says of a point, in the program of a chain, whose ``y_h`` is the fair label, after all points.
ASKED = "y_at"


class NumericMeasurementBias(FeatureBias):
    """The recorded numbers are the fair ones stretched, moved and blurred; the label depends on the fair ones.

    recorded = factor * fair + shift + noise, by group

    Use it where a scale reads differently for one group: credit scores that count rent for nothing, a test in a foreign
    language, a sensor that fits one skin better. Assumed: noise is normal and has nothing to do with the label or other
    columns; fair values of a group are normal (take the logarithm of what is skewed first), and given the recorded
    value and the group, other columns tell nothing of them. Then the fair value of a row is normal, too, and the
    classifier is asked about some points of it, with Gauss and Hermite's weights.

    Rows whose fair value was found out identify all of it, and :meth:`check` tests by them whether it is a line with
    normal noise. Rows that were measured twice identify the noise and what fair values are like, once factor and shift
    are stated. The record alone identifies nothing. :func:`chain` takes biases of the label after it.

    Parameters
    ----------
    features
        The numeric columns that are distorted.
    factor, shift, noise
        How numbers are recorded: one number for all, one per group, one per feature (a number or one per group), None
        to be estimated, False for "does not happen". Noise is a standard deviation.
    mean, spread
        Mean and standard deviation of the fair values, in the same way.
    sensitive, groups, affected
        As for :class:`LabelBias`; numbers of groups on which the bias does not act are recorded as they are.
    points
        How many points stand for the fair value of a feature, from 2 to 15.
    inputs
        How many combinations of points a row stands for, at most; with more, the likeliest and draws of the others.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.NumericMeasurementBias("score", "renter", 0.8, -2, 3, mean=50, spread=10, affected=[1])
    >>> means, deviation = belief.fair_values("score", 1, [40.0, 60.0])  # of the fair score
    >>> means.round(1).tolist(), round(deviation, 2)
    ([52.2, 74.1], 3.51)
    """

    title = "measurement bias of numbers"
    kind = BeliefKind(
        fields=(
            Field("features", "columns", "The numbers that are distorted", suits="numbers"),
            SENSITIVE,
            Field("factor", "probability", "Numbers may be stretched", True),
            Field("shift", "probability", "Numbers may be moved", True),
            Field("noise", "probability", "Chance is added to numbers", True),
            GROUPS,
            AFFECTED,
            Field("points", "count", "Points that stand for the fair value of a feature", 5, low=2, high=MOST_POINTS),
            Field("inputs", "count", "Combinations of points that a row stands for, at most", SOME),
        ),
        command="numeric",
        identified_by="rows whose fair numbers were found out; rows measured twice tell of the noise alone.",
        question=Question(
            "feature",
            "It is a number, and its scale is unfair",
            "A test in a foreign language gives lower scores for the same knowledge.",
            (("?fair number", "group"), ("recorded number",)),
        ),
    )
    what = "numbers"

    def __init__(
        self,
        features: str | Sequence[str],
        sensitive: str | Sequence[str],
        factor: Strength = None,
        shift: Strength = None,
        noise: Strength = None,
        *,
        mean: Strength = None,
        spread: Strength = None,
        groups: Sequence[Level] | None = None,
        affected: Sequence[Level] | str | None = None,
        points: int = 5,
        inputs: int = SOME,
    ) -> None:
        super().__init__(
            features, sensitive, factor, shift, noise, groups=groups, affected=affected, points=points, inputs=inputs
        )
        self._take_features(features)
        if mean is False or spread is False:
            raise P4FError("mean and spread of fair values are numbers, or None to be estimated")
        self.points, self.inputs = points, inputs
        stated = {"factor": factor, "shift": shift, "noise": noise, "mean": mean, "spread": spread}
        self.parameters = tuple(
            self._parameter(kind, feature, level, value)
            for feature in self.features
            for kind, strength in stated.items()
            for level, value in strengths(
                self._of_feature(strength, feature), self.variable, self.affected, kind
            ).items()
        )
        self._check_factors()

    @property
    def columns(self) -> Columns:
        """See :meth:`Belief.columns`: all its features are numbers."""
        return replace(super().columns, numbers=self.features)

    @property
    def names(self) -> dict[str, str]:
        """The name of each feature in the program."""
        return dict(zip(self.features, predicates(self.features, "f", {"a", "x"}), strict=True))

    def _name(self, kind: str, feature: str, level: int) -> str:
        return f"{kind}({self.names[feature]},{atom(self.variable.levels[level])})"

    def _parameter(self, kind: str, feature: str, level: int, value: float | None) -> Parameter:
        meaning = MEANINGS[kind].format(feature=feature, group=self.variable.group_text(level))
        bounds = BOUNDS.get(kind, (-np.inf, np.inf))
        return Parameter(self._name(kind, feature, level), meaning, value, bounds=bounds)

    def _check_factors(self) -> None:
        for parameter in self.parameters:
            if parameter.value == 0 and parameter.name.startswith("factor("):
                raise P4FError(
                    f"{parameter.name} = 0 says that nothing of the fair value was recorded; leave the feature out"
                )

    def by_group(self) -> dict[tuple[str, int], dict[str, Parameter]]:
        """The parameters of each feature and group, by what they are: ``factor``, ``shift`` and so on."""
        named = {parameter.name: parameter for parameter in self.parameters}
        return {
            (feature, level): {
                kind: named[name] for kind in NEUTRAL if (name := self._name(kind, feature, level)) in named
            }
            for feature in self.features
            for level in self.affected
        }

    def _recording(self, feature: str, level: int) -> Recording:
        parameters = self.by_group().get((feature, level), {})
        return Recording(**(NEUTRAL | {kind: float(parameter.value or 0.0) for kind, parameter in parameters.items()}))

    def fair_values(self, feature: str, group: Level, recorded: Any) -> tuple[Floats, float]:
        """Mean and standard deviation of the fair values, given recorded ones of a group.

        Parameters
        ----------
        feature, group
            Of what, and of whom.
        recorded
            Recorded values.
        """
        self._require_known()
        if feature not in self.features or group not in self.variable.levels:
            raise P4FError(f"the belief is about {', '.join(self.features)} of {list(self.variable.levels)}")
        return self._recording(feature, self.variable.levels.index(group)).fair(finite(recorded, feature))

    def _with_parameters(self, parameters: tuple[Parameter, ...]) -> Self:
        other = super()._with_parameters(parameters)
        other._check_factors()
        return other

    def _number_draws(self, count: int, rng: np.random.Generator) -> dict[str, Floats]:
        """See :meth:`Belief._number_draws`: lines by the normal distribution, spreads by the chi-squared one."""
        groups = list(self.by_group().values())
        draws = [
            {name: value for parameters in groups for name, value in drawn_values(parameters, rng).items()}
            for _ in range(count)
        ]
        return {name: np.array([draw[name] for draw in draws]) for name in draws[0]}

    def text(self) -> str:
        """The program as text: the label through every point of every group."""
        head, rules = self.before_label("y", "y_h")
        places = ",".join(f"k{place + 1}" for place in range(len(self.features)))
        about = [
            "Measurement bias of numbers: recorded = factor * fair + shift + noise, by group. The fair value of a row "
            "is",
            f"one of {self.points} points: its mean, given the recorded value and the group, plus a multiple of its",
            f"standard deviation. x_(g,{places}) is the row with fair values at these points, by the numbers of group "
            "g.",
        ]
        declared = f"{declaration(self.variable)}\n{rules[0]}"
        start = [comment(*about, sensitive_comment(self.variable), *head[1:]), declared]
        return "\n\n".join([*start, *rules[1:], "?- y(x)."]) + "\n"

    def before_label(self, fair: str = "y_h", asked: str = ASKED) -> tuple[list[str], list[str]]:
        """For a chain: what the head of its program says of the numbers, and the clauses of ``fair``, in paragraphs."""
        head = ["x_(g,k1,...) is the row with fair numbers at these points, by the numbers of group g."]
        head += [f"{parameter.name}, {parameter.meaning}: {with_interval(parameter)}" for parameter in self.parameters]
        rules = numeric_rules(self.variable, self.names, *self.quadrature(), fair, asked)
        return head, [f"nn(h,X) :: {asked}(X).", *rules]

    def quadrature(self) -> tuple[Floats, Floats]:
        """The points of a standard normal number, and their weights."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(self.points)
        return nodes, weights / (weights.sum() * (1 + 1e-15))

    def _recorded(self, rows: Rows, feature: str) -> Floats:
        return finite(rows.column(feature, "the belief"), f"feature {feature!r}")

    def observed(
        self, rows: Rows, groups: Combinations, place: int, labels: Tensor | None, record: Codes | None
    ) -> Observation:
        """See :meth:`FeatureBias.observed`: each row stands for fair values of its own."""
        if labels is None:
            labels = torch.eye(len(rows.classes), dtype=torch.float64).expand(len(groups.levels), -1, -1)
        shares, chosen = row_groups(groups.rows)
        levels = groups.levels[:, place][chosen.numpy()]
        recorded = {feature: self._recorded(rows, feature) for feature in self.features}
        nodes, weights = self.quadrature()
        seeds = row_seeds([values.view(np.int64) for values in recorded.values()], different=record is not None)
        even = torch.from_numpy(weights).expand(len(rows), chosen.shape[1], -1)
        likely = likely_vectors([even] * len(self.features), self.inputs, seeds)
        values = {}
        for number, (feature, column) in enumerate(recorded.items()):
            back = [self._recording(feature, level).fair(column) for level in range(len(self.variable.levels))]
            centre = np.stack([mean for mean, _ in back], axis=1)[np.arange(len(rows))[:, None], levels]
            width = np.array([width for _, width in back])[levels]
            values[feature] = centre[..., None] + width[..., None] * nodes[likely.positions[..., number].numpy()]
        return observe_weighted(rows, values, likely, shares, labels[chosen].log(), record)

    def estimate(  # type: ignore[override]
        self,
        audit: pd.DataFrame | Audit,
        *,
        recorded: Mapping[str, str] | Sequence[str],
        fair: Mapping[str, str] | Sequence[str] | None = None,
        again: Mapping[str, str] | Sequence[str] | None = None,
        favourable: Any = None,
        confidence: float = 0.95,
    ) -> Self:
        """Estimate the parameters from rows whose fair values are known, or that were measured twice.

        Parameters
        ----------
        audit
            A data frame with the columns that are named in the other arguments; rows drawn at random from each group.
        recorded
            The column of each feature: a mapping by feature, or a sequence in the order of ``features``.
        fair
            The columns of fair values, in the same way.
        again
            Without fair values: a second measurement of the same people, in the same way. It tells of the noise;
            factor and shift must be stated then, or False.
        favourable
            The label that counts as 1, to be noted; nothing here depends on it.
        confidence
            Of the intervals.
        """
        if (fair is None) == (again is None):
            raise P4FError("name either the fair values, by fair=..., or a second measurement, by again=...")
        role, others = ("second", again) if fair is None else ("fair", fair)
        columns = by_feature(others or {}, self.features, role)
        rows = as_audit(audit, tuple(columns.values()))
        first = self._audited(rows.frame, by_feature(recorded, self.features, "recorded"), "recorded")
        second = self._audited(rows.frame, columns, role)
        groups = self.variable.positions(rows.frame)
        if groups.ndim != 1:
            raise P4FError("the group of an audited row must be known for certain")
        warn_unweighted(rows, "numeric features", groups)
        estimated: dict[str, Parameter] = {}
        for (feature, level), parameters in self._prepared(None, confidence).by_group().items():
            place = np.flatnonzero(groups == level)
            pair = first[feature][place], second[feature][place]
            require_enough(feature, self.variable.group_text(level), *pair)
            if fair is None:
                known = from_repeats(parameters, feature, *pair, confidence)
            else:
                known = from_fair_values(parameters, pair[1], pair[0], confidence)
            estimated |= {parameter.name: parameter for parameter in known}
        belief = self._with_parameters(tuple(estimated[parameter.name] for parameter in self.parameters))
        for parameter in belief.parameters:
            low, high = parameter.low or 0.0, parameter.high or 0.0
            if parameter.name.startswith("factor(") and parameter.rows and low <= 0 <= high:
                value = with_interval(parameter)
                warn_audit(f"{parameter.name} = {value} may be 0 ({parameter.meaning}); audit more rows")
        return belief._with_favourable(self.favourable if favourable is None else favourable)

    @classmethod
    def _from_table(cls, table: AuditTable) -> Belief:
        """See :meth:`Belief._from_table`; a second measurement tells of the noise alone."""
        moved = {"factor": not table.answer("again"), "shift": not table.answer("again")}
        features = [recorded for recorded, _ in table.feature_pairs]
        return cls.from_fields(
            {"features": features, "sensitive": table.sensitive, **moved, "affected": table.acting}, table
        )

    def _estimate_table(self, table: AuditTable) -> Self:
        table.require_no_options("numbers")
        pairs, recorded = dict(table.feature_pairs), {name: name for name in self.features}
        fair, again = (None, pairs) if table.answer("again") else (pairs, None)
        audit = table.sampled(table.numbers, *pairs.values())
        return self.estimate(audit, recorded=recorded, fair=fair, again=again)

    def _audited(self, frame: pd.DataFrame, columns: Mapping[str, str], role: str) -> dict[str, Floats]:
        return {f: finite(column_values(frame, columns[f], f"{role} {f}"), f"the {role} {f}") for f in self.features}

    def plan_audit(
        self,
        table: Any,
        *,
        fair: str | Sequence[str] | Mapping[str, str] = "fair",
        error: float = 0.1,
        confidence: float = 0.95,
        pilot: Any = None,
        design: Literal["neyman", "hoeffding", "random"] = "neyman",
        **labels: Any,
    ) -> AuditPlan:
        """Plan which rows to measure rightly until factors and shifts are known well enough, in rounds.

        Rows of each group are drawn at random, by normal theory: of n of them, the interval of the factor is
        1.96 * noise / (spread * sqrt(n)) wide on either side. The arguments are those of :meth:`Belief.plan_audit`;
        those about ``labels`` do not matter here.

        Parameters
        ----------
        error
            Half the width of the interval of each factor; and of the shift of an average fair value, as a share of the
            standard deviation of fair values.
        design
            ``"neyman"``, the only one for numbers.
        """
        from problog4fairness.beliefs.templates.features.numeric_plan import plan_numbers

        if design != "neyman":
            raise P4FError(f"design must be 'neyman' for numbers, not {design!r}: Hoeffding's is for probabilities")
        return plan_numbers(self, table, fair=fair, error=error, confidence=confidence, pilot=pilot)

    def feature_sentences(self) -> list[str]:
        return numeric_words(self.variable, self.by_group())

    def drawn(self) -> list[Node]:
        """The nodes of its picture, without the label."""
        every = [parameter.name for parameter in self.parameters]
        names = {feature: [each for each in every if f"({name}," in each] for feature, name in self.names.items()}
        return numeric_nodes(self.variable, names)
