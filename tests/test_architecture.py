"""Folders show the architecture: few modules in a folder, short modules, few names at the top, and rooms with doors."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from types import ModuleType

import problog4fairness as p4f

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "problog4fairness"

MODULES, LINES, NAMES, MEMBERS = 16, 400, 24, 28
PAST_DOORS = 13  # imports in tests of one room that reach inside another; this number may only shrink


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_a_folder_holds_few_modules():
    sizes = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in modules() if path.name != "__init__.py")
    assert {folder: size for folder, size in sizes.items() if size > MODULES} == {}


def test_a_module_is_short():
    sizes = {p.relative_to(PACKAGE).as_posix(): len(p.read_text(encoding="utf-8").splitlines()) for p in modules()}
    assert {name: size for name, size in sizes.items() if size > LINES} == {}


def test_few_names_stand_beside_the_rooms():
    names = [name for name in p4f.__all__ if not isinstance(getattr(p4f, name), ModuleType)]
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.pyi").exists()}
    assert len(names) <= NAMES
    assert set(p4f.__all__) - set(names) == {*rooms, "errors"}


def test_a_belief_has_few_public_members():
    assert len([name for name in dir(p4f.Belief) if not name.startswith("_")]) <= MEMBERS


def test_other_rooms_ask_a_belief_for_its_public_members_only():
    others = [path for path in modules() if path.relative_to(PACKAGE).parts[0] != "beliefs"]
    asked = {path.name: re.findall(r"\bbelief_?\._[a-z]\w*", path.read_text(encoding="utf-8")) for path in others}
    assert {name: members for name, members in asked.items() if members} == {}


def imported(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return found + [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]


def reaches_inside(path: Path) -> list[str]:
    """The modules that a test imports from inside a room that it is no unit test of."""
    folder = path.relative_to(ROOT / "tests").parts[:-1]
    inside = []
    for name in imported(path):
        package, *parts = name.split(".")
        depth = 2 if parts[:1] == ["app"] else 1
        if package == "problog4fairness" and len(parts) > depth and tuple(parts[:depth]) != folder[:depth]:
            inside.append(name)
    return inside


def test_tests_enter_a_room_by_its_door():
    paths = sorted((ROOT / "tests").rglob("*.py"))
    inside = [f"{path.name}: {module}" for path in paths for module in reaches_inside(path)]
    assert len(inside) <= PAST_DOORS, inside
