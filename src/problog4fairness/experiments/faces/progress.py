"""The progress of a face study: runs done, pictures a second, time left.

Each worker writes how far its run is into a small file, and one thread here adds the files up.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from problog4fairness.learners.progress import Bar

# Seconds between two reports of a worker, and between two looks at them.
PAUSE = 0.5


class Reporter(Bar):
    """Writes into a file how much of a run is done, how much of that in this process, and with how many pictures.

    Parameters
    ----------
    file
        Where.
    pictures
        Of an epoch.
    epochs
        The most that the run can have.
    told
        Called after each writing, where nobody watches the file.
    """

    def __init__(self, file: Path, pictures: int, epochs: int, told: Callable[[], None] | None = None) -> None:
        self._file, self._pictures, self._epochs, self._told = file, pictures, epochs, told
        self._first, self._written = 0.0, 0.0

    def begin(self, label: str, epoch: float = 0) -> None:  # noqa: ARG002
        """See :meth:`Bar.begin`."""
        self._first = epoch

    def show(self, epoch: float, loss: float, work: float) -> None:  # noqa: ARG002
        """See :meth:`Bar.show`."""
        now = time.monotonic()
        if now - self._written > PAUSE or epoch == int(epoch):
            self._written = now
            own = epoch - self._first
            self._file.write_text(f"{epoch / self._epochs} {own / self._epochs} {own * self._pictures}")
            if self._told is not None:
                self._told()


class FaceBar:
    """One bar on standard error over all runs.

    Parameters
    ----------
    runs
        How many runs there are.
    folder
        Where the workers write: a file for each run, by its number.
    shown
        Whether to show it; by default only where standard error is a terminal.
    watch
        Whether a thread of its own looks at the files; otherwise :meth:`look` must be called.
    """

    def __init__(self, runs: int, folder: Path, shown: bool | None = None, *, watch: bool = True) -> None:
        console = Console(stderr=True)
        self._shown = console.is_terminal if shown is None else shown
        self._progress = Progress(
            TextColumn("faces"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[done]} runs"),
            TextColumn("{task.fields[speed]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("[red]{task.fields[failure]}"),
            console=console,
            disable=not self._shown,
            auto_refresh=False,
        )
        self._runs, self._folder = runs, folder
        fields = {"done": f"0/{runs}", "speed": "", "left": "", "failure": ""}
        self._task = self._progress.add_task("faces", total=runs, **fields)  # type: ignore[arg-type]
        self._finished: set[int] = set()
        self._failures = 0
        self._began = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True) if watch and self._shown else None

    def __enter__(self) -> Self:
        if self._shown:
            self._progress.start()
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self._shown:
            self.look()
            self._progress.stop()

    def finished(self, number: int) -> None:
        """A run has ended, or was there already."""
        self._finished.add(number)

    def failed(self, name: str, reason: str) -> None:
        """Show a run that failed."""
        self._failures += 1
        more = f" (and {self._failures - 1} more)" if self._failures > 1 else ""
        self._progress.update(self._task, failure=f"{name}: {reason}{more}".replace("[", "\\["))

    def _watch(self) -> None:
        while not self._stop.wait(PAUSE):
            self.look()

    def look(self) -> None:
        """Add up what the workers wrote, and show it."""
        done, here, pictures = float(len(self._finished)), 0.0, 0.0
        for file in self._folder.iterdir():
            # A file may be half written, or gone, at this very moment.
            with suppress(OSError, ValueError):
                share, own, seen = map(float, file.read_text().split())
                here, pictures = here + own, pictures + seen
                done += 0 if int(file.name) in self._finished else share
        seconds = time.monotonic() - self._began
        left = (self._runs - done) * seconds / here if here else None
        self._progress.update(
            self._task,
            completed=done,
            done=f"{len(self._finished)}/{self._runs}",
            speed=f"{pictures / seconds:,.0f} pictures/s" if here else "",
            left="" if left is None else f"about {_clock(left)} left",
            refresh=True,
        )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
