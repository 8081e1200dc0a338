"""Reading audited rows: the recorded and the fair value of the same people, by the names of their columns."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from problog4fairness.data import Roles, Rows
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief


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


def warn_audit(message: str) -> None:
    """Warn whoever called into the library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("problog4fairness"):
        frame, level = frame.f_back, level + 1
    warnings.warn(AuditWarning(message), stacklevel=level)


def read_labels(
    belief: Belief, frame: Any, recorded: str, fair: str | None, favourable: Any, partly: bool = False
) -> Rows:
    """Audited rows with coded labels; ``fair`` is None where no row was audited, and ``partly`` missing in some."""
    roles = Roles(recorded, None, fair, favourable=favourable)
    return Rows.from_table(frame, roles, belief, audited=True, partly=partly)


def by_feature(columns: Mapping[str, str] | Sequence[str], features: Sequence[str], role: str) -> dict[str, str]:
    """The column of each feature, from a mapping or a sequence in their order."""
    if isinstance(columns, Mapping):
        missing = [feature for feature in features if feature not in columns]
        if missing:
            raise P4FError(f"the {role} column of feature {missing[0]!r} is missing")
        return dict(columns)
    columns = [columns] if isinstance(columns, str) else list(columns)
    if len(columns) != len(features):
        raise P4FError(f"{role} names {len(columns)} columns for {len(features)} features")
    return dict(zip(features, columns, strict=True))
