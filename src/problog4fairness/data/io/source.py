"""The bytes of a table: a file, a pipe or standard input, looked at first and then read as often as needed."""

from __future__ import annotations

import gzip
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

from problog4fairness.data.io.bounded import allowed
from problog4fairness.data.io.writing import STANDARD
from problog4fairness.data.problems import TableError

# Bytes that are looked at first, and read at a time; the header of a table must fit into them.
SAMPLE = 1 << 20
_PACKED = b"\x1f\x8b"
_PARQUET = b"PAR1"
# What a packed file may unpack to: so many bytes, or so many times its own size.
UNPACKED, RATIO = 1 << 28, 100


class Source:
    """Bytes that can be looked at, and then be read from the beginning as often as needed.

    Parameters
    ----------
    source
        A file, or ``-`` for standard input. What can be read once only is copied to a temporary file first.
    whole
        Whether all of it will be in memory at once, so that it must fit there.

    Attributes
    ----------
    first
        The first bytes, unpacked.
    complete
        Whether these are all of them.
    """

    def __init__(self, source: str | PathLike[str], *, whole: bool) -> None:
        self._path = Path(source)
        if str(source) == STANDARD:
            self._keep(sys.stdin.buffer)
        elif self._path.is_dir():
            raise TableError("is a folder, not a table")
        elif self._path.exists() and not self._path.is_file():
            with self._path.open("rb") as stream:
                self._keep(stream)
        with self._path.open("rb") as raw:
            self._packed = raw.read(2) == _PACKED
        if self._packed:
            self._refuse_bomb(whole)
        with self.reopen() as stream:
            self.first = stream.read(SAMPLE)
            self.complete = not stream.read(1)
        if not self.first:
            raise TableError("the file is empty")

    @property
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file."""
        return self.first.startswith(_PARQUET)

    def reopen(self) -> IO[bytes]:
        """The bytes from the beginning, unpacked."""
        if not self._packed:
            return self._path.open("rb")
        packed: Any = gzip.GzipFile(self._path)
        return packed  # type: ignore[no-any-return]

    def pieces(self) -> Iterator[bytes]:
        """All bytes from the beginning, unpacked, some at a time."""
        with self.reopen() as stream:
            while piece := stream.read(SAMPLE):
                yield piece

    def _keep(self, stream: IO[bytes]) -> None:
        """Copy a pipe; a device that only gives zeros is noticed before it is read to an end that never comes."""
        first = stream.read(SAMPLE)
        if b"\0" in first and not first.startswith((_PARQUET, _PACKED, b"\xff\xfe", b"\xfe\xff")):
            raise TableError("the file holds binary data, not a table")
        # Deleted with this object, which holds on to it.
        self._copy = tempfile.NamedTemporaryFile(prefix="p4f-")  # noqa: SIM115
        self._copy.write(first)
        shutil.copyfileobj(stream, self._copy, SAMPLE)
        self._copy.flush()
        self._path = Path(self._copy.name)

    def _refuse_bomb(self, whole: bool) -> None:
        """A small file that unpacks to more than memory holds; tables pack to a tenth or so, never to a hundredth."""
        limit = max(UNPACKED, RATIO * self._path.stat().st_size)
        limit = min(allowed(), limit) if whole else limit
        size = 0
        for piece in self.pieces():
            size += len(piece)
            if size > limit:
                raise TableError(f"the file unpacks to more than {limit} bytes, too much for its size")


@contextmanager
def errors_of(name: str) -> Iterator[None]:
    """Errors that name the file."""
    try:
        yield
    except TableError as error:
        raise TableError(f"{name}: {error}") from None
    except FileNotFoundError:
        raise TableError(f"{name}: there is no such file") from None
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise TableError(f"{name}: the file is damaged: it cannot be unpacked") from None
    except MemoryError:
        raise TableError(f"{name}: the table does not fit into the memory that is free") from None
    except OSError as error:
        raise TableError(f"{name}: {error.strerror or error}") from None
