"""Diagrams drawn with matplotlib, without pyplot: nothing global, and no window.

Imported when the first diagram is drawn, because matplotlib takes its time. All lengths are in points.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path
from matplotlib.textpath import TextToPath

from problog4fairness.errors import LimitError, printable
from problog4fairness.program.diagram.diagram import CLASSIFIER_FILL, FILL, INK, Diagram, Node, cut, too_large
from problog4fairness.program.diagram.layout import Box, Layout, Point
from problog4fairness.program.sandbox import process as sandbox

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONT = "DejaVu Sans"  # comes with matplotlib, so a figure looks the same everywhere
NAME_SIZE, SMALL_SIZE = 10.0, 8.5
SOFT_INK = "#4D4D4D"
LINE_HEIGHT = 1.3  # of the size of its letters
LONGEST_LINE = 40  # characters
PADDING_X, PADDING_Y, MARGIN = 8.0, 5.0, 6.0
SAMPLE_WIDTH, SAMPLE_HEIGHT, SAMPLE_GAP, LEGEND_GAP = 18.0, 10.0, 5.0, 16.0
DPI, MOST_PIXELS = 200, 12_000  # along either side

Line = tuple[str, float, str]  # text, size and colour


def draw(diagram: Diagram, ax: Axes | None = None) -> Figure:
    """Draw on ``ax``, or on a new figure of the size that fits, one box for each predicate."""
    diagram = diagram.drawable()
    labels, layout = arranged(diagram)
    legend = _legend(diagram)
    legend_width = sum(map(_sample_width, legend)) + LEGEND_GAP * (len(legend) - 1)
    width = max(layout.width, legend_width) + 2 * MARGIN
    height = layout.height + LEGEND_GAP + SAMPLE_HEIGHT + 2 * MARGIN
    pen = Pen.on(ax, width, height)

    left = (width - layout.width) / 2
    for route in layout.routes:
        pen.arrow([(x + left, y + MARGIN) for x, y in route])
    for node, lines, box in zip(diagram.nodes, labels, layout.boxes, strict=True):
        pen.box(Box(box.x + left, box.y + MARGIN, box.width, box.height), node, lines)

    left, middle = (width - legend_width) / 2, height - MARGIN - SAMPLE_HEIGHT / 2
    for sample in legend:
        pen.box(Box(left + SAMPLE_WIDTH / 2, middle, SAMPLE_WIDTH, SAMPLE_HEIGHT), sample)
        pen.text(left + SAMPLE_WIDTH + SAMPLE_GAP, middle, (sample.name, SMALL_SIZE, INK), align="left")
        left += _sample_width(sample) + LEGEND_GAP
    return pen.figure


def render(diagram: Diagram, kind: str) -> bytes:
    """The bytes of an ``svg``, ``png`` or ``pdf`` file, which depend on the diagram alone."""
    diagram = diagram.drawable()
    queries = ", ".join(node.name for node in diagram.nodes if node.query)
    metadata: dict[str, str | None] = {"Title": printable(cut(f"Causal diagram of {queries}"))}
    if kind == "svg":
        metadata |= {"Date": None, "Description": _description(diagram)}
    elif kind == "pdf":
        metadata |= {"CreationDate": None}
    file = io.BytesIO()
    # Whatever style the reader's session has, the file shall not show it. Type 42 fonts are what journals ask for.
    with style.context("default"), mpl.rc_context({"svg.hashsalt": "problog4fairness", "pdf.fonttype": 42}):
        figure = draw(diagram)
        dpi = min(DPI, MOST_PIXELS / max(figure.get_size_inches()))
        figure.savefig(file, format=kind, dpi=dpi, metadata=metadata)
    return file.getvalue()


def arranged(diagram: Diagram) -> tuple[list[list[Line]], Layout]:
    """The lines in each box, and where the boxes and arrows go."""
    labels = [
        [(line, NAME_SIZE, INK) for line in _wrapped(node.name)]
        + [(line, SMALL_SIZE, SOFT_INK) for line in _wrapped(node.remark)]
        for node in diagram.nodes
    ]
    sizes = [
        (
            max((_text_width(text, size) for text, size, _ in lines), default=0.0) + 2 * PADDING_X,
            sum(size * LINE_HEIGHT for _, size, _ in lines) + 2 * PADDING_Y,
        )
        for lines in labels
    ]
    index = {node.name: i for i, node in enumerate(diagram.nodes)}
    graph = {"sizes": sizes, "edges": [(index[parent], index[child]) for parent, child in diagram.edges]}
    try:
        return labels, Layout.from_json(sandbox.run("layout", json.dumps(graph), diagram.limits))
    except LimitError:
        raise too_large(diagram) from None


@dataclass(frozen=True)
class Pen:
    """Draws on axes where one unit is ``scale`` points and y runs downwards."""

    figure: Figure
    ax: Axes
    scale: float

    @classmethod
    def on(cls, ax: Axes | None, width: float, height: float) -> Pen:
        """A pen for a sheet of this size, on ``ax`` or on a new figure."""
        if ax is None:
            figure = Figure(figsize=(width / 72, height / 72), facecolor="white")
            FigureCanvasAgg(figure)
            ax = figure.add_axes((0, 0, 1, 1))
        else:
            figure = ax.figure.figure
        room = ax.get_window_extent()
        scale = min(room.width / width, room.height / height) * 72 / figure.dpi
        ax.set_axis_off()
        ax.set_xlim(0, width)
        ax.set_ylim(height, 0)
        ax.set_aspect("equal")
        return cls(figure, ax, scale)

    def arrow(self, route: Sequence[Point]) -> None:
        """An arrow along a route of :class:`.Layout`."""
        points, codes = [route[0]], [Path.MOVETO]
        for index, (start, end) in enumerate(pairwise(route)):
            if index % 2:
                bend = (start[0] + end[0]) / 2
                points += [(bend, start[1]), (bend, end[1]), end]
                codes += [Path.CURVE4] * 3
            else:
                points.append(end)
                codes.append(Path.LINETO)
        self.ax.add_patch(
            FancyArrowPatch(
                path=Path(points, codes),
                arrowstyle="-|>,head_length=0.55,head_width=0.24",
                mutation_scale=10 * self.scale,
                linewidth=0.9 * self.scale,
                color=SOFT_INK,
                joinstyle="miter",
                capstyle="butt",
            )
        )

    def box(self, box: Box, look: Node, lines: Iterable[Line] = ()) -> None:
        """A rounded box that looks as ``look`` does, around some lines of text."""
        left, top = box.x - box.width / 2, box.y - box.height / 2
        self.ax.add_patch(
            FancyBboxPatch(
                (left, top),
                box.width,
                box.height,
                boxstyle=f"round,pad=0,rounding_size={min(6.0, box.height / 4)}",
                facecolor=CLASSIFIER_FILL if look.classifier else FILL,
                edgecolor=INK,
                linewidth=1.1 * self.scale,
                linestyle="solid" if look.observed else (0, (3.5, 2.2)),
            )
        )
        top += PADDING_Y
        for line in lines:
            height = line[1] * LINE_HEIGHT
            self.text(box.x, top + height / 2, line)
            top += height

    def text(self, x: float, middle: float, line: Line, align: str = "center") -> None:
        """One line of text, its lower-case letters centred on ``middle``."""
        text, size, colour = line
        self.ax.text(
            x,
            middle + 0.33 * size,
            text,
            fontsize=size * self.scale,
            fontfamily=FONT,
            color=colour,
            ha=align,
            va="baseline",
            parse_math=False,
            usetex=False,
        )


def _legend(diagram: Diagram) -> list[Node]:
    """A sample of each look that the diagram has, by the name of the look."""
    samples = [replace(node, name="classifier") for node in diagram.nodes if node.classifier][:1]
    if any(node.observed for node in diagram.nodes):
        samples.append(Node("observed", observed=True))
    if not all(node.observed for node in diagram.nodes):
        samples.append(Node("unobserved"))
    return samples


def _sample_width(sample: Node) -> float:
    return SAMPLE_WIDTH + SAMPLE_GAP + _text_width(sample.name, SMALL_SIZE)


def _description(diagram: Diagram) -> str:
    """The arrows in words, for readers who cannot see them."""
    sentences = (
        f"{cut(node.name)} depends on {', '.join(map(cut, node.parents))}." for node in diagram.nodes if node.parents
    )
    return printable(" ".join(sentences))


def _wrapped(text: str) -> list[str]:
    """The text on as many lines as it needs, each of which ends after a comma."""
    lines = [""]
    for piece in re.findall("[^,]*,?", printable(cut(text))):
        if lines[-1] and len(lines[-1]) + len(piece) > LONGEST_LINE:
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines if line.strip()]


def _text_width(text: str, size: float) -> float:
    width, _, _ = TextToPath().get_text_width_height_descent(text, FontProperties(family=FONT, size=size), False)
    return float(width)
