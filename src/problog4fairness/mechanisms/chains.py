"""Several biases, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.mechanisms.base import Mechanism, favourable_comment, label_table
from problog4fairness.mechanisms.combinations import Codes, part_of
from problog4fairness.mechanisms.label import LabelBias, classifier, label_queries, sensitive_comment
from problog4fairness.mechanisms.measurement import MeasurementBias
from problog4fairness.mechanisms.rates import Rate
from problog4fairness.mechanisms.sensitive import Sensitive
from problog4fairness.mechanisms.text import Level, comment, distinct, predicates
from problog4fairness.program.program import Program

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.mechanisms.audit import Column


def chain(*mechanisms: LabelBias | MeasurementBias) -> Chain:
    """Biases that act one after the other: label biases of several variables, also on top of measurement bias.

    ``chain(LabelBias("high_cheekbones"), LabelBias("blurry"), LabelBias("smiling"))`` is the face study's program.
    """
    return Chain(mechanisms)


class Chain(Mechanism):
    """The result of :func:`chain`: at most one measurement bias, then any number of label biases."""

    def __init__(self, mechanisms: tuple[LabelBias | MeasurementBias, ...]) -> None:
        measured = [m for m in mechanisms if isinstance(m, MeasurementBias)]
        stages = [m for m in mechanisms if isinstance(m, LabelBias)]
        if len(measured) + len(stages) != len(mechanisms) or not mechanisms:
            raise P4FError("a chain takes LabelBias and MeasurementBias, one or more")
        if len(measured) > 1:
            raise P4FError("a chain takes one MeasurementBias; name all its features in it")
        if measured and mechanisms[0] is not measured[0]:
            raise P4FError("in a chain, MeasurementBias comes before LabelBias")
        if len({stage.classes for stage in stages}) > 1:
            raise P4FError("all label biases of a chain must have the same classes")
        identities = [(m.variable.columns, m.variable.levels) for m in mechanisms]
        order = list(dict.fromkeys(identities))
        taken = {"x"} | {n for m in measured for n in m.names.values()}
        names = predicates(("_".join(columns) for columns, _ in order), "a", taken)
        by_identity = {identity: Sensitive(*identity, name=name) for identity, name in zip(order, names, strict=True)}
        self.variables = tuple(by_identity.values())
        self.measurement: MeasurementBias | None = None
        if measured:
            self.measurement = measured[0].with_rates(measured[0].rates)
            self.measurement.variables = (by_identity[identities[0]],)
            self.features = self.measurement.features
        suffixes = distinct("_" + by_identity[(s.variable.columns, s.variable.levels)].name for s in stages)
        self.stages = tuple(
            stage.renamed(by_identity[(stage.variable.columns, stage.variable.levels)], suffix)
            for stage, suffix in zip(stages, suffixes, strict=True)
        )
        self.suffixes = tuple(suffixes)
        parts: list[Mechanism] = [*([self.measurement] if self.measurement else []), *self.stages]
        self.rates = tuple(rate for part in parts for rate in part.rates)
        self.favourable = _favourable(self.stages)

    @property
    def classes(self) -> tuple[int | str, ...] | None:
        """The classes of the label where there are more than two."""
        return self.stages[0].classes if self.stages else None

    @property
    def class_count(self) -> int:
        """Number of classes of the label."""
        return self.stages[0].class_count if self.stages else 2

    def text(self) -> str:
        """The program as text."""
        head = ["A chain of biases, one after the other.", *(sensitive_comment(v) for v in self.variables)]
        head += favourable_comment(self)
        parts = [comment(*head), "\n".join(v.declaration() for v in self.variables)]
        if self.measurement:
            parts += ["% First, the recorded features are taken to the fair ones.", *self.measurement.rules()]
        if self.stages:
            parts.append(self._label_part())
        return "\n\n".join(parts) + "\n"

    def _label_part(self) -> str:
        classes = self.classes
        parts = [classifier(classes)]
        last = len(self.stages) - 1
        fair = "y_h"
        for i, (stage, suffix) in enumerate(zip(self.stages, self.suffixes, strict=True)):
            recorded = "y_" if i == last else f"y{i + 1}"
            parts += stage.rules(fair, recorded, suffix)
            fair = recorded
        return "\n\n".join([*parts, label_queries(classes)])

    @property
    def label_variables(self) -> tuple[Sensitive, ...]:
        """The sensitive variables that the label depends on."""
        of_stages = {stage.variable for stage in self.stages}
        return tuple(v for v in self.variables if v in of_stages)

    def label_program(self) -> Program:
        """The part of the program that is about the label."""
        declarations = "\n".join(v.declaration() for v in self.label_variables)
        return Program(declarations + "\n\n" + self._label_part() + "\n")

    def label_table(self, groups: Codes | None = None) -> Tensor | None:
        """See :meth:`Mechanism.label_table`."""
        if not self.stages:
            return None
        self.require_rates()
        own, place = part_of(self.variables, self.label_variables, groups)
        return label_table(self.label_program(), self.label_variables, self.class_count, own)[place]

    def feature_tables(self, groups: Codes | None = None) -> dict[str, Tensor]:
        """See :meth:`Mechanism.feature_tables`."""
        if self.measurement is None:
            return {}
        self.require_rates()
        own, place = part_of(self.variables, self.measurement.variables, groups)
        return {name: table[place] for name, table in self.measurement.feature_tables(own).items()}

    def feature_values(self) -> dict[str, tuple[Level, ...]]:
        """See :meth:`Mechanism.feature_values`."""
        return self.measurement.feature_values() if self.measurement else {}

    def estimate(
        self,
        audit: pd.DataFrame | None = None,
        *,
        recorded: Column,
        fair: Column,
        sensitive_features: Any = None,
        favourable: Any = None,
        confidence: float = 0.95,
        method: Literal["joint", "marginal"] = "joint",
    ) -> Chain:
        """Estimate the label parameters from audited rows.

        Jointly by default: by maximum likelihood through the chain's own circuit. ``method="marginal"`` estimates each
        stage as if it were alone, which counts the same errors several times.
        """
        from problog4fairness.mechanisms.estimation import estimate_chain

        return estimate_chain(self, audit, recorded, fair, sensitive_features, favourable, confidence, method)

    def with_rates(self, rates: tuple[Rate, ...]) -> Chain:
        """See :meth:`Mechanism.with_rates`."""
        copy = Chain.__new__(Chain)
        copy.__dict__.update(self.__dict__)
        start = 0
        if self.measurement:
            start = len(self.measurement.rates)
            copy.measurement = self.measurement.with_rates(rates[:start])
        stages = []
        for stage in self.stages:
            stages.append(stage.with_rates(rates[start : start + len(stage.rates)]))
            start += len(stage.rates)
        copy.stages = tuple(stages)
        copy.rates = rates
        return copy

    def with_favourable(self, label: Any) -> Chain:
        """See :meth:`Mechanism.with_favourable`."""
        other = super().with_favourable(label)
        other.stages = tuple(stage.with_favourable(label) for stage in self.stages)
        return other

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Mechanism.to_json`."""
        return {
            "kind": "Chain",
            "variables": [variable_json(v) for v in self.variables],
            "measurement": self.measurement.to_json() if self.measurement else None,
            "stages": [stage.to_json() for stage in self.stages],
            "suffixes": list(self.suffixes),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Chain:
        copy = cls.__new__(cls)
        copy.variables = tuple(variable_from_json(v) for v in value["variables"])
        measured = value["measurement"]
        copy.measurement = None if measured is None else MeasurementBias._from_json(measured)
        copy.features = copy.measurement.features if copy.measurement else ()
        copy.stages = tuple(LabelBias._from_json(stage) for stage in value["stages"])
        copy.suffixes = tuple(value["suffixes"])
        parts: list[Mechanism] = [*([copy.measurement] if copy.measurement else []), *copy.stages]
        copy.rates = tuple(rate for part in parts for rate in part.rates)
        if not {variable for part in parts for variable in part.variables} <= set(copy.variables):
            raise ValueError("a part is about a sensitive variable that the chain does not have")
        copy.favourable = _favourable(copy.stages)
        return copy


def _favourable(stages: Sequence[LabelBias]) -> bool | int | float | str | None:
    known = list(dict.fromkeys(stage.favourable for stage in stages if stage.favourable is not None))
    if len(known) > 1:
        raise P4FError(f"the biases of a chain have different favourable labels: {known[0]!r} and {known[1]!r}")
    return known[0] if known else None


def variable_json(variable: Sensitive) -> dict[str, Any]:
    """A sensitive variable as plain data."""
    levels = [list(level) if isinstance(level, tuple) else level for level in variable.levels]
    return {"columns": list(variable.columns), "levels": levels, "name": variable.name}


def variable_from_json(value: dict[str, Any]) -> Sensitive:
    """The inverse of :func:`variable_json`."""
    levels = tuple(tuple(level) if isinstance(level, list) else level for level in value["levels"])
    return Sensitive(tuple(value["columns"]), levels, str(value["name"]))
