"""Cells that a spreadsheet would run are shown by it instead, where somebody asks for that."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from problog4fairness.data.io.writing import without_formulas, write_table

FORMULAS = ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3+cmd", "@SUM(1)", "\t=1", "\r=1", " =1", "＝1+1", "\n=1"]
HARMLESS = ["", "fine", "a=b", "-5", "+3.5", "-1,5", "-1e-3", "1-2", "me@home"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_defused(text):
    frame = pd.DataFrame({"a": [text, None, "fine"], text: [1, 2, 3]})
    found = without_formulas(frame)
    assert found["a"].tolist()[::2] == [f"'{text}", "fine"]
    assert found["a"].isna().tolist() == [False, True, False]
    assert list(found.columns) == ["a", f"'{text}"]


@pytest.mark.parametrize("text", HARMLESS)
def test_everything_else_stays(text):
    frame = pd.DataFrame({"a": [text, None, text], "b": [-1, 2.5, float("nan")]})
    pd.testing.assert_frame_equal(without_formulas(frame), frame)


def test_cells_are_defused_only_where_somebody_asks(tmp_path):
    frame = pd.DataFrame({"a": FORMULAS, "b": range(len(FORMULAS))}, index=range(5, 5 + len(FORMULAS)))
    for asked, first in ((False, FORMULAS[0]), (True, f"'{FORMULAS[0]}")):
        write_table(frame, tmp_path / "t.csv", for_spreadsheet=asked)
        assert pd.read_csv(tmp_path / "t.csv")["a"].tolist()[0] == first


def test_a_terminal_gets_no_escapes(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, shown in ((io.StringIO(), "\x1b[2J"), (Terminal(), "\\x1b[2J")):
        monkeypatch.setattr("sys.stdout", stream)
        write_table(pd.DataFrame({"a": ["\x1b[2J"], "b": [1]}), "-")
        assert stream.getvalue() == f"a,b\n{shown},1\n"
