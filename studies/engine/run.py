"""Run a study: what is stored already is read, the rest is computed in parallel, and stored at once.

Workers are processes here (joblib's ``loky``), or those of a Dask cluster. A run that was killed goes on where it
stopped; a worker that dies is replaced; a stack that fails is named in the end and does not stop the others.
"""

from __future__ import annotations

import tempfile
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pandas as pd
import torch

from problog4fairness.data import ready_folder
from problog4fairness.errors import P4FError
from studies.engine.archive import Archive, warn, with_numbers
from studies.engine.bar import Reporter, StudyBar
from studies.engine.fingerprint import fingerprint
from studies.engine.parallel import Backend, check_workers, in_parallel, workers
from studies.engine.stack import Identity, Stack, Table, Work
from studies.engine.study import Study


@dataclass(frozen=True)
class Outcome:
    """What a run found.

    Attributes
    ----------
    results
        The rows of all stacks, in the order of the study.
    failures
        Reasons of the stacks that failed, by name.
    computed, read
        How many stacks were computed now, and how many were there already.
    """

    results: pd.DataFrame
    failures: dict[str, str] = field(default_factory=dict)
    computed: int = 0
    read: int = 0


@dataclass(frozen=True)
class _Ended:
    """What became of a stack: its table, or the reason why there is none; and what a user is to be warned of."""

    table: Table | None = None
    reason: str = ""
    warning: str | None = None


def identity_of(stack: Stack) -> Identity:
    """Everything that determines the numbers of a stack: its settings, and the code behind its class."""
    kind = type(stack)
    return {"kind": kind.__qualname__, "settings": stack.settings, "code": fingerprint(kind.__module__)}


def run(
    study: Study,
    folder: Path | str,
    *,
    jobs: int = 1,
    backend: Backend = "loky",
    scheduler: str | None = None,
    progress: bool | None = None,
) -> Outcome:
    """Run a study.

    Parameters
    ----------
    study
        What to run.
    folder
        Where finished stacks and the checkpoints of unfinished ones are stored, and found again.
    jobs
        Processes at work; -1 for one per core. With Dask, its workers count.
    backend
        ``"loky"`` for processes on this machine, ``"dask"`` for a Dask cluster.
    scheduler
        Address of the Dask scheduler, such as ``tcp://10.0.0.1:8786``; without one, Dask starts ``jobs`` workers here.
    progress
        Whether to show a bar; by default only where standard error is a terminal.
    """
    check_workers(jobs, backend, scheduler)
    archive, stacks = Archive(ready_folder(folder)), study.stacks()
    identities = [identity_of(stack) for stack in stacks]
    stored = [archive.load(own, stack.keys()) for own, stack in zip(identities, stacks, strict=True)]
    tables = {number: table for number, table in enumerate(stored) if table is not None}
    read, failures = len(tables), dict[int, str]()
    left = [number for number in range(len(stacks)) if number not in tables]
    with tempfile.TemporaryDirectory() as reports:
        cells = [stack.cells for stack in stacks]
        with StudyBar(cells, Path(reports), progress, watch=not study.alone) as bar:
            for number in tables:
                # A run that was killed between its last two steps left it behind.
                archive.file(identities[number], ".safetensors").unlink(missing_ok=True)
                bar.finished(number)
            own_bar = bar if study.alone else None
            call = partial(_computed, stacks, identities, archive.folder, Path(reports), not study.alone, own_bar)
            options = partial(workers, 1 if study.alone else jobs, backend, scheduler)
            for numbers, all_ended in in_parallel(call, _tasks(stacks, left), options):
                for number, ended in zip(numbers, all_ended, strict=True):
                    if ended.warning is not None:
                        warn(ended.warning)
                    if ended.table is not None:
                        tables[number] = ended.table
                        archive.keep(identities[number], stacks[number].keys(), ended.table)
                    else:
                        failures[number] = ended.reason
                        bar.failed(stacks[number].name, ended.reason)
                    bar.finished(number)
    rows = [row for number in sorted(tables) for row in tables[number]]
    return Outcome(
        results=pd.DataFrame(rows, columns=list(study.columns)),
        failures={stacks[number].name: failures[number] for number in sorted(failures)},
        computed=len(tables) - read,
        read=read,
    )


def _tasks(stacks: Sequence[Stack], left: Sequence[int]) -> list[list[int]]:
    """Stacks to be computed, by number: those that share work are one task, the longest task first."""
    groups: dict[Hashable, list[int]] = {}
    for number in left:
        groups.setdefault(stacks[number].together, []).append(number)
    return sorted(groups.values(), key=lambda numbers: -sum(stacks[number].cells for number in numbers))


def _computed(
    stacks: Sequence[Stack],
    identities: Sequence[Identity],
    folder: Path,
    reports: Path,
    one_thread: bool,
    bar: StudyBar | None,
    numbers: list[int],
) -> list[_Ended]:
    """What a worker does; a stack that an earlier worker stored before it died is read."""
    threads = torch.get_num_threads()
    if one_thread:
        torch.set_num_threads(1)
    try:
        return [_ended(stacks[n], identities[n], Archive(folder), Reporter(reports / str(n), bar)) for n in numbers]
    finally:
        torch.set_num_threads(threads)


def _ended(stack: Stack, identity: Mapping[str, object], archive: Archive, report: Reporter) -> _Ended:
    known = archive.find(identity, stack.keys())
    if known is not None:
        return _Ended(known)
    work, warning = Work(archive.file(identity, ".safetensors"), report), None
    try:
        try:
            found = stack.compute(work)
        except stack.damaged:
            warning = f"{work.checkpoint}: damaged; {stack.name} was computed from its beginning"
            work.checkpoint.unlink()
            found = stack.compute(work)
        table = with_numbers(stack.keys(), found)
        if table is None:
            raise P4FError(f"{stack.name} gave other rows than a number for each of its {len(stack.keys())} keys")
        if archive.try_save(identity, table):  # where it cannot, the caller keeps it
            work.checkpoint.unlink(missing_ok=True)
    except Exception as error:
        return _Ended(reason=f"{type(error).__name__}: {error}")
    return _Ended(table, warning=warning)
