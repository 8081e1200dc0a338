"""Massaging labels (Kamiran and Calders, 2009): which of them to change so that both groups fare alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from problog4fairness.errors import P4FError

Array = np.ndarray[Any, np.dtype[Any]]


def flips_needed(labels: ArrayLike, sensitive: ArrayLike) -> int:
    """How many labels to promote in the sensitive group, and as many to demote in the other one.

    With n people and k positive labels, M promotions and M demotions leave the discrimination

    (k_other - M) / n_other - (k_sensitive + M) / n_sensitive,

    which is 0 at M = (k_other n_sensitive - k_sensitive n_other) / n. The nearest whole number is returned, the
    smaller one of two that are equally near; 0 where the sensitive group is not behind.

    Parameters
    ----------
    labels
        1 for the favourable label, 0 for the other one.
    sensitive
        1 for the sensitive group, 0 for the other one.

    Examples
    --------
    >>> flips_needed([1, 1, 1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1])
    1
    """
    positive, group = _binary("labels", labels), _binary("sensitive", sensitive)
    if len(positive) != len(group):
        raise P4FError(f"there are {len(positive)} labels, but {len(group)} values of sensitive")
    people = len(group)
    members = int(group.sum())
    for code, size in enumerate((people - members, members)):
        if size == 0:
            raise P4FError(f"no row has sensitive = {code}; both groups must occur")
    behind = int((positive & ~group).sum()) * members - int((positive & group).sum()) * (people - members)
    # Whole numbers throughout: the nearest one to behind / people, halves down.
    return max(0, -((people - 2 * behind) // (2 * people)))


def massage(labels: ArrayLike, scores: ArrayLike, sensitive: ArrayLike, rng: np.random.Generator) -> Array:
    """Labels after promoting the best of the sensitive group and demoting the worst of the other one.

    Exactly :func:`flips_needed` labels of each group change, also where scores tie: then chance decides who.

    Parameters
    ----------
    labels
        1 for the favourable label, 0 for the other one.
    scores
        A ranking of the rows: the higher, the more deserving of the favourable label.
    sensitive
        1 for the sensitive group, 0 for the other one.
    rng
        Where the order of rows with equal scores comes from.

    Examples
    --------
    >>> labels, sensitive = [1, 1, 1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> massage(labels, [0.9, 0.8, 0.6, 0.1, 0.7, 0.2, 0.5, 0.3], sensitive, np.random.default_rng(0)).tolist()
    [1, 1, 0, 0, 1, 0, 1, 0]
    """
    pairs = flips_needed(labels, sensitive)
    positive, group = _binary("labels", labels), _binary("sensitive", sensitive)
    ranking = np.asarray(scores, dtype=np.float64)
    if ranking.shape != positive.shape:
        raise P4FError(f"there are {len(positive)} labels, but scores of the shape {list(ranking.shape)}")
    if np.isnan(ranking).any():
        raise P4FError(f"{int(np.isnan(ranking).sum())} scores are not numbers")
    worst_first = np.lexsort((rng.permutation(len(ranking)), ranking))
    candidates = worst_first[(group & ~positive)[worst_first]]
    holders = worst_first[(~group & positive)[worst_first]]
    massaged = np.array(labels)
    massaged[candidates[len(candidates) - pairs :]] = 1
    massaged[holders[:pairs]] = 0
    return massaged


def _binary(name: str, values: ArrayLike) -> np.ndarray[Any, np.dtype[np.bool_]]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise P4FError(f"{name} must be one column, not the shape {list(array.shape)}")
    other = array[~np.isin(array, (0, 1))]
    if len(other):
        raise P4FError(f"{name} must be 0 or 1, not {other.tolist()[0]!r}")
    return array.astype(bool)
