"""What a task makes of a program: from memory, from the user's cache folder, or from the worker.

On disk there is one JSON file for each task and text, named by a hash of both and of the versions that made it, in
``$P4F_CACHE`` or the user's cache folder. A file that is damaged, foreign or unreadable is as good as none: the program
is compiled again and the file replaced. A folder that cannot be written is no error either.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import sys
import threading
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from problog4fairness.errors import LimitError, P4FError, ProgramError, ProgramSyntaxError
from problog4fairness.program.circuit.compiled import CircuitData
from problog4fairness.program.sandbox import process
from problog4fairness.program.sandbox.process import Limits

# What is stored depends on these modules; a change in one of them makes what is stored stale.
_MAKERS = (
    "language/syntax.py",
    "language/safety.py",
    "circuit/grounding.py",
    "circuit/compiled.py",
    "diagram/causal.py",
)
# What the result of each task must hold; a cache file without it is no result.
_KEYS = {
    "read": {"canonical", "networks", "parameters", "queries", "evidence"},
    "compile": {"leaves", "variables", "nodes", "queries"},
    "diagram": {"nodes"},
}
MAX_TEXT = 4 * process.MEBIBYTE
# Characters of a result that is kept, of all that are in memory, and of all that are on disk.
LARGEST, IN_MEMORY, ON_DISK = 1 << 24, 1 << 26, 1 << 29


def result_of(task: str, text: str, limits: Limits, source: str | None) -> Any:
    """The result of ``read``, ``compile`` or ``diagram`` on a program; errors name its file ``source``."""
    result = recent.get((task, text, limits))
    if result is None:
        try:
            result, size = _looked_up(task, text, limits)
        except ProgramError as error:
            raise error.at(source) from None
        recent.keep((task, text, limits), result, size)
    return result


def _looked_up(task: str, text: str, limits: Limits) -> tuple[Any, int]:
    """The result, from the folder or else from the worker, and about how many characters it has."""
    if len(text) > MAX_TEXT:
        raise LimitError(f"the program has more than {MAX_TEXT // process.MEBIBYTE} MiB of text")
    if "\0" in text:
        raise ProgramSyntaxError("the text holds binary data")
    stored = load(task, text)
    if isinstance(stored, dict) and _KEYS[task] <= set(stored):
        try:
            return _read_in(task, stored), size_of(stored)
        except ValueError:
            pass  # a file that is whole but holds something else: compile, and replace it
    result = process.run(task, text, limits)
    store(task, text, result)
    return _read_in(task, result), size_of(result)


def _read_in(task: str, result: Any) -> Any:
    return CircuitData.from_json(result) if task == "compile" else result


class Recent:
    """Results that were used last, as many as fit into a bound of their sizes; several threads may share it."""

    def __init__(self, limit: int = IN_MEMORY) -> None:
        self._limit, self._used, self._lock = limit, 0, threading.Lock()
        self._results: dict[Any, tuple[Any, int]] = {}

    def get(self, key: Any) -> Any | None:
        """The result, which now is the one used last; None where there is none."""
        with self._lock:
            entry = self._results.pop(key, None)
            if entry is None:
                return None
            self._results[key] = entry
            return entry[0]

    def keep(self, key: Any, result: Any, size: int) -> None:
        """Keep a result, and forget those used longest ago."""
        with self._lock:
            self._used += size - self._results.pop(key, (None, 0))[1]
            self._results[key] = result, size
            while self._used > self._limit and self._results:
                self._used -= self._results.pop(next(iter(self._results)))[1]

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._results, self._used = {}, 0


recent = Recent()


def size_of(result: Any) -> int:
    """About as many characters as plain data have as JSON."""
    size, pending = 0, [result]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, dict):
            pending += [*value, *value.values()]
        elif isinstance(value, list):
            pending += value
        size += 8
    return size


def folder() -> Path:
    """Where compiled programs are kept."""
    chosen = os.environ.get("P4F_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "problog4fairness"


def load(task: str, text: str) -> Any | None:
    """The stored result of ``task`` on ``text``, or None."""
    try:
        stored = json.loads(_read(_path(task, text)))
        payload = stored["payload"]
        return json.loads(payload) if _digest(payload) == stored["digest"] else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _read(path: Path) -> bytes:
    """A file of this folder; a larger one than is ever written is damaged."""
    with path.open("rb") as file:
        content = file.read(4 * LARGEST + 1)
    if len(content) > 4 * LARGEST:
        raise ValueError("too large")
    return content


def store(task: str, text: str, result: Any) -> None:
    """Keep a result; written whole or not at all."""
    from problog4fairness.data import write_atomically

    payload = json.dumps(result)
    if len(payload) > LARGEST:
        return
    path = _path(task, text)
    with suppress(OSError, P4FError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps({"digest": _digest(payload), "payload": payload}))
        _prune(path.parent)


def _prune(place: Path) -> None:
    """Where the folder is too large, delete what was written longest ago until half of it is free again."""
    with os.scandir(place) as entries:
        files = [(entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries if _is_ours(entry)]
    used = sum(size for _, size, _ in files)
    if used <= ON_DISK:
        return
    for _, size, path in sorted(files):
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - a path as os.scandir gives it
        used -= size
        if used <= ON_DISK // 2:
            return


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)


@functools.cache
def _versions() -> str:
    makers = b"".join((Path(__file__).parents[1] / name).read_bytes() for name in _MAKERS)
    return "/".join([hashlib.sha256(makers).hexdigest(), *(version(name) for name in ("problog", "PySDD"))])


def _path(task: str, text: str) -> Path:
    return folder() / f"{_digest(json.dumps([task, text, _versions()]))}.json"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
