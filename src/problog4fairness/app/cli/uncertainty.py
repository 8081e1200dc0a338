"""``p4f uncertainty`` and ``p4f bounds``: what the uncertainty of the belief means for what a model says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from problog4fairness.app.cli.options import (
    Fair,
    Figure,
    Json,
    ModelFile,
    Reading,
    RecordedInTraining,
    Seed,
    Table,
    Threshold,
)
from problog4fairness.app.cli.output import print_json, save, say

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.estimators import DebiasedClassifier


def uncertainty(
    model: ModelFile,
    data: Table,
    reading: Reading,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write a row for each person, as CSV.", show_default=False),
    ] = None,
    recorded: RecordedInTraining = None,
    fair: Fair = None,
    draws: Annotated[int, typer.Option(min=10, metavar="N", help="How many beliefs to draw, and fits to make.")] = 50,
    threshold: Threshold = 0.5,
    figure: Figure = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How far what the audit and the rows leave open reaches: an interval for each person, the disparity and the rates.

    The learner is fitted again on the recorded rows of the table, such as those of training, for beliefs that are drawn
    from what the audit leaves open. Decisions are stable where the whole interval is on one side of the threshold
    and a learner of another form decides alike, else uncertain; intervals take the form of the learner for granted.
    """
    from problog4fairness.data import check_output, write_figure, write_table

    for path in (output, figure):
        if path is not None:
            check_output(path, data, model)
    trained, frame, label = _read(model, data, recorded, reading)
    from problog4fairness.data import check_column
    from problog4fairness.estimators import feature_frame

    if fair is not None:
        check_column(frame, fair, "fair label", "fair")
    result = trained.uncertainty(
        feature_frame(trained, frame),
        frame[label],
        sensitive_features=_sensitive(trained, frame),
        fair=None if fair is None else frame[fair],
        draws=draws,
        threshold=threshold,
        random_state=seed,
    )
    if output is not None:
        save(lambda path: write_table(result.people, path), output)
    if figure is not None:
        save(lambda path: write_figure(result.plot(), path), figure)
    if as_json:
        print_json({"draws": result.draws, "uncertain": result.uncertain, "table": result.table, "notes": result.notes})
        return
    say(*str(result).splitlines(), *(str(path) for path in (output, figure) if path is not None))


def bounds(
    model: ModelFile,
    data: Table,
    reading: Reading,
    recorded: RecordedInTraining = None,
    box: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LOW:HIGH",
            help="Between which values a parameter may be; repeat for more. The intervals of the audit by default.",
        ),
    ] = None,
    other: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A belief of a set, instead of a box; repeat for more."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The sensitive column, where there are several.")
    ] = None,
    as_json: Json = False,
) -> None:
    """The disparity over all beliefs in a set, and for each parameter the value at which the gap would close.

    The learner is fitted again on the recorded rows of the table for each belief that is looked at.
    """
    trained, frame, label = _read(model, data, recorded, reading)
    from problog4fairness.beliefs import read_belief
    from problog4fairness.estimators import feature_frame

    result = trained.bounds(
        feature_frame(trained, frame),
        frame[label],
        sensitive_features=_sensitive(trained, frame),
        box=None if box is None else dict(map(_range, box)),
        beliefs=None if other is None else [read_belief(path) for path in other],
        by=by,
    )
    if as_json:
        ends = {"value": result.value, "low": result.low, "high": result.high}
        print_json({**ends, "tipping": result.table.reset_index(), "fits": result.fits, "words": result.words()})
        return
    say(*result.words())


def _read(
    model: Path,
    data: str,
    recorded: str | None,
    reading: Reading,
) -> tuple[DebiasedClassifier, pd.DataFrame, str]:
    """The model, the rows that have a recorded label, and its column."""
    from problog4fairness.data import check_column
    from problog4fairness.errors import P4FError
    from problog4fairness.estimators import DebiasedClassifier, text_columns

    trained = DebiasedClassifier.load(model)
    label = recorded or trained.recorded_
    if label is None:
        raise P4FError("name the column of the recorded label by recorded=...; the model does not know it")
    frame = reading.table(data, texts=text_columns(trained, label))
    check_column(frame, label, "recorded label", "recorded")
    kept = frame[frame[label].notna()].reset_index(drop=True)
    if not len(kept):
        raise P4FError(f"no row has a value of {label!r}; the learner is fitted again on recorded rows")
    return trained, kept, label


def _sensitive(model: DebiasedClassifier, frame: pd.DataFrame) -> pd.DataFrame | None:
    """The sensitive columns; None where the features have them all."""
    columns = list(model.belief_.sensitive_columns)
    return None if set(columns) <= set(model.feature_names_in_) else frame[columns]


def _range(text: str) -> tuple[str, tuple[float, float]]:
    from problog4fairness.errors import P4FError

    name, _, ends = text.rpartition("=")
    low, _, high = ends.partition(":")
    try:
        return name, (float(low), float(high))
    except ValueError:
        raise P4FError(f"--box {text} is not NAME=LOW:HIGH, such as p1=0.2:0.6") from None
