from .decisions import decide, selected
from .differences import difference_interval
from .ellipse import Ellipse, confidence_ellipse
from .functions import accuracy, equalized_odds_difference, f1, mean_probability_disparity, statistical_disparity
from .inputs import plain
from .predictions import Judged
from .scorer import make_fair_scorer
from .summary import summarise
from .table import METRICS, Metric, interval, intervals_by_group, metric_frame, scores

__all__ = [
    "METRICS",
    "Ellipse",
    "Judged",
    "Metric",
    "accuracy",
    "confidence_ellipse",
    "decide",
    "difference_interval",
    "equalized_odds_difference",
    "f1",
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
