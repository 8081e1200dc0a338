from .predictions import Judged, decide, plain, selected
from .repetitions import Ellipse, confidence_ellipse, summarise
from .scorer import make_fair_scorer
from .table import (
    METRICS,
    Metric,
    interval,
    intervals_by_group,
    mean_probability_disparity,
    metric_frame,
    scores,
    statistical_disparity,
)
from .values import difference_interval

__all__ = [
    "METRICS",
    "Ellipse",
    "Judged",
    "Metric",
    "confidence_ellipse",
    "decide",
    "difference_interval",
    "interval",
    "intervals_by_group",
    "make_fair_scorer",
    "mean_probability_disparity",
    "metric_frame",
    "plain",
    "scores",
    "selected",
    "statistical_disparity",
    "summarise",
]
