"""``p4f check``, ``p4f train`` and ``p4f compare``: a belief on a table of recorded data."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from problog4fairness.app.cli import options
from problog4fairness.app.cli.options import option
from problog4fairness.app.cli.output import print_json, save, say, show, working
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs import Belief
    from problog4fairness.checks import CheckResult


class TestFeatures(StrEnum):
    """What the features of new rows are like."""

    fair = "fair"
    biased = "biased"


def check(
    table: options.TableOptions,
    reading: options.Reading,
    feature: Annotated[
        list[str] | None, option("COLUMN", "A distorted feature that was audited; repeat for more.")
    ] = None,
    fair_feature: Annotated[list[str] | None, option("COLUMN", "The audited column of each such feature.")] = None,
    when: options.When = None,
    use_sensitive: Annotated[
        bool,
        typer.Option(
            "--use-sensitive/--group-free", help="Whether the fair label may depend on the group; tested otherwise."
        ),
    ] = False,
    figure: options.Figure = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Test whether the data contradict a belief, by recorded rows alone or by audited ones, too.

    All checks are corrected for their number: a belief that is right is contradicted by at most 5% of all tables, as
    far as linear models and boosted trees can learn recorded label and group. No contradiction does not confirm it.
    """
    from problog4fairness.data import check_output, feature_columns, write_figure

    if len(feature or ()) != len(fair_feature or ()):
        raise P4FError("each --feature has one --fair-feature, its audited column")
    if figure is not None:
        check_output(figure, table.data, table.belief, table.audit)
    frame, audited, belief = table.read(reading, *(fair_feature or ()))
    fair = dict(zip(feature or (), fair_feature or (), strict=True))
    fair |= {table.recorded: table.fair} if table.fair else {}
    features = None
    if any(table.columns.values()):
        others = [
            *fair.values(),
            *belief.columns.sensitive,
            *belief.columns.withheld,
            *belief.columns.recorded,
            when or "",
        ]
        features = feature_columns(frame, leave_out=[table.recorded, *others], **table.columns)
    arguments = {**table.roles(audited), "fair": fair, "use_sensitive": use_sensitive, "features": features}
    with working("getting ready"):
        from problog4fairness import checks
    result = checks.check(belief, frame, **arguments, when=when, random_state=seed)
    if figure is not None:
        save(lambda path: write_figure(result.plot(), path), figure)
    if as_json:
        print_json(result.to_dict())
        return
    show(_outcomes(result))
    say("", *result.words(), *result.notes, *([] if figure is None else [figure]))


def _outcomes(result: CheckResult) -> pd.DataFrame:
    """The outcomes as a table for a terminal."""
    import pandas as pd

    return pd.DataFrame(
        {"p, corrected": [outcome.p_text for outcome in result], "finding": [outcome.finding for outcome in result]},
        index=pd.Index([outcome.name for outcome in result], name="test"),
    )


