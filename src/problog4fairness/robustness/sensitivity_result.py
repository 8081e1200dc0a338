"""What came of a sensitivity analysis: tables and a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from problog4fairness.data import inline_figure
from problog4fairness.statistics import called

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACCURACY, CHANGED = "accuracy", "changed"


@dataclass(frozen=True)
class Sensitivity:
    """The result of :func:`~problog4fairness.robustness.sensitivity`.

    Attributes
    ----------
    frame
        A row for each parameter, value and metric: ``parameter``, ``meaning``, ``value``, ``inside`` (whether the value
        lies in the parameter's interval), ``metric``, the ``mean`` over the seeds, and a band from ``low`` to ``high``:
        the least and the greatest over the seeds, wider by what the audit and the rows leave open. The rows
        at the parameter's own value are those of ``base``.
    base
        ``mean``, ``low`` and ``high`` of each metric with all parameters at their own values.
    parameters
        The parameters that were varied: ``value``, ``low``, ``high``, ``meaning``.
    fits
        How many classifiers were fitted.
    notes
        What a reader should know: ranges that were cut, and why.
    draws
        How many beliefs were drawn for the bands; 0 where they are over the seeds alone.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=50, new=1)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, groups=[1])
    >>> X, y, poor = data.loans[list(data.features)], data.loans["granted"], data.loans["poor_area"]
    >>> model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(X, y, sensitive_features=poor)
    >>> moves = p4f.robustness.sensitivity(model, X, y, sensitive_features=poor, values=5)
    >>> moves.metrics
    ('disparity', 'changed')
    """

    frame: pd.DataFrame
    base: pd.DataFrame
    parameters: pd.DataFrame
    fits: int
    notes: tuple[str, ...] = ()
    draws: int = 0

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return tuple(self.base.index)

    @property
    def spans(self) -> pd.DataFrame:
        """How far each metric moves: ``low`` to ``high`` over the interval, ``lowest`` to ``highest`` beyond."""
        rows = []
        for (parameter, metric), own in self.frame.groupby(["parameter", "metric"], sort=False):
            inside = own.loc[own["inside"], "mean"]
            ends = (inside.min(), inside.max(), own["mean"].min(), own["mean"].max())
            rows.append((parameter, metric, *ends))
        return pd.DataFrame(rows, columns=["parameter", "metric", "low", "high", "lowest", "highest"])

    def plot(self) -> Figure:
        """A column of panels for each parameter, a row for each metric; the interval is shaded, the value marked."""
        from problog4fairness.robustness.sensitivity_figure import draw

        return draw(self)

    def __repr__(self) -> str:
        return f"Sensitivity of {', '.join(self.metrics)} to {', '.join(self.parameters.index)}, {self.fits} fits"

    def _repr_html_(self) -> str:
        """In a notebook: its figure, and how far each metric moves."""
        meanings = self.parameters["meaning"]
        spans = self.spans.assign(parameter=[called(name, meanings[name]) for name in self.spans["parameter"]])
        drawn = inline_figure(self.plot(), "How each metric moves with each parameter.")
        return f"<div>{drawn}{spans.to_html(float_format='%.4g', index=False)}</div>"
