"""``p4f reproduce``: the paper's studies, which stand beside the library in its source folder."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import typer

from problog4fairness.errors import P4FError

# src/problog4fairness/app/cli/reproduce.py, in a checkout.
ROOT = Path(__file__).parents[4]


def register(app: typer.Typer, root: Path = ROOT) -> None:
    """Add the studies' own commands to the application, or one that says where they are."""
    if (root / "studies" / "commands.py").is_file():
        if str(root) not in sys.path:
            sys.path.insert(0, str(root))  # it stays there, for the processes that a study starts
        app.add_typer(import_module("studies.commands").app, name="reproduce")
        return
    options = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(context_settings=options)(reproduce)


def reproduce() -> None:
    """Run one of the paper's studies: only in a checkout of the sources."""
    raise P4FError(
        "the paper's studies are in the folder studies/ of problog4fairness' source repository, not in the installed "
        "library; run `p4f reproduce` or `python -m studies` in a checkout"
    )
