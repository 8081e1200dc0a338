"""Writing files: whole or not at all, and never over an input."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING

from problog4fairness.data.io.csv_text import csv_text
from problog4fairness.data.io.formulas import without_formulas
from problog4fairness.data.io.parquet import require_pyarrow, write_parquet
from problog4fairness.data.problems import TableError
from problog4fairness.errors import printable

if TYPE_CHECKING:
    import pandas as pd

STANDARD = "-"
# Bytes for a pipe or standard output that are kept in memory until all are there.
SPOOLED = 1 << 24


def write_whole(path: str | PathLike[str], content: bytes | str) -> None:
    """Write a file whole or not at all: beside it first, then in its place.

    A file that was there keeps its permissions; a symbolic link keeps pointing at it. A pipe or a device, such as
    ``/dev/stdout``, is written to as it is.

    Parameters
    ----------
    path
        The file.
    content
        Bytes, or text, which is written as UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from problog4fairness.data import write_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "note.txt", "whole, or not at all")
    ...     (Path(folder) / "note.txt").read_text()
    'whole, or not at all'
    """
    data = content.encode() if isinstance(content, str) else content
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that is put in its place at the end, whole, or not at all; see :func:`write_whole`."""
    path = Path(path)
    _check_place(path)
    device = path.exists() and not path.is_file()
    with _errors_of(path), _before(path) if device else _beside(path.resolve()) as file:
        yield file


@contextmanager
def _before(device: Path) -> Iterator[IO[bytes]]:
    """What a pipe or a device gets at the end."""
    with tempfile.SpooledTemporaryFile(max_size=SPOOLED) as file:
        yield file
        file.seek(0)
        with device.open("wb") as out:
            shutil.copyfileobj(file, out)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # The error would name no file, or the one beside it, which nobody knows.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


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


def refuse_overwrite(output: str | PathLike[str] | None, *inputs: str | PathLike[str] | None) -> None:
    """Raise the error that names an output which is also an input, under whatever name.

    Parameters
    ----------
    output
        The file that will be written; None and ``-`` are nobody's input.
    inputs
        The files that are read.

    Examples
    --------
    >>> from problog4fairness.data import refuse_overwrite
    >>> refuse_overwrite("scored.csv", "loans.csv")  # no error
    >>> refuse_overwrite("./loans.csv", "loans.csv")
    Traceback (most recent call last):
        ...
    problog4fairness.data.problems.TableError: ./loans.csv is the input loans.csv itself; choose another output file
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


def check_output(output: str | PathLike[str] | None, *inputs: str | PathLike[str] | None) -> None:
    """Before the work: raise the error of an output that is an input, is a folder, or has no folder to be written to.

    Parameters
    ----------
    output
        The file to be written; None or ``-`` for standard output.
    inputs
        The files that are read.

    Examples
    --------
    >>> from problog4fairness.data import check_output
    >>> check_output("loans.csv", "loans.csv")
    Traceback (most recent call last):
        ...
    problog4fairness.data.problems.TableError: loans.csv is the input loans.csv itself; choose another output file
    """
    refuse_overwrite(output, *inputs)
    if output is not None and str(output) != STANDARD:
        _check_place(Path(output))
        if is_parquet(output):
            require_pyarrow("write")


def ready_folder(folder: str | PathLike[str]) -> Path:
    """Before the work: make a folder where there is none, and try whether a file can be written to it.

    Parameters
    ----------
    folder
        The folder, which may lie in others that do not exist yet.

    Raises
    ------
    TableError
        In one line: it is a file, it may not be written to, its disk is full.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from problog4fairness.data import ready_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ready_folder(Path(folder) / "to" / "be" / "made").is_dir()
    True
    """
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
    """Before the work: raise the error of a folder that cannot be made, or that nothing can be written to.

    Parameters
    ----------
    folder
        It need not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from problog4fairness.data import check_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_folder(Path(folder) / "to" / "be" / "made")  # no error
    """
    path = Path(folder)
    there = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not there.is_dir():
        raise TableError(f"{folder}: {there} is a file, not a folder")
    if not os.access(there, os.W_OK):
        raise TableError(f"{folder}: nothing can be written to the folder {there}")


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

    Parameters
    ----------
    frames
        The pieces of the table.
    target, for_spreadsheet
        As for :func:`write_table`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from problog4fairness.data import write_chunks
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "loans.csv"
    ...     write_chunks([pd.DataFrame({"income": [1]}), pd.DataFrame({"income": [2]})], file)
    ...     file.read_text().split()
    ['income', '1', '2']
    """
    if str(target) == STANDARD:
        with whole_output() as file:
            _write_csv(frames, file, ",", for_spreadsheet)
        return
    suffixes = [suffix.lower() for suffix in Path(target).suffixes[-2:]]
    with whole_file(target) as file:
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
        shown = without_formulas(frame) if for_spreadsheet else frame
        file.write(csv_text(shown, delimiter, header=not number).encode())


@contextmanager
def whole_output() -> Iterator[IO[bytes]]:
    r"""Text for standard output, which gets it at the end: as it is for a program, escaped for a terminal.

    Examples
    --------
    >>> from problog4fairness.data import whole_output
    >>> with whole_output() as file:
    ...     _ = file.write(b"income,granted\n")
    ...     _ = file.write(b"1,0\n")
    income,granted
    1,0
    """
    with tempfile.SpooledTemporaryFile(max_size=SPOOLED) as file:
        yield file
        file.seek(0)
        show = sys.stdout.isatty()
        for line in io.TextIOWrapper(file, "utf-8", newline="\n"):
            sys.stdout.write(f"{printable(line.rstrip(chr(10)))}\n" if show else line)


def is_parquet(target: str | PathLike[str]) -> bool:
    """Whether a table of this name is written as Parquet.

    Parameters
    ----------
    target
        The name of a file.

    Examples
    --------
    >>> from problog4fairness.data import is_parquet
    >>> is_parquet("loans.parquet"), is_parquet("loans.csv")
    (True, False)
    """
    return Path(target).suffix.lower() in (".parquet", ".pq")
