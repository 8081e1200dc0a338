"""CSV files: their records as pandas reads them, and the line that is wrong where something is."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from problog4fairness.data.io.memory import MOST_COLUMNS
from problog4fairness.data.io.sniffing import NAMES, SAMPLE, Dialect, fallback_warning, find_dialect, is_blank
from problog4fairness.data.io.source import Source
from problog4fairness.data.problems import TableError, listed

if TYPE_CHECKING:
    import pandas as pd

# Cells that a table may have whatever the size of its file.
FEW_CELLS = 1 << 20
# In these a NUL byte is a NUL character and nothing else is.
_BYTEWISE = {"utf-8", "utf-8-sig", "cp1252", "latin-1", "ascii"}
_OTHERS = {"utf-8": "cp1252", "cp1252": "latin-1"}


class Delimited:
    """A CSV file; its dialect is found once, from its first bytes.

    Parameters
    ----------
    source
        The bytes.
    delimiter, encoding, decimal
        What the user said, or None.
    """

    def __init__(self, source: Source, delimiter: str | None, encoding: str | None, decimal: str | None) -> None:
        self._source = source
        self._guessed = encoding is None
        self._dialect = find_dialect(source.first, source.complete, delimiter, encoding, decimal)
        self._found = self._dialect.encoding
        self._even = False
        _check_header(self._dialect)
        _refuse_nul(source, self._dialect.encoding)
        if self._dialect.ragged or _may_be_padded(source, self._dialect):
            self._refuse_ragged()

    def warnings(self) -> tuple[str, ...]:
        """What is to be told of the file, after it was read: later bytes may tell more than the first ones did."""
        used, own = self._dialect.encoding, self._dialect.warnings
        own = own if used == self._found else (fallback_warning(used), *own)
        if all(_is_number(text) for text in self._dialect.header):
            own = (*own, "the first line holds numbers only; it was taken as the names of the columns")
        return own

    def notes(self) -> tuple[str, ...]:
        """What was found, where it is not what most files do."""
        return self._dialect.notes

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self._dialect.header)

    def read(self, types: Mapping[str, Any], verbatim: bool = False) -> pd.DataFrame:
        """All rows; ``types`` are those of columns that are not to be found out, unless all are texts as they stand."""
        (frame,) = self.chunks(types, None, verbatim)
        return frame

    def chunks(self, types: Mapping[str, Any], rows: int | None, verbatim: bool = False) -> Iterator[pd.DataFrame]:
        """All rows, ``rows`` at a time, or all at once.

        Where later bytes are not in the encoding that was found in the first ones, everything is read again, from the
        beginning, in another one: ``EncodingChanged`` tells those who have some rows already.
        """
        import pandas as pd

        options: dict[str, Any] = {
            "sep": self._dialect.delimiter,
            "decimal": self._dialect.decimal,
            "thousands": self._dialect.thousands,
            "names": _names(self._dialect),
            "header": 0,
            "skipinitialspace": True,
            "engine": "c",
            # One look at each column as a whole: in pieces, a column can come out as numbers here and text there.
            "low_memory": False,
            "dtype": dict(types),
        }
        if verbatim:
            options |= {"dtype": str, "keep_default_na": False}
        given = 0
        try:
            with self._source.reopen() as handle:
                read = pd.read_csv(handle, encoding=self._dialect.encoding, chunksize=rows, **options)
                for frame in [read] if rows is None else read:
                    self._check_lengths(frame)
                    given += len(frame)
                    yield frame
        except UnicodeError:
            self._try_another_encoding()
            if given:
                raise EncodingChanged from None
            yield from self.chunks(types, rows, verbatim)
            return
        except pd.errors.EmptyDataError:
            raise TableError("the file is empty") from None
        except (pd.errors.ParserError, OverflowError) as error:
            self._refuse_ragged()
            opened = re.search(r"inside string starting at row (\d+)", str(error))
            reason = f"a quote that opens in record {int(opened[1]) + 1} is never closed" if opened else str(error)
            raise TableError(f"the file cannot be read as a table: {reason}") from None
        if not given:
            raise TableError(f"the file has a header ({listed(self._dialect.header)}) but no rows")

    def _try_another_encoding(self) -> None:
        used = self._dialect.encoding
        if not self._guessed or used not in _OTHERS:
            raise TableError(f"the file is not {used}; say another one by encoding=...") from None
        self._dialect = replace(self._dialect, encoding=_OTHERS[used])

    def _check_lengths(self, frame: pd.DataFrame) -> None:
        """pandas fills short rows with missing values; then the last column has some."""
        if not self._even and frame.iloc[:, -1].isna().any():
            self._refuse_ragged()

    def _refuse_ragged(self) -> None:
        """Raise the error that names the first line with more or fewer values than the header has names."""
        _refuse_ragged(self._source, self._dialect)
        self._even = True


class EncodingChanged(Exception):  # noqa: N818  # nothing is wrong
    """Rows that were given already must be read again, in another encoding."""


def _check_header(dialect: Dialect) -> None:
    if not dialect.rows:
        raise TableError(f"the file has a header ({listed(dialect.header)}) but no rows")
    if len(dialect.header) > MOST_COLUMNS:
        raise TableError(f"the header has {len(dialect.header):,} names, more than {MOST_COLUMNS:,}")
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


def _refuse_nul(source: Source, encoding: str) -> None:
    """Raise the error that names the line with a NUL, at which pandas would silently end a value or drop it."""
    if encoding in _BYTEWISE and not _has_nul(source):
        return
    line = 1
    with source.reopen() as raw, io.TextIOWrapper(raw, encoding, errors="replace", newline="") as text:
        while chunk := text.read(SAMPLE):
            before, nul, _ = chunk.partition("\0")
            line += before.count("\n")
            if nul:
                raise TableError(f"line {line} holds a NUL character; the file is damaged, or holds binary data")


def _may_be_padded(source: Source, dialect: Dialect) -> bool:
    """Whether there may be far fewer values than lines times columns: pandas fills short rows before they are counted.

    Where every line has all its values, there are as many delimiters and ends of lines as there are cells.
    """
    lines = signs = 0
    with source.reopen() as raw:
        while chunk := raw.read(SAMPLE):
            lines += chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
            signs += chunk.count(dialect.delimiter.encode())
    cells = (lines + 1) * len(dialect.header)
    return cells > max(FEW_CELLS, 1.5 * (lines + signs))


def _has_nul(source: Source) -> bool:
    with source.reopen() as raw:
        while chunk := raw.read(SAMPLE):
            if b"\0" in chunk:
                return True
    return False


def _refuse_ragged(source: Source, dialect: Dialect) -> None:
    """Raise the error that names the first line with more or fewer values than the header has names."""
    columns = len(dialect.header)
    with source.reopen() as raw, io.TextIOWrapper(raw, dialect.encoding, errors="replace", newline="") as text:
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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
