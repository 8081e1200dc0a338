"""How far fits are, told to the page: what is being done, how much of it, and how long it may still take."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from problog4fairness.app.studio.work.process import Tell
from problog4fairness.learners import listening

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
        said = {"label": label, "epoch": epoch, "share": share, "left": left, "fit": self._fit}
        said["seconds"] = round(now - self._first, 2)
        said["loss"] = loss if math.isfinite(loss) else None
        self._waiting = {"step": self._step, **said}
        if now - self._told >= PAUSE:
            self._told = now
            self.last()

    def last(self) -> None:
        """Tell what was held back."""
        if self._waiting is not None:
            self._tell(self._waiting)
            self._waiting = None
