"""What can be wrong with a table, and what a reader decided by itself and says so."""

from __future__ import annotations

import warnings

from problog4fairness.errors import P4FError, one_line


class TableError(P4FError):
    """A table that cannot be used: not there, damaged, or without the columns and values that were asked for.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> try:
    ...     p4f.data.read_table("nowhere.csv")
    ... except p4f.data.TableError as error:
    ...     print("nowhere.csv" in str(error))
    True
    """


class FileWarning(UserWarning):
    """Something in a table that may not be what its owner thinks; ``p4f`` prints it as ``warning: ...``.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> from problog4fairness.data import feature_columns
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = feature_columns(pd.DataFrame({"income": [1, 2, 2], "country": ["be", "be", "be"]}))
    >>> print(caught[0].message)
    column 'country' has one value only and was left out
    """

    prefix = "warning"


class FileNote(FileWarning):
    """A convention that was taken and could have been another; ``p4f`` prints it as ``note: ...``.

    Examples
    --------
    >>> from problog4fairness.data import FileNote, FileWarning
    >>> issubclass(FileNote, FileWarning), FileNote.prefix
    (True, 'note')
    """

    prefix = "note"


class GroupUseNote(FileNote):
    """Whether a model uses the group, where nobody stated it."""


def warn(message: str) -> None:
    """Warn the caller of the function that calls this."""
    warnings.warn(FileWarning(one_line(message)), stacklevel=3)


def note(message: str) -> None:
    """Tell the caller of the function that calls this which convention was taken."""
    warnings.warn(FileNote(one_line(message)), stacklevel=3)


def reason_of(error: Exception) -> str:
    """An error in words; of one that the system raised for a file, ``file: reason``."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def listed(values: object, at_most: int = 20) -> str:
    """``'a', 'b', 'c' and 12 more``."""
    texts = [repr(value) for value in values]  # type: ignore[attr-defined]
    more = f" and {len(texts) - at_most} more" if len(texts) > at_most else ""
    return ", ".join(texts[:at_most]) + more
