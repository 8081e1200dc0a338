"""What the metrics accept, the rule that decides, and predictions beside what they are judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.data import Codes, Floats, has_others
from problog4fairness.errors import P4FError, ShapeError
from problog4fairness.statistics import Estimate, proportion

if TYPE_CHECKING:
    from problog4fairness.audit import Audit

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
# What a metric looks at beside the predictions: true labels, any number of groups, or which of two is sensitive.
Need: TypeAlias = Literal["labels", "groups", "sensitive group"]


def decide(probability: Any, threshold: float = 0.5) -> Codes:
    """The label that is decided for, by its position among the labels; the favourable one is the last.

    The one rule that predictions, files, reports, comparisons and metrics share. Of two labels the favourable one is
    decided where its probability is at least the threshold, so that P = 0.5 is decided favourably. Of more than two the
    likeliest is decided, of equally likely ones the last.

    Parameters
    ----------
    probability
        ``[rows]``: P(favourable) of two labels; or ``[rows, classes]`` such as ``predict_proba`` gives.
    threshold
        From which probability on the favourable one of two labels is decided; without meaning for more than two.

    Examples
    --------
    >>> from problog4fairness.metrics import decide
    >>> decide([0.2, 0.5, 0.8]).tolist(), decide([0.2, 0.5, 0.8], threshold=0.6).tolist()
    ([0, 1, 1], [0, 0, 1])
    >>> decide([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]]).tolist()
    [1, 2]
    """
    chances = np.asarray(probability)
    if chances.ndim == 2 and chances.shape[1] > 2:
        last = chances.shape[1] - 1
        return np.asarray(last - chances[:, ::-1].argmax(axis=1), dtype=np.int64)
    favourable = chances[:, 1] if chances.ndim == 2 else chances
    return np.asarray(favourable >= threshold, dtype=np.int64)


def selected(probability: Any, threshold: float = 0.5) -> Floats:
    """1 for each row that :func:`decide` decides favourably, 0 for the others: selection rates are means of it."""
    chances = np.asarray(probability)
    favourable = chances.shape[1] - 1 if chances.ndim == 2 else 1
    return np.asarray(decide(chances, threshold) == favourable, dtype=np.float64)


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
    groups: Sequence[Any] = (0, 1),
    favourable: Any = None,
    sample_weight: Any = None,
    needs: tuple[Need, ...] = ("labels",),
    name: str = "this metric",
) -> Judged:
    """From what a user has; an error where a metric would rest on rows that are not there.

    Parameters are those of :func:`~problog4fairness.metrics.interval`, ``y_prob`` for P(label = 1) in place of
    ``y_pred``, and what a metric of this name needs.
    """
    if y_prob is not None:
        decision = label = y_prob
    elif "labels" in needs:
        label, decision = (codes.astype(np.float64) for codes in labels(favourable, y_true=y_true, y_pred=y_pred))
    else:
        decision = label = labels(favourable, y_pred=y_pred)[0].astype(np.float64)
    weight = weights(sample_weight, len(decision))
    codes, names = np.zeros(len(decision), dtype=np.int64), [0]
    if "sensitive group" in needs:
        codes, names = in_sensitive_group(sensitive_features, len(decision), groups), list(groups)
    elif "groups" in needs:
        codes, index = group_codes(sensitive_features, len(decision))
        names = list(index)
        if len(names) < 2:
            raise P4FError(f"sensitive_features have one group; {name} compares two or more")
    rows = Judged(label, decision, decision, codes, len(names), weight)
    _require_rows(rows, names, "labels" in needs and len(names) > 1)
    return rows


def _require_rows(rows: Judged, names: Sequence[Any], by_label: bool) -> None:
    for group, name in enumerate(names):
        weighted = (rows.groups == group) & (rows.weights > 0)
        if not weighted.any():
            raise P4FError(f"sample_weight is 0 in every row of the group {plain(name)!r}")
        if by_label and len(np.unique(rows.label[weighted])) < 2:
            raise P4FError(
                f"the group {plain(name)!r} lacks rows of one true label, so a rate of its odds is unknown; "
                "test on more rows"
            )


def column(values: Any, name: str) -> Array:
    """One value per row, none of them missing; text as objects, so that it compares with anything."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ShapeError(f"{name} must hold one value per row, not lists of different lengths") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ShapeError(f"{name} must be one column, not of shape {array.shape}")
    if not len(array):
        raise ShapeError(f"{name} has no rows")
    missing = int(pd.isna(array).sum())
    if missing:
        raise P4FError(f"{name} has {missing} missing value{'s' if missing > 1 else ''}; drop those rows")
    return array.astype(object) if array.dtype.kind in "US" else array


def numbers(values: Any, name: str, wanted: str) -> Floats:
    """One number per row; ``wanted`` says of which kind."""
    array = column(values, name)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        texts = np.flatnonzero(pd.to_numeric(pd.Series(array), errors="coerce").isna())
        wrong = plain(array[texts[0] if len(texts) else 0])
        raise P4FError(f"{name} has the value {wrong!r}; it must hold {wanted}") from None


