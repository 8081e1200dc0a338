from __future__ import annotations

import pytest

from problog4fairness.errors import P4FError
from studies.data import spreadsheet
from studies.data.spreadsheet import read_sheet
from tests.studies.data.pupils import SHEET, archive, sheet

ROWS = [["name", "grade", "passed"], ["Anna", 12.5, True], ["", 3, False], [None, None, None]]


@pytest.mark.parametrize("shared", [False, True])
def test_rows_by_column(shared):
    assert read_sheet(sheet(ROWS, shared=shared), "pupils.xlsx") == [
        {"name": "Anna", "grade": 12.5, "passed": True},
        {"name": "", "grade": 3.0, "passed": False},
        {"name": None, "grade": None, "passed": None},
    ]


def one_part(text):
    return archive({"xl/worksheets/sheet1.xml": text})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not an .xlsx file"),
        (b"PK\x03\x04 and then nothing", "is not an .xlsx file"),
        (sheet(ROWS)[:200], "is not an .xlsx file"),
        (archive({"other": "text"}), "is not an .xlsx file"),
        (one_part("<worksheet"), "cannot be read"),
        (one_part(f'<worksheet xmlns="{SHEET}"/>'), "must name its columns"),
        (sheet([["a", "a"], [1, 2]]), "must name its columns"),
        (one_part('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'), "declares a document type"),
        (one_part(f'<w xmlns="{SHEET}"><row><c r="A1"><v>one</v></c></row></w>'), "could not convert"),
        (one_part(f'<w xmlns="{SHEET}"><row><c><v>1</v></c></row></w>'), "a cell has the place None"),
        (one_part(f'<w xmlns="{SHEET}"><row><c r="A1" t="s"><v>7</v></c></row></w>'), "cannot be read"),
    ],
)
def test_damage_is_one_line(content, message):
    with pytest.raises(P4FError, match=message) as caught:
        read_sheet(content, "pupils.xlsx")
    assert str(caught.value).startswith("pupils.xlsx")


@pytest.mark.parametrize("limit", ["MAX_BYTES", "MAX_ROWS", "MAX_COLUMNS"])
def test_limits(monkeypatch, limit):
    monkeypatch.setattr(spreadsheet, limit, 2)
    with pytest.raises(P4FError, match=r"larger than|this one has more"):
        read_sheet(sheet(ROWS), "pupils.xlsx")
