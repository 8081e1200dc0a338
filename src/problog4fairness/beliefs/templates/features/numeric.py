"""Measurement bias of numbers: what is recorded is the fair number stretched, moved and blurred, by group."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch
from torch import Tensor

from problog4fairness.audit import filled, generator, tell, warn_unweighted
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import OTHERS
from problog4fairness.beliefs.describe.numeric_words import (
    numeric_nodes,
    numeric_program,
    numeric_rules,
    numeric_words,
)
from problog4fairness.beliefs.describe.words import Label
from problog4fairness.beliefs.favourable import favourable_json
from problog4fairness.beliefs.likelihood.combinations import Combinations, occurring
from problog4fairness.beliefs.likelihood.factored import row_groups
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.likelihood.sampled_inputs import likely_vectors, row_seeds
from problog4fairness.beliefs.likelihood.tables import SOME, observe_weighted
from problog4fairness.beliefs.templates.features.measurement_model import (
    MEANINGS,
    NEUTRAL,
    Amount,
    Gauge,
    audited_gauge,
    drawn_gauge,
    finite,
    repeated_gauge,
    require_enough,
    whole,
)
from problog4fairness.beliefs.variables import Strength, acting_groups, sensitive_from_json, sensitive_json, strengths
from problog4fairness.data import Codes, Floats, Level, Rows, Sensitive, column_values, counts_of, frame_with
from problog4fairness.errors import MissingValueError, P4FError, UnknownNameError
from problog4fairness.program import Diagram, Node, atom, predicates

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Audit, AuditPlan, AuditTable, Column
    from problog4fairness.program import Program

MOST_POINTS = 15
# Of an amount, in a file; its name and meaning follow.
_KEPT = ("measure", "feature", "group", "value", "low", "high", "rows")


class NumericMeasurementBias(Belief):
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
    sensitive
        The column of the sensitive variable, or several columns whose values together make a group.
    factor, shift, noise
        How numbers are recorded: one number for all, one per group, one per feature (a number or one per group), None
        to be estimated, False for "does not happen". Noise is a standard deviation.
    mean, spread
        Mean and standard deviation of the fair values, in the same way.
    groups, affected
        The groups, and those on which the bias acts; as for :class:`LabelBias`. Others are recorded as they are.
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
    identified_by = "rows whose fair numbers were found out; rows measured twice tell of the noise alone."
    command = "numeric"

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
        self.features = (features,) if isinstance(features, str) else tuple(features)
        if not self.features or len(set(self.features)) != len(self.features):
            raise P4FError("name one or more different features")
        variable = Sensitive.of(sensitive, groups, name="a", affected=affected)
        overlap = set(self.features) & set(variable.columns)
        if overlap:
            raise P4FError(f"column {overlap.pop()!r} cannot be both a distorted feature and the sensitive variable")
        if mean is False or spread is False:
            raise P4FError("mean and spread of fair values are numbers, or None to be estimated")
        self.variables = (variable,)
        self.affected = acting_groups(variable, affected)
        self.points, self.inputs = whole(points, "points", 2, MOST_POINTS), whole(inputs, "inputs", 1, 1 << 16)
        said = {"factor": factor, "shift": shift, "noise": noise, "mean": mean, "spread": spread}
        self.amounts = tuple(
            self._amount(kind, feature, level, value)
            for feature in self.features
            for kind, strength in said.items()
            for level, value in strengths(self._of_feature(strength, feature), variable, self.affected, kind).items()
        )

    @property
    def variable(self) -> Sensitive:
        """The sensitive variable."""
        return self.variables[0]

    @property
    def numbers(self) -> tuple[str, ...]:  # type: ignore[override]
        """See :class:`Belief`: all its features."""
        return self.features

    @property
    def names(self) -> dict[str, str]:
        """The name of each feature in the program."""
        return dict(zip(self.features, predicates(self.features, "f", {"a", "x"}), strict=True))

    def _of_feature(self, strength: Strength, feature: str) -> Strength:
        if not isinstance(strength, Mapping) or not set(strength) & set(self.features):
            return strength
        own: Strength = strength.get(feature)
        return own

    def _amount(self, kind: str, feature: str, level: int, value: float | None) -> Amount:
        group = self.variable.group_text(level)
        name = f"{kind}({self.names[feature]},{atom(self.variable.levels[level])})"
        return Amount(kind, feature, level, name, MEANINGS[kind].format(feature=feature, group=group), value)

    def _by_gauge(self) -> dict[tuple[str, int], dict[str, Amount]]:
        """The amounts of each feature and group."""
        found: dict[tuple[str, int], dict[str, Amount]] = {(f, g): {} for f in self.features for g in self.affected}
        for own in self.amounts:
            found[own.feature, own.group][own.measure] = own
        return found

    def _gauge(self, feature: str, level: int) -> Gauge:
        amounts = self._by_gauge().get((feature, level), {})
        return Gauge(**(NEUTRAL | {kind: float(own.value or 0.0) for kind, own in amounts.items()}))

    def fair_values(self, feature: str, group: Level, recorded: Any) -> tuple[Floats, float]:
        """Mean and standard deviation of the fair values, given recorded ones of a group.

        Parameters
        ----------
        feature, group
            Of what, and of whom.
        recorded
            Recorded values.
        """
        self.require_known()
        if feature not in self.features or group not in self.variable.levels:
            raise P4FError(f"the belief is about {', '.join(self.features)} of {list(self.variable.levels)}")
        return self._gauge(feature, self.variable.levels.index(group)).back(finite(recorded, feature))

    def parameter_table(self) -> pd.DataFrame:
        """See :meth:`Belief.parameter_table`; they are amounts, not probabilities."""
        import pandas as pd

        names = ("value", "low", "high", "rows", "meaning")
        index = pd.Index([own.name for own in self.amounts], name="parameter")
        found = pd.DataFrame({name: [getattr(own, name) for own in self.amounts] for name in names}, index=index)
        return found.astype({"value": "float64", "low": "float64", "high": "float64", "rows": "Int64"})

    def bind(self, values: Mapping[str, float]) -> Self:
        """See :meth:`Belief.bind`."""
        names = [own.name for own in self.amounts]
        for name in values:
            if name not in names:
                raise UnknownNameError(f"the belief has no parameter {name!r}; it has {', '.join(names)}")
        return self.with_amounts([own.stated(values[own.name]) if own.name in values else own for own in self.amounts])

    def unknown(self) -> Self:
        """See :meth:`Belief.unknown`."""
        return self.with_amounts([own.stated(None) for own in self.amounts])

    def with_amounts(self, amounts: Sequence[Amount]) -> Self:
        """The same with other amounts of the same names, as ``with_parameters`` does for probabilities."""
        other = copy.copy(self)
        other.amounts = tuple(amounts)
        return other

    def require_known(self) -> None:
        """See :meth:`Belief.require_known`."""
        unknown = [own.name for own in self.amounts if own.value is None]
        if unknown:
            raise MissingValueError(
                f"{', '.join(unknown)} of the belief unknown; estimate from audited rows with .estimate(...), or state "
                "a value with .bind({...})"
            )

    def draws(self, count: int, random_state: Any = None) -> list[Self]:
        """See :meth:`Belief.draws`: lines by the normal distribution, spreads by the chi-squared one."""
        self.require_known()
        rng, gauges = generator(random_state), list(self._by_gauge().values())
        return [
            self.bind({name: own for amounts in gauges for name, own in drawn_gauge(amounts, rng).items()})
            for _ in range(count)
        ]

    def text(self) -> str:
        """The program as text: the label through every point of every group."""
        return numeric_program(self.variable, self.names, self.amounts, *self.quadrature())

    def rules(self, fair: str, asked: str) -> list[str]:
        """The clauses that make ``fair`` of what the classifier is ``asked``, in paragraphs."""
        return numeric_rules(self.variable, self.names, *self.quadrature(), fair, asked)

    def bound_program(self) -> Program:
        """See :meth:`Belief.bound_program`: its numbers are where the points lie, not in the clauses."""
        return self.program()

    def quadrature(self) -> tuple[Floats, Floats]:
        """The points of a standard normal number, and their weights."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(self.points)
        return nodes, weights / (weights.sum() * (1 + 1e-15))

    def at_points(self, rows: Rows) -> tuple[dict[str, dict[str, str]], pd.DataFrame]:
        """For each ``x_(g,k1,...)`` of the program and each feature the name of a column, and these columns."""
        import pandas as pd

        nodes, _ = self.quadrature()
        found: dict[str, dict[str, str]] = {}
        columns: dict[str, Floats] = {}
        for level, places in product(
            range(len(self.variable.levels)), product(range(self.points), repeat=len(self.features))
        ):
            constant = f"x_({level},{','.join(str(place + 1) for place in places)})"
            found[constant] = {}
            for feature, place in zip(self.features, places, strict=True):
                centre, width = self._gauge(feature, level).back(self._recorded(rows, feature))
                name = f"{feature} at {level}, {place + 1}"
                found[constant][feature], columns[name] = name, centre + width * nodes[place]
        return found, pd.DataFrame(columns)

    def _recorded(self, rows: Rows, feature: str) -> Floats:
        return finite(rows.column(feature, "the belief"), f"feature {feature!r}")

    def observe(self, rows: Rows) -> Observation:
        """See :meth:`Belief.observe`: each row stands for fair values of its own."""
        self.require_known()
        self.require_columns(rows)
        classes = len(rows.classes)
        groups = occurring(self.variables, rows)
        labels = torch.eye(classes, dtype=torch.float64).expand(len(groups.levels), classes, classes)
        return self.observed(rows, groups, 0, labels, self.record(rows).codes)

    def observed(
        self, rows: Rows, groups: Combinations, place: int, labels: Tensor, record: Codes | None
    ) -> Observation:
        """Observe rows whose label is distorted besides.

        Parameters
        ----------
        rows
            What was recorded.
        groups, place
            The combinations of groups that occur in them, and which of their variables is that of this belief.
        labels
            ``[combinations, fair, recorded]``.
        record
            ``[rows]``: what was recorded, by its position in ``labels``.
        """
        shares, chosen = row_groups(groups.rows)
        levels = groups.levels[:, place][chosen.numpy()]
        recorded = {feature: self._recorded(rows, feature) for feature in self.features}
        nodes, weights = self.quadrature()
        seeds = row_seeds([own.view(np.int64) for own in recorded.values()], again=record is not None)
        even = torch.from_numpy(weights).expand(len(rows), chosen.shape[1], -1)
        likely = likely_vectors([even] * len(self.features), self.inputs, seeds)
        values = {}
        for number, (feature, own) in enumerate(recorded.items()):
            back = [self._gauge(feature, level).back(own) for level in range(len(self.variable.levels))]
            centre = np.stack([mean for mean, _ in back], axis=1)[np.arange(len(rows))[:, None], levels]
            width = np.array([width for _, width in back])[levels]
            values[feature] = centre[..., None] + width[..., None] * nodes[likely.positions[..., number].numpy()]
        return observe_weighted(rows, values, likely, shares, labels[chosen].log(), record)

    def estimate(  # type: ignore[override]
        self,
        audit: pd.DataFrame | Audit | None = None,
        *,
        recorded: Any,
        fair: Any = None,
        again: Any = None,
        sensitive_features: Any = None,
        favourable: Any = None,
        confidence: float = 0.95,
    ) -> Self:
        """Estimate the amounts from rows whose fair values are known, or that were measured twice.

        Parameters
        ----------
        audit
            A data frame with the columns that are named in the other arguments; rows drawn at random from each group.
        recorded
            For each feature its column or its values: a mapping by feature, or a sequence in the order of ``features``.
        fair
            The fair values, in the same way.
        again
            Without fair values: a second measurement of the same people, in the same way. It tells of the noise;
            factor and shift must be stated then, or False.
        sensitive_features
            The sensitive columns, where they are not in ``audit``.
        favourable
            The label that counts as 1, to be noted; nothing here depends on it.
        confidence
            Of the intervals.
        """
        if (fair is None) == (again is None):
            raise P4FError("name either the fair values, by fair=..., or a second measurement, by again=...")
        others = fair if again is None else again
        named = others.values() if isinstance(others, Mapping) else [others] if isinstance(others, str) else others
        design = audit
        audit = filled(audit, None, *named)
        first = self._audited(audit, recorded, "recorded")
        second = self._audited(audit, again, "second") if fair is None else self._audited(audit, fair, "fair")
        frame = frame_with(audit, sensitive_features, self.sensitive_columns, len(next(iter(first.values()))))
        groups, counts = self.variable.positions(frame), counts_of(frame)
        if groups.ndim != 1:
            raise P4FError("the group of an audited row must be known for certain")
        warn_unweighted(design, "numeric features", groups)
        found: dict[str, Amount] = {}
        for (feature, level), amounts in self._by_gauge().items():
            place = np.repeat(np.flatnonzero(groups == level), counts[groups == level])
            pair = first[feature][place], second[feature][place]
            require_enough(feature, self.variable.group_text(level), *pair)
            if fair is None:
                told = repeated_gauge(amounts, *pair, confidence)
            else:
                told = audited_gauge(amounts, pair[1], pair[0], confidence)
            found |= {own.name: own for own in told}
        estimated = self.with_amounts([found[own.name] for own in self.amounts])
        for own in estimated.amounts:
            if own.measure == "factor" and own.rows and (own.low or 0.0) <= 0 <= (own.high or 0.0):
                tell(f"{own.name} = {own} may be 0 ({own.meaning}); audit more rows")
        return estimated.with_favourable(self.favourable if favourable is None else favourable)

    @classmethod
    def from_table(cls, table: AuditTable) -> Self:
        """See :meth:`Belief.from_table`; a second measurement tells of the noise alone."""
        features = [recorded for recorded, _ in table.feature_pairs]
        moved = False if table.again else None
        return cls(features, table.sensitive, moved, moved, groups=table.levels, affected=table.acting)

    def estimate_table(self, table: AuditTable) -> Self:
        """See :meth:`Belief.estimate_table`."""
        if table.options:
            raise P4FError(f"{next(iter(table.options))}=... is for probabilities that are counted, not for amounts")
        pairs, recorded = dict(table.feature_pairs), {name: name for name in self.features}
        fair, again = (None, pairs) if table.again else (pairs, None)
        audit = table.sampled(table.numbers, *pairs.values())
        return self.estimate(audit, recorded=recorded, fair=fair, again=again)

    def _audited(self, audit: Any, columns: Any, role: str) -> dict[str, Floats]:
        from problog4fairness.audit import by_feature

        own: dict[str, Column] = by_feature(columns, self.features, role)
        return {f: finite(column_values(audit, own[f], f"{role} {f}"), f"the {role} {f}") for f in self.features}

    def plan_audit(
        self,
        table: Any,
        *,
        recorded: Column | None = None,  # noqa: ARG002
        fair: str | Sequence[str] | Mapping[str, str] = "fair",
        error: float = 0.1,
        confidence: float = 0.95,
        pilot: Any = None,
        guesses: Mapping[str, float] | None = None,
        design: Literal["neyman", "hoeffding", "random"] = "neyman",
        sequential: bool = False,
        sensitive_features: Any = None,
        favourable: Any = None,  # noqa: ARG002
    ) -> AuditPlan:
        """Plan which rows to measure rightly until factors and shifts are known well enough, in rounds.

        Rows of each group are drawn at random, by normal theory: of n of them, the interval of the factor is
        1.96 * noise / (spread * sqrt(n)) wide on either side.

        Parameters
        ----------
        table, confidence, sensitive_features
            As for :meth:`Belief.plan_audit`.
        fair
            The name of the column to fill in; for several features one for each.
        error
            Half the width of the interval of each factor; and of the shift of an average fair value, as a share of the
            standard deviation of fair values.
        pilot
            What :meth:`AuditPlan.draw` gave, as far as it is filled in.
        guesses
            Values of noise and spread by name, with which no pilot is needed; stated ones are guesses, too.
        design, sequential
            ``"neyman"`` and False, the only ones for numbers.
        recorded, favourable
            Of the label, which does not matter here.
        """
        from problog4fairness.beliefs.templates.features.numeric_plan import plan_numbers

        if design != "neyman":
            raise P4FError(f"design must be 'neyman' for numbers, not {design!r}: Hoeffding's is for probabilities")
        if sequential:
            raise P4FError("sequential=True is for probabilities that are counted, not for amounts")
        return plan_numbers(
            self,
            table,
            fair=fair,
            error=error,
            confidence=confidence,
            pilot=pilot,
            guesses=guesses,
            sensitive_features=sensitive_features,
        )

    def words(self, label: Label | None = None) -> list[str]:  # noqa: ARG002
        """See :meth:`Belief.words`."""
        first = (
            "The recorded labels are taken as fair, but some recorded numbers are taken as distorted copies of the "
            "fair ones, and the label depends on the fair ones."
        )
        return [first, *self.sentences()]

    def sentences(self) -> list[str]:
        """What it says of each feature and group."""
        return numeric_words(self.variable, self._by_gauge())

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`; the label on record is the fair one."""
        name = "label" if label is None else label.column
        return Diagram((*self.drawn(), Node(name, self.fair_features(), observed=True, classifier=True)))

    def drawn(self) -> list[Node]:
        """The nodes of its picture, without the label."""
        return numeric_nodes(self.variable, self.features, self.amounts)

    def fair_features(self) -> tuple[str, ...]:
        """The nodes of its picture that the label depends on."""
        return (OTHERS, *(f"{name} (fair)" for name in self.features))

    def __repr__(self) -> str:
        known = ", ".join(f"{own.name}={'?' if own.value is None else f'{own.value:.3g}'}" for own in self.amounts)
        return f"{type(self).__name__}({', '.join(self.sensitive_columns)}: {known or 'nothing happens'})"

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Belief.to_json`."""
        return {
            "kind": "NumericMeasurementBias",
            "features": list(self.features),
            **sensitive_json(self.variable),
            "groups": list(self.affected),
            "points": self.points,
            "inputs": self.inputs,
            "amounts": [{name: getattr(own, name) for name in _KEPT} for own in self.amounts],
            **favourable_json(self),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Self:
        belief = cls.__new__(cls)
        belief.features = tuple(value["features"])
        belief.variables = (sensitive_from_json(value),)
        belief.affected = tuple(value["groups"])
        belief.points = whole(value["points"], "points", 2, MOST_POINTS)
        belief.inputs = whole(value["inputs"], "inputs", 1, 1 << 16)
        belief.favourable = value.get("favourable")
        belief.amounts = tuple(belief._read(own) for own in value["amounts"])
        return belief

    def _read(self, value: dict[str, Any]) -> Amount:
        """An amount that came from a file; a ``ValueError`` where it is none of this belief."""
        kind, feature, group = (value[name] for name in _KEPT[:3])
        if kind not in NEUTRAL or feature not in self.features or group not in self.affected:
            raise ValueError(f"{kind!r} of {feature!r} is not an amount of this belief")
        own = self._amount(kind, feature, group, value["value"])
        return replace(own, low=value["low"], high=value["high"], rows=value["rows"])
