"""Figures for notebooks."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def inline_figure(figure: Figure, alternative: str) -> str:
    """A figure as an image inside HTML, which needs no other file, and its words for those who cannot see it."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    content = base64.b64encode(file.getvalue()).decode()
    said = html.escape(alternative, quote=True)
    return f'<img style="max-width:100%" alt="{said}" src="data:image/png;base64,{content}">'
