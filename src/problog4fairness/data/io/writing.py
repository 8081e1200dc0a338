"""Writing files: whole or not at all, and never over an input."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from problog4fairness.data.io.parquet import require_pyarrow, write_parquet
from problog4fairness.data.problems import TableError
from problog4fairness.errors import printable

if TYPE_CHECKING:
    import pandas as pd

STANDARD = "-"
# Bytes for a pipe or standard output that are kept in memory until all are there.
SPOOLED = 1 << 24
# What a spreadsheet runs, with the East Asian forms of these signs, and blanks, which some spreadsheets skip.
_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?\s*\Z")


def write_atomically(path: str | PathLike[str], content: bytes | str) -> None:
    """Write a file whole or not at all: beside it first, then in its place; text as UTF-8.

    A file that was there keeps its permissions; a symbolic link keeps pointing at it. A pipe or a device, such as
    ``/dev/stdout``, is written to as it is.
    """
    with atomic_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def atomic_file(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that is put in its place at the end, whole, or not at all; see :func:`write_atomically`."""
    path = Path(path)
    _check_place(path)
    device = path.exists() and not path.is_file()
    try:
        with _before(path) if device else _beside(path.resolve()) as file:
            yield file
    except OSError as error:
        # The error would name no file, or the one beside it, which nobody knows.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


@contextmanager
def _before(device: Path) -> Iterator[IO[bytes]]:
    """What a pipe or a device gets at the end."""
    with tempfile.SpooledTemporaryFile(max_size=SPOOLED) as file:
        yield file
        file.seek(0)
        with device.open("wb") as out:
            shutil.copyfileobj(file, out)


@contextmanager
def _beside(target: Path) -> Iterator[IO[bytes]]:
    handle, name = tempfile.mkstemp(dir=target.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_mode(target))
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """The permissions of the file that is there, or those that a new file gets."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def check_output(output: str | PathLike[str] | None, *inputs: str | PathLike[str] | None) -> None:
    """Before the work: raise the error of an output that is an input, is a folder, or has no folder to be written to.

    None and ``-`` stand for standard output and input.
    """
    if output is None or str(output) == STANDARD:
        return
    for source in inputs:
        if source is None or str(source) == STANDARD:
            continue
        with suppress(OSError):
            one, two = Path(output), Path(source)
            if one.resolve() == two.resolve() or (one.exists() and two.exists() and one.samefile(two)):
                raise TableError(f"{output} is the input {source} itself; choose another output file")
    _check_place(Path(output))
    if is_parquet(output):
        require_pyarrow("write")


def ready_folder(folder: str | PathLike[str]) -> Path:
    """Before the work: make a folder where there is none, and try whether a file can be written to it."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"\0")
            trial.flush()
    except OSError as error:
        reason = error.strerror or error
        raise TableError(f"{folder}: nothing can be written there ({reason}); choose another folder") from None
    return folder


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise TableError(f"{path} is a folder; name a file in it")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise TableError(f"{path}: there is no folder {folder}")
    if not (path.exists() and not path.is_file()) and not os.access(folder, os.W_OK):
        raise TableError(f"{path}: nothing can be written to the folder {folder}")


def check_folder(folder: str | PathLike[str]) -> None:
    """Before the work: raise the error of a folder that cannot be made, or that nothing can be written to."""
    path = Path(folder)
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise TableError(f"{folder}: {nearest} is a file, not a folder")
    if not os.access(nearest, os.W_OK):
        raise TableError(f"{folder}: nothing can be written to the folder {nearest}")


def write_table(frame: pd.DataFrame, target: str | PathLike[str], *, for_spreadsheet: bool = False) -> None:
    """Write a table: Parquet where the name ends in ``.parquet``, otherwise CSV (``.tsv`` with tabs, ``.gz`` packed).

    A spreadsheet takes a cell of a CSV file that begins with ``=``, ``+``, ``-`` or ``@`` for a formula, and may run
    it. Cells are written as they are unless ``for_spreadsheet`` is set.

    Parameters
    ----------
    frame
        The table; its index is not written.
    target
        The file, or ``-`` for CSV on standard output.
    for_spreadsheet
        Whether to put an apostrophe before texts in a CSV file that a spreadsheet would take for formulas.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from problog4fairness.data import write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "loans.csv"
    ...     write_table(pd.DataFrame({"name": ["=cmd()"]}), file, for_spreadsheet=True)
    ...     file.read_text().split()
    ['name', "'=cmd()"]
    """
    write_chunks([frame], target, for_spreadsheet=for_spreadsheet)


