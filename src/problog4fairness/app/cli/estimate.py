"""``p4f estimate``: from audited rows to a belief."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from problog4fairness.app.cli.options import (
    BiasOptions,
    Fair,
    Favourable,
    GroupValue,
    Json,
    Reading,
    SampleOptions,
    Table,
    refuse_both,
)
from problog4fairness.app.cli.output import print_json, say, show, working

if TYPE_CHECKING:
    import pandas as pd


def estimate(
    audit: Table,
    sensitive: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the sensitive variable.")],
    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The file to write; - for standard output.", show_default=False
        ),
    ],
    sample: SampleOptions,
    bias: BiasOptions,
    reading: Reading,
    recorded: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of the recorded label.")] = None,
    fair: Fair = None,
    favourable: Favourable = None,
    group: GroupValue = None,
    again: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="For numeric: a second measurement of each, not --fair-feature."),
    ] = None,
    drawn_from: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The whole table, for rows drawn from it by recorded label that do not say so themselves.",
        ),
    ] = None,
    as_json: Json = False,
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
    check_output(output, audit, Path(bias.belief) if Path(bias.belief).is_file() else None)
    named = (sensitive, recorded, fair, sample.cluster, *bias.columns, *(again or ()))
    read_by_belief = _read_by(bias.belief, sensitive)
    wanted = list(dict.fromkeys([*(name for name in named if name is not None), *read_by_belief]))
    rows = _read(audit, wanted, reading, drawn_from is not None)
    if drawn_from is not None and not set(wanted) <= set(rows.columns):
        filled_in = [name for name in (fair, *(bias.fair_feature or ())) if name]
        rows = _with_hidden(rows, audit, drawn_from, filled_in, reading)
    table = AuditTable(
        rows,
        str(audit),
        sensitive,
        recorded=recorded,
        fair=fair,
        favourable=favourable,
        group=group,
        answers={**bias.given, "again": again},
        sampling=sample.sampling and sample.sampling.value,
        cluster=sample.cluster,
        drawn_from=None if drawn_from is None else _whole(drawn_from, wanted, reading),
    )
    with working("estimating"):
        estimated = named_belief(bias.belief, table).estimate_table(table)
    notes = table.notes(estimated)
    if output == "-":
        text = belief_text(estimated, notes)
        # In a file it is what it is; a terminal would obey what stands in it.
        print("\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text, end="")
        return
    write_whole(output, belief_text(estimated, notes))
    if as_json:
        print_json({"belief": output, "kind": type(estimated).__name__, "parameters": estimated.parameter_table()})
        return
    shown = estimated.parameter_table()
    if "meaning" in shown and table.has_labels:
        shown["meaning"] = [in_labels(meaning, table.labels) for meaning in shown["meaning"]]
    show(shown)
    say("", "still needed: additional rows for an interval of ±0.1", output)


def _read(source: str, wanted: Sequence[str], reading: Reading, drawn: bool) -> pd.DataFrame:
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
        design = [name for name in (*(OWN if designed else ()), COUNT) if name in first.columns]
        columns = list(dict.fromkeys([*wanted, *design]))
        # Copied, or each piece would be kept whole.
        parts = (frame[columns].copy() for frame in chain([first], frames))
        return pd.concat(parts, ignore_index=True) if designed else counted_rows(parts)

    with working(f"reading {source}"):
        return Chunks(source, **reading.given).through(kept)


def _read_by(belief: str, sensitive: str) -> tuple[str, ...]:
    """The columns that the belief of a file reads: votes, proxies."""
    from problog4fairness.beliefs import read_belief

    return read_belief(Path(belief), sensitive=sensitive).read_columns if Path(belief).is_file() else ()


def _with_hidden(rows: pd.DataFrame, audit: str, table: str, fair: Sequence[str], reading: Reading) -> pd.DataFrame:
    """The audited rows with the columns that reviewers did not see, where a plan left them out."""
    from problog4fairness.audit import DESIGN, ROW, STRATUM, Audit

    if not {ROW, STRATUM, DESIGN, *fair} <= set(rows.columns):
        return rows
    return Audit.of(reading.table(audit), fair=fair, table=reading.table(table)).frame


def _whole(source: str, wanted: Sequence[str], reading: Reading) -> pd.DataFrame:
    """The table that rows were drawn from, its values as plain data."""
    from problog4fairness.data import plain_column

    frame = reading.table(source)
    return frame.assign(**{name: plain_column(frame[name]) for name in wanted if name in frame.columns})
