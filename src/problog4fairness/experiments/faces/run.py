"""Run the face study: what is stored already is read, the rest is computed, stored at once, and resumed after a kill.

Drawn faces are small: one process of one thread for each core, a run at a time in each. Photographs are large: one run
at a time, whose pictures other processes read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
import torch

from problog4fairness.errors import CheckpointError
from problog4fairness.experiments.archive import Archive, Identity, Table, name_of
from problog4fairness.experiments.faces.pictures import pictures_of
from problog4fairness.experiments.faces.plan import FaceRun, FaceStudy
from problog4fairness.experiments.faces.progress import FaceBar, Reporter
from problog4fairness.experiments.faces.store import identity
from problog4fairness.experiments.faces.work import COLUMNS, compute, keys_of
from problog4fairness.experiments.keeping import Keeper
from problog4fairness.experiments.parallel import check_jobs, in_parallel, loky
from problog4fairness.experiments.run import Outcome
from problog4fairness.learners.vision import named_network
from problog4fairness.rows.problems import warn
from problog4fairness.rows.writing import ready_folder


@dataclass(frozen=True)
class Ended:
    """What became of a run: its numbers, or the reason why there are none; and what a user is to be warned of."""

    table: Table | None = None
    reason: str | None = None
    warning: str | None = None


def run_faces(study: FaceStudy, folder: Path | str, *, jobs: int = -1, progress: bool | None = None) -> Outcome:
    """Run the study.

    Parameters
    ----------
    study
        What to run.
    folder
        Where finished runs and the checkpoints of unfinished ones are stored, and found again.
    jobs
        Processes at work; -1 for one per core. Photographs are trained on by one.
    progress
        Whether to show a bar; by default only where standard error is a terminal.

    Returns
    -------
    Outcome
        With a row per run, metric and attribute.
    """
    check_jobs(jobs)
    folder = ready_folder(folder)
    archive, keeper, runs = Archive(folder), Keeper(folder), study.runs()
    named_network(study.network)  # one that cannot be made is told at once, and not by every run
    names, keys = [identity(run) for run in runs], [keys_of(run) for run in runs]
    stored = {number: archive.load(names[number], keys[number]) for number in range(len(runs))}
    tables = {number: table for number, table in stored.items() if table is not None}
    read, failures = len(tables), dict[int, str]()
    left = [number for number in range(len(runs)) if number not in tables]
    with tempfile.TemporaryDirectory() as reports:
        here = study.data != "drawn"
        # A thread that watches would be in the way of data loaders here that fork.
        with FaceBar(len(runs), Path(reports), progress, watch=not here) as bar:
            for number in tables:
                bar.finished(number)
                # One that was killed between its last two steps left it behind.
                _checkpoint(folder, names[number]).unlink(missing_ok=True)
            told = bar.look if here else None
            call = partial(_ended, runs=runs, folder=folder, reports=Path(reports), told=told)
            for number, ended in in_parallel(call, left, partial(loky, 1 if here else jobs)):
                bar.finished(number)
                if ended.warning is not None:
                    warn(ended.warning)
                if ended.table is not None:
                    tables[number] = ended.table
                    keeper.keep(names[number], keys[number], ended.table)
                elif ended.reason is not None:
                    failures[number] = ended.reason
                    bar.failed(runs[number].name, ended.reason)
    rows = [row for number in sorted(tables) for row in tables[number]]
    return Outcome(
        results=pd.DataFrame(rows, columns=list(COLUMNS)),
        failures={runs[number].name: failures[number] for number in sorted(failures)},
        computed=len(tables) - read,
        read=read,
    )


def _checkpoint(folder: Path, name: Identity) -> Path:
    return folder / f"{name_of(name)}.safetensors"


def _ended(
    number: int, runs: list[FaceRun], folder: Path, reports: Path, told: Callable[[], None] | None = None
) -> Ended:
    """What a worker does; a run that an earlier worker stored before it died is read."""
    run = runs[number]
    archive, name = Archive(folder), identity(run)
    known = archive.find(name, keys_of(run))
    if known is not None:
        return Ended(known)
    threads = torch.get_num_threads()
    if run.study.data == "drawn":
        torch.set_num_threads(1)
    checkpoint, warning = _checkpoint(folder, name), None
    try:
        pictures = len(pictures_of(run.study).faces.rows("train"))
        reporter = Reporter(reports / str(number), pictures, run.study.training.max_epochs, told)
        try:
            table = compute(run, checkpoint, reporter)
        except CheckpointError:
            warning = f"{checkpoint}: damaged; {run.name} was computed from its beginning"
            checkpoint.unlink()
            table = compute(run, checkpoint, reporter)
        if archive.try_save(name, table):  # where it cannot, the caller keeps it
            checkpoint.unlink(missing_ok=True)
    except Exception as error:
        return Ended(reason=f"{type(error).__name__}: {error}")
    finally:
        torch.set_num_threads(threads)
    return Ended(table, warning=warning)
