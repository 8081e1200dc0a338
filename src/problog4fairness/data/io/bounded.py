"""Files from somebody else: read within bounds, before anything is built from them.

A file says how long it is, how deep it is nested and how much it holds; none of it is believed. :func:`read_file` takes
a plain file of at most so many bytes, and nothing that never ends, such as a device or a pipe. :func:`parse_json` takes
JSON of at most so many values, nested at most so deep. :func:`allowed` is what a table may take of the memory. What one
of them refuses is an error of one line; each reader says which file it is about.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from problog4fairness.errors import P4FError

MEBIBYTE = 1 << 20
# Nested lists and objects of JSON; Python itself gives up at about a thousand.
DEPTH = 100
# A table is copied while it is worked on, so it may take this share of what is free.
SHARE = 0.5
# Columns of a table; each costs pandas far more than its values do where there are few.
MOST_COLUMNS = 30_000
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")
# The limit and the use of a container's memory, in the second and the first version of control groups.
_CONTROL_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


class BoundError(P4FError):
    """A file that is no plain one, is too large, or is nested too deeply."""


def read_file(path: str | PathLike[str], most: int) -> bytes:
    """The bytes of a plain file that has at most so many.

    Examples
    --------
    >>> read_file("/dev/zero", 100)
    Traceback (most recent call last):
        ...
    problog4fairness.data.io.bounded.BoundError: it is not a plain file
    """
    with plain_file(path) as file:
        # A read allocates all that it is asked for, so no more is asked for than there seems to be.
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1) if size <= most else b""
    if size > most or len(content) > most:
        raise BoundError(f"it has more than {most:,} bytes")
    return content


@contextmanager
def plain_file(path: str | PathLike[str]) -> Iterator[BufferedReader]:
    """A file to read from, if it is a plain one; see :func:`read_file`."""
    try:
        # A pipe that nobody writes to would be waited for; a link to a file is followed, which callers may forbid.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except ValueError as error:  # NUL, or a character that no file name can have
        raise BoundError(f"it has no name of a file ({error})") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise BoundError("it is not a plain file")
    with os.fdopen(handle, "rb") as file:
        yield file


def inside(folder: str | PathLike[str], name: Any) -> Path:
    """The file of this name in a folder, or below; not one that a link, or ``..``, leads out to.

    Examples
    --------
    >>> inside("/srv/evidence", "../secrets.csv")
    Traceback (most recent call last):
        ...
    problog4fairness.data.io.bounded.BoundError: '../secrets.csv' is not in the folder
    """
    try:
        place = Path(folder, name)
        within = place.resolve().is_relative_to(Path(folder).resolve()) and not Path(name).is_absolute()
    except (TypeError, ValueError, OSError, RuntimeError):
        raise BoundError(f"{name!r} is not the name of a file") from None
    if not within or place.resolve() == Path(folder).resolve():
        raise BoundError(f"{name!r} is not in the folder")
    return place


def parse_json(content: bytes | str, values: int = 100_000, depth: int = DEPTH) -> Any:
    """JSON of at most so many values, nested at most so deep, without numbers that are none.

    Examples
    --------
    >>> parse_json('{"rows": [1, 2]}')
    {'rows': [1, 2]}
    >>> parse_json("[" * 1000)
    Traceback (most recent call last):
        ...
    problog4fairness.data.io.bounded.BoundError: it is nested more than 100 levels deep
    """
    try:
        data = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError:
        raise BoundError("it holds characters that are none") from None
    if sum(data.count(sign) for sign in (b",", b"[", b"{")) > values:
        raise BoundError(f"it has more than {values:,} values")
    level = deepest = 0
    for sign in _BRACKET.findall(_STRING.sub(b"", data)):  # brackets inside strings do not count
        level += 1 if sign in (b"[", b"{") else -1
        deepest = max(deepest, level)
    if deepest > depth:
        raise BoundError(f"it is nested more than {depth} levels deep")
    return json.loads(data.decode("utf-8"), parse_constant=_no_constant)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def allowed() -> int:
    """The bytes of memory that a table may take."""
    return int(SHARE * available())


def available() -> int:
    """The bytes of memory that are free, also within a container; all of them where nothing says what is free."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        limits.append(1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))))
    for names in _CONTROL_GROUPS:
        with suppress(OSError, ValueError):
            limit, used = (int(Path(name).read_text(encoding="ascii")) for name in names)
            limits.append(max(0, limit - used))
    return min(limits)
