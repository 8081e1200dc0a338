"""Figures and tables for notebooks, and figures in files."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from problog4fairness.data.io.writing import write_atomically
from problog4fairness.data.problems import TableError

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure

# Of figures in files.
DPI = 160


def inline_figure(figure: Figure, alternative: str) -> str:
    """A figure as an image inside HTML, which needs no other file, and its words for those who cannot see it."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    content = base64.b64encode(file.getvalue()).decode()
    text = html.escape(alternative, quote=True)
    return f'<img style="max-width:100%" alt="{text}" src="data:image/png;base64,{content}">'


def write_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Write a figure to a file whose name says what it is (.png, .pdf, .svg), whole or not at all."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in figure.canvas.get_supported_filetypes():
        raise TableError(f"{path}: a figure is written to .png, .pdf or .svg")
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=DPI)
    write_atomically(path, file.getvalue())


class WholeTable(pd.DataFrame):  # type: ignore[misc]
    """A data frame that prints all its columns, where pandas leaves out what 80 characters do not hold."""

    @property
    def _constructor(self) -> type[WholeTable]:
        return WholeTable

    def __repr__(self) -> str:
        with self._whole():
            return str(super().__repr__())

    def _repr_html_(self) -> str | None:
        with self._whole():
            return super()._repr_html_()  # type: ignore[no-any-return]

    @staticmethod
    def _whole() -> pd.option_context:
        return pd.option_context("display.max_columns", None, "display.max_colwidth", None, "display.width", 10_000)
