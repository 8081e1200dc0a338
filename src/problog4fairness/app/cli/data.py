"""What the commands about tables share: options, reading with a sign of life, and showing results."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from problog4fairness.app.cli.output import clear, on_terminal
from problog4fairness.errors import P4FError, printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text

    from problog4fairness.audit import Audit as AuditedRows
    from problog4fairness.learners import Network

_READING = "Reading tables"
NETWORKS = "Networks only (--learner network)"


class SamplingName(StrEnum):
    """How audited rows were sampled, where their columns do not say it."""

    random = "random"


Table: TypeAlias = Annotated[
    str, typer.Argument(metavar="TABLE", help="CSV or Parquet; - for standard input.", show_default=False)
]
Recorded: TypeAlias = Annotated[str, typer.Option("--recorded", metavar="COLUMN", help="Column of the recorded label.")]
SensitiveColumn: TypeAlias = Annotated[
    str, typer.Option("--sensitive", metavar="COLUMN", help="Column of the sensitive variable.")
]
MaybeSensitive: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--sensitive", metavar="COLUMN", help="Column of the sensitive variable; the belief's own by default."
    ),
]
Fair: TypeAlias = Annotated[
    str | None, typer.Option("--fair", metavar="COLUMN", help="Column of the audited, fair label.")
]
Audit: TypeAlias = Annotated[
    Path | None,
    typer.Option("--audit", metavar="FILE", help="Audited rows in a table of their own, with the column --fair."),
]
Sampling: TypeAlias = Annotated[
    SamplingName | None,
    typer.Option(
        "--sampling",
        metavar="NAME",
        help="random: the audited rows are a random sample. Rows that p4f plan drew say themselves how they were.",
        show_default=False,
    ),
]
Cluster: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="COLUMN",
        help="Column of the audit with the person or officer to whom several rows belong.",
    ),
]
Favourable: TypeAlias = Annotated[
    str | None, typer.Option("--favourable", metavar="VALUE", help="The favourable label, as 1, yes or good.")
]
GroupValue: TypeAlias = Annotated[
    str | None, typer.Option("--group", metavar="VALUE", help="The sensitive group, as 1, yes or F.")
]
Belief: TypeAlias = Annotated[
    Path, typer.Option("--belief", metavar="FILE", help="A belief: FILE.pl, as p4f estimate writes it.")
]
BeliefName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--belief",
        metavar="NAME",
        help="label, row, changed, measurement, historical, selective, positive-unlabelled, or a program FILE.pl.",
    ),
]
Features: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--feature", metavar="COLUMN", help="A recorded feature that is distorted; repeat for more."),
]
FairFeatures: TypeAlias = Annotated[
    list[str] | None, typer.Option("--fair-feature", metavar="COLUMN", help="The audited column of each such feature.")
]
Again: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--again", metavar="COLUMN", help="For numeric: a second measurement of each, not --fair-feature."),
]
Negative: TypeAlias = Annotated[bool, typer.Option("--negative/--no-negative", help="A fair 1 may be recorded as 0.")]
Positive: TypeAlias = Annotated[bool, typer.Option("--positive/--no-positive", help="A fair 0 may be recorded as 1.")]
OnlyGroup: TypeAlias = Annotated[
    bool, typer.Option("--only-group", help="Only the sensitive group's data are distorted.")
]
Noise: TypeAlias = Annotated[bool, typer.Option("--noise", help="Anybody's label may be wrong by mistake, too.")]
Sequential: TypeAlias = Annotated[
    bool, typer.Option("--sequential", help="Intervals that hold however often one looks before going on; wider.")
]
By: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--by", metavar="COLUMN", help="For row and changed: the bias differs by its values; repeat for more."
    ),
]
Model: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="COLUMN", help="For row and changed: numbers it may depend on; repeat for more."),
]
When: TypeAlias = Annotated[
    str | None,
    typer.Option("--when", metavar="COLUMN", help="The day of each row, as 2020-03-01; has the bias changed?"),
]
Changed: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--changed", metavar="DAY", help="For changed: the first day after it; searched where it is not said."
    ),
]
Drop: TypeAlias = Annotated[
    list[str] | None, typer.Option("--drop", metavar="COLUMN", help="A column not to learn from; repeat for more.")
]
Keep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COLUMN", help="A column to keep even if it looks like an identifier."),
]
LearnedFrom: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--features", metavar="COLUMN", help="Learn from this column only; repeat for more."),
]
UseSensitive: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--use-sensitive/--group-free",
        help="Whether the model uses the group, or has the same fair label for people who are alike in all other "
        "columns; chosen by audited rows where there are any, group-free otherwise.",
        show_default=False,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, metavar="N", help="The same seed gives the same result.")
]
Epochs: TypeAlias = Annotated[
    int | None,
    typer.Option("--epochs", min=1, metavar="N", help="Passes over the data, at most.", rich_help_panel=NETWORKS),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Output: TypeAlias = Annotated[
    str, typer.Option("-o", "--output", metavar="FILE", help="The file to write.", show_default=False)
]
ForSpreadsheet: TypeAlias = Annotated[
    bool,
    typer.Option("--for-spreadsheet", help="Put ' before texts such as =1+1 that a spreadsheet would run as formulas."),
]
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="Between values: , ; | or tab. Found out by default.", rich_help_panel=_READING),
]
Encoding: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Such as utf-8 or cp1252. Found out by default.", rich_help_panel=_READING),
]
Decimal: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="The decimal sign, . or , . Found out by default.", rich_help_panel=_READING),
]


def read(
    source: str | Path,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    texts: Sequence[str] = (),
) -> pd.DataFrame:
    """A table, with a sign of life while it is read."""
    from problog4fairness.data import read_table

    with working(f"reading {source}"):
        return read_table(source, delimiter=delimiter, encoding=encoding, decimal=decimal, texts=texts)


def read_audit(
    source: Path | None,
    frame: pd.DataFrame,
    fair: str | Sequence[str] | None,
    sampling: SamplingName | None,
    cluster: str | None,
    **options: Any,
) -> pd.DataFrame | AuditedRows | None:
    """Audited rows of a table of their own, or of ``frame``, with what was stated of their design.

    Parameters
    ----------
    source
        The file; None where the fair label is a column of ``frame``.
    frame
        The recorded data.
    fair
        The columns that were filled in.
    sampling, cluster
        What was stated.
    options
        As for :func:`read`.
    """
    rows = None if source is None else read(source, **options)
    if sampling is None and cluster is None:
        return rows
    from problog4fairness.estimators import stated_audit

    return stated_audit(rows, frame, fair, sampling and sampling.value, cluster)


def refuse_both(output: str | None, as_json: bool, option: str = "-o") -> None:
    """Raise the error that says that JSON and a file cannot both go to standard output."""
    if output == "-" and as_json:
        raise P4FError(f"{option} - and --json both take standard output; name a file with {option} FILE")


class LearnerName(StrEnum):
    """What learns the fair label."""

    auto = "auto"
    linear = "linear"
    boosted = "boosted"
    network = "network"


LearnerChoice: TypeAlias = Annotated[
    LearnerName,
    typer.Option(
        "--learner",
        metavar="NAME",
        help="What learns the fair label: linear (logistic regression; its coefficients can be read), boosted (trees; "
        "mostly best on tables), network (several small ones, averaged), or auto, the one of these under which "
        "recorded rows that were held out are most likely.",
    ),
]


def chosen_learner(name: LearnerName, **options: Any) -> Network | str:
    """The learner with this name; ``options`` are those of networks by flag, None where they were not given."""
    from problog4fairness.learners import Network

    given = {flag: value for flag, value in options.items() if value is not None}
    if not given:
        return name.value
    if name is not LearnerName.network:
        raise P4FError(f"--{next(iter(given)).replace('_', '-')} is an option of networks; add --learner network")
    return Network(**{"max_epochs" if flag == "epochs" else flag: value for flag, value in given.items()})


def save(write: Callable[[Path], object], output: str | Path, *failures: type[Exception]) -> None:
    """Write what was computed to a file or folder; where that fails now, to a new folder that the error names.

    ``failures`` are the errors that count as such; by default those of files and of tables.
    """
    from problog4fairness.data import TableError

    failures = failures or (OSError, TableError)
    try:
        write(Path(output))
    except failures as error:
        named = f"{error.filename or output}: {error.strerror or error}" if isinstance(error, OSError) else str(error)
        try:
            kept = Path(tempfile.mkdtemp(prefix="p4f-")) / Path(output).name
            write(kept)
        except failures:
            raise P4FError(f"{named}; the result is lost, nothing could be written elsewhere either") from None
        raise P4FError(f"{named}; the result was kept as {kept}") from None


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
    widths = {name: max([_head(name).cell_len, *map(len, own)]) + 2 for name, own in texts.items()}
    part: list[Any] = [first]
    for name in others:
        folds = any(own.count(" ") > 3 for own in texts[name])
        if len(part) > 1 and sum(widths[own] for own in part) + (20 if folds else widths[name]) > width + 2:
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
