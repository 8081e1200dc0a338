"""Historical bias: the world itself was unfair, and the labels follow from it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from problog4fairness.audit import Audit, AuditRules, AuditTable, Design
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import OTHERS, recorded, sensitive
from problog4fairness.beliefs.describe.words import Label
from problog4fairness.beliefs.description import BeliefKind, Columns, LabelRecord, Question
from problog4fairness.beliefs.fields import AFFECTED, GROUPS, SENSITIVE, Field, table_answers
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.templates.chains import Chain
from problog4fairness.beliefs.templates.features.measurement import MeasurementBias
from problog4fairness.beliefs.templates.labels.label import LabelBias
from problog4fairness.beliefs.templates.labels.stage import LabelStage
from problog4fairness.beliefs.templates.none import NoBias
from problog4fairness.beliefs.variables import Strength
from problog4fairness.data import Level, Rows
from problog4fairness.errors import P4FError
from problog4fairness.program import Diagram, Node
from problog4fairness.statistics import Beta, Parameter

if TYPE_CHECKING:
    import pandas as pd


class HistoricalBias(Belief):
    """The features of one group really are worse than they would be in a fair world, and the labels follow from them.

    P(fair label) = sum over fair vectors v of h(v) times, for each feature i, P(v_i in a fair world | recorded_i, A)

    Use it where discrimination limited what people could become: lower incomes that really do lead to more defaults.
    The rule from features to label is the same in both worlds, so the classifier is trained on the recorded data as it
    is, and the belief is applied when predicting: as if the person had lived in the fair world. With ``label``, the
    rule may differ: then features are taken to the fair world and labels back from it while training.

    Parameters
    ----------
    features, sensitive, negative, positive, groups, affected, values
        As for :class:`MeasurementBias`.
    label
        A :class:`LabelBias` (or :class:`ClassBias`) from labels of the fair world to recorded ones.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.HistoricalBias("employed", "minority", negative={1: 0.3}, positive=False, affected=[1])
    >>> belief.kind.predicts_from  # when predicting, the features of new people are taken to the fair world
    'biased'
    >>> belief.parameter_table()["meaning"].tolist()
    ['employed recorded as 0 is fairly 1 where minority = 1']
    """

    title = "historical bias"
    kind = BeliefKind(
        predicts_from="biased",
        fields=(
            Field("features", "columns", "The features that discrimination made worse"),
            SENSITIVE,
            Field("negative", "probability", "A feature may be lower than in a fair world", True),
            Field("positive", "probability", "A feature may be higher than in a fair world", True),
            Field("label", "belief", "How the recorded label came from that of the fair world"),
            GROUPS,
            AFFECTED,
            Field("values", "values", "The values of each feature, where they are not 0 and 1"),
        ),
        command="historical",
        identified_by=(
            "what features would be in a fair world, which no record and few audits tell; mostly it is stated."
        ),
        question=Question(
            "feature",
            "An unfair past shaped it",
            "It is measured rightly, but a fair world would have led to another value.",
            (("?in a fair world", "group"), ("feature",)),
        ),
    )

    def __init__(
        self,
        features: str | Sequence[str],
        sensitive: str | Sequence[str],
        negative: Strength = None,
        positive: Strength = None,
        *,
        label: LabelStage | None = None,
        groups: Sequence[Level] | None = None,
        affected: Sequence[Level] | str | None = None,
        values: Mapping[str, Sequence[int | str]] | None = None,
    ) -> None:
        about: dict[str, Any] = {"groups": groups, "affected": affected}
        measured = MeasurementBias(features, sensitive, negative, positive, values=values, **about)
        super().__init__(features, sensitive, negative, positive, label, values=measured.values, **about)
        self._set(measured, label)

    def _set(self, measurement: MeasurementBias, label: LabelStage | None) -> None:
        self.measurement = measurement
        self.label = label
        self._whole: Belief = measurement if label is None else Chain((measurement, label))
        self.features = measurement.features
        self.variables = self._whole.variables
        self.parameters = self._whole.parameters
        self.favourable = self._whole.favourable

    def text(self) -> str:
        when = (
            "while training and when predicting" if self.label else "when predicting; training uses the recorded data"
        )
        return f"% Historical bias: this belief is applied {when}.\n" + self._whole.text()

    @property
    def columns(self) -> Columns:
        """See :meth:`Belief.columns`; an audit finds out fair features, or labels of a fair world."""
        return replace(self._whole.columns, audited=self.features if self.label is None else ())

    @property
    def record(self) -> LabelRecord:
        """See :meth:`Belief.record`: without a label part, labels of this world and of a fair one are two."""
        return replace(self._whole.record, copied=self.label is not None)

    def _check_rows(self, rows: Rows) -> None:
        """See :meth:`Belief._check_rows`; without a label part, fair labels cannot be learned from."""
        if self.label is None and rows.fair is not None and (rows.fair >= 0).any():
            raise P4FError(
                "by this belief, fair labels are those of a fair world, and it does not say how the recorded ones came "
                "from them; leave fair=... out, or estimate the belief from recorded and fair labels, too"
            )
        super()._check_rows(rows)

    def _observation(self, rows: Rows) -> Observation:
        """Without a label part the record is learned as it is."""
        return (NoBias() if self.label is None else self._whole).observe(rows)

    def _restore(self, rows: Rows) -> Observation:
        """See :meth:`Belief._restore`: to the features of a fair world."""
        return self.measurement._restore(rows)

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
        recorded_label: str | None = None,
        fair_label: str | None = None,
    ) -> HistoricalBias:
        """Estimate the features as :meth:`MeasurementBias.estimate` does, and the label where there is one.

        Parameters
        ----------
        audit, recorded, fair, confidence, prior, drawn_from
            As for :meth:`MeasurementBias.estimate`.
        favourable, recorded_label, fair_label
            As ``favourable``, ``recorded`` and ``fair`` of :meth:`LabelBias.estimate`, for the part about the label.
        """
        if (recorded_label is None) != (fair_label is None):
            raise P4FError("name both recorded_label and fair_label, or neither")
        beside = {"favourable": favourable, "confidence": confidence}
        measurement = self.measurement.estimate(audit, recorded=recorded, fair=fair, drawn_from=drawn_from, **beside)
        label = self.label
        if label is not None and recorded_label is not None and fair_label is not None:
            label = label.estimate(audit, recorded=recorded_label, fair=fair_label, **beside)
        return self._of(measurement, label).with_priors(prior or {})

    @property
    def audit_rules(self) -> AuditRules:
        """See :attr:`Belief.audit_rules`: those of the features; not by features and labels at once."""
        if self.label is None:
            return self.measurement.audit_rules
        return replace(super().audit_rules, undivided="the belief is about features and labels")

    @classmethod
    def _from_table(cls, table: AuditTable) -> Belief:
        """See :meth:`Belief._from_table`; the label is part of it where its columns are named."""
        answers = table_answers(cls.kind.fields, table)
        label = LabelBias._from_table(table) if table.has_labels else None
        return cls.from_fields(answers | ({} if label is None else {"label": label.to_json()}), table)

    def _estimate_table(self, table: AuditTable) -> HistoricalBias:
        label = None if self.label is None else self.label._estimate_table(table)
        return self._of(self.measurement._estimate_table(table), label)

    @property
    def _design(self) -> Design | None:
        """See :class:`Belief`: that of the features."""
        return self.measurement._design if self.label is None else None

    @_design.setter
    def _design(self, design: Design | None) -> None:
        self.measurement._design = design

    def _of(self, measurement: MeasurementBias, label: LabelStage | None) -> Self:
        """The same belief with other parameters of its parts."""
        belief = copy.copy(self)
        belief._set(measurement, label)
        return belief

    def _counted_parts(self) -> list[tuple[Parameter, ...]]:
        return self._whole._counted_parts()

    def _with_parameters(self, parameters: tuple[Parameter, ...]) -> HistoricalBias:
        count, label = len(self.measurement.parameters), self.label
        if label is not None:
            # In the whole program they have other names.
            pairs = zip(label.parameters, parameters[count:], strict=True)
            label = label._with_parameters(tuple(replace(given, name=parameter.name) for parameter, given in pairs))
        return self._of(self.measurement._with_parameters(parameters[:count]), label)

    def _with_favourable(self, label: Any) -> HistoricalBias:
        stage = None if self.label is None else self.label._with_favourable(label)
        return self._of(self.measurement._with_favourable(label), stage)

    def words(self, label: Label | None = None) -> list[str]:
        first = (
            "The features are recorded correctly, but discrimination made some of them worse than they would be in a "
            "fair world. The model predicts as if a person had lived in that world."
        )
        sentences = [first, *self.measurement.sentences(verb="would have, in a fair world,")]
        if self.label is not None:
            sentences.append("The recorded label is, besides, taken as a distorted copy of the fair one.")
            sentences += self.label.sentences(label or Label())
        return sentences

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`: one rule leads from features to labels, in both worlds."""
        words, measured, world = label or Label(), self.measurement, "fair world"
        fair = Node(words.fair, measured.fair_features(world), classifier=True)
        nodes = [*measured.drawn(world), *sensitive(self.variables), fair]
        if self.label is None:
            causes = [OTHERS, *(f"{name} (recorded)" for name in self.features)]
            nodes.append(replace(recorded(words.recorded, causes, ()), classifier=True))
        else:
            parameters = self.parameters[len(measured.parameters) :]
            nodes.append(recorded(words.recorded, [words.fair, *self.label.variable.columns], parameters))
        return Diagram(tuple({node.name: node for node in nodes}.values()))

    def limitations(self) -> list[str]:
        return ["The model's probabilities speak of a fair world, not of what will happen in this one."]
