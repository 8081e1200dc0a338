"""Several biases, one after the other."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from torch import Tensor

from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import FEATURES, recorded, sensitive
from problog4fairness.beliefs.describe.words import Label, Stage
from problog4fairness.beliefs.description import BeliefKind, Columns, LabelRecord
from problog4fairness.beliefs.fields import Field
from problog4fairness.beliefs.likelihood.combinations import occurring, part_of
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.templates.features.feature_bias import FeatureBias
from problog4fairness.beliefs.templates.labels.stage import LabelStage, classifier, label_table
from problog4fairness.beliefs.variables import declaration, favourable_comment, sensitive_comment
from problog4fairness.data import Codes, Floats, Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import Diagram, Node, Program, comment, distinct, predicates
from problog4fairness.statistics import Beta, Parameter, known_values

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Audit


def chain(*beliefs: LabelStage | FeatureBias) -> Chain:
    """Biases that act one after the other: label biases of several variables, also on top of measurement bias.

    ``chain(LabelBias("high_cheekbones"), LabelBias("blurry"), LabelBias("smiling"))`` is the face study's program.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> blurry, dark = (p4f.LabelBias(n, p, False, affected=[1]) for n, p in (("blurry", 0.4), ("dark", 0.3)))
    >>> both = p4f.chain(blurry, dark)
    >>> [(own.name, own.value) for own in both.parameters]
    [('p1_blurry', 0.4), ('p1_dark', 0.3)]
    """
    return Chain(beliefs)


class Chain(Belief):
    """The result of :func:`chain`: at most one measurement bias, then any number of label biases.

    Parameters
    ----------
    beliefs
        In the order in which they acted.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> blurry, dark = (p4f.LabelBias(n, p, False, affected=[1]) for n, p in (("blurry", 0.4), ("dark", 0.3)))
    >>> both = p4f.chain(blurry, dark)
    >>> both.columns.sensitive, len(both.stages)
    (('blurry', 'dark'), 2)
    """

    title = "chain of biases"
    kind = BeliefKind(
        fields=(Field("beliefs", "beliefs", "Biases in the order in which they acted"),),
        identified_by="audited rows, and of biases of the label only what they do together.",
        overlap=True,
    )

    def __init__(self, beliefs: tuple[Any, ...]) -> None:
        measured = [belief for belief in beliefs if isinstance(belief, FeatureBias)]
        stages = [belief for belief in beliefs if isinstance(belief, LabelStage)]
        if len(measured) + len(stages) != len(beliefs) or not beliefs:
            raise P4FError("a chain takes LabelBias and MeasurementBias, or other biases of the label, one or more")
        kind = type(measured[0]).__name__ if measured else ""
        if len(measured) > 1:
            raise P4FError(f"a chain takes one {kind}; name all its features in it")
        if measured and beliefs[0] is not measured[0]:
            raise P4FError(f"in a chain, {kind} comes before LabelBias")
        if measured and measured[0].columns.numbers and not stages:
            raise P4FError(f"chain {kind} with a bias of the label, or believe in it alone")
        for stage in stages:
            stage.require_settled()
        if len({stage.classes for stage in stages}) > 1:
            raise P4FError("all label biases of a chain must have the same classes")
        early = next((stage for stage in stages[:-1] if stage.last), None)
        if early is not None:
            raise P4FError(f"in a chain, {type(early).__name__} comes last: after it there are rows without a label")
        if measured and not all(stage.tabular for stage in stages):
            raise P4FError(f"a chain with {kind} needs all rows; it cannot take SelectiveLabels(kept='accepted')")
        super().__init__(beliefs)
        order = list(dict.fromkeys(_identity(variable) for m in beliefs for variable in m.variables))
        taken = {"x"} | {n for m in measured for n in m.names.values()}
        names = predicates(("_".join(variable.columns) for variable in order), "a", taken)
        by_identity = {variable: replace(variable, name=name) for variable, name in zip(order, names, strict=True)}
        self.variables = tuple(by_identity.values())
        self.measurement: FeatureBias | None = None
        if measured:
            self.measurement = measured[0]._with_parameters(measured[0].parameters)
            self.measurement.variables = (by_identity[_identity(measured[0].variable)],)
            self.features = self.measurement.features
        of_stages = [tuple(by_identity[_identity(variable)] for variable in stage.variables) for stage in stages]
        suffixes = distinct("_" + variables[0].name for variables in of_stages)
        self.stages = tuple(
            stage.renamed(variables, suffix)
            for stage, variables, suffix in zip(stages, of_stages, suffixes, strict=True)
        )
        self.parameters = tuple(parameter for part in self._parts() for parameter in part.parameters)
        self.favourable = _favourable(self.stages)

    def text(self) -> str:
        about, rules = ([], []) if self.measurement is None else self.measurement.before_label()
        if self.columns.numbers and self.record.classes is not None:
            raise P4FError("a chain with NumericMeasurementBias is for a label of two classes")
        head = ["A chain of biases, one after the other.", *map(sensitive_comment, self.variables)]
        parts = [comment(*head, *favourable_comment(self), *about), "\n".join(map(declaration, self.variables)), *rules]
        if self.stages:
            parts.append(self._label_part(() if self.columns.numbers else None))
        return "\n\n".join(parts) + "\n"

    def _label_part(self, parts: Sequence[str] | None = None) -> str:
        """The clauses of the label, from ``y_h`` on; ``parts`` say what that is, the classifier's answer by default."""
        parts = [classifier(self.record.classes)] if parts is None else list(parts)
        names = ["y_h", *(f"y{number}" for number in range(1, len(self.stages))), "y_"]
        for stage, (before, after) in zip(self.stages, pairwise(names), strict=True):
            parts += stage.rules(before, after)
        return "\n\n".join([*parts, self.stages[-1].queries()])

    @property
    def columns(self) -> Columns:
        """See :meth:`Belief.columns`: those of all its parts."""
        withheld = dict.fromkeys(name for stage in self.stages for name in stage.columns.withheld)
        numbers = () if self.measurement is None else self.measurement.columns.numbers
        return replace(super().columns, numbers=numbers, withheld=tuple(withheld))

    @property
    def record(self) -> LabelRecord:
        """See :meth:`Belief.record`: what can be recorded is what the last stage says."""
        if not self.stages:
            return super().record
        last = self.stages[-1].record
        return replace(super().record, classes=last.classes, gaps=last.gaps)

    @property
    def label_variables(self) -> tuple[Sensitive, ...]:
        """The sensitive variables that the label depends on."""
        of_stages = {variable for stage in self.stages for variable in stage.variables}
        return tuple(v for v in self.variables if v in of_stages)

    def label_program(self) -> Program:
        """The part of the program that is about the label."""
        declarations = "\n".join(declaration(v) for v in self.label_variables)
        return Program(declarations + "\n\n" + self._label_part() + "\n")

    def label_table(self, groups: Codes | None = None) -> Tensor | None:
        """See :meth:`LabelStage.label_table`; None without a bias of the label."""
        if not self.stages:
            return None
        self._require_known()
        combinations, place = part_of(self.variables, self.label_variables, groups)
        known = {name: value for stage in self.stages for name, value in known_values(stage.parameters).items()}
        program = self.bind(None).label_program().bind(known)
        return label_table(program, self.label_variables, self._class_count, combinations)[place]

    def _observation(self, rows: Rows) -> Observation:
        """With distorted features through tables, otherwise the general way."""
        if self.measurement is None:
            return super()._observation(rows)
        groups = occurring(self.variables, rows)
        labels, place = self.label_table(groups.levels), self.variables.index(self.measurement.variable)
        return self.measurement.observed(rows, groups, place, labels, self.record.outcomes(rows).codes)

    def estimate(
        self,
        audit: pd.DataFrame | Audit,
        *,
        recorded: str,
        fair: str,
        favourable: Any = None,
        confidence: float = 0.95,
        prior: Mapping[str, Beta] | None = None,
        drawn_from: Any = None,
        method: Literal["joint", "marginal"] = "joint",
    ) -> Chain:
        """Estimate the label parameters from audited rows.

        Parameters
        ----------
        audit, recorded, fair, favourable, confidence, prior, drawn_from
            As for :meth:`Belief.estimate`.
        method
            ``"joint"``: all at once, by penalised likelihood as :meth:`Belief.estimate` does it. ``"marginal"``: each
            stage as if it were alone, which counts the same errors several times.
        """
        from problog4fairness.audit import AuditWarning, audited_rows, most_likely, planned_error, warn_few

        if method not in ("joint", "marginal"):
            raise P4FError(f"method must be 'joint' or 'marginal', not {method!r}")
        if not self.stages:
            raise P4FError("the chain has no label bias to estimate; estimate its MeasurementBias before chaining it")
        rows, strata = audited_rows(self, audit, recorded, fair, favourable, drawn_from)
        belief = self._prepared(prior, confidence)
        with warnings.catch_warnings():
            if method == "joint":
                warnings.simplefilter("ignore", AuditWarning)
            # A stage that knows no missing labels is estimated from the rows that have one, as if it were alone.
            labelled = rows if rows.recorded is None else rows.take(np.flatnonzero(rows.recorded >= 0))
            parts = [(stage, rows if stage.record.gaps else labelled) for stage in belief.stages]
            parameters = tuple(
                parameter for stage, part in parts for parameter in stage._estimated(part, confidence, strata)
            )
        if method == "joint":
            starts = [parameter.value for parameter in parameters]
            program = belief.bind(None).label_program()
            parameters = most_likely(belief, belief._leaf_value, program, parameters, rows, confidence, starts)
        warn_few(parameters, rows.classes, planned_error(audit))
        measured = self.measurement.parameters if self.measurement else ()
        return belief._with_parameters((*measured, *parameters))._with_counted_label(favourable)

    def _with_parameters(self, parameters: tuple[Parameter, ...]) -> Chain:
        other, given = copy.copy(self), iter(parameters)
        if self.measurement:
            of_features = tuple(islice(given, len(self.measurement.parameters)))
            other.measurement = self.measurement._with_parameters(of_features)
        of_stages = [tuple(islice(given, len(stage.parameters))) for stage in self.stages]
        pairs = zip(self.stages, of_stages, strict=True)
        other.stages = tuple(stage._with_parameters(of_stage) for stage, of_stage in pairs)
        other.parameters = tuple(parameter for part in other._parts() for parameter in part.parameters)
        return other

    def _counted_parts(self) -> list[tuple[Parameter, ...]]:
        return [part.parameters for part in self._parts()]

    def _number_draws(self, count: int, rng: np.random.Generator) -> dict[str, Floats]:
        return {} if self.measurement is None else self.measurement._number_draws(count, rng)

    def _parts(self) -> list[Belief]:
        return [*([self.measurement] if self.measurement else []), *self.stages]

    def _with_favourable(self, label: Any) -> Chain:
        other = super()._with_favourable(label)
        other.stages = tuple(stage._with_favourable(label) for stage in self.stages)
        return other

    def words(self, label: Label | None = None) -> list[str]:
        sentences = ["Several biases are taken to act one after the other."]
        if self.measurement is not None:
            sentences += ["First, recorded features.", *self.measurement.sentences()]
        count = len(self.stages)
        for number, stage in enumerate(self.stages, start=1):
            # A later bias acts on what the earlier ones left.
            stage_words = Stage(
                "who should have" if number == 1 else "who then had",
                "were recorded with" if number == count else "were given",
                "recorded labels are taken as right" if count == 1 else "it changed nothing",
            )
            sentences.append(f"Label bias {number} of {count}, by {', '.join(stage.variable.columns)}.")
            sentences += stage.sentences(label or Label(), stage_words)
        return sentences

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`: the label after each of the biases."""
        words = label or Label()
        measured = self.measurement
        nodes = [Node(FEATURES, observed=True)] if measured is None else measured.drawn()
        nodes += sensitive(self.label_variables)
        nodes.append(Node(words.fair, (FEATURES,) if measured is None else measured.fair_features(), classifier=True))
        for number, stage in enumerate(self.stages, start=1):
            name = f"label after bias {number}" if number < len(self.stages) else words.recorded
            node = recorded(name, [nodes[-1].name, *stage.columns.all], stage.parameters)
            nodes.append(replace(node, observed=number == len(self.stages)))
        return Diagram(tuple({node.name: node for node in nodes}.values()))


def _identity(variable: Sensitive) -> Sensitive:
    """What a variable is, whatever its name."""
    return replace(variable, name="")


def _favourable(stages: Sequence[LabelStage]) -> bool | int | float | str | None:
    known = list(dict.fromkeys(stage.favourable for stage in stages if stage.favourable is not None))
    if len(known) > 1:
        raise P4FError(f"the biases of a chain have different favourable labels: {known[0]!r} and {known[1]!r}")
    return known[0] if known else None
