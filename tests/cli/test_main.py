"""The command as a whole."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "position", "found"),
    [("p4f repr", "1", "reproduce"), ("p4f reproduce b", "2", "bias-sweep")],
)
def test_the_shell_completes_commands(words, position, found):
    environment = {**os.environ, "_P4F_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": position}
    code = "import sys; sys.argv[0] = 'p4f'; from problog4fairness.cli.main import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    assert found in run.stdout.split()
