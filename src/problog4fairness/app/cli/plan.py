"""``p4f plan``: how many rows to audit, and which, in rounds."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from problog4fairness.app.cli.data import (
    BeliefName,
    By,
    Changed,
    Decimal,
    Delimiter,
    Encoding,
    FairFeatures,
    Favourable,
    Features,
    ForSpreadsheet,
    GroupValue,
    Json,
    Model,
    Negative,
    Noise,
    OnlyGroup,
    Positive,
    Seed,
    Sequential,
    When,
    print_json,
    read,
    refuse_both,
    show,
)
from problog4fairness.app.cli.output import say
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import AuditPlan, PlannedTable


class DesignName(StrEnum):
    """How rows are drawn."""

    neyman = "neyman"
    hoeffding = "hoeffding"
    random = "random"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        epilog="Example:  p4f plan --data loans.csv --sensitive poor_area --recorded granted --draw todo.csv "
        "--fair repaid; fill in some rows of todo.csv, and run it again"
    )(plan)


def plan(
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
    belief: BeliefName = "label",
    feature: Features = None,
    fair_feature: FairFeatures = None,
    negative: Negative = True,
    positive: Positive = True,
    only_group: OnlyGroup = False,
    noise: Noise = False,
    by: By = None,
    model: Model = None,
    when: When = None,
    changed: Changed = None,
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
            help="For the paper's: the share of favourable fair labels, if not that of the recorded ones.",
        ),
    ] = None,
    sequential: Sequential = False,
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
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Which rows to check by hand, in rounds: draw some, fill them in, ask again, until it says stop.

    Rows are drawn where they tell most of the belief's parameters. The file says how they were drawn, and p4f estimate
    reads it there. Without a table: the paper's number of rows.
    """
    from problog4fairness.audit import PlannedTable
    from problog4fairness.data import check_output

    refuse_both(draw, as_json, "--draw")
    if data is None:
        if draw is not None:
            raise P4FError("--draw needs the table to draw from: --data FILE --sensitive COLUMN --recorded COLUMN")
        _without_data(error, confidence, positive_rate, as_json)
        return
    if sensitive is None or (recorded is None and not feature):
        raise P4FError("--data needs --sensitive COLUMN and --recorded COLUMN")
    check_output(draw, data)
    frame = read(data, delimiter, encoding, decimal)
    table = PlannedTable(
        frame,
        str(data),
        sensitive,
        recorded=recorded,
        favourable=favourable,
        group=group,
        features=feature or (),
        fair_features=fair_feature or [f"{fair}_{name}" for name in feature or ()],
        negative=negative,
        positive=positive,
        only_group=only_group,
        noise=noise,
        by=by or (),
        model=model or (),
        when=when,
        changed=changed or (),
    )
    found, written = _plan(
        table,
        belief,
        draw,
        fair,
        {"delimiter": delimiter, "encoding": encoding, "decimal": decimal},
        error=error,
        confidence=confidence,
        guesses=_guesses(guess or ()),
        design=design.value,
        sequential=sequential,
        positive_rate=positive_rate,
    )
    if draw is not None and (found.to_draw or written is None):
        from problog4fairness.data import write_table

        hidden = [name for name in (sensitive, recorded, *(feature or ())) if name is not None] if hide else ()
        rows = found.draw(random_state=seed, hide=hidden, rows=written, cells=frame)
        write_table(rows, draw, for_spreadsheet=for_spreadsheet)
    if draw == "-":
        return
    _show(found, draw, as_json, table.labels if table.has_labels else ())


def _plan(
    table: PlannedTable, belief: str, draw: str | None, fair: str, reading: dict[str, Any], **options: Any
) -> tuple[AuditPlan, pd.DataFrame | None]:
    """The plan, and the file of earlier rounds as it was written, where there is one."""
    from problog4fairness.audit import plan_audit
    from problog4fairness.beliefs import named_belief
    from problog4fairness.data import read_table

    believed = named_belief(belief, table)
    pilot = written = None
    if draw is not None and Path(draw).is_file():
        written = read_table(draw, verbatim=True, **reading)
        pilot = table.filled_in(read(draw, **reading), fair)
    known = table.recorded is not None and believed.classes is None
    beside = {
        "fair": table.columns(believed, fair),
        "pilot": pilot,
        "favourable": table.roles.favourable if known else None,
        **options,
    }
    if believed.numbers and not believed.parameters:
        if beside.pop("positive_rate") is not None:
            raise P4FError("positive_rate=... is for audits of labels, not of numbers; leave it out")
        return believed.plan_audit(table.coded(believed), **beside), written
    found = plan_audit(believed, table.coded(believed), recorded=table.recorded, sensitive_features=None, **beside)
    return found, written


def _without_data(error: float, confidence: float, positive_rate: float | None, as_json: bool) -> None:
    from problog4fairness.audit import hoeffding_plan

    found = hoeffding_plan(error, confidence, positive_rate=positive_rate)
    if as_json:
        names = ("error", "confidence", "needed", "simple", "stratified", "assumed", "cells", "groups")
        print_json({name: getattr(found, name) for name in names})
        return
    show(found.cells)
    say(
        "",
        f"{found.needed} rows of each cell: every parameter within {error:g} with {confidence:.0%} confidence",
        f"{found.simple} rows in all, drawn at random from everybody, by Hoeffding's inequality",
        f"{found.stratified} rows in all, drawn from each group by itself",
        f"assumed: {found.assumed}",
        "with --data, rows are drawn where they tell most, and far fewer are enough",
    )


def _show(found: AuditPlan, draw: str | None, as_json: bool, labels: Sequence[Any]) -> None:
    from problog4fairness.statistics import in_labels

    if as_json:
        names = ("design", "error", "confidence", "stop", "audited", "open", "to_draw", "in_all")
        known = found.hoeffding
        beside = known and {name: getattr(known, name) for name in ("needed", "asked", "stratified", "cells")}
        tables = {"parameters": found.parameters, "strata": found.strata, "notes": found.notes}
        print_json({name: getattr(found, name) for name in names} | {"hoeffding": beside} | tables | {"drawn": draw})
        return
    show(found.strata)
    if found.audited and found.design == "neyman":
        say("")
        show(found.parameters.assign(meaning=[in_labels(own, labels) for own in found.parameters["meaning"]]))
    say("", *found.lines())
    if draw is not None and not found.stop:
        say(f"{draw}: fill in {', '.join(found.columns)}, then run the same command again")


def _guesses(texts: Any) -> dict[str, float]:
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise P4FError(f"--guess {text}: write NAME=VALUE, such as p1=0.3") from None
    return found
