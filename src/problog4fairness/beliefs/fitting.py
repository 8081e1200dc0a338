"""Fitting through a belief: which rows and values it needs, and what recorded features tell of fair ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.beliefs.belief import Belief
    from problog4fairness.beliefs.likelihood.observation import Observation
    from problog4fairness.data import Rows
    from problog4fairness.statistics import Parameter

# Below this, recorded labels say so little about fair ones that a fit is a matter of chance.
LEAST_SIGNAL = 0.05
# How often the way to a limit is halved where margins are not affine.
_HALVINGS = 10


def check_rows(belief: Belief, rows: Rows) -> None:
    """Raise the error that says why nothing can be learned from rows through a belief.

    All its parameters must be known, its columns there, and every group must occur.
    """
    belief._require_known()
    belief._check_rows(rows)


def restore(belief: Belief, rows: Rows) -> Observation:
    """What recorded features tell of fair ones, as :meth:`Observation.fair_proba` needs it to predict.

    It is ``belief.observe(rows.without_record())``, but for historical bias, by which recorded labels follow from
    recorded features, and fair ones from those of a fair world.
    """
    return belief._restore(rows)


def admissible_values(belief: Belief, parameter: Parameter, rows: Rows) -> tuple[float, float]:
    """Between which values a parameter makes sense in these rows, all others fixed.

    Recorded labels stay informative: each class is recorded more often where it is the fair one than where another is.
    Probabilities sum to 1 at most. Margins are mostly affine in one parameter, so two points tell where they become too
    small; a third one, at the limit, tells whether that was right.
    """
    rows = belief.columns.distinct(rows)
    value = parameter.value or 0.0
    probe = value / 2 if value > 0 else 0.01
    at_value = _margins(belief, parameter, value, rows)
    at_probe = _margins(belief, parameter, probe, rows)
    if at_value is None or at_probe is None:
        return 0.0, value
    slope = (at_probe - at_value) / (probe - value)
    room = at_value.clamp_min(0)
    falling, rising = slope < -1e-9, slope > 1e-9
    above = float((room[falling] / -slope[falling]).min()) if bool(falling.any()) else 1.0
    below = float((room[rising] / slope[rising]).min()) if bool(rising.any()) else 1.0
    low, high = max(0.0, value - below), min(1.0, value + above)
    worst = at_value.clamp_max(0)
    return (
        _checked(belief, parameter, low, rows, worst),
        _checked(belief, parameter, high, rows, worst),
    )


def _checked(belief: Belief, parameter: Parameter, limit: float, rows: Rows, worst: Tensor) -> float:
    """The limit itself; nearer to the value where margins are too small there, since they are not affine."""
    near, far = parameter.value or 0.0, limit
    for _ in range(_HALVINGS):
        margins = _margins(belief, parameter, limit, rows)
        good = margins is not None and bool((margins >= worst - 1e-6).all())
        if good and limit == far:
            return limit
        near, far = (limit, far) if good else (near, limit)
        limit = (near + far) / 2
    return near


def _margins(belief: Belief, parameter: Parameter, value: float, rows: Rows) -> Tensor | None:
    """What must not become negative; None where the belief makes no sense at all.

    How much more often a class is recorded where it is the fair one than where it is not, beyond the least signal; and
    how often features are right.
    """
    changed = tuple(other.stated(value) if other.name == parameter.name else other for other in belief.parameters)
    try:
        other = belief._with_parameters(changed)
        observation = other.observe(rows.without_record())
        distorted = other._restore(rows).feature_distortion() if other.features else {}
    except P4FError:
        return None
    classes = observation.classes
    # What else may be recorded says nothing about a class.
    table = observation.recorded_given()[..., :classes]
    ahead = table.diagonal(dim1=-2, dim2=-1).unsqueeze(-2) - table
    others = ~torch.eye(classes, dtype=torch.bool)
    right = [torch.from_numpy(1 - share) for share in distorted.values()]
    margins = torch.cat([ahead[:, others].flatten() - LEAST_SIGNAL, *right])
    return None if bool(margins.isnan().any()) else margins
