"""``p4f reproduce``: the paper's synthetic studies."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class StudyName(StrEnum):
    """The studies."""

    bias_sweep = "bias-sweep"
    dependent = "dependent"
    assumption = "assumption"


class BackendName(StrEnum):
    """Where stacks are computed."""

    loky = "loky"
    dask = "dask"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog="Example:  p4f reproduce bias-sweep --quick --jobs 2 -o results")(reproduce)


def reproduce(
    study: Annotated[StudyName, typer.Argument(help="Which study: RQ1, RQ2 or RQ3.", show_default=False)],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds, folds, people and strengths.")] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Number of seeds: 5, or 2 with --quick.")] = None,
    folds: Annotated[int | None, typer.Option(min=2, help="Number of folds: 5, or 2 with --quick.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one per core.")] = -1,
    backend: Annotated[BackendName, typer.Option(help="Processes here, or a Dask cluster.")] = BackendName.loky,
    scheduler: Annotated[str | None, typer.Option(help="Address of the Dask scheduler.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for tables, figure and claims.")] = Path(
        "results"
    ),
) -> int:
    """Run one of the paper's synthetic studies: tables, a figure, and which of its claims hold.

    Everything is written to a folder named after the study, in the output folder. A run that was interrupted goes on
    where it stopped.
    """
    from problog4fairness.experiments import STUDIES, run, write_report

    plan = STUDIES[study.value](quick=quick, seeds=seeds, folds=folds)
    folder = output / study.value
    outcome = run(plan, folder / "stacks", jobs=jobs, backend=backend.value, scheduler=scheduler)
    for claim in write_report(plan, outcome, folder):
        print(f"{'holds         ' if claim.holds else 'does not hold '} {claim.text}: {claim.measured}")
    print(folder)
    for name, reason in outcome.failures.items():
        print(f"failed: {name}: {reason}", file=sys.stderr)
    return 1 if outcome.failures else 0
