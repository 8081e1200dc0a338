"""A contact sheet: what the attributes look like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from studies.data.numbers import whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from studies.data.drawn_faces import FaceData

LABEL_WIDTH, FACE_WIDTH = 1.2, 0.8  # inches
ATTRIBUTE_LINES: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "smiling": ("smiling",),
    "blurry": ("blurry",),
    "high\ncheekbones": ("high_cheekbones",),
    "mouth\nslightly open": ("open",),
    "all but\nblurry": ("smiling", "high_cheekbones", "open"),
    "all": ("smiling", "blurry", "high_cheekbones", "open"),
}


def contact_sheet(faces: FaceData, columns: int) -> Figure:
    """One line of faces for each combination of ``ATTRIBUTE_LINES``; see :meth:`FaceData.plot`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = whole_number("columns", columns, least=1)
    shown = faces.attributes.assign(open=faces.fair)
    channels, height, width = faces.shape
    across, down = LABEL_WIDTH + FACE_WIDTH * columns, FACE_WIDTH * 1.08 * len(ATTRIBUTE_LINES)
    figure = Figure(figsize=(across, down))
    FigureCanvasAgg(figure)
    place = {"left": LABEL_WIDTH / across, "right": 1, "bottom": 0, "top": 1, "hspace": 0.04}
    lines = figure.subplots(len(ATTRIBUTE_LINES), 1, squeeze=False, gridspec_kw=place)[:, 0]
    for axes, (title, ones) in zip(lines, ATTRIBUTE_LINES.items(), strict=True):
        wanted = np.array([name in ones for name in shown.columns])
        rows = np.flatnonzero((shown.to_numpy() == wanted).all(axis=1))[:columns]
        line = np.full((height, columns * (width + 1), channels), 255, dtype=np.uint8)
        for k, row in enumerate(rows):
            line[:, k * (width + 1) : k * (width + 1) + width] = faces.images[row].transpose(1, 2, 0)
        axes.imshow(line if channels == 3 else line[:, :, 0], cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        axes.set_ylabel(title, rotation="horizontal", ha="right", va="center", fontsize=9)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
    return figure
