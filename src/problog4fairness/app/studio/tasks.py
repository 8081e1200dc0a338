"""Long work, each as a function of plain data: what runs in a process of its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from problog4fairness import checks
from problog4fairness.app.report import (
    OPTIONS,
    Inputs,
    Names,
    learner_name,
    read_comparison,
    review_table,
    save_comparison,
    write_bundle,
    write_queue,
)
from problog4fairness.app.studio.columns import cell
from problog4fairness.app.studio.process import Tell, heard
from problog4fairness.app.studio.project import (
    AUDIT,
    COMPARISON,
    EVIDENCE,
    MODEL,
    MOVES,
    PEOPLE,
    REPORT,
    SCORED,
    SUSPECTS,
    Project,
)
from problog4fairness.data import MOST_ROWS, Chunks, write_chunks, write_table
from problog4fairness.errors import P4FError
from problog4fairness.estimators import (
    DebiasedClassifier,
    Scorer,
    learner_words,
    refit_learner,
    text_columns,
    train_on_table,
    training_rows,
)
from problog4fairness.evaluation import compare_rows, compared_rows
from problog4fairness.robustness import what_if

# Rows that are shown behind a test.
SHOWN = 20
# Points of a curve.
POINTS = 300


def _arguments(project: Project) -> dict[str, Any]:
    """What was chosen, as functions of tables take it."""
    choices, audit = project.choices, project.audited_rows()
    return {
        "recorded": choices.recorded or "",
        "audit": audit,
        "fair": None if audit is None else choices.fair,
        "favourable": choices.favourable,
        "drop": list(choices.drop),
        "use_sensitive": choices.uses_group,
    }


def check(tell: Tell, folder: str) -> dict[str, Any]:
    """Test the project's belief against its data."""
    project = Project.open(Path(folder))
    tell({"step": "testing"})
    options = _arguments(project)
    options["use_sensitive"] = options["use_sensitive"] is True
    frame = project.frame.drop(columns=options.pop("drop"))
    result = checks.check(project.belief(), frame, **options, random_state=project.choices.seed)
    tests = [
        {
            "name": test.name,
            "question": test.question,
            "finding": test.finding,
            "p": test.p_text,
            "done": test.done,
            "contradicts": test.contradicts,
            "advice": test.advice,
            "count": len(test.rows),
            "columns": [str(name) for name in test.rows.columns],
            "rows": [list(map(cell, values)) for values in test.rows.head(SHOWN).itertuples(index=False)],
        }
        for test in result
    ]
    return {"tests": tests, "verdict": result.verdict, "contradicted": result.contradicted, "notes": list(result.notes)}


def train(tell: Tell, folder: str) -> dict[str, Any]:
    """Train the project's model and save it; what there is to say about it."""
    project = Project.open(Path(folder))
    choices = project.choices
    tell({"step": "reading the table"})
    frame, belief, arguments = project.frame, project.belief(), _arguments(project)
    options: dict[str, Any] = {"learner": choices.learner, "random_state": choices.seed}
    with heard(tell, "learning"):
        model, rows = train_on_table(frame, belief, sensitive=choices.sensitive, **arguments, **options)
    model.save(project.path(MODEL))
    return {
        "rows": len(rows.features),
        "left_out": rows.dropped,
        "audited": model.audited_,
        "features": [str(name) for name in rows.features.columns],
        "words": learner_words(model),
        "training_warnings": list(model.training_warnings_),
        "history": {name: _thinned(values) for name, values in model.history_.items() if len(values) > 1},
    }


