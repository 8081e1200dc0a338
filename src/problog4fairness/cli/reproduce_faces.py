"""``p4f reproduce faces``: the paper's study on pictures."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from problog4fairness.cli.studies import tell
from problog4fairness.rows.writing import ready_folder


class FaceSource(StrEnum):
    """Which faces."""

    drawn = "drawn"
    celeba = "celeba"


def register(studies: typer.Typer) -> None:
    """Add the command to the studies."""
    studies.command("faces", epilog="Example:  p4f reproduce faces --quick -o results")(faces)


def faces(
    data: Annotated[
        FaceSource, typer.Option(help="Faces drawn here, or CelebA with cleaned mouth labels below P4F_DATA.")
    ] = FaceSource.drawn,
    network: Annotated[
        str, typer.Option(help="small, resnet50 (needs the extra vision), or package.module:factory.")
    ] = "small",
    epochs: Annotated[int | None, typer.Option(min=1, help="The most epochs of a network.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Number of seeds: 5, or 2 with --quick.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds, pictures and epochs.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes for drawn faces; -1 for one per core.")] = -1,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="A folder of the study's name is made in it for tables, figures, claims."),
    ] = Path("results"),
) -> int:
    """RQ6: label bias on pictures, by one attribute and by three.

    Is a mouth slightly open? The recorded labels err depending on high cheekbones, blur and smiles. A run that was
    interrupted goes on where it stopped.
    """
    from problog4fairness.experiments.faces import face_study, run_faces, write_face_report

    study = face_study(data.value, network, quick=quick, epochs=epochs, seeds=seeds)
    folder = ready_folder(output / ("faces" if data is FaceSource.drawn else f"faces-{data.value}"))
    work = folder / "runs"
    outcome = run_faces(study, work, jobs=jobs)
    return tell(lambda: write_face_report(study, outcome, folder), folder, work, outcome.failures)
