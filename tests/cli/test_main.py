"""The command as a whole."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from problog4fairness.cli.data import _parts


@pytest.mark.parametrize(
    ("words", "position", "found"),
    [("p4f repr", "1", "reproduce"), ("p4f reproduce b", "2", "bias-sweep")],
)
def test_the_shell_completes_commands(words, position, found):
    environment = {**os.environ, "_P4F_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": position}
    code = "import sys; sys.argv[0] = 'p4f'; from problog4fairness.cli.main import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    assert found in run.stdout.split()


def test_version(inside):
    assert inside("--version").stdout == f"p4f {version('problog4fairness')}\n"


@pytest.mark.parametrize("command", ["train", "compare", "report", "predict", "estimate"])
def test_help_fits_80_columns_and_leaves_room_for_words(command, inside, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = inside(command, "--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("range>" in line or "│" in line for line in lines)


def test_a_wide_table_comes_in_parts_and_no_cell_is_split():
    texts = {"method": ["the record as it is"], **{f"metric {i}": ["0.788 ± 0.016"] for i in range(6)}}
    parts = list(_parts(texts, 80))
    assert [name for part in parts for name in part if name != "method"] == list(texts)[1:]
    assert all(part[0] == "method" for part in parts)
    assert len(parts) == 2
