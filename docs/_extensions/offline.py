"""The built pages ask no other host for anything; a build whose pages would is an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import SphinxError

# What a browser fetches by itself; links that somebody clicks on are no requests.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|audio|video|embed)\b[^>]*\bsrc(?:set)?\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b[^>]*\bhref\s*=\s*["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|(?:@import\s*|url\(\s*)["']?((?:https?:)?//[^"'\s)]+)""",
    re.IGNORECASE,
)


def check(app: Sphinx, failure: Exception | None) -> None:
    """Look through all pages and styles."""
    if failure is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    for path in sorted([*folder.rglob("*.html"), *folder.rglob("*.css")]):
        for match in FETCHED.finditer(path.read_text(encoding="utf-8", errors="replace")):
            address = next(filter(None, match.groups()))
            raise SphinxError(f"{path.relative_to(folder)} asks another host: {address}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Look when everything is written."""
    app.connect("build-finished", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
