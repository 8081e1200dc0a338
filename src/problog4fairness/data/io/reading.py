"""Reading tables as they come, CSV in its many forms and Parquet: whole, or piece by piece.

Each piece is as it would have been in the whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from os import PathLike
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from problog4fairness.data.io.delimited import Delimited, EncodingChanged, delimiter_of
from problog4fairness.data.io.parquet import parquet_chunks, read_parquet
from problog4fairness.data.io.source import Source, errors_of
from problog4fairness.data.io.writing import STANDARD
from problog4fairness.data.problems import listed, note, warn

Result = TypeVar("Result")
# Read column by column, a wider table is in as many pieces, and pandas warns of every column that is added to it.
WIDE = 50
# Rows of a piece at most, and values: wide tables have shorter pieces.
ROWS, VALUES = 1 << 16, 1 << 22
EMPTY, FLAG, TEXT = "empty", "flag", "text"


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
    delimiter = delimiter_of(delimiter)
    name = _name_of(source)
    with errors_of(name):
        stream = Source(source, whole=True)
        if stream.is_parquet:
            with stream.reopen() as handle:
                frame = read_parquet(handle)
        else:
            file = Delimited(stream, delimiter, encoding, decimal)
            (frame,) = file.chunks(dict.fromkeys(texts, str), None, verbatim)
            if verbatim:
                return frame
            _tell(file, name)
    _warn_empty([str(column) for column in frame.columns[frame.isna().all().to_numpy()]], name)
    return frame.copy() if len(frame.columns) > WIDE else frame


class RestartReading(Exception):  # noqa: N818  # nothing is wrong
    """What later rows showed changes what should have been done with earlier ones; see :meth:`Chunks.through`."""


class Chunks:
    r"""A table that is read piece by piece, for tables that are larger than memory.

    Errors are those of :func:`read_table`, if only when the piece in question is read; the size of the file is no
    reason for one.

    Parameters
    ----------
    source, delimiter, encoding, decimal, texts
        As for :func:`read_table`; how a CSV file is written is found in its first mebibyte, once.
    rows
        Rows of a piece; by default as many as fit into some 30 megabytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from problog4fairness.data import Chunks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "loans.csv"
    ...     _ = file.write_text("income,granted\n1,0\n2,1\n3,1\n")
    ...     Chunks(file, rows=2).through(lambda pieces: [len(piece) for piece in pieces])
    [2, 1]
    """

    def __init__(
        self,
        source: str | PathLike[str],
        *,
        rows: int | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        texts: Sequence[str] = (),
    ) -> None:
        delimiter = delimiter_of(delimiter)
        self._name, self._texts, self._rows = _name_of(source), dict.fromkeys(texts, str), rows
        self._kinds: dict[str, str] | None = None
        self._filled: set[str] = set()
        with errors_of(self._name):
            self._source = Source(source, whole=False)
            self._file = None if self._source.is_parquet else Delimited(self._source, delimiter, encoding, decimal)

    def through(self, work: Callable[[Iterator[pd.DataFrame]], Result]) -> Result:
        """What ``work`` gives for the pieces of the table.

        A column of whole numbers may turn out to have fractions, gaps or texts a million rows later. Then ``work`` is
        called again, with the pieces as they should have been from the beginning; it may also ask for that itself, by
        raising :class:`RestartReading`.
        """
        while True:
            try:
                with closing(self._pieces()) as pieces:
                    result = work(pieces)
            except (RestartReading, EncodingChanged):
                continue
            if self._file is not None:
                _tell(self._file, self._name)
            _warn_empty([name for name in self._kinds or () if name not in self._filled], self._name)
            return result

    def _pieces(self) -> Generator[pd.DataFrame, None, None]:
        with errors_of(self._name):
            if self._kinds is None:
                with closing(self._read(self._texts)) as head:
                    self._kinds = _kinds(next(head))
            whole = self._kinds
            for frame in self._read(self._texts | {name: str for name, kind in whole.items() if kind == TEXT}):
                kinds = _kinds(frame)
                if any(_joined(whole[name], kind) != whole[name] for name, kind in kinds.items()):
                    self._survey()
                    raise RestartReading
                self._filled |= {name for name, kind in kinds.items() if name not in self._filled
                                 and kind != EMPTY and frame[name].notna().any()}  # fmt: skip
                yield _cast(frame, kinds, whole)

    def _survey(self) -> None:
        """Find out what the columns are in the table as a whole."""
        for frame in self._read(self._texts):
            kinds = _kinds(frame)
            self._kinds = {name: _joined(kind, kinds[name]) for name, kind in (self._kinds or kinds).items()}

    def _read(self, types: Mapping[str, Any]) -> Generator[pd.DataFrame, None, None]:
        """The pieces as they are by themselves."""
        if self._file is not None:
            yield from self._file.chunks(types, self._rows or max(1, min(ROWS, VALUES // self._file.columns)))
            return
        with self._source.reopen() as handle:
            yield from parquet_chunks(handle, self._rows or ROWS)


def _kinds(frame: pd.DataFrame) -> dict[str, str]:
    """What each column is: nothing, yes and no with gaps, text, or a type of pandas."""
    return {str(name): _kind(frame[name]) for name in frame.columns}


def _kind(column: pd.Series[Any]) -> str:
    kind = column.dtype
    if isinstance(kind, np.dtype) and kind.kind in "biuM":
        return str(kind)
    if isinstance(kind, np.dtype) and kind.kind == "f":
        return str(kind) if column.notna().any() else EMPTY
    if kind != np.dtype(object):
        return TEXT if pd.api.types.is_string_dtype(kind) else str(kind)
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    return {"empty": EMPTY, "boolean": FLAG, "string": TEXT}.get(inferred, "object")


def _joined(one: str, two: str) -> str:
    """What a column is that is the one thing in some pieces and the other in others."""
    if one == two:
        return one
    kinds = {one, two}
    if EMPTY in kinds:
        (other,) = kinds - {EMPTY}
        return FLAG if other == "bool" else _joined_numbers([other, "float64"]) or other
    if kinds == {"bool", FLAG}:
        return FLAG
    return _joined_numbers([one, two]) or TEXT


def _joined_numbers(kinds: Sequence[str]) -> str | None:
    if all(kind.startswith(("int", "uint", "float")) for kind in kinds):
        return str(np.result_type(*kinds))
    return None


def _cast(frame: pd.DataFrame, kinds: Mapping[str, str], whole: Mapping[str, str]) -> pd.DataFrame:
    """A piece with columns as they are in the table as a whole."""
    changed = {}
    for name, kind in whole.items():
        if kinds[name] != kind and kind != EMPTY:
            # Nothing among flags says what it is, so that the first piece of a Parquet file has the type of all.
            other = "boolean" if kind == FLAG and kinds[name] == EMPTY else object
            changed[name] = frame[name].astype(kind if _joined_numbers([kind]) else other)
    return frame.assign(**changed) if changed else frame


def _name_of(source: str | PathLike[str]) -> str:
    """What a source is called in messages."""
    return "standard input" if str(source) == STANDARD else str(source)


def _tell(file: Delimited, name: str) -> None:
    for message in file.warnings():
        warn(f"{name}: {message}")
    for message in file.notes:
        note(f"{name}: {message}")


def _warn_empty(columns: Sequence[str], name: str) -> None:
    if columns:
        one = len(columns) == 1
        warn(f"{name}: column{'' if one else 's'} {listed(columns)} hold{'s' * one} no value")
