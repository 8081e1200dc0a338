"""A progress bar: epoch, loss, epochs per second and time left.

It is drawn on standard error, and by default only where that is a terminal, so that pipelines and logs stay clean.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

Item = TypeVar("Item")
Found = TypeVar("Found")

# Seconds between two drawings.
_PAUSE = 0.1


class Bar:
    """Where a fit says how far it is. This one keeps it to itself.

    Examples
    --------
    >>> from problog4fairness.learners import Bar
    >>> class Printed(Bar):
    ...     def show(self, epoch, loss, work):
    ...         print(f"epoch {epoch}, loss {loss:.2f}")
    >>> Printed().show(3, 0.25, 1)
    epoch 3, loss 0.25
    """

    def begin(self, label: str, epoch: float = 0) -> None:
        """Networks begin, or go on, after this epoch."""

    def show(self, epoch: float, loss: float, work: float) -> None:
        """They have reached this epoch and this loss, and so much of all work is done since the last call."""


Hear = Callable[[str, float, float, float], None]
_LISTENER: ContextVar[Hear | None] = ContextVar("_LISTENER", default=None)


@contextmanager
def listening(hear: Hear) -> Iterator[None]:
    """Within it, fits tell ``hear(label, epoch, loss, share of all work)`` how far they are instead of drawing it."""
    before = _LISTENER.set(hear)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def is_shown(progress: bool | None) -> bool:
    """Whether a bar that is asked for in this way is drawn; not where somebody listens instead."""
    return _LISTENER.get() is None and (_on_terminal() if progress is None else progress)


@contextmanager
def progress_bar(work: float, epochs: int, progress: bool | None, unit: str = "epoch") -> Iterator[Bar]:
    """A bar over a fit.

    Parameters
    ----------
    work
        All work, in whatever unit.
    epochs
        The most that each network can have.
    progress
        Whether to show the bar; None shows it where standard error is a terminal.
    unit
        What an epoch is called.
    """
    listener = _LISTENER.get()
    if listener is not None:
        yield _Heard(listener, work)
        return
    if not is_shown(progress):
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=10),
        TextColumn(unit + " {task.fields[epoch]}, loss {task.fields[loss]}, {task.fields[rate]},"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    # Drawn when told to: a thread of its own would be in the way of data loaders that fork.
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as shown:
        yield _Drawn(shown, work, epochs, unit)


def each(fit: Callable[[Item], Found], items: Sequence[Item], progress: bool | None) -> list[Found]:
    """What each item gives, one after another, with a bar that counts them; ``progress`` as for :func:`progress_bar`.

    What is counted does not speak for itself: a fit within it draws nothing, and nobody hears it.
    """
    found, count = [], len(items)
    with _counter(count, progress) as tell:
        for number, item in enumerate(items, start=1):
            with listening(lambda *_: None):
                found.append(fit(item))
            tell(number)
    return found


@contextmanager
def _counter(count: int, progress: bool | None) -> Iterator[Callable[[int], None]]:
    """What to call with the number of fits that are done."""
    listener = _LISTENER.get()
    if listener is not None:
        yield lambda number: listener(f"{number}/{count} fits", number, math.nan, number / count)
        return
    if count < 2 or not is_shown(progress):
        yield lambda number: None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as shown:
        task = shown.add_task("fits", total=count)
        yield lambda number: shown.update(task, completed=number, refresh=True)


class _Heard(Bar):
    """A bar that somebody listens to."""

    def __init__(self, hear: Hear, work: float) -> None:
        self._hear, self._work, self._done, self._label = hear, work, 0.0, ""

    def begin(self, label: str, epoch: float = 0) -> None:  # noqa: ARG002
        """See :meth:`Bar.begin`."""
        self._label = label

    def show(self, epoch: float, loss: float, work: float) -> None:
        """See :meth:`Bar.show`."""
        self._done += work
        self._hear(self._label, epoch, loss, min(self._done / self._work, 1.0))


class _Drawn(Bar):
    """A bar that rich draws."""

    def __init__(self, shown: Progress, work: float, epochs: int, unit: str) -> None:
        self._shown, self._epochs, self._unit = shown, epochs, unit
        self._task = shown.add_task("", total=work, epoch="-", loss="-", rate="-")
        self._drawn = 0.0
        self.begin("")

    def begin(self, label: str, epoch: float = 0) -> None:
        """See :meth:`Bar.begin`."""
        self._began, self._first = time.monotonic(), epoch
        self._shown.update(self._task, description=label)

    def show(self, epoch: float, loss: float, work: float) -> None:
        """See :meth:`Bar.show`."""
        now = time.monotonic()
        self._shown.update(
            self._task,
            advance=work,
            epoch=f"{math.ceil(epoch)}/{self._epochs}",
            loss="-" if math.isnan(loss) else f"{loss:.4f}",
            rate=f"{(epoch - self._first) / max(now - self._began, 1e-9):.3g} {self._unit}s/s",
        )
        if now - self._drawn > _PAUSE:
            self._drawn = now
            self._shown.refresh()


def _on_terminal() -> bool:
    """Whether standard error is a terminal; it can also be closed, or not there at all."""
    try:
        return bool(sys.stderr is not None and sys.stderr.isatty())
    except ValueError:
        return False
