"""Predictions beside what they are judged by, coded once: what every metric is a function of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from problog4fairness.errors import P4FError
from problog4fairness.metrics.decisions import decide
from problog4fairness.metrics.inputs import Bools, Codes, Floats, groups, in_sensitive_group, labels, plain, weights
from problog4fairness.statistics import Estimate, proportion

if TYPE_CHECKING:
    from problog4fairness.audit import Audit

# What a metric looks at beside the predictions: true labels, any number of groups, or which of two is sensitive.
Need: TypeAlias = Literal["labels", "groups", "sensitive group"]


@dataclass(frozen=True, eq=False)
class Judged:
    """Predictions and what they are judged by.

    Attributes
    ----------
    label
        ``[rows]``: the true label, 0 or 1.
    decision
        ``[rows]``: the decision, 0 or 1; between them where it is drawn by lot.
    chance
        ``[rows]``: P(label = 1) as predicted; the decision where nothing else is known.
    groups
        ``[rows]``: the group, 0, 1, ...; of two, 1 is the sensitive one.
    count
        How many groups there are.
    weights
        ``[rows]``: how much each row counts.
    right
        ``[rows]``: how far the decision is the true class, of more than two classes; None for two, where ``label`` and
        ``decision`` say it. Then these are about the favourable class against all others.
    audit
        The sampling design of the rows, where they are audited rows; None where all count as independent.
    """

    label: Floats
    decision: Floats
    chance: Floats
    groups: Codes
    count: int
    weights: Floats
    right: Floats | None = None
    audit: Audit | None = None

    def __len__(self) -> int:
        return len(self.label)

    @classmethod
    def of(cls, label: Any, chance: Any, group: Any, randomised: bool = False, audit: Audit | None = None) -> Judged:
        """From codes that are known to be sound, as :func:`~problog4fairness.metrics.scores` takes them."""
        label, chance = (np.asarray(values, dtype=np.float64) for values in (label, chance))
        group = np.asarray(group, dtype=np.int64)
        weights = np.ones(len(label)) if audit is None else audit.weights
        count, right = int(max(group.max(initial=0), 1)) + 1, None
        if chance.ndim == 2:
            favourable = chance.shape[1] - 1
            decided = chance if randomised else np.eye(favourable + 1)[decide(chance)]
            right = decided[np.arange(len(label)), label.astype(np.int64)]
            label, decision, chance = (label == favourable).astype(np.float64), decided[:, -1], chance[:, -1]
        else:
            decision = chance if randomised else decide(chance).astype(np.float64)
        return cls(label, decision, chance, group, count, weights, right, audit)

    def mean(self, values: Floats) -> float:
        """The mean over all rows; NaN where there are none."""
        return float(np.average(values, weights=self.weights)) if self.weights.any() else float("nan")

    def estimate(self, values: Floats, where: Bools | None, confidence: float) -> Estimate:
        """The mean over the rows ``where``, with an interval: by the sampling design, or else Wilson's."""
        if self.audit is not None:
            return self.audit.mean(values, where, confidence)
        chosen = values if where is None else values[where]
        return proportion(int(chosen.sum()), len(chosen), confidence)

    def group_means(self, values: Floats, where: Bools | None = None) -> Floats:
        """``[groups]``: the mean in each group, over the rows ``where`` only; NaN where there are none."""
        weight = self.weights if where is None else self.weights * where
        total = np.bincount(self.groups, weights=weight, minlength=self.count)
        summed = np.bincount(self.groups, weights=weight * values, minlength=self.count)
        with np.errstate(invalid="ignore"):
            return np.asarray(summed / total)


def judged(
    y_true: Any,
    y_pred: Any,
    *,
    y_prob: Any = None,
    sensitive_features: Any = None,
    levels: Sequence[Any] = (0, 1),
    favourable: Any = None,
    sample_weight: Any = None,
    needs: tuple[Need, ...] = ("labels",),
    name: str = "this metric",
) -> Judged:
    """From what a user has; an error where a metric would rest on rows that are not there.

    Parameters
    ----------
    y_true, y_pred
        Labels 0 and 1, or two other labels of which ``favourable`` names the good one; ``y_true`` may be None where
        true labels are not needed.
    y_prob
        P(label = 1), in place of ``y_pred``, coded already.
    sensitive_features
        The group of each row; of several columns each combination that occurs is a group.
    levels
        The other group and the sensitive one, where that matters.
    favourable
        The label that counts as 1.
    sample_weight
        Weight of each row.
    needs
        What the metric looks at.
    name
        What the metric is called.
    """
    if y_prob is not None:
        decision = label = y_prob
    elif "labels" in needs:
        label, decision = (found.astype(np.float64) for found in labels(favourable, y_true=y_true, y_pred=y_pred))
    else:
        decision = label = labels(favourable, y_pred=y_pred)[0].astype(np.float64)
    weight = weights(sample_weight, len(decision))
    if "sensitive group" in needs:
        codes, names = in_sensitive_group(sensitive_features, len(decision), levels).astype(np.int64), list(levels)
    elif "groups" in needs:
        by = groups(sensitive_features, len(decision))
        codes, names = by.codes, list(by.names)
        if len(names) < 2:
            raise P4FError(f"sensitive_features have one group; {name} compares two or more")
    else:
        codes, names = np.zeros(len(decision), dtype=np.int64), [0]
    found = Judged(label, decision, decision, codes, len(names), weight)
    _require_rows(found, names, "labels" in needs and len(names) > 1)
    return found


def _require_rows(found: Judged, names: Sequence[Any], by_label: bool) -> None:
    total = np.bincount(found.groups, weights=found.weights, minlength=found.count)
    for group, name in enumerate(names):
        if not total[group]:
            raise P4FError(f"sample_weight is 0 in every row of the group {plain(name)!r}")
        if not by_label:
            continue
        own = (found.groups == group) & (found.weights > 0)
        if len(np.unique(found.label[own])) < 2:
            raise P4FError(
                f"the group {plain(name)!r} lacks rows of one true label, so a rate of its odds is unknown; "
                "test on more rows"
            )
