"""CSV files: how they are written, their records as pandas reads them, and the line that is wrong where one is."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pandas as pd

from problog4fairness.data.io.bounded import MOST_COLUMNS
from problog4fairness.data.io.source import SAMPLE, Source
from problog4fairness.data.problems import TableError, listed

# Records that are looked at.
RECORDS = 200
DELIMITERS = (",", ";", "\t", "|")
_SPOKEN = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "pipe": "|", "space": " "}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+\Z")
_POINT_NUMBER = re.compile(r"[+-]?\d+\.\d+\Z")
_GROUPED_BY_COMMA = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?\Z")
_GROUPED_BY_POINT = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+\Z")
# Cells that a table may have whatever the size of its file.
FEW_CELLS = 1 << 20
# In these a NUL byte is a NUL character and nothing else is.
_BYTEWISE = {"utf-8", "utf-8-sig", "cp1252", "latin-1", "ascii"}
_OTHERS = {"utf-8": "cp1252", "cp1252": "latin-1"}
_SIGNS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a space"}


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes
    ----------
    encoding, delimiter, decimal, thousands
        As pandas takes them.
    header
        The names in the first line.
    rows
        Whether anything follows it.
    ragged
        Whether a record of the sample has more or fewer values than the header has names.
    notes, warnings
        What was found, where it is not what most files do.
    """

    encoding: str
    delimiter: str
    header: tuple[str, ...]
    rows: bool
    ragged: bool
    decimal: str = "."
    thousands: str | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns; those without one are called as pandas does."""
        return [name or f"Unnamed: {i}" for i, name in enumerate(self.header)]


def delimiter_of(delimiter: str | None) -> str | None:
    """A delimiter as a person may say it: ``tab``, ``semicolon``, or the character itself."""
    if delimiter is None:
        return None
    character = _SPOKEN.get(delimiter.lower(), delimiter)
    if len(character) != 1 or character in '"\r\n' or ord(character) > 127:
        raise TableError(f"the delimiter {delimiter!r} is not one character such as , ; | or tab")
    return character


def find_dialect(
    sample: bytes, whole: bool, delimiter: str | None, encoding: str | None, decimal: str | None
) -> Dialect:
    """How the file that begins with ``sample`` is written; what is given is not looked for.

    Parameters
    ----------
    sample
        The first bytes of the file, unpacked.
    whole
        Whether these are all of them.
    delimiter, encoding, decimal
        What the user said, or None.
    """
    used = _encoding(sample, whole) if encoding is None else encoding
    text = _decode(sample, used, whole)
    if not text.strip():
        raise TableError("the file is empty")
    divided = {sign: _records(text, sign, whole) for sign in ([delimiter] if delimiter else DELIMITERS)}
    chosen = max(divided, key=lambda sign: _score(divided[sign]))
    records = divided[chosen]
    if not records:
        raise TableError(f"line 1 is longer than {SAMPLE} characters, or a quote that opens there is never closed")
    header = tuple(" ".join(name.split()) for name in records[0])
    if len(header) == 1:
        raise TableError(
            f"the file has one column only ({header[0][:60]!r}); if there are more, name the character between them "
            "by delimiter=..."
        )
    ragged = any(len(record) != len(header) for record in records)
    guessed = (encoding_warning(used),) if encoding is None and used in ("cp1252", "latin-1") else ()
    dialect = Dialect(used, chosen, header, len(records) > 1 or not whole, ragged, warnings=guessed)
    return _with_numbers(dialect, [value.strip() for record in records[1:] for value in record], decimal)


def encoding_warning(encoding: str) -> str:
    """What is said of a file that is not UTF-8."""
    return f"the file is not UTF-8 and was read as {encoding}; override with encoding=..."


def is_blank(record: list[str]) -> bool:
    """Whether a record is an empty line."""
    return not record or (len(record) == 1 and not record[0].strip())


def _encoding(sample: bytes, whole: bool) -> str:
    """The encoding of a file, from its first bytes."""
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    controls = sum(sample.count(bytes([code])) for code in range(32) if code not in (9, 10, 12, 13))
    if b"\0" in sample or controls / max(1, len(sample)) > 0.02:
        hint = "; save the spreadsheet as CSV" if sample.startswith(b"PK\x03\x04") else ""
        raise TableError(f"the file holds binary data, not a table{hint}")
    for encoding in ("utf-8", "cp1252"):
        try:
            codecs.getincrementaldecoder(encoding)().decode(sample, final=whole)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def _decode(sample: bytes, encoding: str, whole: bool) -> str:
    try:
        # Codecs that do not stand for text, such as base64, are refused here and nowhere else; so is idna, which cannot
        # read on after a byte that it does not know.
        "".encode(encoding)
        codecs.getincrementaldecoder(encoding)("replace").decode(b"a", final=True)
    except (LookupError, ValueError):
        raise TableError(f"there is no encoding {encoding!r}; try utf-8, utf-16, cp1252 or latin-1") from None
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample, final=whole)
    except UnicodeError:
        raise TableError(f"the file is not {encoding}; say another one by encoding=...") from None


def _records(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    """The first records as a delimiter divides them; the last one of a sample may be cut, so it is left out."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=False)
    records: list[list[str]] = []
    try:
        # One by one: where the reader fails, what came before it counts.
        for record in islice(reader, RECORDS + 1):
            if not is_blank(record):
                records.append(record)  # noqa: PERF401
    except csv.Error:
        return records
    return records[:-1] if not whole and len(records) <= RECORDS else records


def _score(records: list[list[str]]) -> tuple[bool, float, int]:
    """Whether there are several columns, in how many records there are as many as in the header, and how many."""
    if not records:
        return False, 0.0, 0
    columns = len(records[0])
    same = sum(len(record) == columns for record in records) / len(records)
    return columns > 1, same, columns


def _with_numbers(dialect: Dialect, values: list[str], decimal: str | None) -> Dialect:
    """The dialect with the decimal sign and the sign between thousands that these values have."""
    if decimal is not None:
        if decimal not in (".", ","):
            raise TableError(f"the decimal sign {decimal!r} is not . or ,")
        return replace(dialect, decimal=decimal)
    commas = [value for value in values if _COMMA_NUMBER.match(value)]
    points = [value for value in values if _POINT_NUMBER.match(value)]
    grouped = next((value for value in values if _GROUPED_BY_POINT.match(value)), None)
    if dialect.delimiter == "," and commas and all(_GROUPED_BY_COMMA.match(value) for value in commas):
        note = f"numbers such as {commas[0]!r} were read with commas between thousands; override with decimal=','"
        return replace(dialect, thousands=",", notes=(note,))
    warnings = dialect.warnings
    if grouped:
        warnings += (f"numbers such as {grouped!r}, with points between thousands, are read as text; drop the points",)
    elif commas and points:
        both = f"{commas[0]!r} and {points[0]!r}"
        warning = f"there are decimal commas and points ({both}); points were taken; say decimal=',' if not"
        return replace(dialect, warnings=(*warnings, warning))
    if not commas and not grouped:
        return dialect
    example = commas[0] if commas else grouped
    note = f"numbers such as {example!r} were read with decimal commas; override with decimal='.'"
    return replace(dialect, decimal=",", notes=(note,), warnings=warnings)


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
