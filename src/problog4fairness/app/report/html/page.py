"""One page that needs nothing else: no host, no script, no file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from problog4fairness.app.report.html.markup import Content, Markup, join, tag, text

# Nothing may be loaded from anywhere, and nothing may run.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def page(title: str, about: Content, sections: Sequence[tuple[str, str, Markup]], footer: Content) -> str:
    """A whole page.

    Parameters
    ----------
    title, about, footer
        What stands above and below.
    sections
        Identifier, heading and content of each.
    """
    folder = files("problog4fairness.app.report.html")
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
