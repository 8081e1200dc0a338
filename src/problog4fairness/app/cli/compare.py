"""``p4f compare``: a belief and what a user would do instead, on one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from problog4fairness.app.cli.data import (
    Audit,
    Belief,
    Cluster,
    Decimal,
    Delimiter,
    Drop,
    Encoding,
    Fair,
    Favourable,
    GroupValue,
    Json,
    Keep,
    LearnedFrom,
    LearnerChoice,
    LearnerName,
    MaybeSensitive,
    Recorded,
    Sampling,
    Seed,
    Table,
    UseSensitive,
    print_json,
    read,
    read_audit,
    save,
    show,
    working,
)
from problog4fairness.app.cli.output import say


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        epilog="Example:  p4f compare loans.csv --belief belief.pl --recorded granted --sensitive poor_area "
        "--audit audit.csv --fair repaid -o comparison"
    )(compare)


def compare(
    data: Table,
    belief: Belief,
    recorded: Recorded,
    sensitive: MaybeSensitive = None,
    audit: Audit = None,
    fair: Fair = None,
    sampling: Sampling = None,
    cluster: Cluster = None,
    favourable: Favourable = None,
    group: GroupValue = None,
    drop: Drop = None,
    keep: Keep = None,
    features: LearnedFrom = None,
    use_sensitive: UseSensitive = None,
    learner: LearnerChoice = LearnerName.auto,
    learn_from_audit: Annotated[
        bool | None,
        typer.Option(
            help="Whether fair labels of rows that are learned from teach the belief's model, too; by default where "
            "some rows have one, but not all."
        ),
    ] = None,
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
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Compare a model of the fair label with methods that do without a belief.

    All are trained on parts of the data and tested on the rest, by recorded labels and, where an audit gives them, by
    fair ones. Audited rows that also occur in the data, equal in all shared columns, are the same people; the others
    are added.
    """
    from problog4fairness.app.report import COMPARISON_FILES, compare_tables, save_comparison
    from problog4fairness.data import check_folder, check_output
    from problog4fairness.estimators import belief_for
    from problog4fairness.evaluation import default_seeds

    if output is not None:
        check_folder(output)
        for name in COMPARISON_FILES if output.exists() else ():
            check_output(output / name, data, belief, audit)
    frame = read(data, delimiter, encoding, decimal)
    reading = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    audited = read_audit(audit, frame, fair, sampling, cluster, **reading)
    believed = belief_for(belief, frame, sensitive=sensitive, group=group)
    found = compare_tables(
        frame,
        believed,
        recorded=recorded,
        sensitive=sensitive,
        audit=audited,
        fair=fair,
        favourable=favourable,
        drop=drop or [],
        keep=keep or [],
        features=features,
        use_sensitive="auto" if use_sensitive is None else use_sensitive,
        learner=learner.value,
        learn_from_audit=learn_from_audit,
        seeds=[seed + number for number in range(default_seeds(len(frame)) if seeds is None else seeds)],
        folds=folds,
    )
    files = [] if output is None else [output / name for name in COMPARISON_FILES]
    if output is not None:
        with working("drawing"):
            save(lambda folder: save_comparison(found, folder, believed), output)
    if as_json:
        print_json({**found.to_dict(), "files": files})
        return
    for number, labels in enumerate(found.labels):
        rows = found.audited if labels == "fair" else found.rows
        say(*[""] * bool(number))
        show(found.table(labels), title=f"On {labels} labels, {rows} rows")
        say(found.intervals(labels))
    say(f"All methods learned by the same learner: {found.learner}.")
    say(found.verdict)
    for name, reason in found.left_out.items():
        say(f"left out: {name}: {reason}")
    say(*map(str, files))
