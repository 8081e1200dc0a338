"""``p4f plan``: how many rows to audit, and which, in rounds."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from problog4fairness.app.cli.options import (
    BiasOptions,
    Favourable,
    ForSpreadsheet,
    GroupValue,
    Json,
    Reading,
    Seed,
    refuse_both,
)
from problog4fairness.app.cli.output import print_json, say, show
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import AuditPlan, AuditTable


class DesignName(StrEnum):
    """How rows are drawn."""

    neyman = "neyman"
    hoeffding = "hoeffding"
    random = "random"


def plan(
    bias: BiasOptions,
    reading: Reading,
    error: Annotated[
        float, typer.Option(metavar="SHARE", help="Half the width of the interval of each parameter, such as 0.1.")
    ] = 0.1,
    confidence: Annotated[float, typer.Option(metavar="SHARE", help="Confidence of these intervals.")] = 0.95,
    data: Annotated[
        str | None, typer.Option(metavar="FILE", help="The table to draw from: CSV, Parquet, or -.")
    ] = None,
    sensitive: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of the sensitive variable.")] = None,
    recorded: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of the recorded label.")] = None,
    favourable: Favourable = None,
    group: GroupValue = None,
    guess: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="What a parameter may be, such as p1=0.3; repeat for more."),
    ] = None,
    design: Annotated[
        DesignName,
        typer.Option(
            metavar="NAME",
            help="neyman: by group and recorded label, in rounds. The paper's, whatever was recorded: hoeffding, from "
            "each group, or random, from everybody.",
        ),
    ] = DesignName.neyman,
    positive_rate: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Without a table: the share of favourable fair labels. Default: 0.5",
        ),
    ] = None,
    draw: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write the rows to audit to this file; a file that is there gets the next round."
        ),
    ] = None,
    fair: Annotated[
        str, typer.Option(metavar="COLUMN", help="Name of the empty column for the fair label in that file.")
    ] = "fair",
    hide: Annotated[
        bool,
        typer.Option(
            "--hide",
            help="Leave group and recorded label out of that file, so that reviewers do not see them; then give p4f "
            "estimate the table by --drawn-from.",
        ),
    ] = False,
    for_spreadsheet: ForSpreadsheet = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Which rows to check by hand, in rounds: draw some, fill them in, ask again, until it says stop.

    Rows are drawn where they tell most of the belief's parameters. The file says how they were drawn, and p4f estimate
    reads it there. Without a table: the paper's number of rows.
    """
    from problog4fairness.audit import AuditTable
    from problog4fairness.data import check_output

    refuse_both(draw, as_json, "--draw")
    if data is None:
        if draw is not None:
            raise P4FError("--draw needs the table to draw from: --data FILE --sensitive COLUMN --recorded COLUMN")
        _without_data(error, confidence, positive_rate, as_json)
        return
    if sensitive is None or (recorded is None and not bias.feature):
        raise P4FError("--data needs --sensitive COLUMN and --recorded COLUMN")
    check_output(draw, data)
    frame = reading.table(data)
    table = AuditTable(
        frame,
        str(data),
        sensitive,
        recorded=recorded,
        favourable=favourable,
        group=group,
        answers={
            **bias.given,
            "fair_features": bias.fair_feature or [f"{fair}_{name}" for name in bias.feature or ()],
        },
        planned=True,
    )
    if positive_rate is not None:
        raise P4FError("--positive-rate is for a plan without a table; with --data, the recorded labels tell it")
    result, written = _plan(
        table,
        bias.belief,
        _guesses(guess or ()),
        draw,
        fair,
        reading,
        error=error,
        confidence=confidence,
        design=design.value,
    )
    if draw is not None and (result.to_draw or written is None):
        from problog4fairness.data import write_table

        hidden = [name for name in (sensitive, recorded, *(bias.feature or ())) if name is not None] if hide else ()
        rows = result.draw(random_state=seed, hide=hidden, rows=written, cells=frame)
        write_table(rows, draw, for_spreadsheet=for_spreadsheet)
    if draw == "-":
        return
    _show(result, draw, as_json, table.labels if table.has_labels else ())


def _plan(
    table: AuditTable,
    belief: str,
    guesses: dict[str, float],
    draw: str | None,
    fair: str,
    reading: Reading,
    **options: Any,
) -> tuple[AuditPlan, pd.DataFrame | None]:
    """The plan, and the file of earlier rounds as it was written, where there is one."""
    from problog4fairness.beliefs import named_belief
    from problog4fairness.data import read_table

    bound = named_belief(belief, table).bind(guesses)
    pilot = written = None
    if draw is not None and Path(draw).is_file():
        written = read_table(draw, verbatim=True, **reading.given)
        pilot = table.filled_in(reading.table(draw), fair)
    known = table.recorded is not None and bound.classes is None
    beside = {
        "fair": table.columns(bound, fair),
        "pilot": pilot,
        "favourable": table.roles.favourable if known else None,
        **options,
    }
    return bound.plan_audit(table.coded(bound), recorded=table.recorded, **beside), written


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
        "with --data, rows are drawn where they tell most, and far fewer are enough",
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


def _guesses(texts: Any) -> dict[str, float]:
    guesses = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            guesses[name.strip()] = float(value)
        except ValueError:
            raise P4FError(f"--guess {text}: write NAME=VALUE, such as p1=0.3") from None
    return guesses
