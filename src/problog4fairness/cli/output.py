"""What the commands print: names and cells may come from a stranger, and a terminal obeys some characters."""

from __future__ import annotations

import sys

from problog4fairness.errors import printable


def say(*lines: object, error: bool = False) -> None:
    """Print lines, on standard output or standard error; one line each, whatever the texts hold."""
    for line in lines:
        print(printable(str(line)), file=sys.stderr if error else sys.stdout)
