"""Long work in a process of its own: it tells how far it is, can be stopped, and never holds up the page."""

from __future__ import annotations

import multiprocessing
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Literal

from problog4fairness.errors import P4FError
from problog4fairness.lifetime import end_with_parent, in_lasting_thread

Tell = Callable[[dict[str, Any]], None]
State = Literal["running", "done", "failed", "stopped"]


@dataclass
class Work:
    """A function that runs in another process.

    Attributes
    ----------
    name
        What is being done, for people.
    state
        ``running``, and then ``done``, ``failed`` or ``stopped``.
    told
        What it told on its way, in order.
    result
        What the function gave, once it is done.
    problem
        One line that says why it failed.
    remarks
        Warnings of the library, one line each.
    """

    name: str
    state: State = "running"
    told: list[dict[str, Any]] = field(default_factory=list)
    result: Any = None
    problem: str = ""
    remarks: list[str] = field(default_factory=list)
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


def start(name: str, function: Callable[..., Any], *arguments: Any) -> Work:
    """Run ``function(tell, *arguments)`` in another process; it must be importable, its arguments plain data."""
    work = Work(name)
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
        kind, said = ours.recv()
    except (EOFError, OSError):
        work.problem, work.state = "the process ended before it was done; perhaps the memory was full", "failed"
        return
    if kind == "told":
        work.told.append(said)
    elif kind == "remark":
        work.remarks.append(said)
    elif kind == "done":
        work.result, work.state = said, "done"
    else:
        work.problem, work.state = said, "failed"


def _run(pipe: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    end_with_parent()

    def remark(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if category.__module__.startswith("problog4fairness."):
            pipe.send(("remark", " ".join(str(message).split())))

    warnings.showwarning = remark
    try:
        pipe.send(("done", function(lambda said: pipe.send(("told", said)), *arguments)))
    except P4FError as error:
        pipe.send(("failed", " ".join(str(error).split())))
    except OSError as error:
        pipe.send(("failed", f"{error.filename}: {error.strerror}" if error.filename else str(error)))
    except Exception as error:
        traceback.print_exc()
        pipe.send(("failed", f"an error of the library, please report it: {type(error).__name__}: {error}"))
