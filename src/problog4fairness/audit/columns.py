"""Reading audited rows: the recorded and the fair value of the same people."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.data import Roles, Rows, column_values
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief

Column: TypeAlias = "str | Sequence[Any] | np.ndarray[Any, Any] | pd.Series[Any]"


class AuditWarning(UserWarning):
    """Something in an audit, or in the belief that came from it, that would spoil a study.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> import problog4fairness as p4f
    >>> rows = pd.DataFrame({"poor": [1, 1, 1, 0], "granted": [0, 1, 1, 0], "repaid": [1, 1, 1, 0]})
    >>> audit = p4f.Audit.of(rows, sampling="random")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = p4f.LabelBias("poor", positive=False, affected=[1]).estimate(audit, recorded="granted", fair="repaid")
    >>> print(caught[0].message)
    only 3 audited rows tell about p1 (a fair 1 is recorded as 0 where poor = 1)
    """


# Whoever calls into these rooms is the one to warn.
ROOMS = ("problog4fairness.audit", "problog4fairness.beliefs", "problog4fairness.statistics")


def tell(message: str) -> None:
    """Warn whoever called into the library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("problog4fairness"):
        frame, level = frame.f_back, level + 1
    warnings.warn(AuditWarning(message), stacklevel=level)


def read_audit(
    belief: Belief,
    audit: Any,
    recorded: Column,
    fair: Column | None,
    sensitive_features: Any,
    favourable: Any,
    partly: bool = False,
) -> Rows:
    """The rows of an audit, their labels coded; the parameters are those of :meth:`Belief.estimate`.

    ``fair`` is None where no row was audited; with ``partly``, it is missing in those that were not.
    """
    roles = Roles(recorded, sensitive_features, fair, favourable=favourable)
    return Rows.from_table(audit, roles, belief, audited=True, partly=partly)


def audited_pair(
    audit: Any, recorded: Column, fair: Column, recorded_role: str, fair_role: str
) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """What was recorded and what is fair, for the same rows; the roles say in errors what they are."""
    first, second = column_values(audit, recorded, recorded_role), column_values(audit, fair, fair_role)
    if len(first) != len(second):
        raise P4FError(f"there are {len(first)} recorded and {len(second)} fair values; an audit has both for each row")
    return first, second
