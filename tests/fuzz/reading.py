"""Changed files given to the functions that read them, within limits of time and of memory."""

from __future__ import annotations

import resource
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from problog4fairness.errors import P4FError
from tests.fuzz.targets import TARGETS, Target

# Bytes that reading one small file may take.
MEMORY = 1 << 30


class ReadingError(AssertionError):
    """A file that was read neither well nor with an error of the library's own."""


class _LateError(BaseException):
    """Reading takes too long; not an ``Exception``, so that nobody catches it on the way."""


def run(what: str, count: int, first: int, keep: Path | None = None) -> str:
    """Read so many changed files of a kind, and say how it went.

    Parameters
    ----------
    what
        One of :data:`TARGETS`.
    count, first
        How many, and the number of the first: the same number is always the same file.
    keep
        Where to put the file that is wrong.
    """
    target, kinds, slowest = TARGETS[what], Counter[str](), 0.0
    target.files()  # valid ones are made without limits
    for seed in range(first, first + count):
        content = changed(target, seed)
        began = time.monotonic()
        try:
            kinds[outcome(target, content)] += 1
        except ReadingError as error:
            if keep is not None:
                keep.write_bytes(content)
            raise ReadingError(f"{what} {seed}: {error}") from error.__cause__
        slowest = max(slowest, time.monotonic() - began)
    listed = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
    return f"{count} changed files of the kind {what} are read or refused ({listed}), the slowest in {slowest:.1f} s"


def changed(target: Target, seed: int) -> bytes:
    """The file of this number."""
    rng, files = Random(seed), target.files()
    content = files[seed % len(files)]
    return content if rng.random() < 0.01 else target.change(content, files, rng)


def outcome(target: Target, content: bytes) -> str:
    """``"read"``, or the name of the library's error; raises :class:`ReadingError` for anything else."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "file"
        path.write_bytes(content)
        try:
            with _limits(target.seconds):
                target.read(path)
        except P4FError as error:
            if len(str(error).splitlines()) != 1:
                raise ReadingError(f"{type(error).__name__} is not one line: {str(error)!r}") from error
            return type(error).__name__
        except _LateError as error:
            raise ReadingError(f"not done after {target.seconds:g} s") from error
        except Exception as error:
            raise ReadingError(f"{type(error).__module__}.{type(error).__name__}: {error}"[:500]) from error
    return "read"


@contextmanager
def _limits(seconds: float) -> Iterator[None]:
    """So much time and memory for what is inside."""

    def late(*_: object) -> None:
        raise _LateError

    before = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (_used() + MEMORY, before[1]))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


def _used() -> int:
    """Bytes of address space of this process."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 1 << 40  # not known here: no limit that matters
