"""``p4f plan`` and ``p4f estimate``: which rows to audit, in rounds, and from audited rows to a belief."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from problog4fairness.app.cli import options
from problog4fairness.app.cli.options import option
from problog4fairness.app.cli.output import print_json, say, show, working
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import AuditPlan


class DesignName(StrEnum):
    """How rows are drawn."""

    neyman = "neyman"
    hoeffding = "hoeffding"
    random = "random"


def plan(
    bias: options.BiasOptions,
    reading: options.Reading,
    error: Annotated[float, option("SHARE", "Half the width of the interval of each parameter, such as 0.1.")] = 0.1,
    confidence: Annotated[float, option("SHARE", "Confidence of these intervals.")] = 0.95,
    data: Annotated[str | None, option("FILE", "The table to draw from: CSV, Parquet, or -.")] = None,
    sensitive: Annotated[str | None, option("COLUMN", "Column of the sensitive variable.")] = None,
    recorded: Annotated[str | None, option("COLUMN", "Column of the recorded label.")] = None,
    favourable: options.Favourable = None,
    group: options.GroupValue = None,
    guess: Annotated[
        list[str] | None, option("NAME=VALUE", "What a parameter may be, such as p1=0.3; repeat for more.")
    ] = None,
    design: Annotated[
        DesignName,
        option(
            "NAME",
            "neyman: strata of group and recorded label, in rounds. The paper's: hoeffding, so many of each group, or "
            "random, a simple random sample.",
        ),
    ] = DesignName.neyman,
    positive_rate: Annotated[
        float | None, option("SHARE", "Without a table: the share of favourable fair labels. Default: 0.5")
    ] = None,
    draw: Annotated[
        str | None, option("FILE", "Write the rows to audit to this file; a file that is there gets the next round.")
    ] = None,
    fair: Annotated[str, option("COLUMN", "Name of the empty column for the fair label in that file.")] = "fair",
    hide: Annotated[
        bool,
        typer.Option(
            "--hide",
            help="Leave group and recorded label out of that file, so that reviewers do not see them; then give p4f "
            "estimate the table by --drawn-from.",
        ),
    ] = False,
    for_spreadsheet: options.ForSpreadsheet = False,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Which rows to check by hand, in rounds: draw some, fill them in, ask again, until it says stop.

    Rows are drawn where they are most informative about the belief's parameters. The file says how they were drawn, and
    p4f estimate reads it there. Without a table: the paper's number of rows.
    """
    from problog4fairness.audit import AuditTable
    from problog4fairness.beliefs import named_belief
    from problog4fairness.data import check_output, read_table, write_table

    options.refuse_both(draw, as_json, "--draw")
    if data is None:
        if draw is not None:
            raise P4FError("--draw needs the table to draw from: --data FILE --sensitive COLUMN --recorded COLUMN")
        _without_data(error, confidence, positive_rate, as_json)
        return
    if sensitive is None or (recorded is None and not bias.feature):
        raise P4FError("--data needs --sensitive COLUMN and --recorded COLUMN")
    if positive_rate is not None:
        raise P4FError("--positive-rate is for a plan without a table; --data has the recorded labels")
    check_output(draw, data)
    frame = reading.table(data)
    fair_features = bias.fair_feature or [f"{fair}_{name}" for name in bias.feature or ()]
    table = AuditTable(
        frame,
        data,
        sensitive,
        recorded=recorded,
        favourable=favourable,
        group=group,
        answers={**bias.given, "fair_features": fair_features},
        planned=True,
    )
    belief = named_belief(bias.belief, table).bind(_guesses(guess or ()))
    pilot = written = None
    if draw is not None and Path(draw).is_file():
        pilot, written = reading.table(draw), read_table(draw, verbatim=True, **reading.given)
    result = table.plan(belief, fair, pilot, error=error, confidence=confidence, design=design.value)
    if draw is not None and (result.to_draw or written is None):
        hidden = [name for name in (sensitive, recorded, *(bias.feature or ())) if name is not None] if hide else ()
        rows = result.draw(random_state=seed, hide=hidden, rows=written, cells=frame)
        write_table(rows, draw, for_spreadsheet=for_spreadsheet)
    if draw != "-":
        _show(result, draw, as_json, table.labels if table.has_labels else ())


def _without_data(error: float, confidence: float, positive_rate: float | None, as_json: bool) -> None:
    from problog4fairness.audit import hoeffding_plan

    result = hoeffding_plan(error, confidence, positive_rate=0.5 if positive_rate is None else positive_rate)
    if as_json:
        names = ("error", "confidence", "needed", "simple", "stratified", "assumed", "cells", "groups")
        print_json({name: getattr(result, name) for name in names})
        return
    show(result.cells)
    say(
        "",
        f"{result.needed} rows of each cell: every parameter within {error:g} with {confidence:.0%} confidence",
        f"{result.simple} rows in all, drawn at random from everybody, by Hoeffding's inequality",
        f"{result.stratified} rows in all, drawn from each group by itself",
        f"assumed: {result.assumed}",
        "with --data, rows are drawn where they are most informative, and far fewer are enough",
    )


def _show(result: AuditPlan, draw: str | None, as_json: bool, labels: Sequence[Any]) -> None:
    from problog4fairness.statistics import in_labels

    if as_json:
        names = ("design", "error", "confidence", "stop", "audited", "open", "to_draw", "in_all")
        known = result.hoeffding
        beside = known and {name: getattr(known, name) for name in ("needed", "asked", "stratified", "cells")}
        tables = {"parameters": result.parameters, "strata": result.strata, "notes": result.notes}
        print_json({name: getattr(result, name) for name in names} | {"hoeffding": beside} | tables | {"drawn": draw})
        return
    show(result.strata)
    if result.audited and result.design == "neyman":
        say("")
        show(result.parameters.assign(meaning=[in_labels(meaning, labels) for meaning in result.parameters["meaning"]]))
    say("", *result.lines())
    if draw is not None and not result.stop:
        say(f"{draw}: fill in {', '.join(result.columns)}, then run the same command again")


