"""What an example's last line gives is shown: figures and pictures of the library, which opens no window for them."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figure or the picture that a block ends with, for sphinx-gallery."""
    last = ast.parse(block.content).body[-1:]
    shown = block_vars["example_globals"].get("___") if last and isinstance(last[0], ast.Expr) else None
    if isinstance(shown, Figure):
        path = Path(next(block_vars["image_path_iterator"]))
        shown.savefig(path, dpi=160)
    elif hasattr(shown, "_repr_svg_"):
        path = Path(next(block_vars["image_path_iterator"])).with_suffix(".svg")
        path.write_text(shown._repr_svg_(), encoding="utf-8")
    else:
        return ""
    return figure_rst([path], gallery_conf["src_dir"])
