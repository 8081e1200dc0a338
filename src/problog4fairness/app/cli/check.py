"""``p4f check``: whether the data contradict a belief."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from problog4fairness.app.cli.options import (
    AuditOptions,
    BeliefFile,
    FeatureOptions,
    Figure,
    Json,
    Reading,
    Recorded,
    Seed,
    SensitiveOptions,
    Table,
    When,
)
from problog4fairness.app.cli.output import print_json, save, say, show, working

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.checks import CheckResult


def check(
    data: Table,
    belief: BeliefFile,
    recorded: Recorded,
    columns: SensitiveOptions,
    audit: AuditOptions,
    features: FeatureOptions,
    reading: Reading,
    feature: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A distorted feature that was audited; repeat for more.")
    ] = None,
    fair_feature: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="The audited column of each such feature.")
    ] = None,
    when: When = None,
    use_sensitive: Annotated[
        bool,
        typer.Option(
            "--use-sensitive/--group-free", help="Whether the fair label may depend on the group; tested otherwise."
        ),
    ] = False,
    figure: Figure = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Test whether the data contradict a belief, by recorded rows alone or by audited ones, too.

    All checks are corrected for their number: a belief that is right is contradicted by at most 5% of all tables, as
    far as linear models and boosted trees can learn recorded label and group. No contradiction does not confirm it.
    """
    from problog4fairness.data import check_output, feature_columns, write_figure
    from problog4fairness.errors import P4FError

    if len(feature or ()) != len(fair_feature or ()):
        raise P4FError("each --feature has one --fair-feature, its audited column")
    if figure is not None:
        check_output(figure, data, belief, audit.audit)
    frame = reading.table(data)
    audited = audit.rows(frame, reading, *(fair_feature or ()))
    with working("getting ready"):
        from problog4fairness.checks import check

    fair = dict(zip(feature or (), fair_feature or (), strict=True))
    fair |= {recorded: audit.fair} if audit.fair else {}
    known, chosen = columns.belief(belief, frame), None
    if any(features.given.values()):
        others = [*fair.values(), *known.sensitive_columns, *known.withheld, *known.recorded_columns, when or ""]
        chosen = feature_columns(frame, leave_out=[recorded, *others], **features.given)
    result = check(
        known,
        frame,
        recorded=recorded,
        audit=audited,
        fair=fair,
        favourable=columns.favourable,
        use_sensitive=use_sensitive,
        features=chosen,
        when=when,
        random_state=seed,
    )
    if figure is not None:
        save(lambda path: write_figure(result.plot(), path), figure)
    if as_json:
        print_json(result.to_dict())
        return
    show(as_table(result))
    say("", *result.words(), *result.notes)
    if figure is not None:
        say(str(figure))


def as_table(result: CheckResult) -> pd.DataFrame:
    """The outcomes as a table for a terminal."""
    import pandas as pd

    return pd.DataFrame(
        {"p, corrected": [outcome.p_text for outcome in result], "found": [outcome.found for outcome in result]},
        index=pd.Index([outcome.name for outcome in result], name="test"),
    )
