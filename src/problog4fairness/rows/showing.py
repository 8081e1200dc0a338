"""Figures for notebooks."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def inline_figure(figure: Figure) -> str:
    """A figure as an image inside HTML, which needs no other file."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110, metadata={"Software": None})
    content = base64.b64encode(file.getvalue()).decode()
    return f'<img style="max-width:100%" src="data:image/png;base64,{content}">'
