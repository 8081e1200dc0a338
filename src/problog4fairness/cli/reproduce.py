"""``p4f reproduce``: the paper's studies, which stand beside the library in its source folder."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from problog4fairness.errors import P4FError

# src/problog4fairness/cli/reproduce.py, in a checkout.
ROOT = Path(__file__).parents[3]


def register(app: typer.Typer) -> None:
    """Add the command to the application; its options are those of the study."""
    options = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    app.command(context_settings=options, add_help_option=False)(reproduce)


def reproduce(context: typer.Context) -> int:
    """Run one of the paper's studies, in a checkout of the sources; without the name of one, list them."""
    if not (ROOT / "studies" / "__main__.py").is_file():
        raise P4FError(
            "the paper's studies are in the folder studies/ of problog4fairness' source repository, not in the "
            "installed library; run `p4f reproduce` or `python -m studies` in a checkout"
        )
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    studies: Any = import_module("studies.commands").app
    status = studies(args=context.args or ["--help"], prog_name="p4f reproduce", standalone_mode=False)
    return status if isinstance(status, int) else 0
