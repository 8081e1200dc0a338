"""``p4f train``: from a table and a belief to a model of the fair label."""

from __future__ import annotations

import warnings
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from problog4fairness.app.cli.data import (
    NETWORKS,
    Audit,
    Belief,
    Cluster,
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
    LearnedFrom,
    LearnerChoice,
    LearnerName,
    MaybeSensitive,
    Output,
    Recorded,
    Sampling,
    Seed,
    Table,
    UseSensitive,
    chosen_learner,
    print_json,
    read,
    read_audit,
    save,
    working,
)
from problog4fairness.app.cli.output import say

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.checks import CheckResult


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
    audit: Audit = None,
    fair: Fair = None,
    sampling: Sampling = None,
    cluster: Cluster = None,
    drop: Drop = None,
    keep: Keep = None,
    features: LearnedFrom = None,
    use_sensitive: UseSensitive = None,
    test_features: Annotated[
        TestFeatures | None, typer.Option(help="Whether features of new rows are fair, or biased like these.")
    ] = None,
    learner: LearnerChoice = LearnerName.auto,
    epochs: Epochs = None,
    patience: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Epochs without a better one before it stops; suited to the table by default.",
            rich_help_panel=NETWORKS,
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Rows of a step; suited to the table by default.", rich_help_panel=NETWORKS
        ),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="Step size; suited to the batch size by default.", rich_help_panel=NETWORKS),
    ] = None,
    doubt: Annotated[
        bool, typer.Option("--doubt/--no-doubt", help="Test whether the data contradict the belief, too.")
    ] = True,
    seed: Seed = 0,
    as_json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Train a model of the fair label on recorded data, through a belief about how they were distorted.

    Columns that identify rows or hold one value only are left out with a warning. Fair labels that somebody checked
    teach, too: those of the column --fair, in the table itself or in --audit, whose rows are marked in the table where
    they are in it and added where they are not. The belief is tested, as by p4f check; where
    the data contradict it, that is the first thing said.
    """
    from problog4fairness.data import check_output
    from problog4fairness.errors import P4FError

    if output == "-":
        raise P4FError("-o -: a model is not written to standard output; name a file with -o FILE")
    check_output(output, data, belief, audit)
    chosen = chosen_learner(
        learner, epochs=epochs, patience=patience, batch_size=batch_size, learning_rate=learning_rate
    )
    frame = read(data, delimiter, encoding, decimal)
    reading = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    audited = read_audit(audit, frame, fair, sampling, cluster, **reading)
    # Takes seconds to import; what is wrong with the files is said before.
    with working("getting ready"):
        from problog4fairness.estimators import belief_for, learner_facts, learner_words, train_on_table

    believed = belief_for(belief, frame, sensitive=sensitive, group=group)
    said: dict[str, Any] = {
        "recorded": recorded,
        "audit": audited,
        "fair": fair,
        "favourable": favourable,
        "drop": drop or [],
        "keep": keep or [],
        "features": features,
        "use_sensitive": "auto" if use_sensitive is None else use_sensitive,
    }
    model, rows = train_on_table(
        frame,
        believed,
        **said,
        sensitive=sensitive,
        test_features=None if test_features is None else test_features.value,
        learner=chosen,
        random_state=seed,
        verbose=True,
    )
    save(model.save, output)
    said["use_sensitive"] = model.group_use_.used
    doubts = _doubts(model.belief_, frame, seed, said) if doubt else None
    del frame
    done = {
        "model": output,
        "rows": len(rows.features),
        "rows_left_out": rows.dropped,
        "features": list(rows.features.columns),
        "columns_left_out": rows.left_out,
        "favourable": rows.favourable,
        "audited": model.audited_,
        "group_use": model.group_use_.to_json(),
        **learner_facts(model),
        "concerns": model.concerns_,
        "doubts": None if doubts is None else doubts.to_dict(),
    }
    if as_json:
        print_json(done)
        return
    if doubts is not None and doubts.contradicted:
        say(*doubts.words())
    taught = f", {model.audited_} audited" if model.audited_ else ""
    say(f"{done['rows']} rows{taught}, {rows.dropped} left out", f"features: {', '.join(rows.features.columns)}")
    if rows.left_out:
        say(f"left out: {', '.join(rows.left_out)}")
    after = [] if doubts is None or doubts.contradicted else doubts.words()
    say(*learner_words(model), *after, output)


def _doubts(belief: Any, frame: pd.DataFrame, seed: int, said: dict[str, Any]) -> CheckResult | None:
    """What the data say against the belief; None, with a warning, where it cannot be tested."""
    from problog4fairness.checks import check
    from problog4fairness.data import FileWarning
    from problog4fairness.errors import P4FError

    with warnings.catch_warnings():
        # What there is to say about the table was said in training.
        warnings.simplefilter("ignore", FileWarning)
        try:
            return check(belief, frame, **said, random_state=seed)
        except P4FError as error:
            say(f"warning: the belief could not be tested: {error}", error=True)
            return None
