"""Running ``p4f`` the way a user does, inside this process: to start another one takes longer than most commands."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from problog4fairness.app.cli.main import main


def p4f(*arguments: str | Path, stdin: str | None = None, folder: Path | None = None) -> SimpleNamespace:
    """Run a command, in a folder of its own where one is given; what it printed, and its exit status."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for name in ("stdout", "stderr")}
    given = io.TextIOWrapper(io.BytesIO((stdin or "").encode()), "utf-8")
    with (
        contextlib.chdir(folder or Path.cwd()),
        warnings.catch_warnings(),
        patch.multiple(sys, argv=["p4f", *map(str, arguments)], stdin=given, **streams),
    ):
        warnings.resetwarnings()
        warnings.simplefilter("ignore", DeprecationWarning)
        status = 0
        try:
            main()
        except SystemExit as left:
            status = left.code or 0
    printed = {name: stream.buffer.getvalue().decode() for name, stream in streams.items()}
    return SimpleNamespace(returncode=status, **printed)


def fails(run: SimpleNamespace) -> str:
    """The one line of a command that refused its input."""
    assert run.returncode == 2, (run.stdout, run.stderr)
    assert run.stdout == ""
    lines = [line for line in run.stderr.splitlines() if not line.startswith(("note: ", "warning: "))]
    assert len(lines) == 1, run.stderr
    return lines[0]
