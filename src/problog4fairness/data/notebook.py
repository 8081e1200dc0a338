"""Figures for notebooks and in files."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import TYPE_CHECKING

from problog4fairness.data.io.writing import write_whole
from problog4fairness.data.problems import TableError

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure


def inline_figure(figure: Figure, alternative: str) -> str:
    """A figure as an image inside HTML, which needs no other file, and its words for those who cannot see it."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    content = base64.b64encode(file.getvalue()).decode()
    said = html.escape(alternative, quote=True)
    return f'<img style="max-width:100%" alt="{said}" src="data:image/png;base64,{content}">'


def write_figure(figure: Figure, path: str | PathLike[str], dpi: int = 160) -> None:
    """Write a figure to a file whose name says what it is (.png, .pdf, .svg), whole or not at all.

    Parameters
    ----------
    figure
        The figure.
    path
        The file.
    dpi
        Pixels for each inch, where the file holds pixels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from matplotlib.figure import Figure
    >>> from problog4fairness.data import write_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_figure(Figure(), Path(folder) / "bands.png")
    ...     (Path(folder) / "bands.png").read_bytes()[1:4]
    b'PNG'
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in figure.canvas.get_supported_filetypes():
        raise TableError(f"{path}: a figure is written to .png, .pdf or .svg")
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=dpi)
    write_whole(path, file.getvalue())
