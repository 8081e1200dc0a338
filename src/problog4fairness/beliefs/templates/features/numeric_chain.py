"""Measurement bias of numbers, and biases of the label after it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from torch import Tensor

from problog4fairness.audit import generator
from problog4fairness.beliefs.favourable import favourable_comment
from problog4fairness.beliefs.likelihood.combinations import occurring
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.templates.chains import Chain
from problog4fairness.beliefs.templates.features.numeric import NumericMeasurementBias
from problog4fairness.beliefs.templates.labels.stage import classifier
from problog4fairness.beliefs.variables import declaration, sensitive_comment
from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.program import comment

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.program import Program

# What the classifier says of a point, in the program; ``y_h`` is the fair label, after all points.
ASKED = "y_at"


class NumericChain(Chain):
    """What :func:`chain` gives for :class:`NumericMeasurementBias` with biases of the label after it.

    The label depends on the fair numbers, and the recorded label is a distorted copy of it. Estimate the numbers before
    they are chained; :meth:`estimate` is about the label.

    Parameters
    ----------
    beliefs
        In the order in which they acted.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> score = p4f.NumericMeasurementBias("score", "renter", 0.8, -2, 3, mean=50, spread=10, affected=[1])
    >>> both = p4f.chain(score, p4f.LabelBias("renter", {1: 0.3}, False, affected=[1]))
    >>> both.numbers, both.parameter_table().index.tolist()[:3]
    (('score',), ['factor(score,1)', 'shift(score,1)', 'noise(score,1)'])
    """

    title = "chain of biases of numbers and labels"
    measures: ClassVar[type[Any]] = NumericMeasurementBias

    def __init__(self, beliefs: tuple[Any, ...]) -> None:
        super().__init__(beliefs)
        self._check_parts()

    def _check_parts(self) -> None:
        if not self.stages or self.measurement is None:
            raise P4FError("chain NumericMeasurementBias with a bias of the label, or believe in it alone")

    @property
    def numeric(self) -> NumericMeasurementBias:
        """The part about numbers."""
        return cast(NumericMeasurementBias, self.measurement)

    @property
    def numbers(self) -> tuple[str, ...]:  # type: ignore[override]
        """See :class:`Belief`."""
        return self.numeric.features

    def _with(self, numeric: NumericMeasurementBias) -> Self:
        other = copy.copy(self)
        other.measurement = cast(Any, numeric)
        return other

    def parameter_table(self) -> pd.DataFrame:
        """See :meth:`Belief.parameter_table`; amounts first."""
        import pandas as pd

        return pd.concat([self.numeric.parameter_table(), super().parameter_table()])

    def require_known(self) -> None:
        """See :meth:`Belief.require_known`."""
        self.numeric.require_known()
        super().require_known()

    def unknown(self) -> Self:
        """See :meth:`Belief.unknown`."""
        return super().unknown()._with(self.numeric.unknown())

    def bind(self, values: Mapping[str, float]) -> Self:
        """See :meth:`Belief.bind`."""
        amounts = {own.name for own in self.numeric.amounts}
        numeric = self.numeric.bind({name: own for name, own in values.items() if name in amounts})
        others = {name: own for name, own in values.items() if name not in amounts}
        return super().bind(others)._with(numeric)

    def draws(self, count: int, random_state: Any = None) -> list[Self]:
        """See :meth:`Belief.draws`."""
        rng = generator(random_state)
        pairs = zip(super().draws(count, rng), self.numeric.draws(count, rng), strict=True)
        return [own._with(numeric) for own, numeric in pairs]

    def text(self) -> str:
        """The program as text."""
        if self.classes is not None:
            raise P4FError("a chain with NumericMeasurementBias is for a label of two classes")
        head = ["A chain of biases, one after the other.", *map(sensitive_comment, self.variables)]
        head += favourable_comment(self)
        head.append("x_(g,k1,...) is the row with fair numbers at these points, by the numbers of group g.")
        head += [f"{own.name}, {own.meaning}: {own}" for own in self.numeric.amounts]
        rules = [classifier(None).replace("y_h", ASKED), *self.numeric.rules("y_h", ASKED)]
        parts = [comment(*head), "\n".join(map(declaration, self.variables)), self._label_part(rules)]
        return "\n\n".join(parts) + "\n"

    def bound_program(self) -> Program:
        """See :meth:`Belief.bound_program`: amounts are where the points lie, not in the clauses."""
        return self.program()

    def feature_tables(self, groups: Codes | None = None) -> dict[str, Tensor]:  # noqa: ARG002
        """See :meth:`MeasurementBias.feature_tables`: numbers have none."""
        return {}

    def feature_distortion(self, rows: Rows) -> dict[str, Floats]:
        """See :meth:`Belief.feature_distortion`."""
        return self.numeric.feature_distortion(rows)

    def observe(self, rows: Rows) -> Observation:
        """See :meth:`Belief.observe`: each row stands for fair numbers of its own."""
        self.require_known()
        self.require_columns(rows)
        groups = occurring(self.variables, rows)
        labels = cast(Tensor, self.label_table(groups.levels))
        place = self.variables.index(self.numeric.variable)
        return self.numeric.observed(rows, groups, place, labels, self.record(rows).codes)

    def field_values(self) -> dict[str, Any]:
        """See :meth:`Belief.field_values`; the amounts of the numbers are among them."""
        _, *stages = super().field_values()["beliefs"]
        return {"beliefs": [self.numeric.to_json(), *stages]}
