"""What the commands print: names and cells may come from a stranger, and a terminal obeys some characters."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from problog4fairness.errors import printable

# Arguments of the library that have an option; its messages name them as ``favourable=...``.
OPTIONS = (
    "audit", "belief", "by", "changed", "cluster", "decimal", "delimiter", "drop", "encoding", "error", "fair",
    "fair_feature", "favourable", "feature", "features", "folds", "group", "keep", "learn_from_audit", "learner",
    "model", "only_group", "positive_rate", "recorded", "sampling", "seeds", "sensitive", "test_features", "threshold",
    "use_sensitive", "when",
)  # fmt: skip
_COLUMNS = {
    "by", "cluster", "drop", "fair", "fair_feature", "feature", "features", "keep", "model", "recorded", "sensitive",
    "when",
}  # fmt: skip
# Where in Python an argument belongs; on the command line an option stands alone.
_OF_PYTHON = re.compile(r" \(argument of [\w.]+\)")
_ARGUMENT = re.compile(r"(?<![\w(])(" + "|".join(OPTIONS) + r")=(\[?\.\.\.\]?|'[^']*'|\S*?(?=[;,.]?(?:\s|$)))")


def with_options(message: str) -> str:
    """A message of the library with the options of the command line in place of Python's arguments.

    >>> with_options("say which one is favourable by favourable=...")
    'say which one is favourable by --favourable VALUE'
    """

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        kind = " COLUMN" if name in _COLUMNS else " VALUE"
        bare = value.strip('"')
        shown = {"...": kind, "[...]": kind, "True": ""}.get(value, f" {bare}")
        return f"--{name.replace('_', '-')}{shown}"

    return _ARGUMENT.sub(option, _OF_PYTHON.sub("", message))


# Commands that are done at once; the others have a sign of life.
_QUICK = {"lint", "query", "draw", "reproduce"}
_sign = ""


def begin(words: Sequence[str]) -> None:
    """Say on a terminal that a command has begun, until :func:`clear`; where standard error is none, say nothing."""
    global _sign  # noqa: PLW0603 - there is one terminal
    command = next((word for word in words if not word.startswith("-")), None)
    if command is None or command in _QUICK or {"-h", "--help"} & set(words) or not on_terminal():
        return
    _sign = printable(f"p4f {command}: starting ...")[:79]
    print(_sign, end="", flush=True, file=sys.stderr)


def clear() -> None:
    """Take the sign of life away, before anything else is written."""
    global _sign  # noqa: PLW0603
    if _sign and on_terminal():
        print(f"\r{' ' * len(_sign)}\r", end="", flush=True, file=sys.stderr)
    _sign = ""


def on_terminal() -> bool:
    """Whether standard error is a terminal; it can also be closed, or not there at all."""
    try:
        return bool(sys.stderr is not None and sys.stderr.isatty())
    except ValueError:
        return False


def say(*lines: object, error: bool = False) -> None:
    """Print lines, on standard output or standard error; one line each, whatever the texts hold."""
    clear()
    for line in lines:
        print(printable(str(line)), file=sys.stderr if error else sys.stdout)
