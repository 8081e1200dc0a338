"""Which tasks are fitted together: as many as fit into one stack, in as few stacks as possible.

Tasks share a stack if their networks have the same inputs and outputs and their observations can be stacked. Where
observations cannot be stacked, tasks with the same one still can: the seeds and folds of one study.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from problog4fairness.beliefs import Observation
from problog4fairness.errors import TrainingError
from problog4fairness.learners.base import Task
from problog4fairness.learners.networks.mlp import Layout
from problog4fairness.learners.networks.training import SuitedSettings

# Beyond these sizes more networks in a stack do not make it quicker, they only leave the processor's cache: numbers of
# all networks, and activations of one hidden layer.
STACK_NUMBERS = 1 << 20
STACK_ACTIVATIONS = 1 << 20
# Training rows of all networks: about 40 bytes for each.
STACK_ROWS = 1 << 23


@dataclass(frozen=True)
class Plan:
    """Tasks to fit as one stack, by number.

    The observation is over the rows of all of them, and ``inputs`` is the matrix of all inputs; the rows of each task
    begin at ``first_row``, its inputs at ``first_input``. ``few`` says that a task has fewer distinct inputs than a
    batch has inputs, so that the network is evaluated once on all.
    """

    numbers: list[int]
    observation: Observation
    first_row: list[int]
    first_input: list[int]
    inputs: Tensor
    few: bool


def plans(tasks: Sequence[Task], settings: SuitedSettings, chosen: Sequence[int] | None = None) -> Iterator[Plan]:
    """Tasks, all or those ``chosen`` by number, divided into stacks."""
    groups: dict[tuple[object, ...], list[int]] = {}
    numbers = list(range(len(tasks)) if chosen is None else chosen)
    for number in sorted(numbers, key=lambda number: -rows_of(tasks[number])):
        task, observation = tasks[number], tasks[number].observation
        width = inputs_of(task).shape[1]
        key = (type(observation.observed), observation.outputs, observation.variants, width, _few(task, settings))
        groups.setdefault(key, []).append(number)
    for numbers in groups.values():
        while numbers:
            count = _capacity(tasks[numbers[0]], settings)
            yield from _stacked(sorted(numbers[:count]), tasks, _few(tasks[numbers[0]], settings))
            numbers = numbers[count:]


def _stacked(numbers: list[int], tasks: Sequence[Task], few: bool) -> list[Plan]:
    """One plan for these tasks, or one for each observation where they cannot be stacked."""
    matrices = {_identity(inputs_of(tasks[number])): inputs_of(tasks[number]) for number in numbers}
    starts = dict(zip(matrices, accumulate((len(m) for m in matrices.values()), initial=0), strict=False))
    sources: dict[tuple[int, tuple[object, ...]], list[int]] = {}
    for number in numbers:
        sources.setdefault((id(tasks[number].observation), _identity(inputs_of(tasks[number]))), []).append(number)
    observations = [tasks[same[0]].observation for same in sources.values()]
    if len(sources) == 1:
        observation: Observation | None = observations[0]
    else:
        observation = observations[0].stacked(observations[1:], [starts[matrix] for _, matrix in sources])
    if observation is None:
        return [plan for same in sources.values() for plan in _stacked(same, tasks, few)]
    rows = dict(zip(sources, accumulate((len(member) for member in observations), initial=0), strict=False))
    places = {number: source for source, same in sources.items() for number in same}
    return [
        Plan(
            numbers,
            observation,
            first_row=[rows[places[number]] for number in numbers],
            first_input=[starts[_identity(inputs_of(tasks[number]))] for number in numbers],
            inputs=torch.cat(list(matrices.values())) if len(matrices) > 1 else next(iter(matrices.values())),
            few=few,
        )
    ]


def _few(task: Task, settings: SuitedSettings) -> bool:
    return len(inputs_of(task)) <= settings.batch_size * task.observation.variants


def _capacity(task: Task, settings: SuitedSettings) -> int:
    """How many networks like that of this task make a good stack."""
    layout = layout_of(task, settings)
    evaluated = len(inputs_of(task)) if _few(task, settings) else settings.batch_size * task.observation.variants
    return max(
        1,
        min(
            STACK_NUMBERS // layout.numbers,
            STACK_ACTIVATIONS // (evaluated * max(layout.sizes[1:])),
            STACK_ROWS // rows_of(task),
        ),
    )


def rows_of(task: Task) -> int:
    """How many rows a task learns from, its validation rows included."""
    return max(1, len(task.observation) if task.train_rows is None else len(task.train_rows))


def inputs_of(task: Task) -> Tensor:
    """The inputs of a task, which has some."""
    if task.inputs is None:
        raise TrainingError("a network needs the inputs of its task: pass Task(..., inputs=...)")
    return task.inputs


def layout_of(task: Task, settings: SuitedSettings) -> Layout:
    """The network of a task."""
    return Layout((inputs_of(task).shape[1], *settings.hidden, task.observation.outputs))


def _identity(inputs: Tensor) -> tuple[object, ...]:
    """The same for tensors that are the same numbers in memory."""
    return inputs.data_ptr(), inputs.shape, inputs.stride()
