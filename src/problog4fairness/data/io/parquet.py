"""Parquet files: read with a bound from the first byte, because a few of them can stand for any number of rows."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from problog4fairness.data.io.bounded import MOST_COLUMNS, allowed
from problog4fairness.data.problems import TableError, listed

if TYPE_CHECKING:
    import pandas as pd

# Rows that are unpacked at a time.
ROWS = 1 << 16
# What a file may unpack to, as far as memory allows: so many bytes, or so many times its own size. Columns of few
# values pack far better than text does.
UNPACKED, RATIO = 1 << 30, 200
# Bytes of a pointer and of a small object of Python.
_OBJECT = 72


def read_parquet(handle: IO[bytes]) -> pd.DataFrame:
    """The table in a Parquet file.

    What it will take is bounded twice: by the rows and bytes that the file says it has, before anything is unpacked,
    and by those that it does have, while it is.
    """
    limit = min(allowed(), max(UNPACKED, RATIO * handle.seek(0, io.SEEK_END)))
    with _errors():
        import pyarrow

        file, schema = _opened(handle)
        metadata = file.metadata
        groups = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
        _refuse_larger(max(groups, metadata.num_rows * sum(_width(field.type) for field in schema)), limit)
        parts = list(_batches(file, schema, limit, ROWS))
        frame = (pyarrow.concat_tables(parts) if parts else schema.empty_table()).to_pandas(ignore_metadata=True)
    return _named(frame)


def parquet_chunks(handle: IO[bytes], rows: int) -> Iterator[pd.DataFrame]:
    """The table in a Parquet file, so many rows at a time; each of its own groups of rows must fit memory."""
    with _errors():
        file, schema = _opened(handle)
        for number in range(file.metadata.num_row_groups):
            _refuse_larger(file.metadata.row_group(number).total_byte_size, allowed())
        given = 0
        for part in _batches(file, schema, None, rows):
            given += len(part)
            yield _named(part.to_pandas(ignore_metadata=True))
        if not given:
            raise TableError("the file has no rows")


def write_parquet(frames: Iterable[pd.DataFrame], handle: IO[bytes]) -> None:
    """Write tables with the same columns one after another, as one Parquet file."""
    require_pyarrow("write")
    import pyarrow
    import pyarrow.parquet

    schema, writer = None, None
    try:
        for frame in frames:
            # Without what pandas notes of the first piece, which may be another thing than all of them are.
            table = pyarrow.Table.from_pandas(frame, schema, preserve_index=False).replace_schema_metadata(None)
            if writer is None:
                schema = table.schema
                # Measurements and probabilities hardly repeat: to look for values that do takes most of the time.
                repeat = [field.name for field in schema if not pyarrow.types.is_floating(field.type)]
                writer = pyarrow.parquet.ParquetWriter(handle, schema, use_dictionary=repeat)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def require_pyarrow(verb: str) -> None:
    """Raise the error that says how to get Parquet where it is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise TableError(
            f"pyarrow is needed to {verb} Parquet files; install it with pip install 'problog4fairness[parquet]', "
            "or use CSV"
        ) from None


@contextmanager
def _errors() -> Iterator[None]:
    """One line for what pyarrow finds in a damaged file."""
    require_pyarrow("read")
    import pyarrow

    try:
        yield
    except TableError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise TableError(f"the Parquet file is damaged ({error})") from None


def _opened(handle: IO[bytes]) -> tuple[Any, Any]:
    """The file and its columns."""
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(handle)
    if len(schema) > MOST_COLUMNS:
        raise TableError(f"the file has {len(schema):,} columns, more than {MOST_COLUMNS:,}")
    for field in schema:
        if pyarrow.types.is_nested(field.type):
            raise TableError(f"column {field.name!r} holds {field.type}, not single values")
    repeated = [name for name, count in Counter(schema.names).items() if count > 1]
    if repeated:
        raise TableError(f"the file names {listed(repeated)} more than once; give each column its own name")
    texts = [field.name for field in schema if _is_text(field.type)]
    # A long text that many rows share is stored once, and stays so until its length times its rows is known.
    # Read ahead, all of the file would be kept until its end.
    return pyarrow.parquet.ParquetFile(handle, read_dictionary=texts, pre_buffer=False), schema


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    if not len(frame.columns) or not len(frame):
        raise TableError("the file has no rows")
    if len(frame.columns) == 1:
        raise TableError(f"the file has one column only ({frame.columns[0]!r})")
    frame.columns = [" ".join(str(name).split()) for name in frame.columns]
    return frame


def _batches(file: Any, schema: Any, limit: int | None, rows: int) -> Iterator[Any]:
    """All rows, their sizes added up before they are unpacked, or looked at one by one; decimal numbers as floats."""
    import pyarrow

    total = 0
    for batch in file.iter_batches(batch_size=rows):
        size = sum(_unpacked_size(column) for column in batch.columns)
        total += size
        _refuse_larger(size if limit is None else total, allowed() if limit is None else limit)
        columns = [_plain(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
        yield pyarrow.table(columns, names=schema.names)


def _refuse_larger(size: int, limit: int) -> None:
    if size > limit:
        raise TableError(
            f"its rows take more than {limit} bytes of memory, too much for the file's size or for what is free; "
            "write fewer rows or columns to it"
        )


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind))


def _width(kind: Any) -> int:
    """The bytes of a value in a data frame, besides a text.

    A column with gaps becomes floats or pointers, whatever it is in the file: 8 bytes for a whole number of one byte,
    or a yes and no of one bit. A date or a time of day becomes an object of Python.
    """
    from pyarrow import types

    if types.is_fixed_size_binary(kind):
        return _OBJECT + int(kind.byte_width)
    return _OBJECT if types.is_date(kind) or types.is_time(kind) or types.is_interval(kind) else 8


def _unpacked_size(column: Any) -> int:
    import pyarrow.compute

    if not (pyarrow.types.is_dictionary(column.type) and _is_text(column.type.value_type)):
        return max(int(column.nbytes), len(column) * _width(column.type))
    lengths = pyarrow.compute.binary_length(column.dictionary).take(column.indices)
    return 8 * len(column) + int(pyarrow.compute.sum(lengths.cast("int64")).as_py() or 0)


def _plain(column: Any, kind: Any) -> Any:
    import pyarrow

    if pyarrow.types.is_decimal(kind):
        return column.cast(pyarrow.float64())
    return column if column.type == kind else column.dictionary_decode().cast(kind)
