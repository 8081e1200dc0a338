"""``p4f plan``: how many rows to audit, and which."""

from __future__ import annotations

from typing import Annotated

import typer

from problog4fairness.cli.data import (
    Decimal,
    Delimiter,
    Encoding,
    Favourable,
    ForSpreadsheet,
    GroupValue,
    Json,
    Seed,
    print_json,
    read,
    refuse_both,
    show,
)
from problog4fairness.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        epilog="Example:  p4f plan --error .1 --data loans.csv --sensitive poor_area --recorded granted "
        "--draw audit_todo.csv --fair repaid"
    )(plan)


def plan(
    error: Annotated[float, typer.Option(help="Know each parameter within this.")] = 0.1,
    confidence: Annotated[float, typer.Option(help="With this confidence.")] = 0.95,
    data: Annotated[str | None, typer.Option(help="The table to draw from: CSV, Parquet, or -.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Column of the sensitive variable.")] = None,
    recorded: Annotated[str | None, typer.Option(help="Column of the recorded label.")] = None,
    favourable: Favourable = None,
    group: GroupValue = None,
    positive_rate: Annotated[
        float | None, typer.Option(help="Share of favourable fair labels, if not that of the recorded ones.")
    ] = None,
    draw: Annotated[str | None, typer.Option(help="Write the rows to audit to this file.")] = None,
    fair: Annotated[str, typer.Option(help="Name of the empty column for the fair label in that file.")] = "fair",
    for_spreadsheet: ForSpreadsheet = False,
    simple: Annotated[bool, typer.Option("--simple", help="Draw from everybody, not from each group.")] = False,
    seed: Seed = 0,
    as_json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """How many rows to check by hand, per group and fair label and in all, and which ones to draw.

    Fair labels are not known before the audit: the shares of the recorded ones stand in for them.
    """
    from problog4fairness.errors import P4FError
    from problog4fairness.files import check_output, find_roles, write_table
    from problog4fairness.parameters import audit_plan

    refuse_both(draw, as_json, "--draw")
    if data is None:
        if draw is not None:
            raise P4FError("--draw needs the table to draw from: --data FILE --sensitive COLUMN --recorded COLUMN")
        found = audit_plan(error, confidence, positive_rate=positive_rate)
    else:
        if sensitive is None or recorded is None:
            raise P4FError("--data needs --sensitive COLUMN and --recorded COLUMN")
        check_output(draw, data)
        frame = read(data, delimiter, encoding, decimal)
        roles = find_roles(frame, recorded=recorded, sensitive=sensitive, favourable=favourable, group=group)
        found = audit_plan(error, confidence, frame=roles.clean(frame), roles=roles, positive_rate=positive_rate)
        if draw is not None:
            drawn = found.draw(frame, roles, fair=fair, seed=seed, by_group=not simple)
            write_table(drawn, draw, for_spreadsheet=for_spreadsheet)
    if as_json:
        names = ("error", "confidence", "needed", "simple", "stratified", "assumed", "cells", "groups")
        print_json({name: getattr(found, name) for name in names} | {"drawn": draw})
        return
    if draw == "-":
        return
    show(found.cells)
    per_group = ", ".join(f"{row.to_draw} where {row.group}" for row in found.groups.itertuples())
    say(
        "",
        f"{found.needed} rows of each cell: every parameter within {error:g} with {confidence:.0%} confidence",
        f"{found.simple} rows in all, drawn at random from everybody",
        f"{found.stratified} rows in all, drawn from each group by itself: {per_group}",
        f"assumed: {found.assumed}",
    )
    if draw is not None:
        say(f"{draw}: fill in the column {fair}")
