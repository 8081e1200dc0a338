"""``p4f reproduce``: the paper's studies, a command each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from problog4fairness.cli import reproduce_faces, reproduce_student
from problog4fairness.cli.studies import tell
from problog4fairness.rows.writing import ready_folder

Output: TypeAlias = Annotated[
    Path, typer.Option("-o", "--output", help="A folder of the study's name is made in it for tables, figures, claims.")
]
Jobs: TypeAlias = Annotated[int, typer.Option(help="Processes; -1 for one per core.")]
Seeds: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Number of seeds: 5, or 2 with --quick.")]
Folds: TypeAlias = Annotated[int | None, typer.Option(min=2, help="Number of folds: 5, or 2 with --quick.")]


class BackendName(StrEnum):
    """Where stacks are computed."""

    loky = "loky"
    dask = "dask"


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    studies = typer.Typer(
        help="Run one of the paper's studies: tables, figures, and which of its claims hold.", no_args_is_help=True
    )
    for name, about in (
        ("bias-sweep", "RQ1: label, measurement and historical bias of every strength."),
        ("dependent", "RQ2: label bias where the fair label does depend on the sensitive variable."),
        ("assumption", "RQ3: what if the strength of the bias is misjudged?"),
    ):
        _register_synthetic(studies, name, about)
    reproduce_student.register(studies)
    reproduce_faces.register(studies)
    app.add_typer(studies, name="reproduce")


def _register_synthetic(studies: typer.Typer, name: str, about: str) -> None:
    def study(
        quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds, folds, people and strengths.")] = False,
        seeds: Seeds = None,
        folds: Folds = None,
        jobs: Jobs = -1,
        backend: Annotated[BackendName, typer.Option(help="Processes here, or a Dask cluster.")] = BackendName.loky,
        scheduler: Annotated[str | None, typer.Option(help="Address of the Dask scheduler.")] = None,
        output: Output = Path("results"),
    ) -> int:
        from problog4fairness.experiments import STUDIES, run, write_report

        plan = STUDIES[name](quick=quick, seeds=seeds, folds=folds)
        folder = ready_folder(output / name)
        work = folder / "stacks"
        outcome = run(plan, work, jobs=jobs, backend=backend.value, scheduler=scheduler)
        return tell(lambda: write_report(plan, outcome, folder), folder, work, outcome.failures)

    study.__doc__ = f"""{about}

    On made-up people of whom the fair labels are known. A run that was interrupted goes on where it stopped.
    """
    studies.command(name, epilog=f"Example:  p4f reproduce {name} --quick --jobs 2 -o results")(study)
