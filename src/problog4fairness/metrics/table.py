"""All metrics, one entry each: scores, intervals, tables by group and the axes of figures are made from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from problog4fairness.errors import P4FError, UnknownNameError, among
from problog4fairness.metrics import values
from problog4fairness.metrics.predictions import Judged, Need, group_codes, judged, probabilities, same_length
from problog4fairness.statistics import Estimate

if TYPE_CHECKING:
    from problog4fairness.audit import Audit


@dataclass(frozen=True)
class Metric:
    """A metric; calling it gives its value, as scikit-learn and fairlearn call metrics.

    Attributes
    ----------
    name
        In tables of results.
    label
        On axes and in headings.
    value
        The function; NaN where it rests on rows that are not there.
    better
        ``"higher"``, or ``"nearer 0"``; None where neither is better.
    needs
        What it looks at beside the predictions.
    interval
        The function that gives an interval for a confidence, from counts; None where nobody wrote one.
    of_many
        The label where there are more than two groups, if it is another one.

    Examples
    --------
    >>> from problog4fairness.metrics import METRICS
    >>> METRICS["f1"]([1, 1, 0, 0], [1, 0, 0, 0]), METRICS["f1"].better
    (0.6666666666666666, 'higher')
    """

    name: str
    label: str
    value: Callable[[Judged], float]
    better: Literal["higher", "nearer 0"] | None
    needs: tuple[Need, ...]
    interval: Callable[[Judged, float], Estimate] | None = None
    of_many: str | None = None

    @property
    def by_group(self) -> bool:
        """Whether it compares groups, and so cannot be taken in each of them."""
        return "groups" in self.needs or "sensitive group" in self.needs

    def axis(self, groups: int = 2) -> str:
        """Its label where there are so many groups."""
        return self.label if groups <= 2 or self.of_many is None else self.of_many

    def estimate(self, read: Judged, confidence: float) -> Estimate:
        """Its value with an interval."""
        if self.interval is None:
            raise P4FError(f"there is no interval from counts for {self.label}; repeat over seeds and summarise")
        return self.interval(read, confidence)

    def read(self, y_true: Any, y_pred: Any, **options: Any) -> Judged:
        """What a user has, as codes; the options are those of :func:`interval`."""
        return judged(y_true, y_pred, needs=self.needs, name=self.label, **options)

    def __call__(self, y_true: Any, y_pred: Any, **options: Any) -> float:
        """Its value; the options are those of :func:`interval`, and ``sample_weight``."""
        return self.value(self.read(y_true, y_pred, **options))


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "accuracy", values.accuracy, "higher", ("labels",), values.accuracy_interval),
        Metric(
            "disparity",
            "statistical disparity",
            values.disparity,
            "nearer 0",
            ("sensitive group",),
            values.disparity_interval,
            of_many="largest disparity between groups",
        ),
        Metric("f1", "F1", values.f1, "higher", ("labels",), values.f1_interval),
        Metric(
            "equalized_odds",
            "equalized odds difference",
            values.equalized_odds,
            "nearer 0",
            ("labels", "groups"),
            values.equalized_odds_interval,
        ),
        Metric("positive_rate", "favourable rate", values.positive_rate, None, (), values.positive_rate_interval),
    )
}


def metric_named(name: str) -> Metric:
    """The metric with this name."""
    if name not in METRICS:
        raise UnknownNameError(f"there is no metric {name!r}; {among(name, METRICS)}")
    return METRICS[name]


def statistical_disparity(
    y_pred: Any,
    *,
    sensitive_features: Any,
    groups: Sequence[Any] = (0, 1),
    favourable: Any = None,
    sample_weight: Any = None,
) -> float:
    """The difference of selection rates: how much more often the sensitive group gets the favourable decision.

    P(decision = 1 | A=1) - P(decision = 1 | A=0)

    Below 0 where the sensitive group gets it less often. Its absolute value is what fairlearn calls
    ``demographic_parity_difference``. Of labels it is the disparity of the data.

    Parameters
    ----------
    y_pred
        Labels 0 and 1, or two other labels of which ``favourable`` names the good one.
    sensitive_features
        The group of each row; two groups.
    groups
        The two groups, the sensitive one last.
    favourable
        The label that counts as 1.
    sample_weight
        Weight of each row.

    Examples
    --------
    >>> area = ["poor", "poor", "rich", "rich"]
    >>> statistical_disparity([0, 1, 1, 1], sensitive_features=area, groups=("rich", "poor"))
    -0.5
    """
    options = {"groups": groups, "favourable": favourable, "sample_weight": sample_weight}
    return METRICS["disparity"](None, y_pred, sensitive_features=sensitive_features, **options)


def mean_probability_disparity(
    y_prob: Any, *, sensitive_features: Any, groups: Sequence[Any] = (0, 1), sample_weight: Any = None
) -> float:
    """The difference of mean probabilities between two groups: the paper's definition, for its studies.

    mean P(y=1 | A=1) - mean P(y=1 | A=0)

    A classifier that predicts .51 for one group and .49 for the other is nearly fair by it, although every decision
    differs; people are affected by decisions: :func:`statistical_disparity`.

    Parameters
    ----------
    y_prob
        P(y=1) of each row, such as ``predict_proba(X)[:, 1]``.
    sensitive_features, groups, sample_weight
        As for :func:`statistical_disparity`.

    Examples
    --------
    >>> area = ["poor", "poor", "rich", "rich"]
    >>> round(mean_probability_disparity([0.2, 0.4, 0.5, 0.9], sensitive_features=area, groups=("rich", "poor")), 4)
    -0.4
    """
    chances = probabilities(y_prob, "y_prob")
    options = {"sensitive_features": sensitive_features, "groups": groups, "sample_weight": sample_weight}
    return METRICS["disparity"](None, None, y_prob=chances, **options)


def scores(
    label: Any, chance: Any, groups: Any, *, randomised: bool = False, audit: Audit | None = None
) -> dict[str, float]:
    """All of :data:`METRICS` at once, for codes that are known to be sound.

    A decision is 1 where the chance is above one half. A randomised method decides by lot with the given chances, and
    its expected accuracy, F1 (of expected counts), odds and positive rate are given. Disparity is that of decisions, as
    people are affected by them; between more than two groups it is the largest difference, without a sign. What rests
    on rows that are not there, such as the odds of a group without a favourable label, is NaN.

    Parameters
    ----------
    label
        Labels 0 and 1 to be judged by; of many classes 0, 1, ..., the favourable one last.
    chance
        P(label = 1) as predicted; of many classes ``[rows, classes]``. Then the accuracy counts all classes, and all
        other metrics are about the favourable one against the others.
    groups
        The group of each row, 0, 1, ...; with two, 1 is the sensitive group.
    randomised
        Whether the chances are those of a random decision.
    audit
        The sampling design of the rows, where they are audited rows: scores are weighted by it.

    Examples
    --------
    >>> values = scores([1, 1, 0, 1, 0, 0], [0.9, 0.2, 0.1, 0.8, 0.6, 0.1], [1, 1, 1, 0, 0, 0])
    >>> {name: round(value, 3) for name, value in values.items()}
    {'accuracy': 0.667, 'disparity': -0.333, 'f1': 0.667, 'equalized_odds': 0.5, 'positive_rate': 0.5}
    """
    rows = Judged.of(label, chance, groups, randomised, audit)
    return {name: metric.value(rows) for name, metric in METRICS.items()}


def interval(
    metric: str,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any = None,
    groups: Sequence[Any] = (0, 1),
    favourable: Any = None,
    confidence: float = 0.95,
) -> Estimate:
    """A metric of decisions, with the interval that the counts allow.

    Parameters
    ----------
    metric
        One of :data:`METRICS`, by name.
    y_true, y_pred
        Labels 0 and 1, or two other labels of which ``favourable`` names the good one. ``y_true`` may be None for
        metrics that do not need it, such as the disparity.
    sensitive_features
        The group of each row, for metrics that compare groups.
    groups
        The two groups, the sensitive one last, for the disparity.
    favourable
        The label that counts as 1.
    confidence
        Probability with which such an interval holds the true value.

    Examples
    --------
    >>> right = interval("accuracy", [1] * 100, [1] * 80 + [0] * 20)
    >>> f"{right.value:.2f} ({right.low:.3f} to {right.high:.3f})"
    '0.80 (0.711 to 0.867)'
    >>> granted, poor = [1] * 30 + [0] * 70 + [1] * 60 + [0] * 40, [1] * 100 + [0] * 100
    >>> gap = interval("disparity", None, granted, sensitive_features=poor)
    >>> f"{gap.value:.2f} ({gap.low:.3f} to {gap.high:.3f})"
    '-0.30 (-0.422 to -0.163)'
    """
    options = {"sensitive_features": sensitive_features, "groups": groups, "favourable": favourable}
    chosen = metric_named(metric)
    return chosen.estimate(chosen.read(y_true, y_pred, **options), confidence)


def intervals_by_group(
    metric: str, y_true: Any, y_pred: Any, *, sensitive_features: Any, favourable: Any = None, confidence: float = 0.95
) -> pd.DataFrame:
    """A metric in each group, with its interval: value, low, high and rows.

    Parameters
    ----------
    metric
        One of :data:`METRICS` that does not itself compare groups, by name.
    y_true, y_pred, sensitive_features, favourable, confidence
        As for :func:`interval`; any number of groups.

    Examples
    --------
    >>> table = intervals_by_group("positive_rate", None, [1, 0, 0, 0, 1, 1], sensitive_features=[1, 1, 1, 1, 0, 0])
    >>> table.round(3).loc[1].to_dict()
    {'value': 0.25, 'low': 0.046, 'high': 0.699, 'rows': 4.0}
    """
    chosen = metric_named(metric)
    if chosen.by_group:
        raise P4FError(f"{chosen.label} compares groups; it has no value in each of them")
    whole = chosen.read(y_true, y_pred, favourable=favourable)
    codes, names = group_codes(sensitive_features, len(whole))
    parts = [_part(whole, codes == code) for code in range(len(names))]
    return pd.DataFrame([vars(chosen.estimate(part, confidence)) for part in parts], index=names)


def metric_frame(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, favourable: Any = None, sample_weight: Any = None
) -> Any:
    """fairlearn's ``MetricFrame`` of all metrics that have a value in each group. Needs the extra ``fairlearn``.

    Parameters
    ----------
    y_true, y_pred, sensitive_features, favourable, sample_weight
        As for :func:`interval`; and the weight of each row.

    Examples
    --------
    >>> frame = metric_frame([1, 0, 1, 1], [1, 0, 0, 1], sensitive_features=["x", "x", "y", "y"])
    >>> frame.by_group["accuracy"].to_dict()
    {'x': 1.0, 'y': 0.5}
    """
    try:
        frame = import_module("fairlearn.metrics").MetricFrame
    except ImportError:
        raise P4FError("MetricFrame is fairlearn's, which is not installed: pip install fairlearn") from None
    whole = judged(y_true, y_pred, favourable=favourable)
    chosen = {name: metric for name, metric in METRICS.items() if not metric.by_group}
    weighted = None if sample_weight is None else {name: {"sample_weight": sample_weight} for name in chosen}
    same_length(y_true=whole.label, sample_weight=sample_weight)
    return frame(
        metrics=chosen,
        y_true=whole.label.astype(int),
        y_pred=whole.decision.astype(int),
        sensitive_features=sensitive_features,
        sample_params=weighted,
    )


def _part(whole: Judged, rows: Any) -> Judged:
    columns = {part.name: getattr(whole, part.name) for part in fields(whole) if part.name != "count"}
    return replace(whole, **{name: values[rows] for name, values in columns.items() if values is not None})
