"""Studies of stacks that cost nothing, some of which misbehave: to test the engine with."""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from matplotlib.figure import Figure

from studies.engine.claims import Measured, above
from studies.engine.run import run
from studies.engine.stack import Stack
from studies.engine.study import Study

# Stacks of :class:`Held` that wait for nothing.
FREE = 8


@dataclass(frozen=True)
class Sum(Stack):
    """A number for each seed; ``place`` is where it is on the axis."""

    place: int = 0
    seeds: tuple[int, ...] = (0, 1)

    @property
    def name(self):
        return f"{type(self).__name__.lower()} at {self.place}"

    @property
    def cells(self):
        return len(self.seeds)

    @property
    def settings(self):
        return {"place": self.place, "seeds": self.seeds}

    def keys(self):
        return [(self.place, type(self).__name__, seed, "f1") for seed in self.seeds]

    def compute(self, work):
        return [[*key, 0.25 + self.place / 7 + key[2] / 3] for key in self.keys()]


@dataclass(frozen=True)
class Held(Sum):
    """The last ones wait while the file that ``HELD`` names is not there: what is killed then is not over yet."""

    def compute(self, work):
        released = os.environ.get("HELD")
        while released and self.place >= FREE and not Path(released).exists():
            time.sleep(0.01)
        return super().compute(work)


@dataclass(frozen=True)
class Failing(Sum):
    def compute(self, work):
        if self.place > 1:
            raise ValueError("no such thing")
        return super().compute(work)


@dataclass(frozen=True)
class Short(Sum):
    """Gives fewer rows than it promised."""

    def compute(self, work):
        return super().compute(work)[:-1]


@dataclass(frozen=True)
class Shared(Sum):
    """Tells which process computed it; all of them share work."""

    together: ClassVar[str] = "all"

    def compute(self, work):
        return [[*key, float(os.getpid())] for key in self.keys()]


@dataclass(frozen=True)
class Deadly(Sum):
    """Kills its worker, once: the first to come finds the file."""

    flag: str = ""

    def compute(self, work):
        try:
            Path(self.flag).unlink()
        except FileNotFoundError:
            return super().compute(work)
        os._exit(9)


@dataclass(frozen=True)
class Homeless(Sum):
    """Puts a file where the study's folder was."""

    folder: str = ""

    def compute(self, work):
        shutil.rmtree(self.folder, ignore_errors=True)
        Path(self.folder).touch()
        return super().compute(work)


@dataclass(frozen=True)
class Endless(Sum):
    """Says which process computes it, and never comes to an end."""

    folder: str = ""

    def compute(self, work):
        (Path(self.folder) / f"{os.getpid()}.pid").touch()
        while True:
            time.sleep(0.01)


class Broken(Exception):
    pass


@dataclass(frozen=True)
class Resumed(Sum):
    """Has a checkpoint, which must hold the word."""

    damaged = (Broken,)

    def compute(self, work):
        if work.checkpoint.exists() and work.checkpoint.read_text() != "whole":
            raise Broken
        work.checkpoint.write_text("whole")
        work.report(0.5)
        return super().compute(work)


@dataclass(frozen=True)
class Sums(Study):
    """Stacks of one kind at some places."""

    columns = ("x", "method", "seed", "metric", "value")

    stack: Stack = Sum()
    places: tuple[int, ...] = (0, 1, 2, 3)
    name: ClassVar[str] = "sums"

    def stacks(self):
        return [replace(self.stack, place=place) for place in self.places]

    def claims(self, results):
        return above("the sum is above 0", Measured(results)(metric="f1"))

    def figures(self, results):
        return {"figure": Figure()}

    def about(self):
        return ["Sums."]

    def tables(self, results):
        return {"count": results.groupby("x", as_index=False)["value"].count()}

    def remarks(self, results):
        return ["Seen."]


def held_sums() -> Sums:
    return Sums(Held(), tuple(range(12)))


def main(folder: str, jobs: str, kind: str = "held") -> None:
    run(Sums(Endless(folder=folder)) if kind == "endless" else held_sums(), folder, jobs=int(jobs))


if __name__ == "__main__":
    # By its name, which decides under which names results are stored.
    import_module("tests.studies.stacks").main(*sys.argv[1:])
