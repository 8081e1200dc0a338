"""The progress of a study on a terminal: cells done, time left, and what failed.

A worker that has long stacks writes how far it is into a small file, and the bar adds the files up.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

# Seconds between two reports of a worker, and between two looks at them.
PAUSE = 0.5


class Reporter:
    """Writes the share of a stack that is done into a file, not too often.

    Parameters
    ----------
    file
        Where.
    bar
        The bar to be drawn after each writing, where it is in this process.
    """

    def __init__(self, file: Path, bar: StudyBar | None = None) -> None:
        self._file, self._bar, self._written = file, bar, 0.0

    def __call__(self, share: float) -> None:
        """So much is done, between 0 and 1."""
        now = time.monotonic()
        if now - self._written > PAUSE or share == 1:
            self._written = now
            with suppress(OSError):  # a full disk does not stop the work
                self._file.write_text(f"{share}")
            if self._bar is not None:
                self._bar.look()


class StudyBar:
    """A bar on standard error.

    Parameters
    ----------
    cells
        For each stack the number of its cells.
    folder
        Where workers write: a file for each stack, by its number.
    shown
        Whether to show it; by default only where standard error is a terminal.
    watch
        Whether a thread looks at the files; not where this process forks, which a thread would be in the way of.
    """

    def __init__(self, cells: list[int], folder: Path, shown: bool | None = None, *, watch: bool = True) -> None:
        console = Console(stderr=True)
        self._shown = console.is_terminal if shown is None else shown
        self._progress = Progress(
            BarColumn(bar_width=30),
            TextColumn("{task.fields[told]}"),
            TextColumn("[red]{task.fields[failure]}"),
            console=console,
            disable=not self._shown,
            auto_refresh=False,
        )
        self._cells, self._folder = cells, folder
        self._task = self._progress.add_task("cells", total=sum(cells), told="", failure="")
        self._finished: set[int] = set()
        self._failures = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True) if watch and self._shown else None

    def __enter__(self) -> Self:
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
        self.look()
        self._progress.stop()

    def finished(self, number: int) -> None:
        """A stack has ended, or was there already."""
        self._finished.add(number)
        self.look()

    def failed(self, name: str, reason: str) -> None:
        """Show a stack that failed."""
        self._failures += 1
        more = f" (and {self._failures - 1} more)" if self._failures > 1 else ""
        self._progress.update(self._task, failure=f"{name}: {reason}{more}".replace("[", "\\["))

    def look(self) -> None:
        """Add up what is done, and show it."""
        if not self._shown:
            return
        whole = sum(self._cells[number] for number in self._finished)
        begun = 0.0
        for file in self._folder.iterdir():
            # A file may be half written, or gone, at this very moment.
            with suppress(OSError, ValueError):
                number, share = int(file.name), float(file.read_text())
                begun += 0 if number in self._finished else share * self._cells[number]
        self._progress.update(self._task, completed=whole + begun)
        self._progress.update(self._task, told=self._told(whole), refresh=True)

    def _told(self, whole: int) -> str:
        """``248/288 cells, 0:00:07 left``."""
        (task,), total = self._progress.tasks, sum(self._cells)
        if whole == total:
            return f"{whole}/{total} cells in {timedelta(seconds=round(task.elapsed or 0))}"
        left = "-:--:--" if task.time_remaining is None else timedelta(seconds=round(task.time_remaining))
        return f"{whole}/{total} cells, {left} left"

    def _watch(self) -> None:
        while not self._stop.wait(PAUSE):
            self.look()
