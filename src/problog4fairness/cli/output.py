"""What the commands print: names and cells may come from a stranger, and a terminal obeys some characters."""

from __future__ import annotations

import re
import sys

from problog4fairness.errors import printable

# Arguments of the library that have an option; its messages name them as ``favourable=...``.
OPTIONS = (
    "audit", "belief", "decimal", "delimiter", "drop", "encoding", "error", "fair", "fair_feature", "favourable",
    "feature", "folds", "group", "independent", "keep", "learn_from_audit", "learner", "only_group", "positive_rate",
    "recorded", "seeds", "sensitive", "test_features", "threshold",
)  # fmt: skip
_COLUMNS = {"drop", "fair", "fair_feature", "feature", "keep", "recorded", "sensitive"}
_ARGUMENT = re.compile(r"\b(" + "|".join(OPTIONS) + r")=(\[?\.\.\.\]?|'[^']*'|\S*?(?=[;,.]?(?:\s|$)))")


def with_options(message: str) -> str:
    """A message of the library with the options of the command line in place of Python's arguments.

    >>> with_options("say which one is favourable by favourable=...")
    'say which one is favourable by --favourable VALUE'
    """

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        kind = " COLUMN" if name in _COLUMNS else " VALUE"
        shown = {"...": kind, "[...]": kind, "True": ""}.get(value, f" {value}")
        return f"--{name.replace('_', '-')}{shown}"

    return _ARGUMENT.sub(option, message)


def say(*lines: object, error: bool = False) -> None:
    """Print lines, on standard output or standard error; one line each, whatever the texts hold."""
    for line in lines:
        print(printable(str(line)), file=sys.stderr if error else sys.stdout)
