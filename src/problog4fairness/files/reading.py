"""Reading tables as they come: CSV in its many forms, and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from problog4fairness.files.memory import allowed
from problog4fairness.files.parquet import read_parquet
from problog4fairness.files.problems import TableError, listed, note, warn
from problog4fairness.files.sniffing import (
    NAMES,
    SAMPLE,
    Dialect,
    fallback_warning,
    find_dialect,
    is_blank,
    spoken_delimiter,
)
from problog4fairness.files.writing import STANDARD

if TYPE_CHECKING:
    import pandas as pd

_PACKED = b"\x1f\x8b"
_PARQUET = b"PAR1"
# What a packed file may unpack to: so many bytes, or so many times its own size.
UNPACKED, RATIO = 1 << 28, 100
WIDE = 50


def read_table(
    source: str | PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    texts: Sequence[str] = (),
) -> pd.DataFrame:
    """Read a table from a file: CSV, also packed by gzip, or Parquet.

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
    """
    delimiter = spoken_delimiter(delimiter)
    name = "standard input" if str(source) == STANDARD else str(source)
    with _errors_of(name):
        stream = _Source(source)
        if stream.first.startswith(_PARQUET):
            with stream.reopen() as handle:
                return _checked(read_parquet(handle), name)
        dialect = find_dialect(stream.first, stream.whole, delimiter, encoding, decimal)
        _check_header(dialect)
        frame, used = _read_csv(stream, dialect, texts, guess=encoding is None)
    for message in dialect.warnings if used == dialect.encoding else (fallback_warning(used), *dialect.warnings):
        warn(f"{name}: {message}")
    for message in dialect.notes:
        note(f"{name}: {message}")
    if all(_is_number(text) for text in dialect.header):
        warn(f"{name}: the first line holds numbers only; it was taken as the names of the columns")
    return _checked(frame, name)


class _Source:
    """Bytes that can be looked at, and then be read from the beginning."""

    def __init__(self, source: str | PathLike[str]) -> None:
        self._path: Path | None = None
        self._content: bytes | None = None
        if str(source) == STANDARD:
            self._content = sys.stdin.buffer.read()
        else:
            self._path = Path(source)
            if self._path.is_dir():
                raise TableError("is a folder, not a table")
            if self._path.exists() and not self._path.is_file():
                self._content = _drained(self._path)
        self._packed = self._raw_first(2) == _PACKED
        if self._packed:
            self._refuse_bomb()
        with self.reopen() as stream:
            self.first = stream.read(SAMPLE)
            self.whole = not stream.read(1)
        if not self.first:
            raise TableError("the file is empty")

    def _raw(self) -> IO[bytes]:
        return self._path.open("rb") if self._content is None and self._path else io.BytesIO(self._content or b"")

    def _raw_first(self, count: int) -> bytes:
        with self._raw() as stream:
            return stream.read(count)

    def _refuse_bomb(self) -> None:
        """A small file that unpacks to more than memory holds; tables pack to a tenth or so, never to a hundredth."""
        with self._raw() as raw:
            limit = min(allowed(), max(UNPACKED, RATIO * raw.seek(0, io.SEEK_END)))
        with self.reopen() as stream:
            found = 0
            while chunk := stream.read(SAMPLE):
                found += len(chunk)
                if found > limit:
                    raise TableError(f"the file unpacks to more than {limit} bytes, too much for its size")

    def reopen(self) -> IO[bytes]:
        """The bytes from the beginning, unpacked."""
        if not self._packed:
            return self._raw()
        packed: Any = gzip.GzipFile(self._path) if self._content is None else gzip.GzipFile(fileobj=self._raw())
        return packed  # type: ignore[no-any-return]


def _drained(path: Path) -> bytes:
    """All of a pipe; a device that only gives zeros is noticed before it is read to an end that never comes."""
    with path.open("rb") as stream:
        first = stream.read(SAMPLE)
        if b"\0" in first and not first.startswith((_PARQUET, _PACKED, b"\xff\xfe", b"\xfe\xff")):
            raise TableError("the file holds binary data, not a table")
        return first + stream.read()


@contextmanager
def _errors_of(name: str) -> Iterator[None]:
    """Errors that name the file."""
    try:
        yield
    except TableError as error:
        raise TableError(f"{name}: {error}") from None
    except FileNotFoundError:
        raise TableError(f"{name}: there is no such file") from None
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise TableError(f"{name}: the file is damaged: it cannot be unpacked") from None
    except OSError as error:
        raise TableError(f"{name}: {error.strerror or error}") from None


def _check_header(dialect: Dialect) -> None:
    if not dialect.rows:
        raise TableError(f"the file has a header ({listed(dialect.header)}) but no rows")
    seen: set[str] = set()
    repeated = []
    for name in _names(dialect):
        if name in seen:
            repeated.append(name)
        seen.add(name)
    if repeated:
        raise TableError(
            f"the header names {listed(dict.fromkeys(repeated))} more than once; give each column its own name"
        )


def _names(dialect: Dialect) -> list[str]:
    """The names of the columns; those without one are called as pandas does."""
    return [name or f"Unnamed: {i}" for i, name in enumerate(dialect.header)]


def _read_csv(stream: _Source, dialect: Dialect, texts: Sequence[str], guess: bool) -> tuple[pd.DataFrame, str]:
    """All rows, and the encoding that they are in: later bytes may tell more than the sample did."""
    import pandas as pd

    _refuse_nul(stream, dialect.encoding)
    if dialect.ragged:
        _refuse_ragged(stream, dialect)
    options: dict[str, Any] = {
        "sep": dialect.delimiter,
        "decimal": dialect.decimal,
        "thousands": dialect.thousands,
        "names": _names(dialect),
        "header": 0,
        "skipinitialspace": True,
        "engine": "c",
        # One look at each column as a whole: in pieces, a column can come out as numbers here and text there.
        "low_memory": False,
        "dtype": dict.fromkeys(texts, str),
    }
    try:
        with stream.reopen() as handle:
            frame = pd.read_csv(handle, encoding=dialect.encoding, **options)
    except UnicodeError:
        others = {"utf-8": "cp1252", "cp1252": "latin-1"}
        if not guess or dialect.encoding not in others:
            raise TableError(f"the file is not {dialect.encoding}; say another one with --encoding") from None
        encoding = others[dialect.encoding]
        return _read_csv(stream, replace(dialect, encoding=encoding), texts, guess)
    except pd.errors.EmptyDataError:
        raise TableError("the file is empty") from None
    except (pd.errors.ParserError, OverflowError) as error:
        _refuse_ragged(stream, dialect)
        opened = re.search(r"inside string starting at row (\d+)", str(error))
        reason = f"a quote that opens in record {int(opened[1]) + 1} is never closed" if opened else str(error)
        raise TableError(f"the file cannot be read as a table: {reason}") from None
    # pandas fills short rows with missing values; then the last column has some.
    if frame.iloc[:, -1].isna().any():
        _refuse_ragged(stream, dialect)
    if not len(frame):
        raise TableError(f"the file has a header ({listed(dialect.header)}) but no rows")
    return frame, dialect.encoding


def _refuse_nul(stream: _Source, encoding: str) -> None:
    """Raise the error that names the line with a NUL, at which pandas would silently end a value or drop it."""
    line = 1
    with stream.reopen() as raw, io.TextIOWrapper(raw, encoding, errors="replace", newline="") as text:
        while chunk := text.read(SAMPLE):
            before, nul, _ = chunk.partition("\0")
            line += before.count("\n")
            if nul:
                raise TableError(f"line {line} holds a NUL character; the file is damaged, or holds binary data")


def _refuse_ragged(stream: _Source, dialect: Dialect) -> None:
    """Raise the error that names the first line with more or fewer values than the header has names."""
    columns = len(dialect.header)
    with stream.reopen() as raw, io.TextIOWrapper(raw, dialect.encoding, errors="replace", newline="") as text:
        reader = csv.reader(text, delimiter=dialect.delimiter, skipinitialspace=True)
        begins = 1
        try:
            for record in reader:
                if len(record) != columns and not is_blank(record):
                    raise TableError(
                        f"line {begins} has {len(record)} values, the header has {columns} names; "
                        f"a value that holds {NAMES.get(dialect.delimiter, repr(dialect.delimiter))} must be quoted"
                    )
                begins = reader.line_num + 1
        except csv.Error as error:
            raise TableError(f"line {begins} cannot be read: {error}") from None


def _checked(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The table in one piece, with a warning about columns that hold nothing."""
    empty = [str(column) for column in frame.columns if frame[column].isna().all()]
    if empty:
        warn(f"{name}: column{'s' if len(empty) > 1 else ''} {listed(empty)} hold{'s' * (len(empty) == 1)} no value")
    # Read column by column, a wide table is in as many pieces, and pandas warns of every column that is added to it.
    return frame.copy() if len(frame.columns) > WIDE else frame


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
