"""Calls in parallel processes, their results as they come; what a process that died left behind is called again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from problog4fairness.errors import P4FError
from problog4fairness.lifetime import end_with_parent

Task = TypeVar("Task")
Result = TypeVar("Result")

# How often workers may die before the run gives up: one that dies of its work would die for ever.
ATTEMPTS = 4


def check_jobs(jobs: int) -> None:
    """An error for a number of processes that means nothing."""
    if jobs == 0:
        raise P4FError("jobs must be 1 or more, or -1 for one per core, not 0")


def loky(jobs: int) -> AbstractContextManager[dict[str, Any]]:
    """Options of joblib's ``Parallel`` for processes on this machine, which end when this one does."""
    options = {"n_jobs": jobs, "backend": "loky", "initializer": end_with_parent, "initargs": (os.getpid(),)}
    return nullcontext(options)


def in_parallel(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    workers: Callable[[], AbstractContextManager[dict[str, Any]]],
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in the order in which they are finished.

    Parameters
    ----------
    function
        What to call with each task.
    tasks
        The longest first keeps all workers busy.
    workers
        Gives the options of joblib's ``Parallel``; asked again after a worker has died.
    """
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    left = dict(enumerate(tasks))
    for attempt in range(ATTEMPTS):
        if not left:
            return
        try:
            with workers() as options:
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
