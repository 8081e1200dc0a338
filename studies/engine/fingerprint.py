"""The code that computes a result, as a hash: a stored result is used again only where that code is the same.

Beginning with a module, imports are followed through this repository. Of the library a whole room counts as soon as one
of its modules is imported, because rooms also start processes of their own modules. Comments and docstrings do not
count, nor does the way in which a line is broken.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

LIBRARY = "problog4fairness"
PACKAGES = ("numpy", "problog", "scikit-learn", "torch")


@cache
def fingerprint(module: str) -> str:
    """A hash of all code that a module may run, and of the versions of the packages that compute for it."""
    digest = hashlib.sha256()
    for name, file in sorted(reached(module).items()):
        digest.update(f"{name}\0{meaning(file.read_text(encoding='utf-8'))}\0".encode())
    for package in PACKAGES:
        digest.update(f"{package} {version(package)}\0".encode())
    return digest.hexdigest()[:16]


def meaning(source: str) -> str:
    """A text that is the same for programs that do the same but for comments, docstrings and line breaks."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)


def reached(module: str) -> dict[str, Path]:
    """The files of a module and of all that it imports, directly or not.

    Only modules of its own top-level package, the studies and the library are followed.
    """
    roots = {module.partition(".")[0], "studies", LIBRARY}
    found: dict[str, Path] = {}
    left = [module]
    while left:
        name = left.pop()
        file = None if name in found or name.partition(".")[0] not in roots else _file(name)
        if file is None:
            continue
        found[name] = file
        if name != LIBRARY:  # its front door opens the rooms that are asked for, and leads nowhere by itself
            inside = name.startswith(f"{LIBRARY}.")  # a room that knocks there offers what others have, and needs none
            wanted = (other for other in _imports(file) if not (inside and other == LIBRARY))
            left += [part for other in wanted for part in _with_parents(other)]
    return found


def _imports(file: Path) -> Iterator[str]:
    left: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while left:
        node = left.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue  # it does not run
        left += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # Each name may be a module, or something in one.
            own = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if _file(name) is not None else node.module for name in own)


def _with_parents(name: str) -> list[str]:
    """A module and the packages that it is in; of the library, all modules of its room, or of the library itself."""
    parts = name.split(".")
    found = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    if parts[0] != LIBRARY or (front := _file(LIBRARY)) is None:
        return found
    return found + _in_room(front.parent, *parts[1:2])


@cache
def _in_room(library: Path, *room: str) -> list[str]:
    """All modules of a room of the library, or of the library itself."""
    below = [file.relative_to(library).with_suffix("").parts for file in library.joinpath(*room).rglob("*.py")]
    return [".".join((LIBRARY, *parts)).removesuffix(".__init__") for parts in below]


@cache
def _file(name: str) -> Path | None:
    """Where the source of a module is; None where there is no such module. Nothing is imported."""
    top, *rest = name.split(".")
    if name == "__main__":
        file = getattr(sys.modules[name], "__file__", None)
        return None if file is None else Path(file)
    spec = importlib.util.find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        return None
    place = Path(spec.submodule_search_locations[0]).joinpath(*rest)
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)
