"""What the audit and the rows leave open around each value of a sensitivity analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from problog4fairness.data import Rows
from problog4fairness.estimators import draw
from problog4fairness.robustness.bands import bands_of
from problog4fairness.robustness.bands_result import DISPARITY
from problog4fairness.robustness.sensitivity_result import ACCURACY

if TYPE_CHECKING:
    from problog4fairness.estimators import DebiasedClassifier

# Fewer audited rows than this have no accuracy to speak of.
FEW = 10


def band_ends(
    model: DebiasedClassifier, rows: Rows, audited: Rows | None, count: int, progress: bool | None
) -> dict[str, tuple[float, float]]:
    """For each metric how far its 95% band goes below and above the model's own number.

    Measured with all parameters drawn, and taken along to the other values; so it is rather too wide than too narrow.

    Parameters
    ----------
    model, rows, audited
        The model, recorded rows to fit again on, and rows with the fair label in the place of the recorded one.
    count
        How many draws.
    progress
        As for :meth:`Learner.fit_many`.
    """
    draws = draw(model, rows, count, model.seed_, progress)
    own = bands_of(model, rows, draws, own=True, random_state=model.seed_)
    found = {}
    for row in own[DISPARITY].to_dict("records"):
        name = f"{DISPARITY} by {row['group']}" if row["group"] else DISPARITY
        found[name] = row["low"] - row["value"], row["high"] - row["value"]
    if audited is not None and len(audited) >= FEW:
        known = replace(audited, fair=audited.recorded)
        (row,) = bands_of(model, known, draws, own=False, random_state=model.seed_)[ACCURACY].to_dict("records")
        found[ACCURACY] = row["low"] - row["value"], row["high"] - row["value"]
    return {name: (min(0.0, low), max(0.0, high)) for name, (low, high) in found.items()}
