"""How much recorded labels say about fair ones: 1 - negative - positive, in each group."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.audit.columns import AuditWarning
from problog4fairness.data import Rows

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief, Observation


def group_signal(belief: Belief, observation: Observation, rows: Rows) -> tuple[float, str] | None:
    """The least signal that any row has, and its groups in words; None where labels are not a matter of one input.

    Parameters
    ----------
    belief
        Says how the groups are called.
    observation
        Of the rows through it.
    rows
        The rows.
    """
    signal = observation.signal()
    if signal is None or not len(signal):
        return None
    worst = int(signal.argmin())
    ways = belief.groupings(rows.take(np.array([worst])))
    groups = [way.groups[int(way.shares[0].argmax())] for way in ways]
    return float(signal[worst]), " and ".join(groups) or "nothing else is known"


def warn_opposite(belief: Belief, observation: Observation, rows: Rows, stacklevel: int) -> None:
    """Warn where recorded labels mean the opposite of fair ones, as negative + positive > 1 says.

    The first three parameters are those of :func:`group_signal`; ``stacklevel`` is that of :func:`warnings.warn`.
    """
    found = group_signal(belief, observation, rows)
    if found is None or found[0] >= 0:
        return
    message = (
        f"where {found[1]}, negative and positive bias sum to more than 1: the belief says "
        "that recorded labels mean the opposite of fair ones; is the favourable label the right one?"
    )
    warnings.warn(AuditWarning(message), stacklevel=stacklevel + 1)
