"""Labels as codes: which classes there are, and which class each row has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.errors import P4FError
from problog4fairness.rows.types import Codes


def find_classes(labels: Any, favourable: Any = None) -> tuple[Any, ...]:
    """The classes of recorded labels, the favourable one last, which is the largest one by default."""
    classes = np.unique(np.asarray(labels))
    if not len(classes):
        raise P4FError("y has no label; a classifier needs rows of two or more classes")
    if len(classes) < 2:
        raise P4FError(f"y has one class only ({classes.tolist()[0]!r}); a classifier needs two or more")
    if favourable is not None:
        if favourable not in classes:
            count = "two" if len(classes) == 2 else len(classes)
            raise P4FError(f"favourable={favourable!r} is not one of {count} labels {classes.tolist()}")
        return (*classes[classes != favourable], *classes[classes == favourable])
    return tuple(classes)


def label_codes(
    labels: Any,
    classes: Sequence[Any],
    name: str = "y",
    missing: bool = False,
    unknown: str = "training did not see; it saw",
) -> Codes:
    """The class of each row by its position among ``classes``.

    Parameters
    ----------
    labels
        ``[rows]``.
    classes
        The classes that are known.
    name
        What the labels are called in errors.
    missing
        Whether a missing label is allowed; its code is -1.
    unknown
        What the error says of a label that is not among the classes, before it lists them.
    """
    codes, found = pd.factorize(np.asarray(labels, dtype=object) if missing else np.asarray(labels))
    place = {value: number for number, value in enumerate(np.asarray(classes).tolist())}
    for value in np.asarray(found).tolist():
        if value not in place:
            known = ", ".join(map(repr, place))
            raise P4FError(f"{name} has the label {value!r}, which {unknown} {known}")
    if not missing and (codes < 0).any():
        raise P4FError(f"{name} has {int((codes < 0).sum())} missing values; drop those rows")
    places: Codes = np.array([*(place[value] for value in np.asarray(found).tolist()), -1], dtype=np.int64)
    return np.asarray(places[codes])


def majority(codes: Codes, classes: int) -> Codes:
    """The class that most of ``[rows, votes]`` name; -1 where there is a tie, and where all votes are missing (-1)."""
    counts = np.stack([(codes == number).sum(axis=1) for number in range(classes)], axis=1)
    most = counts.max(axis=1, keepdims=True)
    sole = (counts == most).sum(axis=1) == 1
    return np.where(sole & (most[:, 0] > 0), counts.argmax(axis=1), -1)
