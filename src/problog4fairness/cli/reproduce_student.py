"""``p4f reproduce student``: the study on real data."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from problog4fairness.cli.output import say
from problog4fairness.cli.studies import tell
from problog4fairness.files.writing import ready_folder


class ReadingName(StrEnum):
    """What of the annotators' opinion is the recorded label."""

    rank = "rank"
    grade = "grade"


class SplitName(StrEnum):
    """How rows are split."""

    random = "random"
    grouped = "grouped"


def register(studies: typer.Typer) -> None:
    """Add the command to those of ``p4f reproduce``."""
    studies.command(
        "student",
        epilog="Examples:  p4f reproduce student --quick --jobs 2 -o results  |  p4f reproduce student --reading grade"
        "  |  p4f reproduce student --audit 50 --audit 200 --draws 20",
    )(student)


def student(
    reading: Annotated[
        ReadingName, typer.Option(help="The recorded label: by the annotators' ranking, or by their grade.")
    ] = ReadingName.rank,
    split: Annotated[
        SplitName, typer.Option(help="grouped: no pupil is on both sides, though some occur in both subjects.")
    ] = SplitName.random,
    audit: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Parameters from so many rows instead of all; may be given several times."),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, help="With --audit, draws of the rows: 20, or 4 with --quick.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds, draws and folds.")] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Number of seeds: 10, or 4 with --quick.")] = None,
    folds: Annotated[int | None, typer.Option(min=2, help="Number of folds: 5, or 2 with --quick.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one per core.")] = -1,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="A folder of the study's name is made in it for tables, figures, claims."),
    ] = Path("results"),
) -> int:
    """RQ4 and RQ5: pupils, and what primed annotators thought of them.

    Needs three published files in the folder student/ of the one that P4F_DATA names; without them it says where to get
    them. A run that was interrupted goes on where it stopped.
    """
    from problog4fairness import datasets

    data = datasets.student(reading=reading.value)  # first, so that missing files are told of at once
    from problog4fairness.experiments.student import run_student, student_study, write_student_report

    plan = student_study(
        data,
        split=split.value,
        audits=audit or [],
        draws=draws,
        quick=quick,
        seeds=seeds,
        folds=folds,
    )
    for line in plan.warnings:
        say(f"warning: {line}", error=True)
    folder = ready_folder(output / plan.name)
    work = folder / "stacks"
    outcome = run_student(plan, work, jobs=jobs)
    return tell(lambda: write_student_report(plan, outcome, folder), folder, work, outcome.failures)
