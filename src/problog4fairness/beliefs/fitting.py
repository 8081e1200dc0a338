"""Fitting and predicting through a belief: what rows must have, and what recorded features tell of fair ones."""

from __future__ import annotations

from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.data import Rows


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
