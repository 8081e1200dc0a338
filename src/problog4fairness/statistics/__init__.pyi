from .formatting import MISSING, count, in_labels, percent, percent_interval, percent_range, points, points_interval
from .intervals import most_likely_shares, score_interval, value_of
from .parameter import HALF, UNSAID, Cell, Parameter, called
from .parameter_sets import (
    bind,
    check_known,
    checked_priors,
    estimated_jointly,
    known_values,
    outcomes_of,
    parameters_from_json,
    parameters_json,
    readable,
    table,
    ways_on,
)
from .priors import Beta
from .profile_likelihood import GRID, profiled
from .proportions import Estimate, check_confidence, equal_rows, interval, proportion, required_samples, rows_to_draw
from .shrinkage import POOLED, Shrunk, pooled, shrunk

__all__ = [
    "GRID",
    "HALF",
    "MISSING",
    "POOLED",
    "UNSAID",
    "Beta",
    "Cell",
    "Estimate",
    "Parameter",
    "Shrunk",
    "bind",
    "called",
    "check_confidence",
    "check_known",
    "checked_priors",
    "count",
    "equal_rows",
    "estimated_jointly",
    "in_labels",
    "interval",
    "known_values",
    "most_likely_shares",
    "outcomes_of",
    "parameters_from_json",
    "parameters_json",
    "percent",
    "percent_interval",
    "percent_range",
    "points",
    "points_interval",
    "pooled",
    "profiled",
    "proportion",
    "readable",
    "required_samples",
    "rows_to_draw",
    "score_interval",
    "shrunk",
    "table",
    "value_of",
    "ways_on",
]
