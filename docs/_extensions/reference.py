"""The pages of the reference: one for each room, made from what it exports, so that no public name is left out."""

from __future__ import annotations

import inspect
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from rooms import PACKAGE, ROOMS, public_names
from sphinx.application import Sphinx


def page(room: str, title: str) -> str:
    """A page with the docstring of a room and a table of its names."""
    module = f"{PACKAGE}.{room}".rstrip(".")
    head = f"{title}\n{'=' * len(title)}\n\n.. automodule:: {module}\n   :no-members:\n\n"
    values = {name: getattr(import_module(module), name) for name in sorted(public_names(room), key=str.lower)}
    described = {name: value for name, value in values.items() if inspect.isclass(value) or inspect.isroutine(value)}
    table = "".join(f"   {name}\n" for name in described)
    data = "".join(f"\n.. py:data:: {name}\n\n   {said(values[name])}\n" for name in values if name not in described)
    return f"{head}.. currentmodule:: {module}\n\n.. autosummary::\n   :toctree: names\n\n{table}{data}"


def said(value: Any) -> str:
    """What a name stands for that is neither a class nor a function: a table by its keys, an alias by its meaning."""
    if isinstance(value, dict):
        return f"A dictionary with the keys {', '.join(f'``{key}``' for key in value)}."
    return f"Stands for ``{str(value).replace('problog4fairness.', '')}``."


def write(app: Sphinx, _config: Any) -> None:
    """Write the pages where they differ from what is there."""
    folder = Path(app.srcdir) / "_generated" / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    for room, title in ROOMS.items():
        path, text = folder / f"{room or 'package'}.rst", page(room, title)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def filenames() -> dict[str, str]:
    """Names that differ by case only, such as report and Report, need files that differ by more."""
    every = [f"{PACKAGE}.{room}.{name}".replace("..", ".") for room in ROOMS for name in public_names(room)]
    often = Counter(name.lower() for name in every)
    return {name: f"{name}-function" for name in every if often[name.lower()] > 1 and name == name.lower()}


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before autosummary looks for them."""
    app.connect("config-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
