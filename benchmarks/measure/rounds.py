"""Timing side by side: in every round each contestant runs a short block, so that noise hits all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# Which objects to collect after a block; all of them only after the long blocks, where it takes no noticeable time.
YOUNG, ALL = 0, 2


@dataclass
class Contestant:
    """A training step, how many of them make a block, and in how many of the rounds it takes part."""

    name: str
    step: Callable[[int], object]
    block: int
    rounds: int
    warm_up: int = 0
    seconds: dict[int, float] = field(default_factory=dict)

    @property
    def step_seconds(self) -> float:
        """Median over the rounds of the time of one step."""
        return statistics.median(self.seconds.values())

    def run(self, number: int) -> None:
        """One block; a few steps first bring its code and data back into the processor's caches."""
        start = number * self.block
        for i in range(self.warm_up):
            self.step(start + i)
        began = time.perf_counter()
        for i in range(start, start + self.block):
            self.step(i)
        self.seconds[number] = (time.perf_counter() - began) / self.block


@dataclass(frozen=True)
class Ratio:
    """Median and quartiles, over the rounds both took part in, of how many times faster one is than the other."""

    median: float
    low: float
    high: float
    rounds: int

    def to_dict(self) -> dict[str, float]:
        return {"median": self.median, "low": self.low, "high": self.high, "rounds": self.rounds}


def ratio(fast: Contestant, slow: Contestant) -> Ratio:
    shared = sorted(fast.seconds.keys() & slow.seconds.keys())
    values = [slow.seconds[number] / fast.seconds[number] for number in shared]
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return Ratio(middle, low, high, len(values))


def run_rounds(contestants: Sequence[Contestant], rounds: int) -> None:
    """All rounds. The order rotates; the garbage collector runs between blocks, never inside one (as in timeit)."""
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            turn = number % len(contestants)
            for contestant in [*contestants[turn:], *contestants[:turn]]:
                if number % max(1, rounds // contestant.rounds) == 0:
                    contestant.run(number)
                    gc.collect(YOUNG if contestant.block > 1 else ALL)
    finally:
        gc.enable()
