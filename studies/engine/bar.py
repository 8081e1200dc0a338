"""The progress of a study on a terminal: cells done, time left, and what failed."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class StudyBar:
    """A bar on standard error.

    Parameters
    ----------
    total
        Number of cells.
    shown
        Whether to show it; by default only where standard error is a terminal.
    """

    def __init__(self, total: int, shown: bool | None = None) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("cells"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("[red]{task.fields[failure]}"),
            console=console,
            disable=not (console.is_terminal if shown is None else shown),
        )
        self._task = self._progress.add_task("cells", total=total, failure="")
        self._failures = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def advance(self, cells: int) -> None:
        """So many more cells are finished."""
        self._progress.advance(self._task, cells)

    def failed(self, name: str, reason: str) -> None:
        """Show a stack that failed."""
        self._failures += 1
        more = f" (and {self._failures - 1} more)" if self._failures > 1 else ""
        self._progress.update(self._task, failure=f"{name}: {reason}{more}".replace("[", "\\["))
