"""Every public name has a docstring with an example; that these are true is checked in test_package.py."""

from __future__ import annotations

import inspect
import runpy
from importlib import import_module
from pathlib import Path

import pytest

ROOMS = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "_extensions" / "rooms.py"))


def described() -> list[tuple[str, str]]:
    """Room and name of all public classes and functions."""
    found = [(room, name) for room in ROOMS["ROOMS"] for name in ROOMS["public_names"](room)]
    return [own for own in found if inspect.isclass(value(*own)) or inspect.isroutine(value(*own))]


def value(room: str, name: str):
    return getattr(import_module(f"problog4fairness.{room}".rstrip(".")), name)


@pytest.mark.parametrize(("room", "name"), described())
def test_a_public_name_has_an_example(room, name):
    own = value(room, name)
    assert ">>> " in (own.__doc__ or ""), f"write an Examples section for {name}, short and true"


def test_every_room_of_the_package_is_in_the_reference():
    import problog4fairness as p4f

    rooms = {name for name in p4f.__all__ if inspect.ismodule(getattr(p4f, name))}
    assert rooms <= set(ROOMS["ROOMS"])
