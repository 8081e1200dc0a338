"""What a study is: stacks to compute, and what their results show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from studies.engine.stack import Stack

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from studies.engine.claims import Claim


class Study(ABC):
    """Stacks, and what their results show.

    Attributes
    ----------
    columns
        The names of the columns of the results. There is one ``seed``, perhaps one ``fold`` and ``x``, the place on an
        axis; the last one is ``value``.
    """

    columns: ClassVar[tuple[str, ...]]

    @property
    @abstractmethod
    def name(self) -> str:
        """Of its folder."""

    @property
    def alone(self) -> bool:
        """Whether one stack at a time takes the whole machine."""
        return False

    @abstractmethod
    def stacks(self) -> Sequence[Stack]:
        """All stacks, in the order of the results."""

    @abstractmethod
    def claims(self, results: pd.DataFrame) -> list[Claim]:
        """The claims that the results can decide."""

    @abstractmethod
    def figures(self, results: pd.DataFrame) -> Mapping[str, Figure]:
        """Figures by the names of their files."""

    @abstractmethod
    def about(self) -> list[str]:
        """How it was done, as lines of Markdown."""

    def tables(self, results: pd.DataFrame) -> Mapping[str, pd.DataFrame]:  # noqa: ARG002
        """Further tables by the names of their files."""
        return {}

    def said(self, claim: str) -> str:  # noqa: ARG002
        """What the paper says of a claim, and where; empty for claims of one's own."""
        return ""

    def remarks(self, results: pd.DataFrame) -> list[str]:  # noqa: ARG002
        """What else is to be said, below the claims."""
        return []