def _guesses(texts: Sequence[str]) -> dict[str, float]:
    named = (options.named_numbers("--guess", text, "NAME=VALUE, such as p1=0.3") for text in texts)
    return {name: values[0] for name, values in named}


def estimate(
    audit: options.Table,
    sensitive: Annotated[str, option("COLUMN", "Column of the sensitive variable.")],
    output: Annotated[
        str, option("FILE", "The file to write; - for standard output.", "-o", "--output", show_default=False)
    ],
    sample: options.SampleOptions,
    bias: options.BiasOptions,
    reading: options.Reading,
    recorded: Annotated[str | None, option("COLUMN", "Column of the recorded label.")] = None,
    fair: options.Fair = None,
    favourable: options.Favourable = None,
    group: options.GroupValue = None,
    again: Annotated[
        list[str] | None, option("COLUMN", "For numeric: a second measurement of each, not --fair-feature.")
    ] = None,
    drawn_from: Annotated[
        str | None,
        option(
            "FILE",
            "The table that the rows were drawn from by recorded label. Not needed for rows that p4f plan drew, "
            "except with --hide.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Estimate how strong a bias is, from rows whose recorded and fair values are both known.

    Rows that p4f plan drew say how they were drawn; others are a random sample where --sampling random states it, and
    are taken as one with a warning otherwise.
    Prints the parameters with their 95% intervals, and writes a ProbLog program with the numbers in it; with -o - only
    the program is printed.
    """
    from problog4fairness.audit import AuditTable
    from problog4fairness.beliefs import belief_text, estimate_on_table, named_belief, read_belief
    from problog4fairness.data import check_output, plain_column, write_atomically
    from problog4fairness.errors import printable
    from problog4fairness.statistics import in_labels

    options.refuse_both(output, as_json)
    program = Path(bias.belief) if Path(bias.belief).is_file() else None
    check_output(output, audit, program)
    named = (sensitive, recorded, fair, sample.cluster, *bias.columns, *(again or ()))
    by_program = () if program is None else read_belief(program, sensitive=sensitive).columns.all
    columns = list(dict.fromkeys([*(name for name in named if name is not None), *by_program]))
    rows = _read(audit, columns, reading, drawn_from is not None)
    whole = None if drawn_from is None else reading.table(drawn_from)
    if whole is not None:
        if not set(columns) <= set(rows.columns):
            filled_in = [name for name in (fair, *(bias.fair_feature or ())) if name]
            rows = _with_hidden(rows, audit, whole, filled_in, reading)
        whole = whole.assign(**{name: plain_column(whole[name]) for name in columns if name in whole.columns})
    table = AuditTable(
        rows,
        audit,
        sensitive,
        recorded=recorded,
        fair=fair,
        favourable=favourable,
        group=group,
        answers={**bias.given, "again": again},
        sampling=sample.sampling and sample.sampling.value,
        cluster=sample.cluster,
        drawn_from=whole,
    )
    with working("estimating"):
        estimated = estimate_on_table(named_belief(bias.belief, table), table)
    notes = table.notes(estimated)
    if output == "-":
        text = belief_text(estimated, notes)
        # In a file it is what it is; a terminal would obey what stands in it.
        print("\n".join(map(printable, text.split("\n"))) if sys.stdout.isatty() else text, end="")
        return
    write_atomically(output, belief_text(estimated, notes))
    if as_json:
        print_json({"belief": output, "kind": type(estimated).__name__, "parameters": estimated.parameter_table()})
        return
    shown = estimated.parameter_table()
    if "meaning" in shown and table.has_labels:
        shown["meaning"] = [in_labels(meaning, table.labels) for meaning in shown["meaning"]]
    show(shown)
    say("", "still needed: additional rows for an interval of ±0.1", output)


def _read(source: str, names: Sequence[str], reading: options.Reading, drawn: bool) -> pd.DataFrame:
    """These columns of a table that is read piece by piece; where one is missing, some rows with all that there are.

    Only the different rows are kept, with their numbers, unless they were drawn by a plan: such rows are not many.
    """
    import pandas as pd

    from problog4fairness.audit import DESIGN, OWN, PROBABILITY
    from problog4fairness.data import COUNT, Chunks, counted_rows

    def kept(frames: Iterator[pd.DataFrame]) -> pd.DataFrame:
        first = next(frames)
        if not set(names) <= set(first.columns):
            return first
        designed = drawn or DESIGN in first.columns or PROBABILITY in first.columns
        design = [name for name in (*(OWN if designed else ()), COUNT) if name in first.columns]
        columns = list(dict.fromkeys([*names, *design]))
        # Copied, or each piece would be kept whole.
        parts = (frame[columns].copy() for frame in chain([first], frames))
        return pd.concat(parts, ignore_index=True) if designed else counted_rows(parts)

    with working(f"reading {source}"):
        return Chunks(source, **reading.given).through(kept)


def _with_hidden(
    rows: pd.DataFrame, audit: str, whole: pd.DataFrame, fair: Sequence[str], reading: options.Reading
) -> pd.DataFrame:
    """The audited rows with the columns that reviewers did not see, where a plan left them out."""
    from problog4fairness.audit import DESIGN, ROW, STRATUM, Audit

    if not {ROW, STRATUM, DESIGN, *fair} <= set(rows.columns):
        return rows
    return Audit.of(reading.table(audit), fair=fair, table=whole).frame
