"""What the commands print: names and cells may come from a stranger, and a terminal obeys some characters."""

from __future__ import annotations

import json
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.errors import P4FError, printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text

# Arguments of the library that have an option; its messages name them as ``favourable=...``.
OPTIONS = (
    "audit", "belief", "by", "changed", "cluster", "decimal", "delimiter", "drop", "encoding", "error", "fair",
    "fair_feature", "favourable", "feature", "features", "folds", "group", "keep", "learner",
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

    def option(match: re.Match[str]) -> str:
        name, value = match.groups()
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


def save(write: Callable[[Path], object], output: str | Path, *failures: type[Exception]) -> None:
    """Write what was computed to a file or folder; where that fails now, to a new folder that the error names.

    ``failures`` are the errors that count as such; by default those of files and of tables.
    """
    from problog4fairness.data import TableError

    failures = failures or (OSError, TableError)
    try:
        write(Path(output))
    except failures as error:
        reason = f"{error.filename or output}: {error.strerror or error}" if isinstance(error, OSError) else str(error)
        try:
            kept = Path(tempfile.mkdtemp(prefix="p4f-")) / Path(output).name
            write(kept)
        except failures:
            raise P4FError(f"{reason}; the result is lost, nothing could be written elsewhere either") from None
        raise P4FError(f"{reason}; the result was kept as {kept}") from None


@contextmanager
def working(text: str) -> Iterator[None]:
    """A spinner on standard error while something is done; nothing where that is not a terminal."""
    clear()
    if not on_terminal():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(printable(text))):
        yield


def show(frame: pd.DataFrame, title: str | None = None) -> None:
    """A data frame on standard output, with its index where that has a name.

    A cell is never split: where a table is too wide for the terminal, its columns come in several parts, the first one
    before each.
    """
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from problog4fairness.statistics import readable

    clear()
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=200)
    frame = readable(frame)
    shown = frame.reset_index() if frame.index.name else frame
    texts = {name: [printable(_cell(value)) for value in shown[name]] for name in shown.columns}
    for number, columns in enumerate(_parts(texts, console.width)):
        # As Text, a cell means nothing to rich, neither [bold] nor :warning:.
        heading = None if title is None or number else Text(printable(title), style="table.title")
        table = RichTable(box=None, title=heading, title_justify="left", pad_edge=False)
        for name in columns:
            numeric = shown[name].dtype.kind in "iuf"
            table.add_column(_head(name), justify="right" if numeric else "left", overflow="fold")
        for row in zip(*(texts[name] for name in columns), strict=True):
            table.add_row(*map(Text, row))
        if number:
            console.print()
        console.print(table)


def _head(name: object) -> Text:
    from rich.text import Text

    return Text(printable(str(name)).replace("_", " "))


def _parts(texts: dict[Any, list[str]], width: int) -> Iterator[list[Any]]:
    """Columns that fit into the width together, each time after the first one; only a text of many words may fold."""
    first, *others = texts
    widths = {name: max([_head(name).cell_len, *map(len, cells)]) + 2 for name, cells in texts.items()}
    part: list[Any] = [first]
    for name in others:
        folds = any(text.count(" ") > 3 for text in texts[name])
        if len(part) > 1 and sum(widths[column] for column in part) + (20 if folds else widths[name]) > width + 2:
            yield part
            part = [first]
        part.append(name)
    yield part


def _cell(value: Any) -> str:
    import pandas as pd

    if value is None or value is pd.NA or (isinstance(value, float) and value != value):  # noqa: PLR0124
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else printable(str(value))


def print_json(value: Any) -> None:
    """JSON on standard output: NaN and infinity as null, dates as text, data frames as lists of objects."""
    clear()
    print(json_text(value))


def json_text(value: Any) -> str:
    """What :func:`print_json` prints."""
    return json.dumps(_plain(value), default=str, allow_nan=False)


def _plain(value: Any) -> Any:
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        frame = value.reset_index() if value.index.name else value
        return [_plain(record) for record in frame.to_dict("records")]
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if pd.isna(value) or value in (math.inf, -math.inf):
        return None
    return value.item() if hasattr(value, "item") else value
