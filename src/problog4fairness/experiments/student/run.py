"""Run the student study: what is stored is read, the rest is computed in parallel processes and stored at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd
import torch

from problog4fairness.comparison import Table, stacked
from problog4fairness.experiments import archive
from problog4fairness.experiments.archive import Archive, Keys
from problog4fairness.experiments.bar import StudyBar
from problog4fairness.experiments.keeping import Keeper
from problog4fairness.experiments.parallel import check_jobs, in_parallel, loky
from problog4fairness.experiments.student.study import TOGETHER, Piece, StudentStudy
from problog4fairness.learners import Settings
from problog4fairness.metrics.scores import METRICS
from problog4fairness.rows.writing import ready_folder

COLUMNS = ("audit", "method", "seed", "fold", "labels", "metric", "value")
_STORED = list(COLUMNS[2:])


@dataclass(frozen=True)
class StudentOutcome:
    """What a run found.

    Attributes
    ----------
    results
        A row per method, seed, fold, kind of labels (fair or recorded) and metric. ``audit`` is the number of audited
        rows that parameters come from, 0 where they come from all rows or there are none.
    failures
        Reasons of what failed, by name.
    computed, read
        How many pieces were computed now, and how many were there already.
    """

    results: pd.DataFrame
    failures: dict[str, str] = field(default_factory=dict)
    computed: int = 0
    read: int = 0


def run_student(
    study: StudentStudy, folder: Path | str, *, jobs: int = 1, progress: bool | None = None
) -> StudentOutcome:
    """Run the student study.

    Parameters
    ----------
    study
        What to run.
    folder
        Where finished pieces are stored, and found again: a run that was killed goes on where it stopped.
    jobs
        Processes at work; -1 for one per core.
    progress
        Whether to show a bar; by default only where standard error is a terminal.
    """
    check_jobs(jobs)
    store, pieces, keys = Archive(ready_folder(folder)), study.pieces(), keys_of(study)
    keeper = Keeper(store.folder)
    stored = {number: store.load(piece.identity, keys) for number, piece in enumerate(pieces)}
    known = {number: table for number, table in stored.items() if table is not None}
    read, failures = len(known), dict[int, str]()
    cells = len(study.seeds) * study.folds
    sizes = _Sizes(study.table, study.seeds, study.folds, study.training, keys)
    call = partial(_computed, pieces=pieces, store=store, sizes=sizes)
    with StudyBar(cells * len(pieces), progress) as bar:
        bar.advance(cells * read)
        for numbers, tables in in_parallel(call, _tasks(pieces, set(known)), partial(loky, jobs)):
            for number, table in zip(numbers, tables, strict=True):
                if isinstance(table, str):
                    failures[number] = table
                    bar.failed(pieces[number].name, table)
                else:
                    known[number] = table
                    keeper.keep(pieces[number].identity, keys, table)
                bar.advance(cells)
    rows = [[pieces[number].audit or 0, pieces[number].method.name, *row]
            for number in sorted(known) for row in known[number]]  # fmt: skip
    return StudentOutcome(
        results=pd.DataFrame(rows, columns=list(COLUMNS)),
        failures={pieces[number].name: failures[number] for number in sorted(failures)},
        computed=len(known) - read,
        read=read,
    )


def keys_of(study: StudentStudy) -> Keys:
    """What the stored rows of each piece begin with."""
    return [
        (seed, fold, labels, metric)
        for seed in study.seeds
        for fold in range(study.folds)
        for labels in ("fair", "recorded")
        for metric in METRICS
    ]


def _tasks(pieces: list[Piece], known: set[int]) -> list[list[int]]:
    """What a process does at once, by number: methods that begin with the same networks together, and first."""
    left = [number for number in range(len(pieces)) if number not in known]
    together = [number for number in left if pieces[number].method.name in TOGETHER]
    return [*([together] if together else []), *([number] for number in left if number not in together)]


@dataclass(frozen=True)
class _Sizes:
    """What all pieces of a study have in common."""

    table: Table
    seeds: tuple[int, ...]
    folds: int
    training: Settings
    keys: Keys


def _computed(numbers: list[int], pieces: list[Piece], store: Archive, sizes: _Sizes) -> list[archive.Table | str]:
    """What a worker does, with one thread: the table of each piece, or why it failed."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        # A worker before this one may have died after storing some of it.
        tables: dict[int, archive.Table | str | None] = {number: store.find(pieces[number].identity, sizes.keys)
                                                         for number in numbers}  # fmt: skip
        left = [number for number, table in tables.items() if table is None]
        tables |= zip(left, _attempt([pieces[number] for number in left], store, sizes), strict=True)
        if len(left) > 1:
            for number in left:
                if isinstance(tables[number], str):  # the fault of one of them, perhaps not of this one
                    tables[number] = _attempt([pieces[number]], store, sizes)[0]
        return [table for table in tables.values() if table is not None]
    finally:
        torch.set_num_threads(threads)


def _attempt(pieces: list[Piece], store: Archive, sizes: _Sizes) -> list[archive.Table | str]:
    try:
        scores = stacked(
            sizes.table, [piece.method for piece in pieces], sizes.seeds, sizes.folds, sizes.training, progress=False
        )
        tables: list[archive.Table | str] = []
        for piece in pieces:
            table = scores.loc[scores["method"] == piece.method.name, _STORED].to_numpy(dtype=object).tolist()
            store.try_save(piece.identity, table)  # where it cannot, the caller keeps it
            tables.append(table)
        return tables
    except Exception as error:
        return [f"{type(error).__name__}: {error}"] * len(pieces)