def _thinned(values: list[float]) -> list[tuple[int, float]]:
    """Some of the values of a curve, with their numbers from 1."""
    step = max(1, -(-len(values) // POINTS))
    return [(number, float(value)) for number, value in enumerate(values, start=1) if (number - 1) % step == 0]


def compare(tell: Tell, folder: str) -> dict[str, Any]:
    """Compare the belief with other methods, and write what ``p4f compare -o`` writes."""
    project = Project.open(Path(folder))
    choices = project.choices
    tell({"step": "reading the table"})
    belief = project.belief()
    seeds = [choices.seed + number for number in range(choices.seeds)]
    learner: Any = choices.learner
    if project.has(MODEL):  # what is compared is the model that there is, whatever is chosen for the next one
        learner = refit_learner(DebiasedClassifier.load(project.path(MODEL)))
    options = _arguments(project)
    compared = DebiasedClassifier(belief, learner, use_sensitive=options.pop("use_sensitive"))
    with heard(tell, "comparing"):
        rows = compared_rows(project.frame, [belief], sensitive=choices.sensitive, **options)
        comparison = compare_rows(rows, compared, seeds=seeds, folds=5)
    tell({"step": "plotting"})
    save_comparison(comparison, project.path(COMPARISON), belief)
    return {"methods": comparison.methods}


def stress(tell: Tell, folder: str) -> dict[str, Any]:
    """How far the audit's uncertainty reaches, where the gap would close, and what other parameters would give."""
    project = Project.open(Path(folder))
    choices = project.choices
    tell({"step": "reading the table"})
    model = DebiasedClassifier.load(project.path(MODEL))
    options = {**_arguments(project), "use_sensitive": model.group_use_.used}
    rows = training_rows(project.frame, model.belief_, sensitive=choices.sensitive, **options)
    chosen = rows.features.sample(min(len(rows.features), MOST_ROWS), random_state=choices.seed).index.sort_values()
    features, label = rows.features.loc[chosen], rows.label.loc[chosen]
    known: dict[str, Any] = {
        "sensitive_features": None if rows.groups is None else rows.groups.loc[chosen],
        "fair": None if rows.fair is None else rows.fair.loc[chosen],
    }
    with heard(tell, "uncertainty: fitting posterior draws"):
        intervals = model.uncertainty(features, label, random_state=choices.seed, **known)
    write_table(intervals.people, str(project.path(PEOPLE)))
    words, tips = [], {}
    try:
        with heard(tell, "bounds: looking for where the gap closes"):
            bounds = model.bounds(features, label, **known)
        words, tips = bounds.words(), {point.parameter.name: point.value for point in bounds.tipping}
    except P4FError as error:
        words = [str(error)]
    problem, places = "", []
    try:
        with heard(tell, "fitting for the sliders"):
            moves = what_if(model, features, label, **known)
        moves.save(project.path(MOVES))
        # Where every row of the table is among those that were learned from, numbers of rows are the table's.
        places = [] if rows.dropped else [int(number) for number in chosen[moves.row]]
    except P4FError as error:
        project.path(MOVES).unlink(missing_ok=True)
        problem = str(error)
    return {
        "rows": len(chosen),
        "of": len(rows.features),
        "numbers": places,
        "problem": problem,
        "uncertainty": intervals.words(),
        "people": {"stable": len(intervals.people) - intervals.uncertain, "uncertain": intervals.uncertain},
        "summary": intervals.table.to_dict("records"),
        "bounds": words,
        "tipping": tips,
        "intervals": {parameter.name: [parameter.low, parameter.high] for parameter in model.belief_.parameters},
    }


def queue(tell: Tell, folder: str) -> dict[str, Any]:
    """Write the rows for review, as ``p4f report --suspects`` does."""
    project = Project.open(Path(folder))
    tell({"step": "looking for rows that were distorted"})
    review = review_table(DebiasedClassifier.load(project.path(MODEL)), project.frame)
    write_queue(review.table, project.path(SUSPECTS))
    return {"rows": len(review.table), "what": review.what, "expected": float(review.expected.loc["all"].sum())}


def inputs(project: Project, comparison: bool) -> Inputs:
    """What a report of the project is made from: the same as for ``p4f report`` in its folder."""
    choices, audited = project.choices, project.is_audited
    options = {name: getattr(choices, name, None) for name in OPTIONS}
    options |= {"recorded": None, "favourable": None, "fair": choices.fair if audited else None}
    compared: Path | bool = comparison
    if comparison and _is_compared(project):
        compared = project.path(COMPARISON)
    return Inputs(
        project.path(MODEL),
        str(project.table_file),
        project.path(AUDIT) if audited else None,
        options={name: value for name, value in options.items() if value is not None},
        names=Names.parsed(choices.names).words,
        comparison=compared,
    )


def _is_compared(project: Project) -> bool:
    """Whether there is a comparison of this belief."""
    try:
        model = DebiasedClassifier.load(project.path(MODEL))
        read_comparison(project.path(COMPARISON), project.belief(), learner_name(model))
    except P4FError:
        return False
    return True


def report(tell: Tell, folder: str, comparison: bool) -> dict[str, Any]:
    """Write the project's page, the evidence behind it as a folder and as one file, and the scored table."""
    project = Project.open(Path(folder))
    made_from = inputs(project, comparison)
    with heard(tell, "making the report"):
        made = made_from.report()
    tell({"step": "writing"})
    made.save(project.path(REPORT))
    made.save_queue(project.path(SUSPECTS))
    shutil.rmtree(project.path(EVIDENCE), ignore_errors=True)
    write_bundle(made, made_from, project.path(EVIDENCE))
    packed = shutil.make_archive(str(project.path(f"{EVIDENCE}.part")), "zip", project.folder, EVIDENCE)
    Path(packed).replace(project.path(f"{EVIDENCE}.zip"))
    tell({"step": "scoring the table"})
    _score(project)
    return {"summary": list(made.summary), "warnings": [*made.training_warnings, *made.warnings]}


def _score(project: Project) -> None:
    """Write what ``p4f predict --for-spreadsheet`` writes: that is where people will open it."""
    model = DebiasedClassifier.load(project.path(MODEL))
    scorer, target = Scorer(model, digits=6), str(project.path(SCORED))
    table = Chunks(str(project.table_file), texts=text_columns(model))
    table.through(lambda frames: write_chunks(scorer.through(frames), target, for_spreadsheet=True))
