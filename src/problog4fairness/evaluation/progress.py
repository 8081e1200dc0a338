"""The progress of a comparison on a terminal: a line for each method, and one for all of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from problog4fairness.errors import printable
from problog4fairness.learners import is_shown, listening

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

TOTAL = "all"
# Letters of a name, so that a line fits 80 columns.
LONGEST = 30
# Seconds between two drawings.
PAUSE = 0.1


class CellsBar:
    """How many cells, folds of seeds, each method has done. This one keeps it to itself."""

    def tell(self, method: str, done: float) -> None:
        """A method has done so many of its cells, parts of them included."""

    @contextmanager
    def fitting(self, parts: Mapping[str, tuple[float, float]]) -> Iterator[None]:  # noqa: ARG002
        """While all methods are fitted together: from where to where a fit brings each of them."""
        yield


class DrawnCells(CellsBar):
    """A bar that rich draws."""

    def __init__(self, shown: Progress, totals: Mapping[str, int]) -> None:
        self._shown, self._began, self._drawn = shown, time.monotonic(), 0.0
        every = {**totals, TOTAL: sum(totals.values())}
        self._totals = every
        self._done = dict.fromkeys(totals, 0.0)
        self._tasks: dict[str, TaskID] = {
            name: shown.add_task(printable(name)[:LONGEST], total=total, told=f"0/{total}")
            for name, total in every.items()
        }

    def tell(self, method: str, done: float) -> None:
        """See :meth:`CellsBar.tell`."""
        self._done[method] = done
        if time.monotonic() - self._drawn > PAUSE:
            self._draw()

    @contextmanager
    def fitting(self, parts: Mapping[str, tuple[float, float]]) -> Iterator[None]:
        """See :meth:`CellsBar.fitting`."""

        def hear(label: str, epoch: float, loss: float, share: float) -> None:  # noqa: ARG001
            for method, (start, end) in parts.items():
                self.tell(method, start + share * (end - start))

        self._draw()
        with listening(hear):
            yield

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        done = {**self._done, TOTAL: sum(self._done.values())}
        for name, task in self._tasks.items():
            told = f"{int(done[name] + 1e-9)}/{self._totals[name]}"
            told += f" cells, {self._left(done[name])} left" if name == TOTAL else ""
            self._shown.update(task, completed=done[name], told=told)
        self._shown.refresh()

    def _left(self, done: float) -> str:
        if done <= 0:
            return "-:--:--"
        passed = time.monotonic() - self._began
        return str(timedelta(seconds=round(passed * (self._totals[TOTAL] - done) / done)))


@contextmanager
def cells_bar(totals: Mapping[str, int], progress: bool | None) -> Iterator[CellsBar]:
    """A bar over a comparison.

    Parameters
    ----------
    totals
        For each method the number of its cells.
    progress
        Whether to show it; None shows it where standard error is a terminal. Where somebody else listens to the fits,
        it is not shown.
    """
    if not totals or not is_shown(progress):
        yield CellsBar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    name, told = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[told]}")
    shown = Progress(name, BarColumn(20), told, console=Console(stderr=True), auto_refresh=False, transient=True)
    bar = DrawnCells(shown, totals)
    with shown:
        yield bar
