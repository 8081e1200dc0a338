"""Tables piece by piece: what comes out is what the whole table would have been."""

from __future__ import annotations

import gzip
import warnings

import numpy as np
import pandas as pd
import pytest

from problog4fairness.data.io.reading import Chunks, RestartReading, read_table
from problog4fairness.data.io.writing import write_chunks, write_table
from problog4fairness.data.problems import FileWarning, TableError

ROWS = 50


def together(source, **options):
    """All pieces in one table."""
    return Chunks(source, rows=7, **options).through(lambda frames: pd.concat(list(frames), ignore_index=True))


COLUMNS = {
    "whole numbers": [*range(ROWS)],
    "a fraction late": [*range(ROWS - 1), 0.5],
    "a gap late": [*range(ROWS - 1), None],
    "a text late": [*range(ROWS - 1), "x"],
    "a text early": ["007", *(f"{i}" for i in range(1, ROWS))],
    "a fraction and then a text": [*range(20), 0.5, *range(20), "x", *range(ROWS - 42)],
    "nothing": [None] * ROWS,
    "nothing for long": [None] * (ROWS - 1) + [3],
    "nothing, then text": [None] * (ROWS - 1) + ["x"],
    "flags": [True, False] * (ROWS // 2),
    "flags with a gap": [True, False] * (ROWS // 2 - 1) + [True, None],
    "nothing, then flags": [None] * (ROWS - 2) + [True, False],
    "a flag among numbers": [*range(ROWS - 1), True],
    "texts": ["a", 'b "q"\n,'] * (ROWS // 2),
}


@pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_pieces_are_what_they_are_in_the_whole_table(tmp_path, column, suffix):
    frame = pd.DataFrame({"own": COLUMNS[column], "n": range(ROWS)})
    path = tmp_path / f"t.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.assign(own=pd.read_csv(pd.io.common.StringIO(frame.to_csv(index=False)))["own"]).to_parquet(path)
    whole = read_table(path)
    found = together(path)
    if found["own"].dtype == object:
        # Whatever stands for a missing value among them.
        found, whole = (table.assign(own=table["own"].where(table["own"].notna(), None)) for table in (found, whole))
    pd.testing.assert_frame_equal(found, whole)
    for end in ("csv", "parquet", "csv.gz", "tsv"):
        Chunks(path, rows=7).through(lambda frames, end=end: write_chunks(frames, tmp_path / f"pieces.{end}"))
        write_table(whole, tmp_path / f"whole.{end}")
        if end == "parquet":
            pd.testing.assert_frame_equal(
                pd.read_parquet(tmp_path / "pieces.parquet"), pd.read_parquet(tmp_path / "whole.parquet")
            )
        else:
            unpack = gzip.decompress if end == "csv.gz" else bytes
            one, two = ((tmp_path / f"{name}.{end}").read_bytes() for name in ("pieces", "whole"))
            assert unpack(one) == unpack(two)


def test_texts_stay_texts(tmp_path):
    (tmp_path / "t.csv").write_text("code,n\n" + "007,1\n" * 20)
    assert together(tmp_path / "t.csv", texts=["code"])["code"].tolist() == ["007"] * 20


def test_an_encoding_that_shows_late(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 300_000 + "1,é\n".encode("cp1252"))
    with pytest.warns(FileWarning, match="cp1252") as told:
        last = Chunks(path).through(lambda frames: [*frames][-1])
    assert last["b"].iloc[-1] == "é"
    assert len(told) == 1


@pytest.mark.parametrize(
    ("line", "error"),
    [("1\n", "line 42 has 1 values"), ("1,2,3\n", "line 42 has 3 values")],
)
def test_a_late_line_that_is_wrong_is_named(tmp_path, line, error):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 40 + line)
    with pytest.raises(TableError, match=error):
        together(path)


def test_a_late_nul_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 300_000 + "1,\0\n")
    with pytest.raises(TableError, match="line 300002 holds a NUL"):
        Chunks(path)


def test_columns_without_a_value_are_told_once_and_of_the_whole_table(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n" + ",,1\n" * 30 + ",2,1\n")
    with pytest.warns(FileWarning, match="column 'a' holds no value") as told:
        together(tmp_path / "t.csv")
    assert len(told) == 1


def test_work_may_ask_to_start_again(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 30)
    seen = []

    def work(frames):
        seen.append(sum(map(len, frames)))
        if len(seen) < 3:
            raise RestartReading
        return seen

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Chunks(tmp_path / "t.csv", rows=7).through(work) == [30, 30, 30]


def test_nothing_is_written_where_a_late_row_is_wrong(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 40 + "1\n")
    for target in (tmp_path / "out.csv", tmp_path / "out.parquet", "-"):
        with pytest.raises(TableError, match="line 42"):
            Chunks(tmp_path / "t.csv", rows=7).through(lambda frames, target=target: write_chunks(frames, target))
    assert capsys.readouterr().out == ""
    assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]


def test_memory_does_not_grow_with_the_table(tmp_path):
    import tracemalloc

    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1.5,2\n" * 100_000)
    tracemalloc.start()
    Chunks(path, rows=1000).through(lambda frames: write_chunks(frames, tmp_path / "out.csv"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20
    assert np.isclose(read_table(tmp_path / "out.csv")["a"].sum(), 150_000)
