"""What the results of this room share: a table, sentences and a figure, in a terminal and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from problog4fairness.data import inline_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Result(ABC):
    """How far something reaches that is not known; each has a ``table``."""

    table: pd.DataFrame

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is, in a few words."""

    @abstractmethod
    def words(self) -> list[str]:
        """The result in sentences."""

    @abstractmethod
    def plot(self) -> Figure:
        """The result as a figure."""

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {sentence}" for sentence in self.words())])

    def _repr_html_(self) -> str:
        figure = inline_figure(self.plot(), self.title)
        table = self.table.to_html(float_format="{:.4g}".format, na_rep="")
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.words())
        return f"<div><b>{escape(self.title)}</b>{figure}{table}{sentences}</div>"
