"""What a user should know of an estimate: parameters that rest on few rows, labels that carry no signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.audit.audit import Audit
from problog4fairness.audit.estimation.stratified import SOURCE
from problog4fairness.audit.reading import warn_audit
from problog4fairness.audit.sheet import ERROR
from problog4fairness.data import Codes, Floats, Rows
from problog4fairness.statistics import POOLED, Parameter, in_labels, ways_on

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief, Observation

# How a parameter says that it was shrunk towards others.
SHRUNK = "shrunk towards the other cells of its group"
FEW_ROWS = 30
LITTLE_SIGNAL = 0.1


def group_signal(belief: Belief, observation: Observation, rows: Rows) -> tuple[float, str] | None:
    """The least signal 1 - negative - positive of any row, and its groups; None where labels depend on several inputs.

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
    least = int(signal.argmin())
    groupings = belief.groupings(rows.take(np.array([least])))
    groups = [grouping.groups[int(grouping.shares[0].argmax())] for grouping in groupings]
    return float(signal[least]), " and ".join(groups) or "nothing else is known"


def warn_signal(belief: Belief, observation: Observation, rows: Rows, least: float = 0.0) -> None:
    """Warn of the group whose recorded labels say least of fair ones, where the signal is below ``least`` or 0.

    The first three parameters are those of :func:`group_signal`.
    """
    weakest = group_signal(belief, observation, rows)
    if weakest is None:
        return
    signal, group = weakest
    if signal < 0:
        warn_audit(
            f"where {group}, negative and positive bias sum to more than 1 (signal {signal:.3f}): recorded labels "
            "mean the opposite of fair ones; is the favourable label the right one?"
        )
    elif signal < least:
        warn_audit(f"where {group}, recorded labels carry almost no signal (1 - negative - positive = {signal:.3f})")


def warn_few(parameters: Sequence[Parameter], labels: Sequence[Any] = (), error: float = ERROR) -> None:
    """Warn of parameters that rest on few rows, or on none, once of each kind.

    ``labels`` are the values of the label, if it has two. More rows are asked for where half the width of an interval
    is above ``error``, as a plan asks for them, and the interval is wider than what was estimated.
    """
    unseen, few, wide = list[str](), list[tuple[int, str]](), list[tuple[float, str]]()
    way = ""
    for given in parameters:
        parameter = replace(given, meaning=in_labels(given.meaning, labels))
        value, low, high, rows = parameter.value, parameter.low, parameter.high, parameter.rows
        if (value is not None and rows is None) or parameter.source in (SHRUNK, POOLED):
            continue
        if parameter.without_rows or rows == 0 or value is None or low is None or high is None:
            way = way or (f"; {ways_on(parameter)}" if parameter.without_rows else "")
            unseen.append(parameter.description)
        elif rows is not None and rows < FEW_ROWS and parameter.source != SOURCE:
            few.append((rows, parameter.description))
        elif parameter.is_wide(error) and value and (low, high) != (0, 1):
            between = f"is known only to lie between {low:.3f} and {high:.3f}, about {value:.3f}"
            wide.append(((high - low) / value, f"{parameter.description} {between}"))
    if unseen:
        more = f" and {len(unseen) - 3} more parameters" if len(unseen) > 3 else ""
        warn_audit(f"no audited row tells about {', '.join(unseen[:3])}{more}{way}")
    if few:
        few.sort(key=lambda entry: entry[0])
        more = f"; fewer than {FEW_ROWS} tell about each of {len(few) - 1} more parameters" if len(few) > 1 else ""
        warn_audit(f"only {few[0][0]} audited rows tell about {few[0][1]}{more}")
    if wide:
        wide.sort(key=lambda entry: -entry[0])
        more = f", and {len(wide) - 1} more parameters as little" if len(wide) > 1 else ""
        warn_audit(f"{wide[0][1]}{more}; audit more rows")


def warn_unweighted(audit: Any, what: str, groups: Codes | Floats | None = None) -> None:
    """Warn where an estimate counts each audited row once although its design says otherwise.

    Parameters
    ----------
    audit
        However it was passed; only an :class:`Audit` has weights and clusters.
    what
        What is estimated.
    groups
        ``[rows]``: rows are compared within these only, so that weights matter where they differ within one.
    """
    if not isinstance(audit, Audit):
        return
    within = pd.Series(audit.weights).groupby(np.zeros(len(audit)) if groups is None else groups)
    parts = ["sampling weights"] if bool(((within.max() - within.min()) > 1e-9).any()) else []
    parts += ["clusters"] if audit.clusters is not None else []
    if parts:
        warn_audit(f"{what} count each audited row once; {' and '.join(parts)} of the audit are not used")
