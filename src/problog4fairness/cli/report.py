"""``p4f report``: one page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from problog4fairness.cli.data import (
    Decimal,
    Delimiter,
    Encoding,
    Fair,
    Favourable,
    Json,
    Output,
    Seed,
    print_json,
    read,
    save,
    working,
)
from problog4fairness.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        epilog="Example:  p4f report loans.p4f --data loans.csv --audit audit.csv --fair repaid -o report.html"
    )(report)


def report(
    model: Annotated[Path, typer.Argument(help="A model, as p4f train writes it.", show_default=False)],
    data: Annotated[str, typer.Option("--data", help="The recorded data; - for standard input.")],
    output: Output,
    audit: Annotated[Path | None, typer.Option(help="Audited rows, with the column --fair.")] = None,
    fair: Fair = None,
    recorded: Annotated[
        str | None, typer.Option(help="Column of the recorded label; the name it had in training by default.")
    ] = None,
    favourable: Favourable = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    comparison: Annotated[bool, typer.Option("--comparison/--no-comparison", help="Compare with baselines.")] = True,
    sensitivity: Annotated[bool, typer.Option("--sensitivity/--no-sensitivity", help="Vary the parameters.")] = True,
    seed: Seed = 0,
    as_json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Write one page about a model: what it believes, how sure that is, what it changes, and what could be wrong.

    The page needs no other file and no network; it can be printed, mailed, and read on a phone.
    """
    from problog4fairness.classifier import DebiasedClassifier
    from problog4fairness.files import check_output
    from problog4fairness.reporting.tables import report_tables

    check_output(output, data, model, audit)
    trained = DebiasedClassifier.load(model)
    frame = read(data, delimiter, encoding, decimal)
    audited = None if audit is None else read(audit, delimiter, encoding, decimal)
    made = report_tables(
        trained,
        frame,
        audit=audited,
        fair=fair,
        recorded=recorded,
        favourable=favourable,
        title=title,
        comparison=comparison,
        sensitivity=sensitivity,
        seed=seed,
    )
    with working("writing"):
        save(made.save, output)
    if as_json:
        print_json({"report": output, **made.to_dict()})
        return
    say(*made.summary, *(f"warning: {warning}" for warning in made.warnings), output)
