"""Tables as they come: every way in which a CSV file is written, and every way in which it is broken."""

from __future__ import annotations

import gzip
import io
import time
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest

from problog4fairness.data.io.reading import Chunks, read_table
from problog4fairness.data.io.writing import write_table
from problog4fairness.data.problems import FileNote, FileWarning, TableError

FRAME = pd.DataFrame({"name": ["Ann", "Bo; b", "C|d"], "income": [1.5, 2.25, -3.0], "n": [1, 2, 3]})


def written(folder, content, name="table.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_delimiters_and_encodings_are_found(tmp_path, delimiter, encoding):
    path = written(tmp_path, FRAME.to_csv(index=False, sep=delimiter).encode(encoding))
    pd.testing.assert_frame_equal(read_table(path), FRAME)


def test_a_delimiter_may_be_named(tmp_path):
    path = written(tmp_path, "a b\n1 2\n")
    assert read_table(path, delimiter="space").to_dict("list") == {"a": [1], "b": [2]}
    with pytest.raises(TableError, match="'ab' is not one character"):
        read_table(path, delimiter="ab")


def test_a_file_that_is_not_utf8_is_read_with_a_warning(tmp_path):
    path = written(tmp_path, "name,n\nJosé,1\n".encode("cp1252"))
    with pytest.warns(FileWarning, match=r"not UTF-8 and was read as cp1252; override with encoding=\.\.\."):
        assert read_table(path)["name"][0] == "José"
    assert read_table(path, encoding="cp1252")["name"][0] == "José"
    with pytest.raises(TableError, match="is not utf-8"):
        read_table(path, encoding="utf-8")
    with pytest.raises(TableError, match="there is no encoding 'utf-99'"):
        read_table(path, encoding="utf-99")


def test_bytes_after_the_sample_may_change_the_encoding(tmp_path):
    path = written(tmp_path, b"a,b\n" + b"1,2\n" * 300_000 + "1,é\n".encode("cp1252"))
    with pytest.warns(FileWarning, match="cp1252"):
        assert read_table(path)["b"].iloc[-1] == "é"


def test_quoted_newlines_and_delimiters(tmp_path):
    frame = read_table(written(tmp_path, 'a,"b c"\n"x\ny",1\n"p, q",2\n'))
    assert frame.to_dict("list") == {"a": ["x\ny", "p, q"], "b c": [1, 2]}


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_decimal_commas_are_found_and_said(tmp_path, delimiter):
    path = written(tmp_path, f"a{delimiter}b\n1,5{delimiter}x\n-2,25{delimiter}y\n")
    with pytest.warns(FileNote, match=r"'1,5' were read with decimal commas; override with decimal='\.'"):
        assert read_table(path)["a"].tolist() == [1.5, -2.25]
    assert read_table(path, decimal=".")["a"].tolist() == ["1,5", "-2,25"]


def test_thousands_are_told_from_decimals(tmp_path):
    with pytest.warns(FileNote, match="commas between thousands"):
        assert read_table(written(tmp_path, 'a,b\n"1,234",1\n"5,678.5",2\n'))["a"].tolist() == [1234, 5678.5]
    with pytest.warns(FileWarning) as told:
        assert read_table(written(tmp_path, "a;b\n1.234,5;1\n2,5;2\n"))["a"].tolist() == ["1.234,5", "2,5"]
    assert "'1.234,5', with points between thousands, are read as text" in str(told[0].message)


def test_commas_and_points_together_are_warned_of(tmp_path):
    with pytest.warns(FileWarning, match="decimal commas and points"):
        read_table(written(tmp_path, "a;b\n1,5;1.5\n"))


def test_packed_files_and_standard_input(tmp_path, monkeypatch):
    content = FRAME.to_csv(index=False).encode()
    path = written(tmp_path, gzip.compress(content), "table.csv.gz")
    pd.testing.assert_frame_equal(read_table(path), FRAME)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    pd.testing.assert_frame_equal(read_table("-"), FRAME)


def test_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    write_table(FRAME, tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "table.parquet"), FRAME)
    damaged = written(tmp_path, (tmp_path / "table.parquet").read_bytes()[:-20], "damaged.parquet")
    with pytest.raises(TableError, match=r"damaged\.parquet: the Parquet file is damaged"):
        read_table(damaged)


def test_parquet_without_pyarrow_says_how_to_get_it(tmp_path, monkeypatch):
    path = written(tmp_path, b"PAR1" + bytes(20))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(TableError, match=r"pip install 'problog4fairness\[parquet\]'"):
        read_table(path)


