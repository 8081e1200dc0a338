"""Figures that a phone would shrink until nobody can read them stand in a frame that scrolls sideways."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_gallery.directives import imgsgnode

# Pixels; a figure of two panels or more has more of them.
WIDE = 900


def frame(app: Sphinx, doctree: nodes.document, _: str) -> None:
    """Put each wide figure that is a block of its own into a frame; ``style.css`` says how it looks."""
    figures = [*doctree.findall(nodes.image), *doctree.findall(imgsgnode)]
    for figure in figures:
        if isinstance(figure.parent, nodes.section) and width(Path(app.srcdir) / figure["uri"].lstrip("/")) >= WIDE:
            said = 'role="region" tabindex="0" aria-label="A figure that scrolls sideways"'
            opened = nodes.raw("", f'<div class="scrolls" {said}>', format="html")
            figure.replace_self([opened, figure.deepcopy(), nodes.raw("", "</div>", format="html")])


def width(path: Path) -> int:
    """Of a PNG, in pixels; 0 of anything else."""
    start = path.read_bytes()[:20] if path.suffix == ".png" and path.is_file() else b""
    return int(struct.unpack(">I", start[16:20])[0]) if start.startswith(b"\x89PNG") else 0


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at each page before it is written."""
    app.connect("doctree-resolved", frame)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
