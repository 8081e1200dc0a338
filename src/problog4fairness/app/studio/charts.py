"""Charts in the page's own colours: they follow it from light to dark, as figures of a report do."""

from __future__ import annotations

from typing import Any

from problog4fairness.app.report import VARIABLES
from problog4fairness.app.studio.parts import Chart

# Named, since letters are measured before they are drawn.
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, SOFT, GRID = "var(--ink)", "var(--soft-ink)", "var(--grid)"


def colour(figure: str) -> str:
    """What a colour of figures is on the page."""
    variable = VARIABLES.get(figure.lower())
    return f"var({variable})" if variable else figure


def axis(name: str, **options: Any) -> dict[str, Any]:
    """An axis with a name at its middle."""
    return {
        "type": "value",
        "scale": True,
        "name": name,
        "nameLocation": "middle",
        "nameTextStyle": {"color": SOFT, "fontSize": 12},
        "axisLabel": {"color": SOFT, "hideOverlap": True},
        "axisLine": {"show": True, "lineStyle": {"color": GRID}},
        "axisTick": {"lineStyle": {"color": GRID}},
        "splitLine": {"lineStyle": {"color": GRID, "opacity": 0.5}},
        **options,
    }


def chart(options: dict[str, Any], words: str, height: str = "20rem") -> Chart:
    """A chart; ``words`` say what it shows to those who do not see it."""
    base = {"animation": False, "textStyle": {"fontFamily": FONT, "color": INK}}
    # As SVG, whose colours may be variables of the page; a canvas would keep those that it was drawn in.
    made = Chart({**base, **options}, renderer="svg")
    made.style(f"height: {height}; width: 100%; max-width: 46rem").props["role"] = "img"
    made.props["aria-label"] = words
    return made
