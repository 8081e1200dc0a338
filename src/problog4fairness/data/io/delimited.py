"""CSV files: their records as pandas reads them, and the line that is wrong where something is."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from problog4fairness.data.io.bounded import MOST_COLUMNS
from problog4fairness.data.io.sniffing import encoding_warning, find_dialect, is_blank
from problog4fairness.data.io.source import SAMPLE, Source
from problog4fairness.data.problems import TableError, listed

if TYPE_CHECKING:
    import pandas as pd

# Cells that a table may have whatever the size of its file.
FEW_CELLS = 1 << 20
# In these a NUL byte is a NUL character and nothing else is.
_BYTEWISE = {"utf-8", "utf-8-sig", "cp1252", "latin-1", "ascii"}
_OTHERS = {"utf-8": "cp1252", "cp1252": "latin-1"}
_SIGNS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a space"}


class EncodingChanged(Exception):  # noqa: N818  # nothing is wrong
    """Rows that were given already must be read anew, in another encoding."""


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
        self._source, self._guessed = source, encoding is None
        self._dialect = find_dialect(source.first, source.complete, delimiter, encoding, decimal)
        self._first_encoding = self._dialect.encoding
        # Whether it is known that every line has as many values as the header has names.
        self._even = False
        self._check_header()
        self._refuse_nul()
        if self._dialect.ragged or self._may_be_padded():
            self._refuse_ragged()

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self._dialect.header)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found, where it is not what most files do."""
        return self._dialect.notes

    def warnings(self) -> tuple[str, ...]:
        """What a user should know of the file, after it was read: later bytes may say more than the first ones did."""
        used, warnings = self._dialect.encoding, self._dialect.warnings
        if used != self._first_encoding:
            warnings = (encoding_warning(used), *warnings)
        with suppress(ValueError):
            [float(text) for text in self._dialect.header]
            warnings += ("the first line holds numbers only; it was taken as the names of the columns",)
        return warnings

    def chunks(self, types: Mapping[str, Any], rows: int | None, verbatim: bool = False) -> Iterator[pd.DataFrame]:
        """All rows, ``rows`` at a time, or all at once.

        ``types`` are those of columns that are stated; with ``verbatim`` all are texts as they stand there. Where later
        bytes are not in the encoding that was found in the first ones, everything is read anew, from the beginning, in
        another one: :class:`EncodingChanged` tells those who have some rows already.
        """
        import pandas as pd

        options: dict[str, Any] = {
            "sep": self._dialect.delimiter,
            "decimal": self._dialect.decimal,
            "thousands": self._dialect.thousands,
            "names": self._dialect.names,
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
                    # pandas fills short rows with missing values; then the last column has some.
                    if not self._even and frame.iloc[:, -1].isna().any():
                        self._refuse_ragged()
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

    def _check_header(self) -> None:
        header = self._dialect.header
        if not self._dialect.rows:
            raise TableError(f"the file has a header ({listed(header)}) but no rows")
        if len(header) > MOST_COLUMNS:
            raise TableError(f"the header has {len(header):,} names, more than {MOST_COLUMNS:,}")
        repeated = [name for name, count in Counter(self._dialect.names).items() if count > 1]
        if repeated:
            raise TableError(f"the header names {listed(repeated)} more than once; give each column its own name")

    def _refuse_nul(self) -> None:
        """Raise the error that names the line with a NUL, at which pandas would silently end a value or drop it."""
        if self._dialect.encoding in _BYTEWISE and not any(b"\0" in piece for piece in self._source.pieces()):
            return
        line = 1
        with self._text() as text:
            while piece := text.read(SAMPLE):
                before, nul, _ = piece.partition("\0")
                line += before.count("\n")
                if nul:
                    raise TableError(f"line {line} holds a NUL character; the file is damaged, or holds binary data")

    def _may_be_padded(self) -> bool:
        """Whether there may be far fewer values than lines times columns: pandas fills short rows before counting them.

        Where every line has all its values, there are as many delimiters and ends of lines as there are cells.
        """
        lines = signs = 0
        for piece in self._source.pieces():
            lines += piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n")
            signs += piece.count(self._dialect.delimiter.encode())
        return (lines + 1) * self.columns > max(FEW_CELLS, 1.5 * (lines + signs))

    def _refuse_ragged(self) -> None:
        """Raise the error that names the first line with more or fewer values than the header has names."""
        sign = self._dialect.delimiter
        with self._text() as text:
            reader = csv.reader(text, delimiter=sign, skipinitialspace=True)
            begins = 1
            try:
                for record in reader:
                    if len(record) != self.columns and not is_blank(record):
                        raise TableError(
                            f"line {begins} has {len(record)} values, the header has {self.columns} names; "
                            f"a value that holds {_SIGNS.get(sign, repr(sign))} must be quoted"
                        )
                    begins = reader.line_num + 1
            except csv.Error as error:
                raise TableError(f"line {begins} cannot be read: {error}") from None
        self._even = True

    def _text(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(self._source.reopen(), self._dialect.encoding, errors="replace", newline="")