BROKEN = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n \n", "the file is empty"),
    "header": (b"a,b\n", r"a header \('a', 'b'\) but no rows"),
    "one column": (b"a\n1\n2\n", r"one column only \('a'\).*delimiter=\.\.\."),
    "duplicated": (b"a,b,a, b\n1,2,3,4\n", "names 'a', 'b' more than once"),
    "taken name": (b"a,Unnamed: 2,,c\n1,2,3,4\n", "names 'Unnamed: 2' more than once"),
    "long row": (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 values, the header has 2 names"),
    "longer rows": (b"a,b\n1,2,3\n3,4,5\n", "line 2 has 3 values, the header has 2 names"),
    "short row": (b'a,b,c\n"x\ny",2,3\n4,5\n', "line 4 has 2 values, the header has 3 names"),
    "late short row": (b"a,b\n" + b"1,2\n" * 1000 + b"7\n", "line 1002 has 1 values"),
    "open quote": (b'a,b\n1,"x\n2,y\n', "a quote that opens in record 2 is never closed"),
    "junk": (bytes(range(256)) * 4, "binary data"),
    "spreadsheet": (b"PK\x03\x04\0\0\0", "save the spreadsheet as CSV"),
    "packed junk": (b"\x1f\x8bjunk", "cannot be unpacked"),
    "parquet junk": (b"PAR1 and nothing else", "the Parquet file is damaged"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_one_line(tmp_path, kind):
    content, message = BROKEN[kind]
    with pytest.raises(TableError, match=message) as caught:
        read_table(written(tmp_path, content))
    assert "\n" not in str(caught.value)
    assert "table.csv: " in str(caught.value)


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "base64", "", "undefined", "idna"])
def test_an_encoding_that_is_none_of_text(tmp_path, encoding):
    with pytest.raises(TableError, match="there is no encoding"):
        read_table(written(tmp_path, b"a,b\n1,2\n"), encoding=encoding)


def test_no_file_and_folders(tmp_path):
    with pytest.raises(TableError, match="there is no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)


def test_endless_lines_and_thousands_of_columns_do_not_hang(tmp_path):
    began = time.process_time()
    with pytest.raises(TableError, match="line 1 is longer than"):
        read_table(written(tmp_path, b"x" * 3_000_000))
    with pytest.raises(TableError, match="binary"):
        read_table("/dev/zero")
    names = [f"column_{i}" for i in range(5000)]
    wide = written(tmp_path, ",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    assert list(read_table(wide).columns) == names
    assert time.process_time() - began < 20


def test_numbers_are_numbers_and_blanks_are_nothing(tmp_path):
    frame = read_table(written(tmp_path, "id, city ,x\n1, Rome,\n2,NA,3\n"))
    assert list(frame.columns) == ["id", "city", "x"]
    assert frame["city"].tolist()[0] == "Rome"
    assert frame["city"].isna().tolist() == [False, True]
    assert frame["x"].dtype == np.float64


def test_a_header_of_numbers_and_empty_columns_are_warned_of(tmp_path):
    with pytest.warns(FileWarning, match="the first line holds numbers only"):
        read_table(written(tmp_path, "1,2\n3,4\n"))
    with pytest.warns(FileWarning, match="column 'b' holds no value"):
        read_table(written(tmp_path, "a,b,c\n1,,2\n3,,4\n"))


def test_an_ordinary_file_is_read_without_a_word(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(written(tmp_path, FRAME.to_csv(index=False)))


def test_a_packed_file_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("problog4fairness.data.io.source.UNPACKED", 1 << 20)
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000))
    with pytest.raises(TableError, match=r"bomb\.csv\.gz: the file unpacks to more than 1048576 bytes"):
        read_table(tmp_path / "bomb.csv.gz")


def test_the_memory_that_is_free_bounds_what_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("problog4fairness.data.io.bounded.available", lambda: 2 << 20)
    (tmp_path / "large.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000))
    with pytest.raises(TableError, match="unpacks to more than 1048576 bytes"):
        read_table(tmp_path / "large.csv.gz")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
@pytest.mark.parametrize("lines", [1, 400_000])
def test_a_nul_is_refused_wherever_it_is(tmp_path, encoding, lines):
    text = "a,b\n" + "1,x\n" * lines + "2,x\0y\n" + "3,z\n" * 10
    with pytest.raises(TableError, match=f"table.csv: line {lines + 2} holds a NUL character"):
        read_table(written(tmp_path, text.encode(encoding)), encoding=encoding)


def test_a_nul_after_the_sample_is_refused_when_the_encoding_was_found(tmp_path):
    content = b"a,b\n" + b"1,x\n" * 400_000 + b"2,\0\n"
    with pytest.raises(TableError, match="line 400002 holds a NUL character"):
        read_table(written(tmp_path, gzip.compress(content)))


def test_short_rows_are_counted_before_they_are_filled(tmp_path):
    """pandas would make a table of all names times all lines: gigabytes of a file of a few hundred kilobytes."""
    names = ",".join(f"c{number}" for number in range(20_000))
    content = names + "\n" + ",".join(["1"] * 20_000) + "\n" + "1\n" * 20_000
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match="line 3 has 1 values, the header has 20000 names"):
            read_table(written(tmp_path, content))
        with pytest.raises(TableError, match="line 3 has 1 values"):
            Chunks(tmp_path / "table.csv", rows=10_000).through(list)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_lines_within_quotes_are_no_short_rows(tmp_path):
    content = "a,b,c,d\n" + '1,2,3,"x\n\n\n\n\n\n\n\n\n"\n' * 60_000
    assert read_table(written(tmp_path, content)).shape == (60_000, 4)


def test_a_header_with_more_names_than_a_table_may_have(tmp_path):
    names = ",".join(f"c{number}" for number in range(40_000))
    with pytest.raises(TableError, match="the header has 40,000 names"):
        read_table(written(tmp_path, f"{names}\n{names}\n"))
