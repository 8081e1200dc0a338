"""Reading tables as they come: CSV in its many forms, and Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from problog4fairness.data.io.delimited import Delimited
from problog4fairness.data.io.parquet import read_parquet
from problog4fairness.data.io.sniffing import spoken_delimiter
from problog4fairness.data.io.source import Source, errors_of
from problog4fairness.data.io.writing import STANDARD
from problog4fairness.data.problems import listed, note, warn

if TYPE_CHECKING:
    import pandas as pd

WIDE = 50


def read_table(
    source: str | PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    texts: Sequence[str] = (),
    verbatim: bool = False,
) -> pd.DataFrame:
    r"""Read a table from a file: CSV, also packed by gzip, or Parquet.

    How a CSV file is written is found in its first mebibyte: the delimiter (comma, semicolon, tab or bar), the encoding
    (UTF-8, UTF-16 with a byte order mark; otherwise Windows-1252, with a warning), decimal commas (with a note).
    Missing values are those of :func:`pandas.read_csv`: nothing, ``NA``, ``N/A``, ``NaN``, ``None``, ``null`` and a few
    more; a category of such a name must be called otherwise.

    Parameters
    ----------
    source
        A file, or ``-`` for standard input.
    delimiter
        The character between values, where it is not found by itself; ``tab`` says what it means.
    encoding
        Such as ``utf-8``, ``cp1252`` or ``utf-16``.
    decimal
        The decimal sign, ``.`` or ``,``.
    texts
        Columns of a CSV file that are texts even where this file has nothing but numbers in them, such as ``007``.
    verbatim
        Whether all values of a CSV file are texts as they stand there, ``NA`` and empty ones too, to be written again.

    Returns
    -------
    pandas.DataFrame
        With the names of the header as columns, and rows 0, 1, 2, ...

    Raises
    ------
    TableError
        In one line: no such file, a folder, an empty file, a header without rows, one column only, duplicated names,
        a row with more or fewer values than the header, binary data, a NUL character anywhere, a damaged Parquet file,
        a packed CSV or Parquet file that unpacks to more than half of the memory that is free, or far too much for its
        size.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from problog4fairness.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "loans.csv"
    ...     _ = file.write_text("income;granted\n1,5;0\n2,5;1\n")  # as spreadsheets of many countries write it
    ...     read_table(file, decimal=",")["income"].tolist()
    [1.5, 2.5]
    """
    delimiter = spoken_delimiter(delimiter)
    name = spoken_name(source)
    with errors_of(name):
        stream = Source(source, whole=True)
        if stream.is_parquet:
            with stream.reopen() as handle:
                frame = read_parquet(handle)
        else:
            file = Delimited(stream, delimiter, encoding, decimal)
            frame = file.read(dict.fromkeys(texts, str), verbatim)
            if verbatim:
                return frame
            tell(file, name)
    warn_empty([str(column) for column in frame.columns[frame.isna().all().to_numpy()]], name)
    # Read column by column, a wide table is in as many pieces, and pandas warns of every column that is added to it.
    return frame.copy() if len(frame.columns) > WIDE else frame


def spoken_name(source: str | PathLike[str]) -> str:
    """What a source is called in messages."""
    return "standard input" if str(source) == STANDARD else str(source)


def tell(file: Delimited, name: str) -> None:
    """Warnings and notes about a file that was read."""
    for message in file.warnings():
        warn(f"{name}: {message}")
    for message in file.notes():
        note(f"{name}: {message}")


def warn_empty(columns: Sequence[str], name: str) -> None:
    """Warn of columns that hold nothing."""
    if columns:
        one = len(columns) == 1
        warn(f"{name}: column{'' if one else 's'} {listed(columns)} hold{'s' * one} no value")
