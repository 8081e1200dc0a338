"""What the commands print: names and cells may come from a stranger, and a terminal obeys some characters."""

from __future__ import annotations

import sys

from problog4fairness.errors import printable


def say(text: object = "", *, error: bool = False) -> None:
    """Print one line, on standard output or standard error."""
    print(printable(str(text)), file=sys.stderr if error else sys.stdout)
