"""``p4f check``: whether the data contradict a belief."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    MaybeSensitive,
    Recorded,
    Sampling,
    Seed,
    Table,
    When,
    print_json,
    read,
    read_audit,
    save,
    show,
    working,
)
from problog4fairness.app.cli.output import say

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs import Belief as AnyBelief
    from problog4fairness.checks import CheckResult


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(
        epilog="Example:  p4f check loans.csv --belief belief.pl --recorded granted --audit audit.csv --fair repaid"
    )(check)


def check(
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
    feature: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A distorted feature that was audited; repeat for more.")
    ] = None,
    fair_feature: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="The audited column of each such feature.")
    ] = None,
    other: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Another belief to compare with; repeat for more.")
    ] = None,
    when: When = None,
    drop: Drop = None,
    keep: Keep = None,
    features: LearnedFrom = None,
    use_sensitive: Annotated[
        bool,
        typer.Option(
            "--use-sensitive/--group-free", help="Whether the fair label may depend on the group; tested otherwise."
        ),
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the tests to this file: .png, .pdf or .svg.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Test whether the data contradict a belief, by recorded rows alone or by audited ones, too.

    All tests are corrected for their number: a belief that is right is contradicted by at most 5% of all tables, as far
    as linear models and boosted trees can learn the recorded label and the group. No contradiction does not confirm it.
    """
    from problog4fairness.data import check_output, write_figure
    from problog4fairness.errors import P4FError

    if len(feature or ()) != len(fair_feature or ()):
        raise P4FError("each --feature has one --fair-feature, its audited column")
    if figure is not None:
        check_output(figure, data, belief, audit)
    frame = read(data, delimiter, encoding, decimal)
    reading = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    audited = read_audit(audit, frame, [*([fair] if fair else []), *(fair_feature or ())], sampling, cluster, **reading)
    with working("getting ready"):
        from problog4fairness.checks import check
        from problog4fairness.estimators import belief_for

    def named(file: Path) -> AnyBelief:
        return belief_for(file, frame, sensitive=sensitive, group=group)

    found = check(
        named(belief),
        frame,
        recorded=recorded,
        audit=audited,
        fair=fair,
        fair_features=dict(zip(feature or (), fair_feature or (), strict=True)),
        favourable=favourable,
        use_sensitive=use_sensitive,
        drop=drop or [],
        keep=keep or [],
        features=features,
        when=when,
        others=[named(file) for file in other or ()],
        random_state=seed,
    )
    if figure is not None:
        save(lambda path: write_figure(found.plot(), path), figure)
    if as_json:
        print_json(found.to_dict())
        return
    show(shown(found))
    say("", *found.words(), *found.notes)
    if figure is not None:
        say(str(figure))


def shown(found: CheckResult) -> pd.DataFrame:
    """The tests as a table for a terminal."""
    import pandas as pd

    return pd.DataFrame(
        {"p, corrected": [own.p_text for own in found], "found": [own.found for own in found]},
        index=pd.Index([own.name for own in found], name="test"),
    )
