"""Formulas as MathML, which browsers show by themselves: no script, no fonts, no request to another host."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def inline(translator: Any, node: nodes.math) -> None:
    """A formula in a sentence."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own; one that is wider than a phone scrolls."""
    formula = tex2mathml(node.astext(), as_block=True)
    translator.body.append(f'<div class="formula" tabindex="0">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make ``html_math_renderer = "mathml"`` known."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
