"""Labels as codes: which classes there are, and which class each row has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.data.problems import TableError, listed
from problog4fairness.data.types import Codes
from problog4fairness.data.values import conventional, plain, text_of
from problog4fairness.errors import P4FError

# Parts of a label's name that say that 1 is the unfavourable outcome.
_UNFAVOURABLE = re.compile(
    r"default|recid|reoffen|fraud|den(?:y|ied|ial)|reject|refus|readmi|re_?arrest|arrest|churn|dropout|drop_out"
    r"|delinquen|bankrup|(?:^|_)(?:died|death|dead|mortality|bad|fail(?:ed|ure)?|guilty|convict\w*|violat\w*)(?:_|$)",
    re.IGNORECASE,
)


def is_unfavourable(name: object) -> bool:
    """Whether the name of a label says that 1 is bad: ``two_year_recid``, ``default``, ``is_fraud``.

    Parameters
    ----------
    name
        Of the column of the label; anything but a text says nothing.
    """
    return isinstance(name, str) and _UNFAVOURABLE.search(name) is not None


def ordered_pair(values: Sequence[Any], name: object = None) -> tuple[Any, Any]:
    """(unfavourable, favourable) of two labels of which nobody stated which is which: the one rule for everybody.

    0 and 1, false and true speak for themselves, unless the name of the label says that 1 is bad. Any other labels,
    and more than two, are an error that lists them; nothing is taken by alphabet.

    Parameters
    ----------
    values
        The labels that occur, one or more.
    name
        The name of their column, where there is one.
    """
    label = f"column {name!r} of the label" if isinstance(name, str) else "the label"
    usual = conventional(values)
    if usual is None or text_of(usual[1]) not in ("1", "true"):
        raise TableError(
            f"{label} has the values {listed(values)}; state which one is favourable by favourable=..., or in the "
            "belief",
            argument="favourable",
        )
    if is_unfavourable(name):
        raise TableError(
            f"{label} has the values {listed(usual)}, and its name says that {usual[1]!r} may be the unfavourable one; "
            "state which one is favourable by favourable=..., or in the belief",
            argument="favourable",
        )
    return usual


def find_classes(labels: Any, favourable: Any = None, name: object = None, stated: bool = True) -> tuple[Any, ...]:
    """The classes of recorded labels, the favourable one last.

    Parameters
    ----------
    labels
        ``[rows]``.
    favourable
        The favourable one, where it was stated; :func:`ordered_pair` says what holds otherwise.
    name
        The name of their column, where there is one.
    stated
        Whether the order matters, so that it must be known; otherwise the classes are sorted, as in scikit-learn.
    """
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
    if not stated:
        return tuple(classes)
    values = [plain(value) for value in classes.tolist()]
    first = ordered_pair(values, name)[0]
    return tuple(classes) if first == values[0] else tuple(classes[::-1])


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
