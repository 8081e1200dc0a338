"""``p4f predict``: what a model says of new rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from problog4fairness.app.cli.options import (
    ForSpreadsheet,
    Json,
    ModelFile,
    Reading,
    RecordedInTraining,
    Table,
    Threshold,
)
from problog4fairness.app.cli.output import json_text, print_json, save, say, working

if TYPE_CHECKING:
    import pandas as pd

# Decimals of probabilities in CSV files: more say nothing, and take as much time to write as the rest.
DIGITS = 6


def predict(
    model: ModelFile,
    data: Table,
    reading: Reading,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="CSV or Parquet; - for CSV on standard output.")
    ] = "-",
    recorded: RecordedInTraining = None,
    threshold: Threshold = 0.5,
    for_spreadsheet: ForSpreadsheet = False,
    as_json: Json = False,
) -> None:
    """Add what a model says to each row of a table, of any length: it is read and written piece by piece.

    fair_probability and fair_label; recorded_probability where the sensitive column is there; distorted_probability
    where the recorded label is there, too. All other columns are kept. With --json and no output file, the rows
    themselves are printed as JSON. A CSV file has probabilities with six decimals, Parquet and JSON have all of them.
    Cells are written as they came; say --for-spreadsheet if the rows are a stranger's and the CSV file will be opened
    in a spreadsheet, which runs cells such as =cmd|...
    """
    from problog4fairness.data import Chunks, check_column, check_output, is_parquet, write_chunks
    from problog4fairness.estimators import DebiasedClassifier, Scorer, text_columns

    check_output(output, data, model)
    trained = DebiasedClassifier.load(model)
    digits = None if is_parquet(output) or (as_json and output == "-") else DIGITS
    scorer = Scorer(trained, recorded=recorded, threshold=threshold, digits=digits)

    def checked(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for number, frame in enumerate(frames):
            if recorded is not None and not number:
                check_column(frame, recorded, "recorded label", "recorded")
            yield frame

    def write(file: str | Path) -> None:
        table.through(
            lambda frames: write_chunks(scorer.through(checked(frames)), file, for_spreadsheet=for_spreadsheet)
        )

    texts = text_columns(trained, recorded)
    with working(f"predicting {data}"):
        table = Chunks(data, **reading.given, texts=texts)
        if output != "-":
            save(write, output, OSError)
        elif as_json:
            table.through(lambda frames: _print_records(scorer.through(checked(frames))))
        else:
            write(output)
    if output == "-":
        return
    favourable = scorer.favourable / scorer.rows
    if as_json:
        print_json({"scored": output, "rows": scorer.rows, "columns": scorer.added, "favourable": favourable})
        return
    say(
        f"{scorer.rows} rows, {favourable:.1%} with the favourable fair label; new columns: {', '.join(scorer.added)}",
        output,
    )


def _print_records(frames: Iterator[pd.DataFrame]) -> None:
    """All rows as one list of JSON objects."""
    from problog4fairness.data import whole_output

    with whole_output() as file:
        for number, frame in enumerate(frames):
            file.write(("[" if not number else ", ").encode() + json_text(frame)[1:-1].encode())
        file.write(b"]\n")
