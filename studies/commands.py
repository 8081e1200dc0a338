"""The studies on the command line: ``python -m studies``, and ``p4f reproduce`` in a checkout."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from problog4fairness.errors import printable

if TYPE_CHECKING:
    from studies.engine.study import Study

app = typer.Typer(
    help="Run one of the paper's studies: tables, figures, and which of its claims hold.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Output: TypeAlias = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        metavar="FOLDER",
        help="A folder of the study's name is made in it for tables, figures, claims.",
    ),
]
Jobs: TypeAlias = Annotated[int, typer.Option(metavar="N", help="Processes; -1 for one per core.")]
Quick: TypeAlias = Annotated[bool, typer.Option("--quick", help="Fewer seeds, folds and people: a few minutes.")]
Seeds: TypeAlias = Annotated[int | None, typer.Option(min=1, metavar="N", help="Number of seeds.")]
Folds: TypeAlias = Annotated[
    int | None, typer.Option(min=2, metavar="N", help="Number of folds: 5, or 2 with --quick.")
]


class BackendName(StrEnum):
    """Where stacks are computed."""

    loky = "loky"
    dask = "dask"


class ReadingName(StrEnum):
    """What of the annotators' opinion is the recorded label."""

    rank = "rank"
    grade = "grade"


class SplitName(StrEnum):
    """How rows are split."""

    random = "random"
    grouped = "grouped"


class FaceSource(StrEnum):
    """Which faces."""

    drawn = "drawn"
    celeba = "celeba"


def _synthetic(name: str, about: str) -> Callable[..., None]:
    def study(
        quick: Quick = False,
        seeds: Seeds = None,
        folds: Folds = None,
        jobs: Jobs = -1,
        backend: Annotated[BackendName, typer.Option(help="Processes here, or a Dask cluster.")] = BackendName.loky,
        scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address of the Dask scheduler.")] = None,
        output: Output = Path("results"),
    ) -> None:
        from studies.synthetic import STUDIES

        plan = STUDIES[name](quick=quick, seeds=seeds, folds=folds)
        _reproduce(plan, output, jobs=jobs, backend=backend.value, scheduler=scheduler)

    study.__doc__ = f"""{about}

    On made-up people of whom the fair labels are known. A run that was interrupted goes on where it stopped.
    """
    return study


for _name, _about in (
    ("bias-sweep", "RQ1: label, measurement and historical bias of every strength."),
    ("dependent", "RQ2: label bias where the fair label does depend on the sensitive variable."),
    ("assumption", "RQ3: what if the strength of the bias is misjudged?"),
):
    app.command(_name, epilog=f"Example:  {_name} --quick --jobs 2 -o results")(_synthetic(_name, _about))


@app.command(
    epilog="Examples:  student --quick --jobs 2 -o results  |  student --reading grade  |  "
    "student --audit 50 --audit 200 --draws 20"
)
def student(
    reading: Annotated[
        ReadingName, typer.Option(help="The recorded label: by the annotators' ranking, or by their grade.")
    ] = ReadingName.rank,
    split: Annotated[
        SplitName, typer.Option(help="grouped: no pupil is on both sides, though some occur in both subjects.")
    ] = SplitName.random,
    audit: Annotated[
        list[int] | None,
        typer.Option(
            min=1, metavar="ROWS", help="Parameters from so many rows instead of all; may be given several times."
        ),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --audit, draws of the rows: 20, or 4 with --quick.")
    ] = None,
    quick: Quick = False,
    seeds: Seeds = None,
    folds: Folds = None,
    jobs: Jobs = -1,
    output: Output = Path("results"),
) -> None:
    """RQ4 and RQ5: pupils, and what primed annotators thought of them.

    Needs three published files in the folder student/ of the one that P4F_DATA names; without them it says where to get
    them. A run that was interrupted goes on where it stopped.
    """
    from studies import data

    pupils = data.student(reading=reading.value)  # first, so that missing files are told of at once
    from studies.student import student_study

    plan = student_study(
        pupils,
        split=split.value,
        audits=audit or [],
        draws=draws,
        quick=quick,
        seeds=seeds,
        folds=folds,
    )
    for line in plan.warnings:
        _say(f"warning: {line}", error=True)
    _reproduce(plan, output, jobs=jobs)


