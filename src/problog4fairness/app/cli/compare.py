"""``p4f compare``: a belief and what a user would do instead, on one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from problog4fairness.app.cli.options import (
    AuditOptions,
    BeliefFile,
    FeatureOptions,
    Json,
    LearnerChoice,
    LearnerName,
    Reading,
    Recorded,
    Seed,
    SensitiveOptions,
    Table,
    UseSensitive,
)
from problog4fairness.app.cli.output import print_json, save, say, show, working


def compare(
    data: Table,
    belief: BeliefFile,
    recorded: Recorded,
    columns: SensitiveOptions,
    audit: AuditOptions,
    features: FeatureOptions,
    reading: Reading,
    use_sensitive: UseSensitive = None,
    learner: LearnerChoice = LearnerName.auto,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="How often to split the data; by default 5 times, and 3 times from 20,000 rows on."
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Into how many parts.")] = 5,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FOLDER", help="A folder for the figure and the tables.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Compare a model of the fair label with methods that do without a belief.

    All are trained on parts of the data and tested on the rest, by recorded labels and, where an audit gives them, by
    fair ones. Audited rows that also occur in the data, equal in all shared columns, are the same people; the others
    are added.
    """
    from problog4fairness.app.report import COMPARISON_FILES, save_comparison
    from problog4fairness.data import check_folder, check_output
    from problog4fairness.estimators import DebiasedClassifier
    from problog4fairness.evaluation import compare_rows, compared_rows, default_seeds

    if output is not None:
        check_folder(output)
        for name in COMPARISON_FILES if output.exists() else ():
            check_output(output / name, data, belief, audit.audit)
    frame = reading.table(data)
    audited = audit.rows(frame, reading)
    bound = columns.belief(belief, frame)
    table = compared_rows(
        frame,
        [bound],
        recorded=recorded,
        sensitive=columns.sensitive,
        audit=audited,
        fair=audit.fair,
        favourable=columns.favourable,
        **features.given,
    )
    model = DebiasedClassifier(bound, learner.value, use_sensitive="auto" if use_sensitive is None else use_sensitive)
    often = default_seeds(len(frame)) if seeds is None else seeds
    result = compare_rows(table, model, seeds=[seed + number for number in range(often)], folds=folds)
    files = [] if output is None else [output / name for name in COMPARISON_FILES]
    if output is not None:
        with working("drawing"):
            save(lambda folder: save_comparison(result, folder, bound), output)
    if as_json:
        print_json({**result.to_dict(), "files": files})
        return
    for number, labels in enumerate(result.labels):
        rows = result.audited if labels == "fair" else result.rows
        say(*[""] * bool(number))
        show(result.table(labels), title=f"On {labels} labels, {rows} rows")
        say(result.intervals(labels))
    say(f"All methods learned by the same learner: {result.learner}.")
    say(result.verdict)
    for name, reason in result.left_out.items():
        say(f"left out: {name}: {reason}")
    say(*map(str, files))
