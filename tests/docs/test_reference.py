"""Every public name says what its parameters are and has an example; test_package.py checks that these are true."""

from __future__ import annotations

import inspect
import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ROOMS = runpy.run_path(str(DOCS / "_extensions" / "rooms.py"))
SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^[A-Z]\w+\n-+\n|\Z)", re.DOTALL | re.MULTILINE)
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def described() -> list[tuple[str, str]]:
    """Room and name of all public classes and functions."""
    found = [(room, name) for room in ROOMS["ROOMS"] for name in ROOMS["public_names"](room)]
    return [own for own in found if inspect.isclass(value(*own)) or inspect.isroutine(value(*own))]


def value(room: str, name: str):
    return getattr(import_module(f"problog4fairness.{room}".rstrip(".")), name)


@pytest.mark.parametrize(("room", "name"), described())
def test_a_public_name_has_an_example(room, name):
    own = value(room, name)
    if inspect.isclass(own) and issubclass(own, Exception):
        return
    assert ">>> " in (own.__doc__ or ""), f"write an Examples section for {name}, short and true"


def documented(own) -> set[str]:
    """The names in the sections on parameters and attributes of a docstring, and of the classes that it builds on."""
    texts = [inspect.cleandoc(base.__doc__ or "") for base in (own.__mro__ if inspect.isclass(own) else (own,))]
    sections = [part for text in texts for part in SECTION.findall(text)]
    return {
        name.strip() for part in sections for line in part.splitlines() if line[:1].strip() for name in line.split(",")
    }


@pytest.mark.parametrize(("room", "name"), described())
def test_a_public_name_says_what_its_parameters_are(room, name):
    own = value(room, name)
    if inspect.isclass(own) and issubclass(own, Exception):
        return
    try:
        parameters = inspect.signature(own).parameters.values()
    except ValueError:  # a type that Python itself makes
        return
    named = [each.name for each in parameters if each.kind in NAMED and not each.name.startswith("_")]
    assert [each for each in named if each not in documented(own)] == []


def test_every_room_of_the_package_is_in_the_reference():
    import problog4fairness as p4f

    rooms = {name for name in p4f.__all__ if inspect.ismodule(getattr(p4f, name))}
    assert rooms == set(ROOMS["ROOMS"]) - {""}
    pages = set(re.findall(r"/_generated/reference/(\w+)", (DOCS / "reference" / "index.md").read_text()))
    assert pages == {room or "package" for room in ROOMS["ROOMS"]}
