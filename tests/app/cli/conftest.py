"""Commands inside this process, where another one for each wrong word would take too long."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from problog4fairness.app.cli.main import main

Run = Callable[..., SimpleNamespace]


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run ``p4f`` with some words; what it printed, and its exit status."""
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def run(*words: str | Path) -> SimpleNamespace:
        monkeypatch.setattr(sys, "argv", ["p4f", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=left.value.code, stdout=printed.out, stderr=printed.err)

    return run