@app.command(epilog="Example:  faces --quick -o results")
def faces(
    data: Annotated[
        FaceSource, typer.Option(help="Faces drawn here, or CelebA with cleaned mouth labels below P4F_DATA.")
    ] = FaceSource.drawn,
    network: Annotated[
        str, typer.Option(metavar="NAME", help="small, resnet50 (needs the extra vision), or package.module:factory.")
    ] = "small",
    epochs: Annotated[int | None, typer.Option(min=1, metavar="N", help="The most epochs of a network.")] = None,
    seeds: Seeds = None,
    quick: Quick = False,
    jobs: Jobs = -1,
    output: Output = Path("results"),
) -> None:
    """RQ6: label bias on pictures, by one attribute and by three.

    Is a mouth slightly open? The recorded labels err depending on high cheekbones, blur and smiles. A run that was
    interrupted goes on where it stopped.
    """
    from studies.faces import face_study

    _reproduce(face_study(data.value, network, quick=quick, epochs=epochs, seeds=seeds), output, jobs=jobs)


@app.command(epilog="Example:  learners --quick --jobs 2 -o results")
def learners(quick: Quick = False, seeds: Seeds = None, jobs: Jobs = -1, output: Output = Path("results")) -> None:
    """Beyond the paper: each learner through the belief, knowing the fair labels, and on the record.

    On made-up people, and on the student data where P4F_DATA names the folder with them. A run that was interrupted
    goes on where it stopped.
    """
    from problog4fairness.errors import P4FError
    from studies import data
    from studies.learners import learner_study

    try:
        pupils = data.student()
    except P4FError as error:
        _say(f"warning: without the student data: {error}", error=True)
        pupils = None
    _reproduce(learner_study(pupils, quick=quick, seeds=seeds), output, jobs=jobs)


@app.command("more-beliefs", epilog="Example:  more-beliefs --quick --jobs 2 -o results")
def more(quick: Quick = False, seeds: Seeds = None, jobs: Jobs = -1, output: Output = Path("results")) -> None:
    """Beyond the paper: positive and unlabelled data, selective labels, annotators, unknown groups, rows, features.

    On made-up people of whom the fair labels are known. A run that was interrupted goes on where it stopped.
    """
    from studies.more_beliefs import more_beliefs

    _reproduce(more_beliefs(quick=quick, seeds=seeds), output, jobs=jobs)


@app.command(epilog="Example:  checks --quick --jobs 2 -o results")
def checks(quick: Quick = False, seeds: Seeds = None, jobs: Jobs = -1, output: Output = Path("results")) -> None:
    """Beyond the paper: how often the tests of a belief raise a false alarm, and how often they find what is wrong.

    On made-up people. A run that was interrupted goes on where it stopped.
    """
    from studies.checks import check_study

    _reproduce(check_study(quick=quick, seeds=seeds), output, jobs=jobs)


@app.command(epilog="Example:  uncertainty --quick --jobs 2 -o results")
def uncertainty(quick: Quick = False, seeds: Seeds = None, jobs: Jobs = -1, output: Output = Path("results")) -> None:
    """Beyond the paper: whether the posterior intervals of a model hold the truth as often as they say.

    On 300 simulated audits of made-up people. A run that was interrupted goes on where it stopped.
    """
    from studies.uncertainty import uncertainty_study

    _reproduce(uncertainty_study(quick=quick, seeds=seeds), output, jobs=jobs)


@app.command("audit-design", epilog="Example:  audit-design --quick -o results")
def audit_design(quick: Quick = False, seeds: Seeds = None, jobs: Jobs = -1, output: Output = Path("results")) -> None:
    """Beyond the paper: how few rows are enough if they are drawn where they tell most.

    Simulated audits of made-up tables, and of the student data where P4F_DATA names the folder with them. A run that
    was interrupted goes on where it stopped.
    """
    from problog4fairness.errors import P4FError
    from studies import data
    from studies.audit_design import audit_study

    try:
        pupils = data.student()
    except P4FError as error:
        _say(f"warning: without the student data: {error}", error=True)
        pupils = None
    _reproduce(audit_study(pupils, quick=quick, seeds=seeds), output, jobs=jobs)


def _reproduce(study: Study, output: Path, **options: Any) -> None:
    """Run a study and write its report; print which claims hold, where everything is, and what failed."""
    from problog4fairness.data import TableError, ready_folder, reason_of
    from studies.engine.report import write_report
    from studies.engine.run import run

    folder = ready_folder(output / study.name)
    work = folder / "stacks"
    outcome = run(study, work, **options)
    try:
        claims = write_report(study, outcome, folder)
    except (OSError, TableError) as error:
        message = f"{reason_of(error)}; what was computed is kept in {work}: run again to write the report"
        raise TableError(message) from None
    for claim in claims:
        _say(claim.line)
    _say(str(folder))
    for name, reason in outcome.failures.items():
        _say(f"failed: {name}: {reason}", error=True)
    if outcome.failures:
        raise typer.Exit(1)


def _say(line: str, error: bool = False) -> None:
    print(printable(line), file=sys.stderr if error else sys.stdout)
