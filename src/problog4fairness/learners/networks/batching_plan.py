"""Which jobs are fitted together: as many as fit into one stack, in as few stacks as possible.

Jobs share a stack if their networks have the same outputs and their observations can be stacked; narrow inputs are
padded with zeros, which changes nothing. Where observations cannot be stacked, jobs with the same one still can: the
seeds and folds of one study.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from problog4fairness.beliefs import Observation
from problog4fairness.learners.job import Job
from problog4fairness.learners.networks.mlp import Layout
from problog4fairness.learners.settings import SuitedSettings

# Beyond these sizes more networks in a stack do not make it quicker, they only leave the processor's cache: numbers of
# all networks, and activations of one hidden layer.
STACK_NUMBERS = 1 << 20
STACK_ACTIVATIONS = 1 << 20
# Training rows of all networks: about 40 bytes for each.
STACK_ROWS = 1 << 23


@dataclass(frozen=True)
class Plan:
    """Jobs to fit as one stack.

    Attributes
    ----------
    numbers
        Which of the jobs.
    observation
        Over the rows of all of them.
    first_row, first_input
        Where in it the rows of each job begin, and where in the matrix of all inputs its inputs do.
    inputs
        The matrices that the matrix of all inputs is made of, all as wide as the widest.
    few
        Whether a job has fewer distinct inputs than a batch has inputs, so that the network is evaluated once on all.
    """

    numbers: list[int]
    observation: Observation
    first_row: list[int]
    first_input: list[int]
    inputs: list[Tensor]
    few: bool


def plans(jobs: Sequence[Job], settings: SuitedSettings, chosen: Sequence[int] | None = None) -> Iterator[Plan]:
    """Jobs, all or those ``chosen`` by number, divided into stacks."""
    groups: dict[tuple[object, ...], list[int]] = {}
    numbers = list(range(len(jobs)) if chosen is None else chosen)
    for number in sorted(numbers, key=lambda number: (-rows_of(jobs[number]), -jobs[number].inputs.shape[1])):
        job = jobs[number]
        key = (type(job.observation.observed), job.observation.outputs, job.observation.variants, _few(job, settings))
        groups.setdefault(key, []).append(number)
    for numbers in groups.values():
        while numbers:
            count = _capacity(jobs[numbers[0]], settings)
            yield from _together(sorted(numbers[:count]), jobs, _few(jobs[numbers[0]], settings))
            numbers = numbers[count:]


def _together(numbers: list[int], jobs: Sequence[Job], few: bool) -> list[Plan]:
    """One plan for these jobs, or one for each observation where they cannot be stacked."""
    matrices = {_identity(jobs[number].inputs): jobs[number].inputs for number in numbers}
    starts = dict(zip(matrices, accumulate((len(m) for m in matrices.values()), initial=0), strict=False))
    sources: dict[tuple[int, tuple[object, ...]], list[int]] = {}
    for number in numbers:
        sources.setdefault((id(jobs[number].observation), _identity(jobs[number].inputs)), []).append(number)
    observations = [jobs[same[0]].observation for same in sources.values()]
    if len(sources) == 1:
        observation: Observation | None = observations[0]
    else:
        observation = observations[0].stacked(observations[1:], [starts[matrix] for _, matrix in sources])
    if observation is None:
        return [plan for same in sources.values() for plan in _together(same, jobs, few)]
    rows = dict(zip(sources, accumulate((len(member) for member in observations), initial=0), strict=False))
    places = {number: source for source, same in sources.items() for number in same}
    return [
        Plan(
            numbers,
            observation,
            first_row=[rows[places[number]] for number in numbers],
            first_input=[starts[_identity(jobs[number].inputs)] for number in numbers],
            inputs=_equally_wide(list(matrices.values())),
            few=few,
        )
    ]


def _equally_wide(matrices: list[Tensor]) -> list[Tensor]:
    width = max(matrix.shape[1] for matrix in matrices)
    return [m if m.shape[1] == width else torch.nn.functional.pad(m, (0, width - m.shape[1])) for m in matrices]


def _few(job: Job, settings: SuitedSettings) -> bool:
    return len(job.inputs) <= settings.batch_size * job.observation.variants


def _capacity(job: Job, settings: SuitedSettings) -> int:
    """How many networks like that of this job make a good stack."""
    layout = Layout((job.inputs.shape[1], *settings.hidden, job.observation.outputs))
    evaluated = len(job.inputs) if _few(job, settings) else settings.batch_size * job.observation.variants
    return max(
        1,
        min(
            STACK_NUMBERS // layout.numbers,
            STACK_ACTIVATIONS // (evaluated * max(layout.sizes[1:])),
            STACK_ROWS // rows_of(job),
        ),
    )


def rows_of(job: Job) -> int:
    """How many rows a job learns from, its validation rows included."""
    return max(1, len(job.observation) if job.train_rows is None else len(job.train_rows))


def _identity(inputs: Tensor) -> tuple[object, ...]:
    """The same for tensors that are the same numbers in memory."""
    return inputs.data_ptr(), inputs.shape, inputs.stride()