def train(
    table: options.TableOptions,
    output: options.Output,
    networks: options.NetworkOptions,
    reading: options.Reading,
    use_sensitive: options.UseSensitive = None,
    test_features: Annotated[
        TestFeatures | None, typer.Option(help="Whether features of new rows are fair, or biased like these.")
    ] = None,
    learner: options.LearnerChoice = options.LearnerName.auto,
    check: Annotated[bool, typer.Option(help="Whether to test if the data contradict the belief.")] = True,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Train a model of the fair label on recorded data, through a belief about how they were distorted.

    Columns that identify rows or hold one value only are left out with a warning. Fair labels that somebody checked
    teach, too: those of the column --fair, in the table itself or in --audit, whose rows are marked in the table where
    they are in it and added where they are not. The belief is tested, as by p4f check; where the data contradict it,
    that is the first line of the output.
    """
    from problog4fairness.data import check_output

    if output == "-":
        raise P4FError("-o -: a model is not written to standard output; name a file with -o FILE")
    check_output(output, table.data, table.belief, table.audit)
    chosen = networks.learner(learner)
    frame, audited, belief = table.read(reading)
    from problog4fairness.estimators import learner_facts, learner_words, train_on_table

    model, rows = train_on_table(
        frame,
        belief,
        **table.roles(audited),
        **table.columns,
        sensitive=table.sensitive,
        use_sensitive="auto" if use_sensitive is None else use_sensitive,
        test_features=None if test_features is None else test_features.value,
        learner=chosen,
        random_state=seed,
        verbose=True,
    )
    save(model.save, output)
    features = list(rows.features.columns)
    arguments = {**table.roles(audited), "use_sensitive": model.group_use_.used, "features": features}
    checked = _checked(model.belief_, frame, seed, arguments) if check else None
    if as_json:
        print_json(
            {
                "model": output,
                "rows": len(rows.features),
                "rows_left_out": rows.dropped,
                "features": features,
                "columns_left_out": rows.left_out,
                "favourable": rows.favourable,
                "audited": model.audited_,
                "group_use": model.group_use_.to_json(),
                **learner_facts(model),
                "training_warnings": model.training_warnings_,
                "check": None if checked is None else checked.to_dict(),
            }
        )
        return
    outcome = [] if checked is None else checked.words()
    contradicted = checked is not None and checked.contradicted
    teaching = f", {model.audited_} audited" if model.audited_ else ""
    say(
        *(outcome if contradicted else ()),
        f"{len(rows.features)} rows{teaching}, {rows.dropped} left out",
        f"features: {', '.join(features)}",
        *([f"left out: {', '.join(rows.left_out)}"] if rows.left_out else ()),
        *learner_words(model),
        *(() if contradicted else outcome),
        output,
    )


def _checked(belief: Belief, frame: pd.DataFrame, seed: int, arguments: dict[str, Any]) -> CheckResult | None:
    """What the data say against the belief; None, with a warning, where it cannot be tested."""
    from problog4fairness import checks
    from problog4fairness.data import FileWarning

    with warnings.catch_warnings(action="ignore", category=FileWarning):  # training has warned of the table already
        try:
            return checks.check(belief, frame, **arguments, random_state=seed)
        except P4FError as error:
            say(f"warning: the belief could not be tested: {error}", error=True)
            return None


def compare(
    table: options.TableOptions,
    reading: options.Reading,
    use_sensitive: options.UseSensitive = None,
    learner: options.LearnerChoice = options.LearnerName.auto,
    seeds: Annotated[
        int | None,
        option("N", "Repetitions of cross-validation. Default: 5, and 3 from 20,000 rows on.", min=1),
    ] = None,
    folds: Annotated[int, option("N", "Cross-validation folds.", min=2)] = 5,
    output: Annotated[
        Path | None, option("FOLDER", "A folder for the figure and the tables.", "-o", "--output")
    ] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Compare a model of the fair label with methods that do without a belief.

    All are trained on parts of the data and tested on the rest, by recorded labels and, where an audit gives them, by
    fair ones. Audited rows that also occur in the data, equal in all shared columns, are the same people; the others
    are added.
    """
    from problog4fairness.app.report import COMPARISON_FILES, save_comparison
    from problog4fairness.data import check_folder, check_output

    files = [] if output is None else [output / name for name in COMPARISON_FILES]
    if output is not None:
        check_folder(output)
        for file in files if output.exists() else ():
            check_output(file, table.data, table.belief, table.audit)
    frame, audited, belief = table.read(reading)
    from problog4fairness.estimators import DebiasedClassifier
    from problog4fairness.evaluation import compare_rows, compared_rows, default_seeds

    compared = compared_rows(frame, [belief], **table.roles(audited), sensitive=table.sensitive, **table.columns)
    model = DebiasedClassifier(belief, learner.value, use_sensitive="auto" if use_sensitive is None else use_sensitive)
    often = default_seeds(len(frame)) if seeds is None else seeds
    result = compare_rows(compared, model, seeds=[seed + number for number in range(often)], folds=folds)
    if output is not None:
        with working("plotting"):
            save(lambda folder: save_comparison(result, folder, belief), output)
    if as_json:
        print_json({**result.to_dict(), "files": files})
        return
    for number, labels in enumerate(result.labels):
        say(*[""] * bool(number))
        show(
            result.table(labels),
            title=f"On {labels} labels, {result.audited if labels == 'fair' else result.rows} rows",
        )
        say(result.intervals(labels))
    say(f"All methods learned by the same learner: {result.learner}.", result.verdict)
    say(*(f"left out: {name}: {reason}" for name, reason in result.left_out.items()), *files)
