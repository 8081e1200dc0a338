"""Long work in a process of its own: it tells how far it is, can be stopped, and never holds up the page."""

from __future__ import annotations

import json
import math
import multiprocessing
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from problog4fairness.data import MEBIBYTE, parse_json, read_file, write_atomically
from problog4fairness.errors import P4FError
from problog4fairness.learners import listening
from problog4fairness.program import end_with_parent, in_lasting_thread

Tell = Callable[[dict[str, Any]], None]
State = Literal["running", "done", "failed", "stopped"]


@dataclass
class Work:
    """A function that runs in another process."""

    name: str  # for people
    state: State = "running"
    progress: list[dict[str, Any]] = field(default_factory=list)  # how far it was, in order
    result: Any = None
    problem: str = ""  # one line that says why it failed
    remarks: list[str] = field(default_factory=list)  # warnings of the library, one line each
    of: dict[str, str] = field(default_factory=dict)  # what it was made from, as hashes by name
    file: Path | None = None  # where its result is kept once it is done
    began: float = field(default_factory=time.monotonic)
    ended: float | None = None
    _stop: threading.Event = field(default_factory=threading.Event)
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return (self.ended or time.monotonic()) - self.began

    def stop(self) -> None:
        """End it, at once or nearly so; what it has written whole stays."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it is over."""
        self._over.wait(seconds)

    def keep(self) -> None:
        """Write what was done to its file."""
        if self.file is not None:
            self.file.parent.mkdir(exist_ok=True)
            message = {"result": self.result, "remarks": self.remarks, "seconds": self.seconds, "of": self.of}
            write_atomically(self.file, json.dumps(message, default=str) + "\n")

    @classmethod
    def kept(cls, name: str, file: Path) -> Work | None:
        """What was done before, by this server or another; None where there is nothing to be read."""
        try:
            message = parse_json(read_file(file, 64 * MEBIBYTE), 1_000_000)
            seconds, of = float(message["seconds"]), dict(message["of"])
            return cls(name, "done", [], message["result"], "", list(message["remarks"]), of, file, 0.0, seconds)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def start(
    name: str,
    function: Callable[..., Any],
    *arguments: Any,
    of: dict[str, str] | None = None,
    file: Path | None = None,
) -> Work:
    """Run ``function(tell, *arguments)`` in another process; it must be importable, its arguments plain data.

    ``of`` and ``file`` are those of :class:`Work`.
    """
    work = Work(name, of=of or {}, file=file)
    threading.Thread(target=_follow, args=(work, function, arguments), name=f"studio: {name}", daemon=True).start()
    return work


def _follow(work: Work, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    ours, theirs = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_run, args=(theirs, function, arguments), daemon=True)
    in_lasting_thread(process.start)
    theirs.close()
    try:
        while work.state == "running":
            if work._stop.is_set():
                work.state = "stopped"
            elif ours.poll(0.05):
                _take(work, ours)
    finally:
        process.kill()
        process.join()
        ours.close()
        work.ended = time.monotonic()
        work._over.set()


def _take(work: Work, ours: Connection) -> None:
    try:
        kind, message = ours.recv()
    except (EOFError, OSError):
        work.problem, work.state = "the process ended before it was done; perhaps the memory was full", "failed"
        return
    if kind == "told":
        work.progress.append(message)
    elif kind == "remark":
        work.remarks.append(message)
    elif kind == "done":
        work.result = message
        work.keep()
        work.state = "done"
    else:
        work.problem, work.state = message, "failed"


def _run(pipe: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    end_with_parent()

    def remark(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if category.__module__.startswith("problog4fairness."):
            pipe.send(("remark", " ".join(str(message).split())))

    warnings.showwarning = remark
    try:
        pipe.send(("done", function(lambda said: pipe.send(("told", said)), *arguments)))
    except P4FError as error:
        pipe.send(("failed", str(error)))
    except OSError as error:
        pipe.send(("failed", f"{error.filename}: {error.strerror}" if error.filename else str(error)))
    except Exception as error:
        traceback.print_exc()
        pipe.send(("failed", f"an error of the library, please report it: {type(error).__name__}: {error}"))


# Seconds between two messages.
PAUSE = 0.1


@contextmanager
def heard(tell: Tell, step: str) -> Iterator[None]:
    """Within it, what is fitted tells how far it is, as a part of this step."""
    tell({"step": step})
    ear = _Ear(tell, step)
    with listening(ear.hear):
        yield
    ear.last()


class _Ear:
    """Fits come one after another, several in a bar or each with one of its own: what starts again is the next one."""

    def __init__(self, tell: Tell, step: str) -> None:
        self._tell, self._step = tell, step
        self._fit, self._share, self._epoch, self._began, self._told = 0, math.inf, 0.0, 0.0, 0.0
        self._waiting: dict[str, object] | None = None
        self._first = time.monotonic()

    def hear(self, label: str, epoch: float, loss: float, share: float) -> None:
        now = time.monotonic()
        if share < self._share:
            self._began = now
        if share < self._share or epoch < self._epoch:
            self.last()
            self._fit, self._told = self._fit + 1, 0.0
        self._share, self._epoch = share, epoch
        left = (now - self._began) * (1 - share) / share if share > 0.02 else None
        message = {"label": label, "epoch": epoch, "share": share, "left": left, "fit": self._fit}
        message["seconds"] = round(now - self._first, 2)
        message["loss"] = loss if math.isfinite(loss) else None
        self._waiting = {"step": self._step, **message}
        if now - self._told >= PAUSE:
            self._told = now
            self.last()

    def last(self) -> None:
        """Tell what was held back."""
        if self._waiting is not None:
            self._tell(self._waiting)
            self._waiting = None
