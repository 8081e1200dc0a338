"""Writing HTML: whatever comes from data is text, never markup; and a page that needs nothing else."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, TypeAlias


class Markup(str):
    """HTML that was written here, or made of escaped parts; any other string is escaped when it is put on a page."""

    __slots__ = ()


# Nothing may be loaded from anywhere, and nothing may run.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
# A name of a row that need not be broken.
SHORT = 24

Content: TypeAlias = str | int | float | Markup


def text(value: Content) -> Markup:
    """A value as HTML."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(printable(str(value)), quote=True))


def printable(value: str) -> str:
    """The text with a space for every character that a page or a drawing cannot hold; line breaks stay."""
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


def figure(drawing: Markup, caption: Content, label: str) -> Markup:
    """A drawing with its caption."""
    return tag("figure", scrolling(drawing, label), tag("figcaption", caption))


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
