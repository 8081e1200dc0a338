"""Files are written whole or not at all, and never over an input."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from problog4fairness.data.io.reading import read_table
from problog4fairness.data.io.writing import check_output, csv_text, write_atomically, write_table
from problog4fairness.data.problems import TableError

FRAME = pd.DataFrame({"a": ["x, y", "z"], "b": [1, 2]})


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
def test_what_is_written_is_read(tmp_path, name):
    write_table(FRAME, tmp_path / name)
    pd.testing.assert_frame_equal(read_table(tmp_path / name), FRAME)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_standard_output(capsys):
    write_table(FRAME, "-")
    assert capsys.readouterr().out == 'a,b\n"x, y",1\nz,2\n'


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "old.txt"
    path.write_text("old")

    def fail(_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["old.txt"]


def test_a_failure_names_the_file_itself(tmp_path, monkeypatch):
    write_atomically(tmp_path / ("f" * 250), "x")

    def fail(_):
        raise OSError(28, "disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full") as caught:
        write_atomically(tmp_path / "f", "x")
    assert caught.value.filename == str(tmp_path / "f")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_device_is_named():
    with pytest.raises(OSError, match="No space left") as caught:
        write_atomically("/dev/full", "x")
    assert caught.value.filename == "/dev/full"


def test_a_folder_that_is_read_only_is_told_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: not (path == tmp_path and mode == os.W_OK))
    with pytest.raises(TableError, match="nothing can be written to the folder"):
        check_output(tmp_path / "f")


def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "f", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, b"new")
    assert (path.read_text(), path.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o640, True)


def test_no_folder_and_a_folder(tmp_path):
    with pytest.raises(TableError, match="there is no folder"):
        write_atomically(tmp_path / "none" / "f", "x")
    with pytest.raises(TableError, match="is a folder"):
        write_atomically(tmp_path, "x")


def test_an_input_is_never_overwritten(tmp_path):
    path, link, hard = tmp_path / "in.csv", tmp_path / "link.csv", tmp_path / "hard.csv"
    path.write_text("a,b\n1,2\n")
    link.symlink_to(path)
    hard.hardlink_to(path)
    for output in (path, link, hard, tmp_path / "." / "in.csv"):
        with pytest.raises(TableError, match="is the input"):
            check_output(output, "-", None, path)
    with pytest.raises(TableError, match="there is no folder"):
        check_output(tmp_path / "none" / "out.csv", path)
    with pytest.raises(TableError, match="is a folder"):
        check_output(tmp_path, path)
    with pytest.raises(TableError, match="is the input"):
        check_output(path, path)
    check_output("-", path)
    check_output(tmp_path / "out.csv", path)


@pytest.mark.parametrize(
    "column",
    [
        [1.5, -0.0, 1e-7, 1e22, np.inf, np.nan, 0.1 + 0.2, 3.0],
        [1, -2, 3, 4, 5, 6, 7, 1 << 62],
        [True, False] * 4,
        ["a", None, "b c", "", "é", "\u2028", " d ", "e'"],
        ["a", "b", 'c "d"', "e,f", "g\nh", "i j", "k\tl", "m"],
        [True, None, 1, "x", 2.5, "y", "z", "nan"],
        pd.Series([1, None] * 4, dtype="Int64"),
        pd.Series([0.1, 2.5] * 4, dtype="float32"),
        pd.Series(["u", "v"] * 4, dtype="category"),
        pd.date_range("2024-01-01", periods=8),
    ],
)
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_text_is_what_pandas_writes(column, delimiter):
    frame = pd.DataFrame({"a, b": column, "n": range(8)})
    for header in (True, False):
        expected = frame.to_csv(index=False, sep=delimiter, header=header, lineterminator="\n")
        assert csv_text(frame, delimiter=delimiter, header=header) == expected


def test_a_carriage_return_stays_inside_its_cell(tmp_path):
    """Unquoted, it ends the line: a spreadsheet runs what follows, and the row loses its other cells."""
    frame = pd.DataFrame({"note": ["ok\r=cmd|' /C calc'!A0", "plain"], "he\rad": [1, 2]})
    write_table(frame, tmp_path / "table.csv", for_spreadsheet=True)
    with (tmp_path / "table.csv").open(newline="") as file:
        assert [len(record) for record in csv.reader(file)] == [2, 2, 2]
    again = read_table(tmp_path / "table.csv")
    assert again["note"].tolist() == frame["note"].tolist()
    assert again.iloc[:, 1].tolist() == [1, 2]
