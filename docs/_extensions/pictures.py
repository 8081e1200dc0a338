"""Pictures that pages show and the library draws: made anew at each build, so that they are what a user gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import problog4fairness as p4f


def beliefs() -> dict[str, p4f.Belief]:
    """A belief of each kind, by the name of its picture."""
    label = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    return {
        "label": label,
        "row": p4f.RowBias("poor_area", p4f.depends_on({"officer": ("ann", "bob")}), False, affected=[1]),
        "positive": p4f.PositiveUnlabelled("remote", {1: 0.3, 0: 0.7}),
        "selective": p4f.SelectiveLabels("poor_area", good={1: 0.5, 0: 0.8}, bad=0.2),
        "annotators": p4f.Annotators(["ann", "bob", "eve"], negative=0.2, positive=0.1),
        "measurement": p4f.MeasurementBias(["employed"], "parent", negative={1: 0.3}, positive=False, affected=[1]),
        "historical": p4f.HistoricalBias(["schooled"], "minority", negative={1: 0.3}, positive=False, affected=[1]),
        "unknown": p4f.UnknownGroup("poor_area", {"postcode": ("1010", "1020")}, belief=label),
        "chain": p4f.chain(p4f.LabelBias("blurry"), p4f.LabelBias("smiling")),
    }


def draw(app: Sphinx) -> None:
    """Write a picture of each belief."""
    folder = Path(app.srcdir) / "_generated" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for name, belief in beliefs().items():
        belief.picture().save(folder / f"{name}.svg")


def setup(app: Sphinx) -> dict[str, Any]:
    """Draw before pages are read."""
    app.connect("builder-inited", draw)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
