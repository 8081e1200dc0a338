"""How a CSV file is written: its encoding, delimiter and decimal sign, found in a sample of it."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass, field, replace
from itertools import islice

from problog4fairness.data.problems import TableError

# Bytes that are looked at; a header must fit into them.
SAMPLE = 1 << 20
RECORDS = 200
DELIMITERS = (",", ";", "\t", "|")
NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar", " ": "a space"}
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
    decimal: str
    thousands: str | None
    header: tuple[str, ...]
    rows: bool
    ragged: bool = False
    notes: tuple[str, ...] = field(default=())
    warnings: tuple[str, ...] = field(default=())


def spoken_delimiter(delimiter: str | None) -> str | None:
    """A delimiter as a person may say it: ``tab``, ``semicolon``, or the character itself."""
    if delimiter is None:
        return None
    character = _SPOKEN.get(delimiter.lower(), delimiter)
    if len(character) != 1 or character in '"\r\n' or ord(character) > 127:
        raise TableError(f"the delimiter {delimiter!r} is not one character such as , ; | or tab")
    return character


def find_encoding(sample: bytes, whole: bool) -> tuple[str, str | None]:
    """The encoding of a file, from its first bytes, and a warning where it had to be guessed."""
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding, None
    if b"\0" in sample or _control_share(sample) > 0.02:
        hint = "; save the spreadsheet as CSV" if sample.startswith(b"PK\x03\x04") else ""
        raise TableError(f"the file holds binary data, not a table{hint}")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=whole)
    except UnicodeDecodeError:
        try:
            sample.decode("cp1252")
        except UnicodeDecodeError:
            return "latin-1", fallback_warning("latin-1")
        return "cp1252", fallback_warning("cp1252")
    return "utf-8", None


def fallback_warning(encoding: str) -> str:
    """What is said of a file that is not UTF-8."""
    return f"the file is not UTF-8 and was read as {encoding}; say otherwise by encoding=..."


def _control_share(sample: bytes) -> float:
    controls = sum(sample.count(bytes([code])) for code in range(32) if code not in (9, 10, 12, 13))
    return controls / max(1, len(sample))


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
    guessed = None
    if encoding is None:
        encoding, guessed = find_encoding(sample, whole)
    text = _decode(sample, encoding, whole)
    if not text.strip():
        raise TableError("the file is empty")
    records = {d: _records(text, d, whole) for d in ([delimiter] if delimiter else DELIMITERS)}
    chosen = delimiter or max(DELIMITERS, key=lambda d: _score(records[d]))
    found = records[chosen]
    if not found:
        raise TableError(f"line 1 is longer than {SAMPLE} characters, or a quote that opens there is never closed")
    header = tuple(" ".join(name.split()) for name in found[0])
    if len(header) == 1:
        raise TableError(
            f"the file has one column only ({header[0][:60]!r}); if there are more, name the character between them "
            "by delimiter=..."
        )
    ragged = any(len(record) != len(header) for record in found)
    dialect = Dialect(encoding, chosen, ".", None, header, rows=len(found) > 1 or not whole, ragged=ragged)
    dialect = _numbers(dialect, [value for record in found[1:] for value in record], decimal)
    return replace(dialect, warnings=(*((guessed,) if guessed else ()), *dialect.warnings))


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
    found: list[list[str]] = []
    try:
        # One by one: where the reader fails, what came before it counts.
        for record in islice(reader, RECORDS + 1):
            if not is_blank(record):
                found.append(record)  # noqa: PERF401
    except csv.Error:
        return found
    if not whole and len(found) <= RECORDS:
        found = found[:-1]
    return found


def is_blank(record: list[str]) -> bool:
    """Whether a record is an empty line."""
    return not record or (len(record) == 1 and not record[0].strip())


def _score(records: list[list[str]]) -> tuple[bool, float, int]:
    """Whether there are several columns, in how many records there are as many as in the header, and how many."""
    if not records:
        return False, 0.0, 0
    columns = len(records[0])
    same = sum(len(record) == columns for record in records) / len(records)
    return columns > 1, same, columns


def _numbers(dialect: Dialect, values: list[str], decimal: str | None) -> Dialect:
    """The decimal sign and the sign between thousands."""
    values = [value.strip() for value in values]
    commas = [value for value in values if _COMMA_NUMBER.match(value)]
    points = [value for value in values if _POINT_NUMBER.match(value)]
    if decimal is not None:
        if decimal not in (".", ","):
            raise TableError(f"the decimal sign {decimal!r} is not . or ,")
        return replace(dialect, decimal=decimal)
    grouped = next((value for value in values if _GROUPED_BY_POINT.match(value)), None)
    if dialect.delimiter == "," and commas and all(_GROUPED_BY_COMMA.match(value) for value in commas):
        note = f"numbers such as {commas[0]!r} were read with commas between thousands; say otherwise by decimal=','"
        return replace(dialect, thousands=",", notes=(note,))
    warnings: tuple[str, ...] = ()
    if grouped:
        warnings = (f"numbers such as {grouped!r}, with points between thousands, are read as text; drop the points",)
    if commas and points and not grouped:
        both = f"{commas[0]!r} and {points[0]!r}"
        warnings += (f"there are decimal commas and points ({both}); points were taken; say decimal=',' if not",)
        return replace(dialect, warnings=warnings)
    if commas or grouped:
        example = commas[0] if commas else grouped
        note = f"numbers such as {example!r} were read with decimal commas; say otherwise by decimal='.'"
        return replace(dialect, decimal=",", notes=(note,), warnings=warnings)
    return replace(dialect, warnings=warnings)
