"""Running ``p4f`` as a process, the way a user does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def p4f(
    *arguments: str | Path, stdin: str | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command, in a folder of its own where one is given."""
    return subprocess.run(
        [sys.executable, "-m", "problog4fairness.app.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        input=stdin,
        cwd=folder,
        timeout=600,
    )


def fails(run: subprocess.CompletedProcess[str]) -> str:
    """The one line of a command that refused its input."""
    assert run.returncode == 2, (run.stdout, run.stderr)
    assert run.stdout == ""
    lines = [line for line in run.stderr.splitlines() if not line.startswith(("note: ", "warning: "))]
    assert len(lines) == 1, run.stderr
    return lines[0]
