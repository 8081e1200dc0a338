"""``p4f train``: from a table and a belief to a model of the fair label."""

from __future__ import annotations

import warnings
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from problog4fairness.app.cli.options import (
    AuditOptions,
    BeliefFile,
    FeatureOptions,
    Json,
    LearnerChoice,
    LearnerName,
    NetworkOptions,
    Output,
    Reading,
    Recorded,
    Seed,
    SensitiveOptions,
    Table,
    UseSensitive,
)
from problog4fairness.app.cli.output import print_json, save, say, working

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.checks import CheckResult


class TestFeatures(StrEnum):
    """What the features of new rows are like."""

    fair = "fair"
    biased = "biased"


def train(
    data: Table,
    belief: BeliefFile,
    recorded: Recorded,
    output: Output,
    columns: SensitiveOptions,
    audit: AuditOptions,
    features: FeatureOptions,
    networks: NetworkOptions,
    reading: Reading,
    use_sensitive: UseSensitive = None,
    test_features: Annotated[
        TestFeatures | None, typer.Option(help="Whether features of new rows are fair, or biased like these.")
    ] = None,
    learner: LearnerChoice = LearnerName.auto,
    check: Annotated[bool, typer.Option(help="Whether to test if the data contradict the belief.")] = True,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a model of the fair label on recorded data, through a belief about how they were distorted.

    Columns that identify rows or hold one value only are left out with a warning. Fair labels that somebody checked
    teach, too: those of the column --fair, in the table itself or in --audit, whose rows are marked in the table where
    they are in it and added where they are not. The belief is tested, as by p4f check; where the data contradict it,
    that is the first line of the output.
    """
    from problog4fairness.data import check_output
    from problog4fairness.errors import P4FError

    if output == "-":
        raise P4FError("-o -: a model is not written to standard output; name a file with -o FILE")
    check_output(output, data, belief, audit.audit)
    chosen = networks.learner(learner)
    frame = reading.table(data)
    audited = audit.rows(frame, reading)
    # Takes seconds to import; what is wrong with the files is reported before.
    with working("getting ready"):
        from problog4fairness.estimators import learner_facts, learner_words, train_on_table

    options: dict[str, Any] = {
        "recorded": recorded,
        "audit": audited,
        "fair": audit.fair,
        "favourable": columns.favourable,
        "use_sensitive": "auto" if use_sensitive is None else use_sensitive,
        **features.given,
    }
    model, rows = train_on_table(
        frame,
        columns.belief(belief, frame),
        **options,
        sensitive=columns.sensitive,
        test_features=None if test_features is None else test_features.value,
        learner=chosen,
        random_state=seed,
        verbose=True,
    )
    save(model.save, output)
    options = {name: options[name] for name in ("recorded", "audit", "fair", "favourable")}
    options |= {"use_sensitive": model.group_use_.used, "features": list(rows.features.columns)}
    checked = _checked(model.belief_, frame, seed, options) if check else None
    del frame
    if as_json:
        print_json(
            {
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
                "check": None if checked is None else checked.to_dict(),
            }
        )
        return
    if checked is not None and checked.contradicted:
        say(*checked.words())
    teaching = f", {model.audited_} audited" if model.audited_ else ""
    say(
        f"{len(rows.features)} rows{teaching}, {rows.dropped} left out",
        f"features: {', '.join(rows.features.columns)}",
    )
    if rows.left_out:
        say(f"left out: {', '.join(rows.left_out)}")
    after = [] if checked is None or checked.contradicted else checked.words()
    say(*learner_words(model), *after, output)


def _checked(belief: Any, frame: pd.DataFrame, seed: int, options: dict[str, Any]) -> CheckResult | None:
    """What the data say against the belief; None, with a warning, where it cannot be tested."""
    from problog4fairness.checks import check
    from problog4fairness.data import FileWarning
    from problog4fairness.errors import P4FError

    with warnings.catch_warnings():
        # Training has warned of the table already.
        warnings.simplefilter("ignore", FileWarning)
        try:
            return check(belief, frame, **options, random_state=seed)
        except P4FError as error:
            say(f"warning: the belief could not be tested: {error}", error=True)
            return None
