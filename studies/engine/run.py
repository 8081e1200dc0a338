"""Run a study: what is stored already is read, the rest is computed in parallel, and stored at once.

Workers are processes here (joblib's ``loky``), or those of a Dask cluster. A run that was killed goes on where it
stopped; a worker that dies is replaced; a stack that fails is named in the end and does not stop the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pandas as pd

from problog4fairness.errors import P4FError
from problog4fairness.experiments.archive import Table
from problog4fairness.experiments.bar import StudyBar
from problog4fairness.experiments.keeping import Keeper
from problog4fairness.experiments.parallel import check_jobs, in_parallel, loky
from problog4fairness.experiments.store import COLUMNS, Store, identity, keys_of
from problog4fairness.experiments.study import StackPlan, Study
from problog4fairness.experiments.work import Done, work
from problog4fairness.rows.writing import ready_folder

Backend: TypeAlias = Literal["loky", "dask"]


@dataclass(frozen=True)
class Outcome:
    """What a run found.

    Attributes
    ----------
    results
        A row per cell and metric: bias, x, method, seed, fold, metric, value; in the order of the study.
    failures
        Reasons of the stacks that failed, by name.
    computed, read
        How many stacks were computed now, and how many were there already.
    """

    results: pd.DataFrame
    failures: dict[str, str]
    computed: int
    read: int


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
        Where finished stacks are stored, and found again.
    jobs
        Processes at work; -1 for one per core. With Dask, its workers count.
    backend
        ``"loky"`` for processes on this machine, ``"dask"`` for a Dask cluster.
    scheduler
        Address of the Dask scheduler, such as ``tcp://10.0.0.1:8786``; without one, Dask starts ``jobs`` workers here.
    progress
        Whether to show a bar; by default only where standard error is a terminal.
    """
    check_jobs(jobs)
    store = Store(ready_folder(folder))
    keeper = Keeper(store.folder)
    plans = study.stacks()
    tables: dict[int, Table] = {}
    for number, plan in enumerate(plans):
        table = store.load(plan)
        if table is not None:
            tables[number] = table
    read = len(tables)
    failures: dict[int, str] = {}
    with StudyBar(sum(plan.count for plan in plans), progress) as bar:
        bar.advance(sum(plans[number].count for number in tables))
        for numbers, done in _computed(plans, set(tables), store, jobs, backend, scheduler):
            for number, table, reason in zip(numbers, done.tables, done.reasons, strict=True):
                if table is not None:
                    tables[number] = table
                    keeper.keep(identity(plans[number]), keys_of(plans[number]), table)
                elif reason is not None:
                    failures[number] = reason
                    bar.failed(plans[number].name, reason)
                bar.advance(plans[number].count)
    rows = [row for number in sorted(tables) for row in tables[number]]
    return Outcome(
        results=pd.DataFrame(rows, columns=list(COLUMNS)),
        failures={plans[number].name: failures[number] for number in sorted(failures)},
        computed=len(tables) - read,
        read=read,
    )


def _computed(
    plans: list[StackPlan], known: set[int], store: Store, jobs: int, backend: Backend, scheduler: str | None
) -> Iterator[tuple[list[int], Done]]:
    """All stacks that are not known yet, as they are finished."""
    call = partial(_finished, plans=plans, store=store)
    return in_parallel(call, tasks(plans, known), partial(_workers, jobs, backend, scheduler))


def _finished(numbers: list[int], plans: list[StackPlan], store: Store) -> Done:
    """What a worker does; a stack that an earlier worker stored before it died is read."""
    own = [plans[number] for number in numbers]
    kept = [store.find(plan) for plan in own]
    new = work([plan for plan, table in zip(own, kept, strict=True) if table is None], store)
    fresh = iter(zip(new.tables, new.reasons, strict=True))
    pairs = [next(fresh) if table is None else (table, None) for table in kept]
    return Done([table for table, _ in pairs], [reason for _, reason in pairs])


def tasks(plans: list[StackPlan], known: set[int]) -> list[list[int]]:
    """Stacks to be computed, by number: those on the same data are one task, the longest task first."""
    groups: dict[object, list[int]] = {}
    for number, plan in enumerate(plans):
        if number not in known:
            data = {point.settings for point in plan.points}
            groups.setdefault(next(iter(data)) if len(data) == 1 else number, []).append(number)
    return sorted(groups.values(), key=lambda numbers: -sum(plans[number].count for number in numbers))


@contextmanager
def _workers(jobs: int, backend: Backend, scheduler: str | None) -> Iterator[dict[str, Any]]:
    """Options of joblib's ``Parallel`` for these workers."""
    if backend == "loky":
        if scheduler is not None:
            raise P4FError("a scheduler is for the backend 'dask'")
        with loky(jobs) as options:
            yield options
        return
    if backend != "dask":
        raise P4FError(f"backend must be 'loky' or 'dask', not {backend!r}")
    try:
        client_of: Any = import_module("dask.distributed").Client
    except ImportError:
        raise P4FError("the backend 'dask' needs Dask: pip install 'problog4fairness[dask]'") from None
    from joblib import parallel_config

    here = {"n_workers": jobs if jobs > 0 else None, "threads_per_worker": 1, "dashboard_address": None}
    try:
        client = client_of(scheduler) if scheduler else client_of(**here)
    except OSError as error:
        raise P4FError(f"no Dask scheduler answers at {scheduler}: {error}") from None
    with client, parallel_config(backend="dask", client=client):
        yield {"n_jobs": -1}