def same_length(**columns: Any) -> None:
    """Check that all columns that are given have as many rows as the first."""
    (first, reference), *others = columns.items()
    for name, values in others:
        if values is not None and len(values) != len(reference):
            raise ShapeError(f"{name} has {len(values)} rows, {first} has {len(reference)}")


def labels(favourable: Any = None, **columns: Any) -> list[Bools]:
    """Where each column holds the favourable label: 1, or ``favourable`` with one other label beside it."""
    favoured: list[Bools] = []
    others: set[Any] = set()
    for name, values in columns.items():
        array = column(values, name)
        if isinstance(favourable, str):
            array = array.astype(object)  # numbers do not compare with text, objects do
        good = np.asarray(array == (1 if favourable is None else favourable), dtype=bool)
        rest = array[~good]
        strange = rest[np.asarray(rest != 0, dtype=bool)] if favourable is None else []
        if len(strange):
            raise P4FError(
                f"{name} has the label {plain(strange[0])!r}; labels are 0 and 1, "
                "or name the favourable one by favourable=..."
            )
        others.update(plain(value) for value in pd.unique(rest))
        favoured.append(good)
    if len(others) > 1:
        listed = ", ".join(sorted(map(repr, others))[:5])
        raise P4FError(f"beside the favourable label {favourable!r} there are {listed}; there can be one other label")
    same_length(**dict(zip(columns, favoured, strict=True)))
    return favoured


def probabilities(values: Any, name: str) -> Floats:
    """Numbers between 0 and 1, one per row."""
    if _is_wide(values):
        raise ShapeError(f"{name} must be P(y=1), one column, not of shape {np.shape(values)}: predict_proba(X)[:, 1]")
    array = numbers(values, name, "P(y=1) or labels 0 and 1")
    outside = array[(array < 0) | (array > 1)]
    if len(outside):
        raise P4FError(f"{name} has the value {outside[0]:g}, which is not between 0 and 1")
    return array


def weights(sample_weight: Any, rows: int) -> Floats:
    """The weight of each row, 1 where none are given."""
    if sample_weight is None:
        return np.ones(rows)
    array = numbers(sample_weight, "sample_weight", "numbers")
    if len(array) != rows:
        raise ShapeError(f"sample_weight has {len(array)} rows, the labels have {rows}")
    wrong = array[~(np.isfinite(array) & (array >= 0))]
    if len(wrong):
        raise P4FError(f"sample_weight has the value {wrong[0]:g}; weights are finite and not negative")
    if not array.any():
        raise P4FError("sample_weight is 0 in every row")
    return array


def group_codes(sensitive_features: Any, rows: int) -> tuple[Codes, pd.Index]:
    """The group of each row by its place among the sorted ones; of several columns each combination is a group."""
    if _is_wide(sensitive_features):
        known = isinstance(sensitive_features, pd.DataFrame)
        frame = sensitive_features if known else pd.DataFrame(np.asarray(sensitive_features))
        parts = [column(frame.iloc[:, i], f"sensitive_features column {n!r}") for i, n in enumerate(frame.columns)]
        values: Any = pd.MultiIndex.from_arrays(parts, names=list(frame.columns))
    else:
        values = pd.Index(column(sensitive_features, "sensitive_features"))
    if len(values) != rows:
        raise ShapeError(f"sensitive_features have {len(values)} rows, the labels have {rows}")
    try:
        codes, names = values.factorize(sort=True)
    except TypeError:  # groups of different types have no order
        codes, names = values.factorize()
    return codes.astype(np.int64), names.set_names(values.names)


def in_sensitive_group(sensitive_features: Any, rows: int, groups: Sequence[Any]) -> Codes:
    """A in each row, 0 or 1, where ``groups`` names the other group and then the sensitive one."""
    if isinstance(groups, str) or len(groups) != 2 or groups[0] == groups[1]:
        raise P4FError(f"groups must be two different ones, (other, sensitive), not {groups!r}")
    codes, index = group_codes(sensitive_features, rows)
    names = [plain(name) for name in index]
    if has_others(groups):
        names = [name if name in groups else groups[0] for name in names]
    for name in names:
        if name not in groups:
            count = f"{len(names)} group{'s' if len(names) > 1 else ''}"
            raise P4FError(
                f"sensitive_features have {count}, and {name!r} is not among the groups {tuple(groups)!r}; "
                "drop its rows, or name two groups by groups=(other, sensitive)"
            )
    for group, role in zip(groups, ("other", "sensitive"), strict=True):
        if group not in names:
            raise P4FError(f"no row is of the {role} group {group!r}; a disparity needs rows of both groups")
    return np.asarray([int(name == groups[1]) for name in names])[codes]


def plain(value: Any) -> Any:
    """A value as Python writes it: 2, not np.int64(2)."""
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    return value.item() if isinstance(value, np.generic) else value


def _is_wide(values: Any) -> bool:
    """Whether there are several columns."""
    try:
        shape = np.shape(values)
    except ValueError:  # lists of different lengths; `column` tells
        return False
    return len(shape) == 2 and shape[1] > 1
