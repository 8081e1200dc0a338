"""Figures inside a page: matplotlib's SVG as HTML, in the page's own colours.

Ink, paper and the colours of the palette become CSS variables, so that a figure follows the page from light to dark.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.text import Text

from problog4fairness.app.report.markup import Markup, printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from matplotlib.figure import Figure

# What a colour of a figure is on the page.
VARIABLES: Mapping[str, str] = {
    "#000000": "--ink",
    "#1a1a1a": "--ink",
    "#333333": "--ink",
    "#4d4d4d": "--soft-ink",
    "#ffffff": "--paper",
    "#b0b0b0": "--grid",
    "#cccccc": "--grid",
    "#9ad2f2": "--sky-tint",
    "#0072b2": "--blue",
    "#56b4e9": "--sky",
    "#d55e00": "--vermilion",
    "#009e73": "--green",
    "#cc79a7": "--purple",
    "#e69f00": "--orange",
    "#888888": "--soft-ink",
    "#999999": "--soft-ink",
    "#882255": "--wine",
    "#44aa99": "--teal",
    "#8c6d31": "--brown",
}

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
# Releases of matplotlib differ in whether the size stands apart.
_FONT = re.compile(r"(font-family:|font:[^;]*?[\d.]+px)[^;]*")
_LEFT_OUT = {"metadata", "style", "title", "desc"}


def page_style() -> AbstractContextManager[None]:
    """Within it, figures are drawn for a page: text stays text, and a dollar sign does not start a formula."""
    return mpl.rc_context({"svg.fonttype": "none", "text.parse_math": False, "font.family": "sans-serif"})


def inline(figure: Figure, name: str, alternative: str) -> Markup:
    """A figure as an ``<svg>`` element.

    ``name`` is unique on the page, and ids of the figure begin with it; ``alternative`` says what it shows to readers
    who cannot see it.
    """
    file = io.BytesIO()
    for item in figure.findobj(Text):
        item.set_text(printable(item.get_text()))
    with page_style(), mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    root = ET.fromstring(file.getvalue())
    box = root.get("viewBox", "0 0 1 1")
    width = float(box.split()[2]) * 4 / 3
    root.attrib.clear()
    root.set("viewBox", box)
    root.set("role", "img")
    root.set("aria-label", printable(alternative))
    root.set("class", "drawing")
    root.set("style", f"--width: {width:.0f}px")
    for element in root:
        _clean(element, name)
    _strip(root)
    root.tag = "svg"
    return Markup(ET.tostring(root, encoding="unicode"))


def _strip(parent: ET.Element) -> None:
    """Leave out what a page does not need: licences, styles for a whole document."""
    for child in list(parent):
        if child.tag in _LEFT_OUT:
            parent.remove(child)
        else:
            _strip(child)


def _clean(element: ET.Element, name: str) -> None:
    element.tag = _local(element.tag)
    for key in list(element.attrib):
        value = element.attrib.pop(key)
        key = _local(key)
        if key == "id":
            value = f"{name}-{value}"
        elif key == "href":
            value = f"#{name}-{value.removeprefix('#')}"
        else:
            value = _REFERENCE.sub(rf"url(#{name}-\1)", value)
            value = _COLOUR.sub(_variable, value)
            if key == "style":
                value = _FONT.sub(r"\1 var(--figure)", value)
        element.set(key, value)
    for child in element:
        _clean(child, name)


def _variable(match: re.Match[str]) -> str:
    variable = VARIABLES.get(match[0].lower())
    return f"var({variable})" if variable else match[0]


def _local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]
