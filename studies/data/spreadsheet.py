"""The first sheet of an ``.xlsx`` file as rows of plain values, so that reading one needs no further package.

Made for small tables with a heading row, as people publish them: text, numbers and truth values. Formulas, dates and
formats are not looked at.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import TypeAlias
from xml.etree import ElementTree

from problog4fairness.errors import P4FError

Value: TypeAlias = str | float | bool | None

SHEET = "xl/worksheets/sheet1.xml"
STRINGS = "xl/sharedStrings.xml"
MAX_BYTES = 32 * 2**20
MAX_ROWS = 100_000
MAX_COLUMNS = 500
_SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_PLACE = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")


def read_sheet(content: bytes, name: str) -> list[dict[str, Value]]:
    """The rows below the heading, each from column name to value; an empty cell is None.

    Parameters
    ----------
    content
        The whole file.
    name
        What to call it in errors.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            sheet = _part(archive, SHEET, name)
            strings = _strings(_part(archive, STRINGS, name)) if STRINGS in archive.namelist() else []
        rows = _rows(sheet, strings, name)
        heading = next(rows, {})
        names = {place: str(value) for place, value in heading.items() if value is not None}
        if not names or len(set(names.values())) < len(names):
            raise P4FError(f"{name}: the first row of the sheet must name its columns, each by a name of its own")
        return [{column: row.get(place) for place, column in names.items()} for row in rows]
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError):
        raise P4FError(f"{name} is not an .xlsx file, or is damaged") from None
    except (ElementTree.ParseError, ValueError, IndexError, TypeError) as error:
        if isinstance(error, P4FError):
            raise
        raise P4FError(f"{name} holds a sheet that cannot be read: {error}") from None


def _part(archive: zipfile.ZipFile, part: str, name: str) -> ElementTree.Element:
    with archive.open(part) as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise P4FError(f"{name}: its part {part} is larger than {MAX_BYTES // 2**20} MiB")
    if b"<!DOCTYPE" in text:  # entities can make a small text very large
        raise P4FError(f"{name}: its part {part} declares a document type, which no spreadsheet needs")
    return ElementTree.fromstring(text)


def _strings(root: ElementTree.Element) -> list[str]:
    return [_text(item) for item in root.iter(f"{_SPACE}si")]


def _text(item: ElementTree.Element) -> str:
    return "".join(part.text or "" for part in item.iter(f"{_SPACE}t"))


def _rows(root: ElementTree.Element, strings: list[str], name: str) -> Iterator[dict[str, Value]]:
    for number, row in enumerate(root.iter(f"{_SPACE}row")):
        cells = row.findall(f"{_SPACE}c")
        if number > MAX_ROWS or len(cells) > MAX_COLUMNS:
            raise P4FError(f"{name}: a sheet may have {MAX_ROWS} rows and {MAX_COLUMNS} columns, this one has more")
        yield {_column(cell): _value(cell, strings) for cell in cells}


def _column(cell: ElementTree.Element) -> str:
    found = _PLACE.fullmatch(cell.get("r", ""))
    if found is None:
        raise ValueError(f"a cell has the place {cell.get('r')!r}")
    return found[1]


def _value(cell: ElementTree.Element, strings: list[str]) -> Value:
    kind, value = cell.get("t", "n"), cell.find(f"{_SPACE}v")
    if kind == "inlineStr":
        return _text(cell)
    if value is None or value.text is None:
        return None
    if kind == "s":
        return strings[int(value.text)]
    if kind == "b":
        return value.text == "1"
    if kind == "n":
        return float(value.text)
    return value.text
