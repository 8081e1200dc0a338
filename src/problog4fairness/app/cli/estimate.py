"""``p4f estimate``: from audited rows to a belief."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from problog4fairness.app.cli.data import (
    Again,
    BeliefName,
    By,
    Changed,
    Cluster,
    Decimal,
    Delimiter,
    Encoding,
    Fair,
    FairFeatures,
    Favourable,
    Features,
    GroupValue,
    Json,
    Model,
    Negative,
    Noise,
    OnlyGroup,
    Positive,
    Sampling,
    SensitiveColumn,
    Sequential,
    Table,
    When,
    print_json,
    refuse_both,
    show,
    working,
)
from problog4fairness.app.cli.output import say

if TYPE_CHECKING:
    import pandas as pd


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        epilog="Example:  p4f estimate audit.csv --sensitive poor_area --recorded granted --fair repaid -o belief.pl"
    )(estimate)


def estimate(
    audit: Table,
    sensitive: SensitiveColumn,
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The file to write; - for standard output.", show_default=False
        ),
    ],
    recorded: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of the recorded label.")] = None,
    fair: Fair = None,
    sampling: Sampling = None,
    cluster: Cluster = None,
    belief: BeliefName = "label",
    favourable: Favourable = None,
    group: GroupValue = None,
    feature: Features = None,
    fair_feature: FairFeatures = None,
    again: Again = None,
    negative: Negative = True,
    positive: Positive = True,
    only_group: OnlyGroup = False,
    noise: Noise = False,
    by: By = None,
    model: Model = None,
    when: When = None,
    changed: Changed = None,
    sequential: Sequential = False,
    drawn_from: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The whole table, for rows drawn from it by recorded label that do not say so themselves.",
        ),
    ] = None,
    as_json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Estimate how strong a bias is, from rows whose recorded and fair values are both known.

    Rows that p4f plan drew say how they were drawn; others are a random sample where --sampling random states it, and
    are taken as one with a warning otherwise.
    Prints the parameters with their 95% intervals, and writes a ProbLog program with the numbers in it; with -o - only
    the program is printed.
    """
    from problog4fairness.audit import AuditTable
    from problog4fairness.beliefs import belief_text, named_belief
    from problog4fairness.data import check_output, write_whole
    from problog4fairness.errors import printable
    from problog4fairness.statistics import in_labels

    refuse_both(output, as_json)
    check_output(output, audit, Path(belief) if Path(belief).is_file() else None)
    others = (*(feature or ()), *(fair_feature or ()), *(again or ()), *(by or ()), *(model or ()))
    named = (name for name in (sensitive, recorded, fair, when, cluster, *others) if name is not None)
    wanted = list(dict.fromkeys([*named, *_read_by(belief, sensitive)]))
    reading = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    rows = _read(audit, wanted, drawn_from is not None, **reading)
    if drawn_from is not None and not set(wanted) <= set(rows.columns):
        rows = _with_hidden(
            rows, audit, drawn_from, [name for name in (fair, *(fair_feature or ())) if name], **reading
        )
    table = AuditTable(
        rows,
        str(audit),
        sensitive,
        recorded=recorded,
        fair=fair,
        favourable=favourable,
        group=group,
        features=feature or (),
        fair_features=fair_feature or (),
        again=again or (),
        negative=negative,
        positive=positive,
        only_group=only_group,
        noise=noise,
        by=by or (),
        model=model or (),
        when=when,
        changed=changed or (),
        sequential=sequential,
        sampling=sampling and sampling.value,
        cluster=cluster,
        drawn_from=None if drawn_from is None else _whole(drawn_from, wanted, **reading),
    )
    with working("estimating"):
        found = named_belief(belief, table).estimate_table(table)
    notes = table.notes(found)
    if output == "-":
        text = belief_text(found, notes)
        # In a file it is what it is; a terminal would obey what stands in it.
        print("\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text, end="")
        return
    write_whole(output, belief_text(found, notes))
    if as_json:
        print_json({"belief": output, "kind": type(found).__name__, "parameters": found.parameter_table()})
        return
    shown = found.parameter_table()
    if "meaning" in shown and table.has_labels:
        shown["meaning"] = [in_labels(own, table.labels) for own in shown["meaning"]]
    show(shown)
    say("", "still needed: rows more to know a parameter within 0.1", output)


def _read(source: str, wanted: Sequence[str], drawn: bool, **options: Any) -> pd.DataFrame:
    """These columns of a table that is read piece by piece; where one is missing, some rows with all that there are.

    Only the different rows are kept, with their numbers, unless they were drawn by a plan: such rows are not many.
    """
    import pandas as pd

    from problog4fairness.audit import DESIGN, OWN, PROBABILITY
    from problog4fairness.data import COUNT, Chunks, counted_rows

    def kept(frames: Iterator[pd.DataFrame]) -> pd.DataFrame:
        first = next(frames)
        if not set(wanted) <= set(first.columns):
            return first
        designed = drawn or DESIGN in first.columns or PROBABILITY in first.columns
        own = [name for name in (*(OWN if designed else ()), COUNT) if name in first.columns]
        columns = list(dict.fromkeys([*wanted, *own]))
        # Copied, or each piece would be kept whole.
        parts = (frame[columns].copy() for frame in chain([first], frames))
        return pd.concat(parts, ignore_index=True) if designed else counted_rows(parts)

    with working(f"reading {source}"):
        return Chunks(source, **options).through(kept)


def _read_by(belief: str, sensitive: str) -> tuple[str, ...]:
    """The columns that the belief of a file reads: votes, proxies."""
    from problog4fairness.beliefs import read_belief

    return read_belief(Path(belief), sensitive=sensitive).read_columns if Path(belief).is_file() else ()


def _with_hidden(rows: pd.DataFrame, audit: str, table: str, fair: Sequence[str], **options: Any) -> pd.DataFrame:
    """The audited rows with the columns that reviewers did not see, where a plan left them out."""
    from problog4fairness.app.cli.data import read
    from problog4fairness.audit import DESIGN, ROW, STRATUM, Audit

    if not {ROW, STRATUM, DESIGN, *fair} <= set(rows.columns):
        return rows
    return Audit.of(read(audit, **options), fair=fair, table=read(table, **options)).frame


def _whole(source: str, wanted: Sequence[str], **options: Any) -> pd.DataFrame:
    """The table that rows were drawn from, its values as plain data."""
    from problog4fairness.app.cli.data import read
    from problog4fairness.data import plain_column

    frame = read(source, **options)
    return frame.assign(**{name: plain_column(frame[name]) for name in wanted if name in frame.columns})
