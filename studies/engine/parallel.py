"""Calls in parallel processes, their results as they come; what a process that died left behind is called again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from problog4fairness.errors import P4FError
from problog4fairness.program import end_with_parent

Task = TypeVar("Task")
Result = TypeVar("Result")
Backend: TypeAlias = Literal["loky", "dask"]

# How often workers may die before the run gives up: one that dies of its work would die for ever.
ATTEMPTS = 4


@contextmanager
def workers(jobs: int, backend: Backend, scheduler: str | None) -> Iterator[dict[str, Any]]:
    """Options of joblib's ``Parallel`` for processes on this machine, which end when this one does, or on a cluster.

    Parameters
    ----------
    jobs
        Processes at work; -1 for one per core. With Dask, its workers count.
    backend
        ``"loky"`` for processes on this machine, ``"dask"`` for a Dask cluster.
    scheduler
        Address of the Dask scheduler; without one, Dask starts ``jobs`` workers here.
    """
    if backend == "loky":
        yield {"n_jobs": jobs, "backend": "loky", "initializer": end_with_parent, "initargs": (os.getpid(),)}
        return
    from joblib import parallel_config

    here = {"n_workers": jobs if jobs > 0 else None, "threads_per_worker": 1, "dashboard_address": None}
    client_of = _dask_client()
    try:
        client = client_of(scheduler) if scheduler else client_of(**here)
    except OSError as error:
        raise P4FError(f"no Dask scheduler answers at {scheduler}: {error}") from None
    with client, parallel_config(backend="dask", client=client):
        yield {"n_jobs": -1}


def check_workers(jobs: int, backend: Backend, scheduler: str | None) -> None:
    """Raise the error of :func:`workers` that cannot be had."""
    if jobs == 0:
        raise P4FError("jobs must be 1 or more, or -1 for one per core, not 0")
    if backend not in get_args(Backend):
        raise P4FError(f"backend must be 'loky' or 'dask', not {backend!r}")
    if backend == "dask":
        _dask_client()
    elif scheduler is not None:
        raise P4FError("a scheduler is for the backend 'dask'")


def _dask_client() -> Any:
    try:
        return import_module("dask.distributed").Client
    except ImportError:
        raise P4FError("the backend 'dask' needs Dask: pip install 'problog4fairness[dask]'") from None


def in_parallel(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    options_of: Callable[[], AbstractContextManager[dict[str, Any]]],
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in the order in which they are finished.

    Parameters
    ----------
    function
        What to call with each task.
    tasks
        The longest first keeps all workers busy.
    options_of
        Gives the options of joblib's ``Parallel``; asked again after a worker has died.
    """
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    left = dict(enumerate(tasks))
    for attempt in range(ATTEMPTS):
        if not left:
            return
        try:
            with options_of() as options:
                calls = [delayed(_numbered)(number, function, task) for number, task in left.items()]
                for number, result in Parallel(return_as="generator_unordered", pre_dispatch="all", **options)(calls):
                    yield left.pop(number), result
            return
        except TerminatedWorkerError:
            if attempt == ATTEMPTS - 1:
                raise P4FError(
                    f"workers died {ATTEMPTS} times; what they finished is stored. Is there too little memory? "
                    "Run again with fewer --jobs"
                ) from None


def _numbered(number: int, function: Callable[[Task], Result], task: Task) -> tuple[int, Result]:
    return number, function(task)
