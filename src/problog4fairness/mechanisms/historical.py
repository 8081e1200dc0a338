"""Historical bias: the world itself was unfair, and the labels follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch import Tensor

from problog4fairness.mechanisms.base import Mechanism
from problog4fairness.mechanisms.chains import Chain
from problog4fairness.mechanisms.combinations import Codes
from problog4fairness.mechanisms.label import LabelBias
from problog4fairness.mechanisms.measurement import MeasurementBias, Strength
from problog4fairness.mechanisms.rates import Rate
from problog4fairness.mechanisms.text import Level

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.mechanisms.audit import Column


class HistoricalBias(Mechanism):
    """The features of one group really are worse than they would be in a fair world, and the labels follow from them.

    P(fair label) = sum over fair vectors v of h(v) times, for each feature i, P(v_i in a fair world | recorded_i, A)

    Use it where discrimination limited what people could become: lower incomes that really do lead to more defaults.
    The rule from features to label is the same in both worlds, so the classifier is trained on the recorded data as it
    is, and the mechanism is applied when predicting: as if the person had lived in the fair world. With ``label``, the
    rule may differ: then features are taken to the fair world and labels back from it while training.

    Parameters
    ----------
    features, sensitive, negative, positive, levels, groups, values
        As for :class:`MeasurementBias`.
    label
        A :class:`LabelBias` from labels of the fair world to recorded ones.
    """

    def __init__(
        self,
        features: str | Sequence[str],
        sensitive: str | Sequence[str],
        negative: Strength = None,
        positive: Strength = None,
        *,
        label: LabelBias | None = None,
        levels: Sequence[Level] = (0, 1),
        groups: Sequence[Level] | None = None,
        values: Mapping[str, Sequence[int | str]] | None = None,
    ) -> None:
        measured = MeasurementBias(features, sensitive, negative, positive, levels=levels, groups=groups, values=values)
        self._set(measured, label)

    def _set(self, measurement: MeasurementBias, label: LabelBias | None) -> None:
        self.measurement = measurement
        self.label = label
        self._whole: Mechanism = measurement if label is None else Chain((measurement, label))
        self.features = measurement.features
        self.variables = self._whole.variables
        self.rates = self._whole.rates
        self.favourable = self._whole.favourable

    def text(self) -> str:
        """The program as text."""
        when = (
            "while training and when predicting" if self.label else "when predicting; training uses the recorded data"
        )
        return f"% Historical bias: this mechanism is applied {when}.\n" + self._whole.text()

    def label_table(self, groups: Codes | None = None) -> Tensor | None:
        """See :meth:`Mechanism.label_table`."""
        return self._whole.label_table(groups)

    def feature_tables(self, groups: Codes | None = None) -> dict[str, Tensor]:
        """See :meth:`Mechanism.feature_tables`."""
        return self._whole.feature_tables(groups)

    def feature_values(self) -> dict[str, tuple[Level, ...]]:
        """See :meth:`Mechanism.feature_values`."""
        return self._whole.feature_values()

    def estimate(
        self,
        audit: pd.DataFrame | None = None,
        *,
        recorded: Any,
        fair: Any,
        recorded_label: Column | None = None,
        fair_label: Column | None = None,
        sensitive_features: Any = None,
        confidence: float = 0.95,
    ) -> HistoricalBias:
        """Estimate the features as :meth:`MeasurementBias.estimate` does, and the label where there is one."""
        measurement = self.measurement.estimate(
            audit, recorded=recorded, fair=fair, sensitive_features=sensitive_features, confidence=confidence
        )
        label = self.label
        if label is not None and recorded_label is not None and fair_label is not None:
            label = label.estimate(
                audit,
                recorded=recorded_label,
                fair=fair_label,
                sensitive_features=sensitive_features,
                confidence=confidence,
            )
        copy = HistoricalBias.__new__(HistoricalBias)
        copy._set(measurement, label)
        return copy

    def with_rates(self, rates: tuple[Rate, ...]) -> HistoricalBias:
        """See :meth:`Mechanism.with_rates`."""
        copy = HistoricalBias.__new__(HistoricalBias)
        if self.label is None:
            copy._set(self.measurement.with_rates(rates), None)
        else:
            count = len(self.measurement.rates)
            names = [rate.name for rate in self.label.rates]
            label_rates = tuple(
                Rate(name, r.meaning, r.value, r.low, r.high, r.rows)
                for name, r in zip(names, rates[count:], strict=True)
            )
            copy._set(self.measurement.with_rates(rates[:count]), self.label.with_rates(label_rates))
        return copy

    def with_favourable(self, label: Any) -> HistoricalBias:
        """See :meth:`Mechanism.with_favourable`."""
        other = super().with_favourable(label)
        if self.label is not None:
            other._set(self.measurement, self.label.with_favourable(label))
        return other

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Mechanism.to_json`."""
        return {
            "kind": "HistoricalBias",
            "measurement": self.measurement.to_json(),
            "label": None if self.label is None else self.label.to_json(),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> HistoricalBias:
        mechanism = cls.__new__(cls)
        label = None if value["label"] is None else LabelBias._from_json(value["label"])
        mechanism._set(MeasurementBias._from_json(value["measurement"]), label)
        return mechanism
