"""How far a fit is: told to whoever listens, and otherwise drawn on standard error where that is a terminal."""

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
Result = TypeVar("Result")
# Hears a label, the epoch, the loss, and the share of all work that is done.
Listener = Callable[[str, float, float, float], None]

# Seconds between two drawings.
_PAUSE = 0.1
_LISTENER: ContextVar[Listener | None] = ContextVar("_LISTENER", default=None)


class Bar:
    """Where a fit reports how far it is.

    Parameters
    ----------
    listener
        Who hears it; nobody by default.
    work
        All work, in whatever unit.

    Examples
    --------
    >>> from problog4fairness.learners import Bar
    >>> bar = Bar(lambda label, epoch, loss, share: print(f"{label}, epoch {epoch}, loss {loss:.2f}, {share:.0%}"), 10)
    >>> bar.begin("3 networks")
    >>> bar.show(1, 0.25, 1)
    3 networks, epoch 1, loss 0.25, 10%
    """

    def __init__(self, listener: Listener | None = None, work: float = 1.0) -> None:
        self._listener, self._work, self._done, self._label = listener, work, 0.0, ""

    def begin(self, label: str) -> None:
        """The next fit begins."""
        self._label = label

    def show(self, epoch: float, loss: float, work: float) -> None:
        """It has reached this epoch and this loss, and so much work is done since the last call."""
        self._done += work
        if self._listener is not None:
            self._listener(self._label, epoch, loss, min(self._done / self._work, 1.0))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within it, fits tell the listener how far they are instead of drawing it."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@contextmanager
def progress_bar(work: float, epochs: int, progress: bool | None, unit: str = "epoch") -> Iterator[Bar]:
    """A bar over so much work of fits with so many epochs at most, each called a ``unit``.

    It is drawn where it is asked for, or by default on a terminal; not where somebody listens.
    """
    if _LISTENER.get() is not None or not (_on_terminal() if progress is None else progress):
        yield Bar(_LISTENER.get(), work)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=10),
        TextColumn("{task.fields[state]},"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    # Drawn when told to: a thread of its own would be in the way of data loaders that fork.
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bars:
        yield Bar(_drawing(bars, epochs, unit), work)


def each(fit: Callable[[Item], Result], items: Sequence[Item], progress: bool | None) -> list[Result]:
    """What each item gives, one after another, with a bar that counts them; what is within a fit is not reported."""
    results = []
    with progress_bar(len(items), len(items), progress if len(items) > 1 else False, "fit") as bar:
        for number, item in enumerate(items, start=1):
            with listening(lambda *_: None):
                results.append(fit(item))
            bar.begin(f"{number}/{len(items)} fits")
            bar.show(number, math.nan, 1)
    return results


def _drawing(bars: Progress, epochs: int, unit: str) -> Listener:
    """A listener that draws what it hears."""
    task, last = bars.add_task("", total=1.0, state=f"{unit} -"), 0.0

    def draw(label: str, epoch: float, loss: float, share: float) -> None:
        nonlocal last
        state = f"{unit} {math.ceil(epoch)}/{epochs}" + ("" if math.isnan(loss) else f", loss {loss:.4f}")
        bars.update(task, description=label, completed=share, state=state)
        if time.monotonic() - last > _PAUSE:
            last = time.monotonic()
            bars.refresh()

    return draw


def _on_terminal() -> bool:
    """Whether standard error is a terminal; it can also be closed, or not be there at all."""
    try:
        return bool(sys.stderr is not None and sys.stderr.isatty())
    except ValueError:
        return False
