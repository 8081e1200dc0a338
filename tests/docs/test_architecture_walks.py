"""The walks through the library in CONTRIBUTING.md name functions that exist."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
WALKS = re.search(r"^What calls what.*?\n\n(.*?)\n\n", TEXT, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", re.findall(r"`([\w.]+)`", WALKS[1] if WALKS else ""))
def test_each_step_of_a_walk_exists(name):
    assert pkgutil.resolve_name(f"problog4fairness.{name}") is not None


def places():
    """The modules that the table of places names; ``.name`` is beside the one before it."""
    table = re.search(r"^Where to look.*?\n\n(.*?)\n\n", TEXT, re.DOTALL | re.MULTILINE)
    room = ""
    for name in re.findall(r"`([\w.]+)`", table[1] if table else ""):
        room = room if name.startswith(".") else name.rpartition(".")[0]
        yield room + name if name.startswith(".") else name


@pytest.mark.parametrize("name", list(places()))
def test_each_place_to_look_exists(name):
    assert pkgutil.resolve_name(f"problog4fairness.{name}") is not None


def test_four_walks():
    assert WALKS is not None
    assert len(re.findall(r"^- \*\*", WALKS[1], re.MULTILINE)) == 4
