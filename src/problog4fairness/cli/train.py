"""``p4f train``: from a table and a belief to a model of the fair label."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from problog4fairness.cli.data import (
    Belief,
    Decimal,
    Delimiter,
    Drop,
    Encoding,
    Epochs,
    Fair,
    Favourable,
    GroupValue,
    Json,
    Keep,
    MaybeSensitive,
    Output,
    Recorded,
    Seed,
    Table,
    print_json,
    read,
    save,
)
from problog4fairness.cli.output import say


class TestFeatures(StrEnum):
    """What the features of new rows are like."""

    fair = "fair"
    biased = "biased"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        epilog="Example:  p4f train loans.csv --belief belief.pl --recorded granted --sensitive poor_area -o loans.p4f"
    )(train)


def train(
    data: Table,
    belief: Belief,
    recorded: Recorded,
    output: Output,
    sensitive: MaybeSensitive = None,
    favourable: Favourable = None,
    group: GroupValue = None,
    fair: Fair = None,
    drop: Drop = None,
    keep: Keep = None,
    independent: Annotated[
        bool,
        typer.Option("--independent/--dependent", help="Whether the fair label is independent of the group."),
    ] = True,
    test_features: Annotated[
        TestFeatures | None, typer.Option(help="Whether features of new rows are fair, or biased like these.")
    ] = None,
    epochs: Epochs = 200,
    patience: Annotated[int, typer.Option(min=1, help="Epochs without a better one before it stops.")] = 20,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Rows of a step; 64, and more for large tables.")
    ] = None,
    learning_rate: Annotated[float, typer.Option(help="Of the optimiser.")] = 3e-4,
    seed: Seed = 0,
    as_json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Train a model of the fair label on recorded data, through a belief about how they were distorted.

    Columns that identify rows or hold one value only are left out with a warning; the fair label, where the table has
    it, is left out with --fair or --drop.
    """
    from problog4fairness.errors import P4FError
    from problog4fairness.files import check_output

    if output == "-":
        raise P4FError("-o -: a model is not written to standard output; name a file with -o FILE")
    check_output(output, data, belief)
    frame = read(data, delimiter, encoding, decimal)
    # Takes seconds to import; what is wrong with the files is said before.
    from problog4fairness.classifier.table import belief_for, train_on_table

    model, rows = train_on_table(
        frame,
        belief_for(belief, frame, sensitive=sensitive, group=group),
        recorded=recorded,
        sensitive=sensitive,
        fair=fair,
        favourable=favourable,
        drop=drop or [],
        keep=keep or [],
        independent=independent,
        test_features=None if test_features is None else test_features.value,
        max_epochs=epochs,
        patience=patience,
        batch_size=batch_size,
        learning_rate=learning_rate,
        random_state=seed,
        verbose=True,
    )
    del frame
    save(model.save, output)
    done = {
        "model": output,
        "rows": len(rows.features),
        "rows_left_out": rows.dropped,
        "features": list(rows.features.columns),
        "columns_left_out": rows.left_out,
        "favourable": rows.favourable,
        "epochs": model.n_iter_,
        "validation_loss": min(model.history_["validation"]),
    }
    if as_json:
        print_json(done)
        return
    say(f"{done['rows']} rows, {done['rows_left_out']} left out", f"features: {', '.join(rows.features.columns)}")
    if rows.left_out:
        say(f"left out: {', '.join(rows.left_out)}")
    say(f"{done['epochs']} epochs, best validation loss {done['validation_loss']:.4f}", output)
