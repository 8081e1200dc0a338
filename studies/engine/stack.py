"""What is computed and stored as one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

Table: TypeAlias = list[list[Any]]
Identity: TypeAlias = Mapping[str, Any]
# What the rows of a table begin with, in their order; after it each row has one number.
Keys: TypeAlias = Sequence[Sequence[str | int | float]]


@dataclass(frozen=True)
class Work:
    """What a stack may use while it computes.

    Attributes
    ----------
    checkpoint
        A file for what a killed run shall go on from; removed once the stack is stored.
    report
        Takes the share of the stack that is done, between 0 and 1, for the progress bar.
    """

    checkpoint: Path
    report: Callable[[float], None]


class Stack(ABC):
    """Cells that are computed and stored as one."""

    # What a damaged checkpoint is told by.
    damaged: ClassVar[tuple[type[Exception], ...]] = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """For messages."""

    @property
    def cells(self) -> int:
        """How many cells there are, for the progress bar."""
        return 1

    @property
    def together(self) -> Hashable:
        """Stacks for which this is equal share work: one process computes them, one after another."""
        return self

    @property
    @abstractmethod
    def settings(self) -> Identity:
        """Everything that determines the numbers, besides the code that computes them, as plain data."""

    @abstractmethod
    def keys(self) -> Keys:
        """What the rows of its table begin with."""

    @abstractmethod
    def compute(self, work: Work) -> Table:
        """The table: for each of the keys a row, with its number at the end."""
