"""Writing files: whole or not at all, and never over an input."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tempfile
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from problog4fairness.files.problems import TableError

if TYPE_CHECKING:
    import pandas as pd

STANDARD = "-"


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
    """
    path = Path(path)
    _check_place(path)
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    try:
        _replace(path.resolve(), data)
    except OSError as error:
        # The error would name the file beside it, which nobody knows.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _replace(target: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
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
    """Before the work: raise the error of an output that is an input, is a folder, or has no place to lie in.

    The arguments are those of :func:`refuse_overwrite`.
    """
    refuse_overwrite(output, *inputs)
    if output is not None and str(output) != STANDARD:
        _check_place(Path(output))


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


def write_table(frame: pd.DataFrame, target: str | PathLike[str]) -> None:
    """Write a table: Parquet where the name ends in ``.parquet``, otherwise CSV (``.tsv`` with tabs, ``.gz`` packed).

    Parameters
    ----------
    frame
        The table; its index is not written.
    target
        The file, or ``-`` for CSV on standard output.
    """
    if str(target) == STANDARD:
        frame.to_csv(sys.stdout, index=False, lineterminator="\n")
        return
    suffixes = [suffix.lower() for suffix in Path(target).suffixes[-2:]]
    if suffixes[-1:] in ([".parquet"], [".pq"]):
        write_whole(target, _parquet(frame))
        return
    separator = "\t" if ".tsv" in suffixes else ","
    content = frame.to_csv(index=False, sep=separator, lineterminator="\n").encode()
    # Without a time in it, so that the same table is the same file.
    write_whole(target, gzip.compress(content, mtime=0) if suffixes[-1:] == [".gz"] else content)


def _parquet(frame: pd.DataFrame) -> bytes:
    require_pyarrow("write")
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False, engine="pyarrow")
    return buffer.getvalue()


def require_pyarrow(verb: str) -> None:
    """Raise the error that says how to get Parquet where it is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise TableError(
            f"pyarrow is needed to {verb} Parquet files; install it with pip install 'problog4fairness[parquet]', "
            "or use CSV"
        ) from None
