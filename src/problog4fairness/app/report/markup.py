"""Writing HTML and figures in it: whatever comes from data is text, never markup; a page needs nothing else.

Ink, paper and the colours of a figure become CSS variables, so that it follows the page from light to dark.
"""

from __future__ import annotations

import html
import io
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeAlias

import matplotlib as mpl
from matplotlib.text import Text

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.figure import Figure


class Markup(str):
    """HTML that was written here, or made of escaped parts; any other string is escaped when it is put on a page."""

    __slots__ = ()


# Nothing may be loaded from anywhere, and nothing may run.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
# A name of a row that need not be broken.
SHORT = 24
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

Content: TypeAlias = str | int | float | Markup


def text(value: Content) -> Markup:
    """A value as HTML."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(printable(str(value)), quote=True))


def printable(value: str) -> str:
    """The text with a space for every character that a page or a figure cannot hold; line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in value)


def join(parts: Iterable[Content], between: str = "") -> Markup:
    """Several pieces as one."""
    return Markup(between.join(text(part) for part in parts))


def tag(name: str, *children: Content, **attributes: Content | None) -> Markup:
    """An element; ``class_`` and ``aria_label`` stand for ``class`` and ``aria-label``, None leaves one out."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{shown}>{join(children)}</{name}>")


def paragraphs(sentences: Iterable[Content]) -> Markup:
    """A paragraph for each."""
    return join((tag("p", sentence) for sentence in sentences), "\n")


def bullets(items: Iterable[Content], **attributes: Content) -> Markup:
    """An unordered list."""
    return tag("ul", "\n", join((tag("li", item) for item in items), "\n"), "\n", **attributes)


def scrolling(content: Content, label: str) -> Markup:
    """A box that scrolls by itself where its content is too wide, also with the keyboard."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)


def table(
    header: Sequence[str], rows: Iterable[Sequence[Content]], *, caption: str, numbers: Iterable[int] = ()
) -> Markup:
    """A table whose first column names the row; ``numbers`` are the columns to align to the right."""
    right = set(numbers)

    def cell(column: int, value: Content) -> Markup:
        css = "number" if column in right else None
        if column == 0:
            return tag("th", value, scope="row", class_=css or ("short" if len(str(value)) < SHORT else None))
        return tag("td", value, class_=css)

    head = tag(
        "tr", *(tag("th", h, scope="col", class_="number" if i in right else None) for i, h in enumerate(header))
    )
    body = join((tag("tr", *(cell(i, value) for i, value in enumerate(row))) for row in rows), "\n")
    inner = join((tag("caption", tag("span", caption)), tag("thead", head), tag("tbody", body)), "\n")
    return scrolling(tag("table", inner), caption)


def stacked(value: Content, below: Content) -> Markup:
    """A value with what qualifies it in small letters on the next line."""
    return join([value, " ", tag("span", below, class_="range")]) if below else text(value)


def figure(svg: Markup, caption: Content, label: str) -> Markup:
    """A figure with its caption."""
    return tag("figure", scrolling(svg, label), tag("figcaption", caption))


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
    _clean(root, name)
    root.attrib.clear()
    root.set("viewBox", box)
    root.set("role", "img")
    root.set("aria-label", printable(alternative))
    root.set("class", "drawing")
    root.set("style", f"--width: {width:.0f}px")
    return Markup(ET.tostring(root, encoding="unicode"))


def _clean(element: ET.Element, name: str) -> None:
    """Leave out licences and styles for a whole document; names and colours become those of the page."""
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
            value = _COLOUR.sub(lambda match: page_colour(match[0]), value)
            if key == "style":
                value = _FONT.sub(r"\1 var(--figure)", value)
        element.set(key, value)
    for child in list(element):
        if _local(child.tag) in _LEFT_OUT:
            element.remove(child)
        else:
            _clean(child, name)


def page_colour(colour: str) -> str:
    """What a colour of figures is on the page."""
    variable = VARIABLES.get(colour.lower())
    return f"var({variable})" if variable else colour


def _local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]


def folded(summary: Content, content: Markup) -> Markup:
    """What only some readers want to see; print shows it."""
    return tag("details", tag("summary", summary), content)


def terms(pairs: Mapping[str, Content]) -> Markup:
    """A list of names and what they stand for."""
    return tag("dl", *(join((tag("dt", name), tag("dd", value))) for name, value in pairs.items()))


def plain(value: Any) -> str:
    """A value of a data frame as a reader would write it."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:,.6g}"
    return str(value)


def page(title: str, about: Content, sections: Sequence[tuple[str, str, Markup]], footer: Content) -> str:
    """A whole page of sections, each an identifier, a heading and its content; it needs no host, script or file."""
    folder = files("problog4fairness.app.report")
    colours, style = (folder.joinpath(name).read_text(encoding="utf-8") for name in ("palette.css", "page.css"))
    colours = colours.replace(".light", ":root").replace(".dark", "@media (prefers-color-scheme: dark) { :root") + "}"
    links = (tag("li", tag("a", heading, href=f"#{name}")) for name, heading, _ in sections)
    body = [
        tag("header", "\n", tag("h1", title), "\n", tag("p", about, class_="about"), "\n"),
        tag("nav", tag("ul", join(links, "\n")), aria_label="Contents"),
        tag("main", "\n", join((_section(*section) for section in sections), "\n\n"), "\n"),
        tag("footer", footer),
    ]
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{text(POLICY)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="color-scheme" content="light dark">',
        tag("title", title),
        f"<style>\n{colours}\n{style}</style>",
    ]
    lines = ["<!DOCTYPE html>", '<html lang="en">', "<head>", *head, "</head>", "<body>", join(body, "\n")]
    return "\n".join([*lines, "</body>", "</html>", ""])


def _section(name: str, heading: str, content: Markup) -> Markup:
    return tag(
        "section", "\n", tag("h2", heading, id=f"{name}-heading"), "\n", content, "\n",
        id=name, aria_labelledby=f"{name}-heading",
    )  # fmt: skip
