"""Parquet files: what is read, and what is refused before it fills the memory."""

from __future__ import annotations

import decimal

import numpy as np
import pandas as pd
import pytest

from problog4fairness.data.io.reading import read_table
from problog4fairness.data.io.writing import write_table
from problog4fairness.data.problems import TableError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MEBIBYTE = 1 << 20


def kinds(rows=100_000):
    """A column of each kind, with missing values, in more rows than are read at a time."""
    every = np.arange(rows)
    return pd.DataFrame(
        {
            "number": every,
            "fraction": np.where(every % 7 == 0, np.nan, every / 3),
            "text": pd.Series(np.where(every % 5 == 0, None, [f"t{i % 300}" for i in every]), dtype="str"),
            "flag": every % 2 == 0,
            "level": pd.Categorical(np.where(every % 2 == 0, "low", "high")),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(every % 365, unit="D"),
            "price": [decimal.Decimal(int(i)) / 4 for i in every],
        }
    )


def test_columns_of_every_kind(tmp_path):
    frame = kinds()
    write_table(frame, tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(found, frame.assign(price=frame["price"].astype(float)), check_dtype=False)
    assert [found[name].dtype.kind for name in ("number", "fraction", "flag", "price")] == list("ifbf")
    assert found["level"].dtype == "category"


def test_rows_that_would_fill_the_memory_are_refused_before_they_are_read(tmp_path):
    part = pa.table({name: np.zeros(1 << 20, dtype=np.int64) for name in "abc"})
    with pq.ParquetWriter(tmp_path / "bomb.parquet", part.schema, compression="zstd") as writer:
        for _ in range(64):
            writer.write_table(part)
    assert (tmp_path / "bomb.parquet").stat().st_size < MEBIBYTE
    before = pa.total_allocated_bytes()
    with pytest.raises(TableError, match=r"bomb\.parquet: its rows take more than \d+ bytes of memory"):
        read_table(tmp_path / "bomb.parquet")
    assert pa.total_allocated_bytes() - before < MEBIBYTE


@pytest.mark.parametrize("kind", ["int8", "bool", "date32", "null"])
def test_a_column_with_gaps_is_counted_as_the_data_frame_has_it(tmp_path, monkeypatch, kind):
    """One byte, or one bit, in the file; 8 bytes as floats, or pointers to objects."""
    monkeypatch.setattr("problog4fairness.data.io.bounded.available", lambda: 8 * MEBIBYTE)
    column = pa.nulls(400_000, pa.type_for_alias(kind))
    pq.write_table(pa.table({"a": column, "b": column}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="its rows take more than"):
        read_table(tmp_path / "t.parquet")


def test_a_small_file_unpacks_to_a_gibibyte_at_most(tmp_path):
    rows = pa.nulls(1 << 24, pa.int8())
    with pq.ParquetWriter(tmp_path / "t.parquet", pa.schema([("a", pa.int8()), ("b", pa.int8())])) as writer:
        for _ in range(8):
            writer.write_table(pa.table({"a": rows, "b": rows}))
    with pytest.raises(TableError, match="its rows take more than"):
        read_table(tmp_path / "t.parquet")


def test_a_long_text_in_many_rows_is_refused(tmp_path):
    """The file has the text once, and says that it unpacks to a few bytes more than that."""
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, dtype=np.int32)), pa.array(["x" * MEBIBYTE]))
    pq.write_table(pa.table({"a": texts, "b": np.zeros(20_000)}), tmp_path / "t.parquet", store_schema=False)
    assert pq.read_metadata(tmp_path / "t.parquet").row_group(0).total_byte_size < 4 * MEBIBYTE
    with pytest.raises(TableError, match="its rows take more than"):
        read_table(tmp_path / "t.parquet")


def test_the_memory_that_is_free_is_the_bound(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": np.arange(200_000), "b": np.arange(200_000.0)}), tmp_path / "t.parquet")
    assert len(read_table(tmp_path / "t.parquet")) == 200_000
    monkeypatch.setattr("problog4fairness.data.io.bounded.available", lambda: 2 * MEBIBYTE)
    with pytest.raises(TableError, match="its rows take more than 1048576 bytes"):
        read_table(tmp_path / "t.parquet")


def test_columns_that_are_no_single_values_or_have_one_name(tmp_path):
    pq.write_table(pa.table({"a": [[1], [2]], "b": [1, 2]}), tmp_path / "nested.parquet")
    with pytest.raises(TableError, match=r"column 'a' holds list<.*, not single values"):
        read_table(tmp_path / "nested.parquet")
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "twice.parquet")
    with pytest.raises(TableError, match="names 'a' more than once"):
        read_table(tmp_path / "twice.parquet")
