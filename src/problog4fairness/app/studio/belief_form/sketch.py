"""Small pictures beside answers: boxes in columns, with arrows from each column to the next."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

# What the first letter of a box says: the classifier gives it, or nobody has seen it. All others are on record.
CLASSIFIER, UNSEEN = "*", "?"
LETTER, HIGH, ACROSS, DOWN = 6.6, 24, 34, 10


def sketch(columns: Sequence[Sequence[str]]) -> str:
    """An ``<svg>`` element in the page's colours.

    Parameters
    ----------
    columns
        The boxes of each column, from causes to effects; ``*`` before a name fills the box, ``?`` dashes it.
    """
    widths = [max(len(name.lstrip("*?")) for name in names) * LETTER + 16 for names in columns]
    height = max(len(names) for names in columns) * (HIGH + DOWN) - DOWN
    boxes: list[str] = []
    arrows: list[str] = []
    left, before = 1.0, list[float]()
    for width, names in zip(widths, columns, strict=True):
        top = (height - len(names) * (HIGH + DOWN) + DOWN) / 2
        middles = [top + HIGH / 2 + row * (HIGH + DOWN) for row in range(len(names))]
        boxes += [_box(name, left, middle, width) for name, middle in zip(names, middles, strict=True)]
        arrows += [_arrow(left - ACROSS, start, left, end) for start in before for end in middles]
        left, before = left + width + ACROSS, middles
    wide = left - ACROSS + 1
    size = f'viewBox="0 0 {wide:.0f} {height + 2}" width="{wide:.0f}" height="{height + 2}"'
    drawn = "".join(arrows + boxes)
    return f'<svg class="sketch" {size} aria-hidden="true"><g transform="translate(0 1)">{drawn}</g></svg>'


def _box(name: str, left: float, middle: float, width: float) -> str:
    kind = {CLASSIFIER: "given", UNSEEN: "unseen-box"}.get(name[0], "")
    shape = f'x="{left:.1f}" y="{middle - HIGH / 2:.1f}" width="{width:.1f}" height="{HIGH}" rx="4"'
    words = f'<text x="{left + width / 2:.1f}" y="{middle + 4:.1f}">{escape(name.lstrip("*?"))}</text>'
    return f'<rect class="{kind}" {shape}/>{words}'


def _arrow(left: float, start: float, right: float, end: float) -> str:
    bend = (left + right) / 2
    line = f"M{left:.1f} {start:.1f}C{bend:.1f} {start:.1f} {bend:.1f} {end:.1f} {right - 6:.1f} {end:.1f}"
    head = f"M{right:.1f} {end:.1f}l-7 -3.5v7z"
    return f'<path d="{line}"/><path class="head" d="{head}"/>'
