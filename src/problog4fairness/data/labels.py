"""Labels: which values there are, which one is favourable, and the class of each row as a code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness.data.problems import TableError, listed, note
from problog4fairness.data.values import Codes, Value, conventional, match, plain, text_of, values_of
from problog4fairness.errors import P4FError

# A label with more values than this is a measurement.
MAX_CLASSES = 20
# Parts of a label's name that say that 1 is the unfavourable outcome.
_UNFAVOURABLE = re.compile(
    r"default|recid|reoffen|fraud|den(?:y|ied|ial)|reject|refus|readmi|re_?arrest|arrest|churn|dropout|drop_out"
    r"|delinquen|bankrup|(?:^|_)(?:died|death|dead|mortality|bad|fail(?:ed|ure)?|guilty|convict\w*|violat\w*)(?:_|$)",
    re.IGNORECASE,
)


def is_unfavourable(name: object) -> bool:
    """Whether the name of a label says that 1 is bad: ``two_year_recid``, ``default``, ``is_fraud``."""
    return isinstance(name, str) and _UNFAVOURABLE.search(name) is not None


def ordered_pair(values: Sequence[Any], name: object = None) -> tuple[Any, Any]:
    """(unfavourable, favourable) of two labels of which nobody stated which is which: the one rule for everybody.

    0 and 1, false and true speak for themselves, unless the name of the label says that 1 is bad. Any other labels,
    and more than two, are an error that lists them; nothing is taken by alphabet.
    """
    label = f"column {name!r} of the label" if isinstance(name, str) else "the label"
    usual = conventional(values)
    if usual is None or text_of(usual[1]) not in ("1", "true"):
        shown, reason = values, "state"
    elif is_unfavourable(name):
        shown, reason = usual, f"and its name says that {usual[1]!r} may be the unfavourable one; state"
    else:
        return usual
    raise TableError(
        f"{label} has the values {listed(shown)}; {reason} which one is favourable by favourable=..., or in the belief",
        argument="favourable",
    )


def find_classes(
    labels: Any, favourable: Any = None, name: object = None, *, ordered: bool = True, audited: bool = False
) -> tuple[Any, ...]:
    """The classes of labels, the favourable one last.

    Parameters
    ----------
    labels
        ``[rows]``, without missing ones.
    favourable
        The favourable one, where it was stated; :func:`ordered_pair` says what holds otherwise.
    name
        The name of their column, where there is one.
    ordered
        Whether the order matters, so that it must be known; otherwise the classes are sorted, as in scikit-learn.
    audited
        Whether they are of audited rows alone, in which one of two labels may be lacking.
    """
    if audited:
        return _audited_classes(list(dict.fromkeys(np.asarray(labels).tolist())), favourable, name)
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
    if not ordered:
        return tuple(classes)
    values = [plain(value) for value in classes.tolist()]
    first = ordered_pair(values, name)[0]
    return tuple(classes) if first == values[0] else tuple(classes[::-1])


def _audited_classes(labels: Sequence[Any], favourable: Any, name: object) -> tuple[Any, Any]:
    values = sorted(labels, key=str)
    if favourable is None:
        pair = ordered_pair([plain(label) for label in values], name)
        return (0, 1) if set(values) <= {0, 1} else pair
    others = [label for label in values if label != favourable]
    if len(others) > 1:
        raise P4FError(f"the label has the values {values}; it must have two, or be a ClassBias that names its classes")
    return (others[0] if others else None), favourable


def label_codes(labels: Any, classes: Sequence[Any], name: str = "y", missing: bool = False) -> Codes:
    """The class of each row by its position among ``classes``; -1 where it is missing, if that is allowed.

    ``name`` says in errors what the labels are.
    """
    # As one array, texts and numbers would all be texts.
    mixed = missing or isinstance(labels, list | tuple)
    codes, values = pd.factorize(np.asarray(labels, dtype=object) if mixed else np.asarray(labels))
    place = {v.item() if isinstance(v, np.generic) else v: number for number, v in enumerate(classes)}
    for value in np.asarray(values).tolist():
        if value not in place:
            known = ", ".join(map(repr, place))
            raise P4FError(f"{name} has the label {value!r}, which is not among {known}")
    if not missing and (codes < 0).any():
        raise P4FError(f"{name} has {int((codes < 0).sum())} missing values; drop those rows")
    places: Codes = np.array([*(place[value] for value in np.asarray(values).tolist()), -1], dtype=np.int64)
    return np.asarray(places[codes])


def majority(codes: Codes, classes: int) -> Codes:
    """The class that most of ``[rows, votes]`` name; -1 where there is a tie, and where all votes are missing (-1)."""
    counts = np.stack([(codes == number).sum(axis=1) for number in range(classes)], axis=1)
    most = counts.max(axis=1, keepdims=True)
    sole = (counts == most).sum(axis=1) == 1
    return np.where(sole & (most[:, 0] > 0), counts.argmax(axis=1), -1)


def find_labels(
    frame: pd.DataFrame, recorded: str, fair: str | None = None, favourable: object = None
) -> tuple[tuple[Value, ...], tuple[Value, ...] | None]:
    """The labels as the recorded column writes them, and as the fair one does; the favourable one is the last."""
    first = _label_values(frame, recorded, "recorded")
    if fair is None:
        return _ordered_labels(recorded, first, favourable), None
    second = _label_values(frame, fair, "fair")
    both = list(dict.fromkeys([*first, *second]))
    many = len(first) > 2
    if len(second) > 2 and not many:
        raise TableError(
            f"column {fair!r} of the fair label has {len(second)} values ({listed(second, 6)}), {recorded!r} has "
            f"{len(first)}: recode the others, or leave their rows out"
        )
    if many and not set(first) & set(second):
        raise TableError(
            f"columns {recorded!r} ({listed(first, 6)}) and {fair!r} ({listed(second, 6)}) have no label in common; "
            "write both labels in one way"
        )
    if many or len(both) <= 2:
        labels = _ordered_labels(recorded, both, favourable)
        return labels, labels
    # The two columns write the same thing in two ways: what was stated may be about either of them.
    in_first, in_second = _means(favourable, first), _means(favourable, second)
    unclear = (not in_first and conventional(first) is None) or (not in_second and conventional(second) is None)
    if favourable is not None and (unclear or not (in_first or in_second)):
        raise TableError(
            f"favourable={str(favourable)!r} does not say which value is favourable in both {recorded!r} "
            f"({listed(first)}) and {fair!r} ({listed(second)}); write both labels in one way"
        )
    labels = _label_pair(recorded, first, favourable if in_first else None)
    if in_second:
        return labels, _label_pair(fair, second, favourable)
    if _means(labels[-1], second) and not is_unfavourable(fair):
        # The order of the recorded label is known by now, and the fair one means the same: no and yes beside 0 and 1.
        follows = _label_pair(fair, second, labels[-1])
        note(f"{fair}: {follows[1]} is favourable, as {labels[-1]} of {recorded} is; override with favourable=...")
        return labels, follows
    return labels, _label_pair(fair, second, None)


def _means(favourable: object, values: Sequence[Value]) -> bool:
    """Whether what was stated is one of these values, or the other one of a usual pair."""
    if favourable is None:
        return False
    try:
        match(favourable, conventional(values) or values, "", "favourable")
    except TableError:
        return False
    return True


def _label_values(frame: pd.DataFrame, name: str, role: str) -> list[Value]:
    values = values_of(frame[name])
    if not values:
        raise TableError(f"column {name!r} of the {role} label holds no value")
    if len(values) > MAX_CLASSES:
        raise TableError(
            f"column {name!r} of the {role} label has {len(values)} values ({listed(values, 6)}); a label has two, or "
            f"{MAX_CLASSES} at most: make classes of them"
        )
    return values


def _ordered_labels(name: str, values: Sequence[Value], favourable: object) -> tuple[Value, ...]:
    """The labels of a column, the favourable one last."""
    if len(values) <= 2:
        return _label_pair(name, values, favourable)
    if favourable is None:
        raise TableError(
            f"column {name!r} of the recorded label has {len(values)} values ({listed(values, 6)}); say which one is "
            "favourable by favourable=..., or recode the others where there should be two",
            argument="favourable",
        )
    good = match(favourable, values, name, "favourable")
    note(f"{name}: there are {len(values)} classes, {listed(values)}; {good!r} is the favourable one")
    return (*(value for value in values if value != good), good)


def _label_pair(name: str, values: Sequence[Value], favourable: object) -> tuple[Value, Value]:
    usual = conventional(values)
    if len(values) == 1 and usual is None:
        raise TableError(f"column {name!r} of the label has one value only ({values[0]!r})")
    if favourable is not None:
        pair = usual if len(values) == 1 and usual is not None else tuple(values)
        good = match(favourable, pair, name, "favourable")
        return next(value for value in pair if value != good), good
    pair = ordered_pair(values, name)
    note(f"{name}: {pair[1]} is favourable, {pair[0]} is not; override with favourable=...")
    return pair
