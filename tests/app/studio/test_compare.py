"""Names beside the markers of a comparison."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="the extra studio is not installed")


def test_names_of_near_markers_stand_on_different_sides():
    from problog4fairness.app.studio.screens.compare import _places

    near = {"this model": (0.10, 0.80), "without area": (0.11, 0.80), "far": (-0.4, 0.6)}
    found = _places(near)
    assert found["this model"] != found["without area"]
    assert found["far"] == "top"
    assert _places({}) == {}
    assert _places({"alone": (0.1, 0.1)}) == {"alone": "top"}
