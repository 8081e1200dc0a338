"""``p4f predict``, ``p4f uncertainty`` and ``p4f bounds``: what a model says of rows, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from problog4fairness.app.cli import options
from problog4fairness.app.cli.options import option
from problog4fairness.app.cli.output import json_text, print_json, save, say, working
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.estimators import DebiasedClassifier

# Decimals of probabilities in CSV files: more say nothing, and take as much time to write as the rest.
DIGITS = 6


def predict(
    model: options.ModelFile,
    data: options.Table,
    reading: options.Reading,
    output: Annotated[str, option("FILE", "CSV or Parquet; - for CSV on standard output.", "-o", "--output")] = "-",
    recorded: options.RecordedInTraining = None,
    threshold: options.Threshold = 0.5,
    for_spreadsheet: options.ForSpreadsheet = False,
    as_json: options.Json = False,
) -> None:
    """Add a model's predictions to each row of a table, of any length: it is read and written piece by piece.

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
    from problog4fairness.data import buffered_output

    with buffered_output() as file:
        for number, frame in enumerate(frames):
            file.write(("[" if not number else ", ").encode() + json_text(frame)[1:-1].encode())
        file.write(b"]\n")


def uncertainty(
    model: options.ModelFile,
    data: options.Table,
    reading: options.Reading,
    output: Annotated[
        Path | None, option("FILE", "Write a row for each person, as CSV.", "-o", "--output", show_default=False)
    ] = None,
    recorded: options.RecordedInTraining = None,
    fair: options.Fair = None,
    draws: Annotated[int, option("N", "Number of posterior draws, each of which is fitted.", min=10)] = 50,
    threshold: options.Threshold = 0.5,
    figure: options.Figure = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Posterior intervals of a model's predictions: for each person, for the disparity and for the rates.

    The learner is fitted again on the recorded rows of the table, such as those of training, for beliefs that are drawn
    from their posterior after the audit. Decisions are stable where the whole interval is on one side of the threshold
    and a learner of another form decides alike, else uncertain; intervals assume the form of the learner.
    """
    from problog4fairness.data import check_output, write_figure, write_table

    for path in (output, figure):
        if path is not None:
            check_output(path, data, model)
    trained, rows = _rows_to_fit(model, data, recorded, fair, reading)
    result = trained.uncertainty(**rows, draws=draws, threshold=threshold, random_state=seed)
    if output is not None:
        save(lambda path: write_table(result.people, path), output)
    if figure is not None:
        save(lambda path: write_figure(result.plot(), path), figure)
    if as_json:
        print_json({"draws": result.draws, "uncertain": result.uncertain, "table": result.table, "notes": result.notes})
        return
    say(*str(result).splitlines(), *(path for path in (output, figure) if path is not None))


def bounds(
    model: options.ModelFile,
    data: options.Table,
    reading: options.Reading,
    recorded: options.RecordedInTraining = None,
    box: Annotated[
        list[str] | None,
        option(
            "NAME=LOW:HIGH",
            "The range of a parameter; repeat for more. Default: the intervals of the audit.",
        ),
    ] = None,
    other: Annotated[
        list[Path] | None, option("FILE", "Another belief, instead of ranges of parameters; repeat for more.")
    ] = None,
    by: Annotated[str | None, option("COLUMN", "The sensitive column, where there are several.")] = None,
    as_json: options.Json = False,
) -> None:
    """The disparity over all beliefs in a set, and for each parameter the value at which the gap would close.

    The learner is fitted again on the recorded rows of the table for each belief that is looked at.
    """
    from problog4fairness.beliefs import read_belief

    trained, rows = _rows_to_fit(model, data, recorded, None, reading)
    result = trained.bounds(
        **rows,
        box=None if box is None else dict(map(_range, box)),
        beliefs=None if other is None else [read_belief(path) for path in other],
        by=by,
    )
    if as_json:
        ends = {"value": result.value, "low": result.low, "high": result.high}
        print_json({**ends, "tipping": result.table.reset_index(), "fits": result.fits, "words": result.words()})
        return
    say(*result.words())


def _rows_to_fit(
    model: Path, data: str, recorded: str | None, fair: str | None, reading: options.Reading
) -> tuple[DebiasedClassifier, dict[str, Any]]:
    """The model, and the rows that have a recorded label as arguments of its methods."""
    from problog4fairness.data import check_column
    from problog4fairness.estimators import DebiasedClassifier, feature_frame, text_columns

    trained = DebiasedClassifier.load(model)
    label = recorded or trained.recorded_
    if label is None:
        raise P4FError("name the column of the recorded label by recorded=...; the model does not know it")
    frame = reading.table(data, texts=text_columns(trained, label))
    check_column(frame, label, "recorded label", "recorded")
    kept = frame[frame[label].notna()].reset_index(drop=True)
    if not len(kept):
        raise P4FError(f"no row has a value of {label!r}; the learner is fitted again on recorded rows")
    rows = {"X": feature_frame(trained, kept), "y": kept[label]}
    sensitive = list(trained.belief_.columns.sensitive)
    if not set(sensitive) <= set(trained.feature_names_in_):
        if missing := [name for name in sensitive if name not in kept.columns]:
            raise P4FError(f"the table lacks the column {missing[0]!r}, which the model's belief is about")
        rows["sensitive_features"] = kept[sensitive]
    if fair is not None:
        check_column(kept, fair, "fair label", "fair")
        rows["fair"] = kept[fair]
    return trained, rows


def _range(text: str) -> tuple[str, tuple[float, float]]:
    form = "NAME=LOW:HIGH, such as p1=0.2:0.6"
    name, ends = options.named_numbers("--box", text, form, ":")
    if len(ends) != 2:
        raise P4FError(f"--box {text}: write {form}")
    return name, (ends[0], ends[1])
