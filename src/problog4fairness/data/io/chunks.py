"""Tables of any length: read piece by piece, each piece as it would have been in the whole table."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from problog4fairness.data.io.delimited import Delimited, EncodingChanged
from problog4fairness.data.io.parquet import parquet_chunks
from problog4fairness.data.io.reading import spoken_name, tell, warn_empty
from problog4fairness.data.io.sniffing import spoken_delimiter
from problog4fairness.data.io.source import Source, errors_of

if TYPE_CHECKING:
    import pandas as pd

Result = TypeVar("Result")
# Rows of a piece at most, and values: wide tables have shorter pieces.
ROWS, VALUES = 1 << 16, 1 << 22
EMPTY, FLAG, TEXT = "empty", "flag", "text"


class StartAgain(Exception):  # noqa: N818  # nothing is wrong
    r"""What later rows showed changes what should have been done with earlier ones.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from problog4fairness.data import StartAgain, read_chunks
    >>> tries = []
    >>> def work(pieces):
    ...     tries.append(sum(len(piece) for piece in pieces))
    ...     if len(tries) < 2:
    ...         raise StartAgain
    ...     return tries
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "loans.csv"
    ...     _ = file.write_text("income,granted\n1,0\n2,1\n")
    ...     read_chunks(file).through(work)
    [2, 2]
    """


def read_chunks(
    source: str | PathLike[str],
    *,
    rows: int | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    texts: Sequence[str] = (),
) -> Chunks:
    r"""A table that is read piece by piece, for tables that are larger than memory.

    Parameters
    ----------
    source, delimiter, encoding, decimal, texts
        As for :func:`read_table`; how a CSV file is written is found in its first mebibyte, once.
    rows
        Rows of a piece; by default as many as fit into some 30 megabytes.

    Raises
    ------
    TableError
        As :func:`read_table`, if only when the piece in question is read; the size of the file is no reason.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from problog4fairness.data import read_chunks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "loans.csv"
    ...     _ = file.write_text("income,granted\n1,0\n2,1\n3,1\n")
    ...     read_chunks(file, rows=2).through(lambda pieces: [len(piece) for piece in pieces])
    [2, 1]
    """
    return Chunks(source, rows, spoken_delimiter(delimiter), encoding, decimal, texts)


class Chunks:
    r"""A table that is read piece by piece; see :func:`read_chunks`.

    Parameters
    ----------
    source, rows, delimiter, encoding, decimal, texts
        As :func:`read_chunks` takes them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from problog4fairness.data import read_chunks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "loans.csv"
    ...     _ = file.write_text("income,granted\n1,0\n2,1\n3,1\n")
    ...     read_chunks(file).through(lambda pieces: sum(piece["granted"].sum() for piece in pieces)).item()
    2
    """

    def __init__(
        self,
        source: str | PathLike[str],
        rows: int | None,
        delimiter: str | None,
        encoding: str | None,
        decimal: str | None,
        texts: Sequence[str],
    ) -> None:
        self._name, self._texts, self._rows = spoken_name(source), dict.fromkeys(texts, str), rows
        self._kinds: dict[str, str] | None = None
        self._filled: set[str] = set()
        with errors_of(self._name):
            self._source = Source(source, whole=False)
            self._file = None if self._source.is_parquet else Delimited(self._source, delimiter, encoding, decimal)

    def through(self, work: Callable[[Iterator[pd.DataFrame]], Result]) -> Result:
        """What ``work`` gives for the pieces of the table.

        A column of whole numbers may turn out to have fractions, gaps or texts a million rows later. Then ``work`` is
        called again, with the pieces as they should have been from the beginning; it may also ask for that itself, by
        raising :class:`StartAgain`.
        """
        while True:
            try:
                with closing(self._pieces()) as pieces:
                    found = work(pieces)
            except (StartAgain, EncodingChanged):
                continue
            if self._file is not None:
                tell(self._file, self._name)
            warn_empty([name for name in self._kinds or () if name not in self._filled], self._name)
            return found

    def _pieces(self) -> Generator[pd.DataFrame, None, None]:
        with errors_of(self._name):
            if self._kinds is None:
                with closing(self._read(self._texts)) as head:
                    self._kinds = kinds_of(next(head))
            kinds = self._kinds
            for frame in self._read(self._texts | {name: str for name, kind in kinds.items() if kind == TEXT}):
                found = kinds_of(frame)
                if any(joined(kinds[name], kind) != kinds[name] for name, kind in found.items()):
                    self._survey()
                    raise StartAgain
                self._filled |= {name for name, kind in found.items() if name not in self._filled
                                 and kind != EMPTY and frame[name].notna().any()}  # fmt: skip
                yield _cast(frame, found, kinds)

    def _survey(self) -> None:
        """Find out what the columns are in the table as a whole."""
        for frame in self._read(self._texts):
            found = kinds_of(frame)
            self._kinds = {name: joined(kind, found[name]) for name, kind in (self._kinds or found).items()}

    def _read(self, types: Mapping[str, Any]) -> Generator[pd.DataFrame, None, None]:
        """The pieces as they are by themselves."""
        if self._file is not None:
            yield from self._file.chunks(types, self._rows or max(1, min(ROWS, VALUES // self._file.columns)))
            return
        with self._source.reopen() as handle:
            yield from parquet_chunks(handle, self._rows or ROWS)


def kinds_of(frame: pd.DataFrame) -> dict[str, str]:
    """What each column is: nothing, yes and no with gaps or without, text, or a type of pandas."""
    return {str(name): _kind(frame[name]) for name in frame.columns}


def _kind(column: pd.Series[Any]) -> str:
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, np.dtype) and kind.kind in "biuM":
        return str(kind)
    if isinstance(kind, np.dtype) and kind.kind == "f":
        return str(kind) if column.notna().any() else EMPTY
    if kind != np.dtype(object):
        return TEXT if pd.api.types.is_string_dtype(kind) else str(kind)
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    return {"empty": EMPTY, "boolean": FLAG, "string": TEXT}.get(inferred, "object")


def joined(one: str, two: str) -> str:
    """What a column is that is the one thing in some pieces and the other in others."""
    if one == two:
        return one
    kinds = {one, two}
    if EMPTY in kinds:
        (other,) = kinds - {EMPTY}
        return FLAG if other == "bool" else _joined_numbers([other, "float64"]) or other
    if kinds == {"bool", FLAG}:
        return FLAG
    return _joined_numbers([one, two]) or TEXT


def _joined_numbers(kinds: Sequence[str]) -> str | None:
    if all(kind.startswith(("int", "uint", "float")) for kind in kinds):
        return str(np.result_type(*kinds))
    return None


def _cast(frame: pd.DataFrame, found: Mapping[str, str], kinds: Mapping[str, str]) -> pd.DataFrame:
    """A piece with columns as they are in the table as a whole."""
    changed = {}
    for name, kind in kinds.items():
        if found[name] != kind and kind != EMPTY:
            # Nothing among flags says what it is, so that the first piece of a Parquet file has the type of all.
            other = "boolean" if kind == FLAG and found[name] == EMPTY else object
            changed[name] = frame[name].astype(kind if _joined_numbers([kind]) else other)
    return frame.assign(**changed) if changed else frame