def write_chunks(frames: Iterable[pd.DataFrame], target: str | PathLike[str], *, for_spreadsheet: bool = False) -> None:
    """Write tables with the same columns one after another, as :func:`write_table` writes one.

    Nothing is in the file, or on standard output, before the last of them was there.
    """
    if str(target) == STANDARD:
        with buffered_output() as file:
            _write_csv(frames, file, ",", for_spreadsheet)
        return
    suffixes = [suffix.lower() for suffix in Path(target).suffixes[-2:]]
    with atomic_file(target) as file:
        if is_parquet(target):
            write_parquet(frames, file)
            return
        delimiter = "\t" if ".tsv" in suffixes else ","
        if suffixes[-1:] != [".gz"]:
            _write_csv(frames, file, delimiter, for_spreadsheet)
            return
        # Without a name and a time in it, so that the same table is the same file.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            _write_csv(frames, packed, delimiter, for_spreadsheet)


def _write_csv(
    frames: Iterable[pd.DataFrame], file: IO[bytes] | gzip.GzipFile, delimiter: str, for_spreadsheet: bool
) -> None:
    for number, frame in enumerate(frames):
        safe = without_formulas(frame) if for_spreadsheet else frame
        file.write(csv_text(safe, delimiter=delimiter, header=not number).encode())


class _Lines(io.StringIO):
    """Takes lines one by one and ends them as Unix does."""

    def write(self, line: str) -> int:
        """Add a line."""
        return super().write(line.removesuffix("\r\n") + "\n")


def csv_text(
    frame: pd.DataFrame,
    digits: int | None = None,
    *,
    index: bool = False,
    header: bool = True,
    delimiter: str = ",",
) -> str:
    r"""A table as CSV text, its numbers with so many digits.

    Examples
    --------
    >>> import pandas as pd
    >>> csv_text(pd.DataFrame({"share": [1 / 3]}), 3)
    'share\n0.333\n'
    """
    # A value is quoted if it holds a character of what ends a line: a lone carriage return must not end one.
    lines, form = _Lines(), None if digits is None else f"%.{digits}g"
    frame.to_csv(lines, index=index, header=header, sep=delimiter, lineterminator="\r\n", float_format=form)
    return lines.getvalue()


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """A table whose texts, and names of columns, a spreadsheet shows instead of running them.

    An apostrophe is put before each text that begins as a formula does; numbers, also those in columns of text, stay.

    Examples
    --------
    >>> import pandas as pd
    >>> without_formulas(pd.DataFrame({"note": ["=1+1", "-5", "fine"]}))["note"].tolist()
    ["'=1+1", '-5', 'fine']
    """
    import pandas as pd

    columns = {}
    for name in frame.columns:
        codes, values = pd.factorize(frame[name])
        if all(value is _defused(value) for value in values):
            columns[_defused(name)] = frame[name]
        else:
            texts = pd.Series([*map(_defused, values), None], dtype=object)
            columns[_defused(name)] = texts.iloc[codes].set_axis(frame.index)
    return pd.DataFrame(columns, index=frame.index)


def _defused(value: Any) -> Any:
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.match(value):
        return f"'{value}"
    return value


@contextmanager
def buffered_output() -> Iterator[IO[bytes]]:
    """Text for standard output, which gets it at the end: as it is for a program, escaped for a terminal."""
    with tempfile.SpooledTemporaryFile(max_size=SPOOLED) as file:
        yield file
        file.seek(0)
        show = sys.stdout.isatty()
        for line in io.TextIOWrapper(file, "utf-8", newline="\n"):
            sys.stdout.write(f"{printable(line.rstrip(chr(10)))}\n" if show else line)


def is_parquet(target: str | PathLike[str]) -> bool:
    """Whether a table of this name is written as Parquet."""
    return Path(target).suffix.lower() in (".parquet", ".pq")
