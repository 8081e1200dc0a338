"""``p4f predict``: what a model says of new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from problog4fairness.cli.data import (
    Decimal,
    Delimiter,
    Encoding,
    ForSpreadsheet,
    Json,
    Table,
    print_json,
    read,
    save,
    working,
)
from problog4fairness.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example:  p4f predict loans.p4f new.csv -o scored.csv")(predict)


def predict(
    model: Annotated[Path, typer.Argument(help="A model, as p4f train writes it.", show_default=False)],
    data: Table,
    output: Annotated[str, typer.Option("-o", "--output", help="CSV or Parquet; - for CSV on standard output.")] = "-",
    recorded: Annotated[
        str | None, typer.Option(help="Column of the recorded label; the name it had in training by default.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="The fair label is favourable from this probability on.")
    ] = 0.5,
    for_spreadsheet: ForSpreadsheet = False,
    as_json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Add what a model says to each row of a table.

    fair_probability and fair_label; recorded_probability where the sensitive column is there; distorted_probability
    where the recorded label is there, too. All other columns are kept. With --json and no output file, the rows
    themselves are printed as JSON. Cells are written as they came; say --for-spreadsheet if the rows are a stranger's
    and the CSV file will be opened in a spreadsheet, which runs cells such as =cmd|...
    """
    from problog4fairness.classifier import DebiasedClassifier, score_rows, text_columns
    from problog4fairness.files import check_column, check_output, write_table

    check_output(output, data, model)
    trained = DebiasedClassifier.load(model)
    frame = read(data, delimiter, encoding, decimal, text_columns(trained, recorded))
    if recorded is not None:
        check_column(frame, recorded, "recorded label", "--recorded")
    with working("predicting"):
        scored = score_rows(trained, frame, recorded=recorded, threshold=threshold)
    if output == "-":
        if as_json:
            print_json(scored)
        else:
            write_table(scored, output, for_spreadsheet=for_spreadsheet)
        return
    save(lambda file: write_table(scored, file, for_spreadsheet=for_spreadsheet), output)
    new = [name for name in scored.columns if name not in frame.columns]
    favourable = float((scored["fair_label"] == trained.classes_[1]).mean())
    if as_json:
        print_json({"scored": output, "rows": len(scored), "columns": new, "favourable": favourable})
        return
    say(f"{len(scored)} rows, {favourable:.1%} with the favourable fair label; new columns: {', '.join(new)}", output)
