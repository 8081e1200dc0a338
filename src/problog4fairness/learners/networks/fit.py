"""Fitting any number of small networks as one.

Seeds × folds × parameter values × data variants: each is a :class:`Task`, and :func:`fit_many` fits them in stacks. A
step of a stack of 25 costs little more than a step of one network alone, because most of such a step is overhead.
Each network still has its own first weights, validation rows, order of rows, best epoch and early stop, and comes out
as it would have alone, to float tolerance. With dropout that holds in distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeAlias

import torch
from torch import Tensor

from problog4fairness.beliefs import Observation
from problog4fairness.errors import P4FError, ShapeError, TrainingError
from problog4fairness.learners.base import Task
from problog4fairness.learners.networks.stack import (
    MLP,
    Dropout,
    Epoch,
    FewInputs,
    Inputs,
    Layout,
    ManyInputs,
    Rows,
    StackedAdamW,
)
from problog4fairness.learners.networks.training import Fit, History, Settings, SuitedSettings, check_finite
from problog4fairness.learners.progress import Bar, progress_bar
from problog4fairness.learners.splits import kinds_of, row_list, split
from problog4fairness.learners.validation import check_seed

# Beyond these sizes more networks in a stack do not make it quicker, they only leave the processor's cache: numbers of
# all networks, and activations of one hidden layer.
STACK_NUMBERS = 1 << 20
STACK_ACTIVATIONS = 1 << 20
# Training rows of all networks: about 40 bytes for each.
STACK_ROWS = 1 << 23
# Looks at rows, weights, losses and logits of a step, each with the networks first.
Watch: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], None]


def fit_many(tasks: Sequence[Task], settings: Settings | None = None, progress: bool | None = None) -> list[Fit[MLP]]:
    """Fit one small network for each task, in their order.

    What cannot be fitted is named in one line before any is fitted, and so are the rows in which a loss is not finite.

    Parameters
    ----------
    tasks
        What to fit, each with its inputs. Tasks whose labels have the same classes share a stack. All that is random in
        a fit is drawn from its seed, but dropout, which is drawn for all networks together.
    settings
        How, the same for all; the defaults of :class:`Settings` if not given.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.

    Examples
    --------
    >>> import pandas as pd
    >>> import torch
    >>> import problog4fairness as p4f
    >>> x = torch.linspace(-1, 1, 200).unsqueeze(1)
    >>> rows = p4f.data.Rows(pd.DataFrame({"x": x.squeeze(1)}), ("x",), recorded=(x.squeeze(1) > 0).long().numpy())
    >>> observation = p4f.NoBias().observe(rows)
    >>> fits = fit_many([Task(observation, seed, inputs=x) for seed in range(5)], Settings(learning_rate=0.01))
    >>> [bool(fit.network(torch.tensor([0.5])) > 0) for fit in fits]
    [True, True, True, True, True]
    """
    settings = settings or Settings()
    # Each network is trained with what suits its own rows, whatever others come with it.
    alike: dict[SuitedSettings, list[int]] = {}
    for number, task in enumerate(tasks):
        try:
            _check(task)
            suited = settings.suited(rows_of(task))
            _Member.of(number, task, suited)
        except P4FError as error:
            raise _named(error, number, len(tasks)) from None
        alike.setdefault(suited, []).append(number)
    fits: dict[int, Fit[MLP]] = {}
    with progress_bar(len(tasks) * settings.max_epochs, settings.max_epochs, progress) as bar:
        for suited, numbers in alike.items():
            for plan in plans(tasks, suited, numbers):
                bar.begin(f"{len(fits) + len(plan.numbers)}/{len(tasks)} networks")
                fits.update(_Training(plan, tasks, suited).run(bar))
    return [fits[number] for number in range(len(tasks))]


def _check(task: Task) -> None:
    """Raise what is wrong with a task, but for its rows and weights, in one line."""
    inputs = inputs_of(task)
    if inputs.ndim != 2 or 0 in inputs.shape:
        raise ShapeError(f"inputs must be [distinct inputs, features], not {list(inputs.shape)}")
    if inputs.dtype != torch.float32:
        raise TrainingError(f"inputs are {str(inputs.dtype).removeprefix('torch.')}; pass inputs.float()")
    if not bool(torch.isfinite(inputs.sum())):
        wrong = (~torch.isfinite(inputs)).any(1).nonzero().flatten()
        if len(wrong):
            raise TrainingError(f"inputs are not finite in the {row_list(wrong)}; fill or drop missing values first")
    if len(task.observation) == 0:
        raise TrainingError("the observation has no rows")
    task.observation.require_possible()
    first, last = task.observation.input_range()
    if first < 0 or last >= len(inputs):
        raise ShapeError(f"the observation needs inputs {first} .. {last}, but there are {len(inputs)}")
    check_seed(task.seed)


def _named(error: P4FError, number: int, total: int) -> P4FError:
    """The same error, naming the task where there are several."""
    return type(error)(f"task {number}: {error}") if total > 1 else error


@dataclass
class _Member:
    """A network in a stack, with what was drawn for it from its seed.

    Its rows in the stacked observation begin at ``first_row``, its inputs at ``first_input``.
    """

    number: int
    task: Task
    layout: Layout
    generator: torch.Generator
    initial: Tensor
    train: Tensor
    validation: Tensor
    first_row: int
    first_input: int
    history: History = field(default_factory=History)

    @classmethod
    def of(cls, number: int, task: Task, settings: SuitedSettings, first_row: int = 0, first_input: int = 0) -> _Member:
        generator = torch.Generator().manual_seed(int(task.seed))
        layout = layout_of(task, settings)
        initial = layout.initial(generator)
        rows = split(task, settings.validation, generator, kinds_of(task.observation))
        return cls(number, task, layout, generator, initial, *rows, first_row, first_input)


class _Training:
    """The fit of one stack.

    Networks that stop are taken out of it, so all that has networks as its first dimension shrinks over time.
    """

    def __init__(self, plan: Plan, tasks: Sequence[Task], settings: SuitedSettings) -> None:
        starts = zip(plan.numbers, plan.first_row, plan.first_input, strict=True)
        members = [_Member.of(number, tasks[number], settings, row, start) for number, row, start in starts]
        self._members = sorted(members, key=lambda member: -len(member.train))
        self._total = len(tasks)
        self._settings = settings
        self._observation = plan.observation
        self._layout = self._members[0].layout
        self._inputs = _inputs(plan, self._members)
        self._train = _rows(self._members, [m.train for m in self._members], settings.batch_size)
        self._validation = _rows(self._members, [m.validation for m in self._members])
        values = torch.stack([member.initial for member in self._members])
        self._optimiser = StackedAdamW(values, settings.learning_rate, settings.weight_decay)
        self._best = values.clone()
        self._dropout = Dropout(settings.dropout, int(self._members[0].task.seed)) if settings.dropout else None

    def run(self, bar: Bar) -> dict[int, Fit[MLP]]:
        """The fits, by the number of their task."""
        fits: dict[int, Fit[MLP]] = {}
        for epoch in range(self._settings.max_epochs):
            train, validation = self._epoch(epoch)
            improved = [m.history.add(*losses) for m, *losses in zip(self._members, train, validation, strict=True)]
            chosen = torch.tensor(improved).unsqueeze(1)
            self._best = torch.where(chosen, self._optimiser.values, self._best)
            left = self._settings.max_epochs - epoch - 1
            stopped = [left == 0 or member.history.waited(self._settings.patience) for member in self._members]
            bar.show(epoch + 1, sum(validation) / len(validation), len(stopped) + sum(stopped) * left)
            for model, member in enumerate(self._members):
                if stopped[model]:
                    network = self._layout.network(self._best[model], self._settings.dropout)
                    fits[member.number] = member.history.fit(network, member.task.seed)
            if all(stopped):
                break
            if any(stopped):
                self._select([model for model, done in enumerate(stopped) if not done])
        return fits

    def _select(self, models: list[int]) -> None:
        chosen = torch.tensor(models)
        for part in (self._optimiser, self._inputs, self._train, self._validation):
            part.select(chosen)
        self._best = self._best[chosen]
        self._members = [self._members[model] for model in models]

    def _epoch(self, epoch: int) -> tuple[list[float], list[float]]:
        """Train for one epoch; the training and the validation loss of each network."""
        batches = Epoch(self._train, self._settings.batch_size, [member.generator for member in self._members])
        before = [part.clone() for part in self._optimiser.state()]
        train = self._pass(batches)
        validation = self._validate()
        finite = torch.isfinite(train) & torch.isfinite(validation)
        if not bool(finite.all()):
            for part, old in zip(self._optimiser.state(), before, strict=True):
                part.copy_(old)
            raise self._reason(batches, epoch, int((~finite).nonzero()[0]))
        return train.tolist(), validation.tolist()

    def _reason(self, batches: Epoch, epoch: int, model: int) -> P4FError:
        """Run an epoch again to see in which rows the loss of this network was not finite."""

        def watch(rows: Tensor, weights: Tensor, losses: Tensor, logits: Tensor) -> None:
            if model >= len(rows):
                return
            used = weights[model] > 0
            numbers = rows[model][used] - self._members[model].first_row
            check_finite(numbers, losses[model][used], logits[model][used], epoch + 1, self._settings)

        error: P4FError = TrainingError(
            f"the loss is not finite in epoch {epoch + 1}; lower the learning rate "
            f"(now {self._settings.learning_rate:g})"
        )
        try:
            self._pass(batches, watch)
            self._validate(watch)
        except TrainingError as located:
            error = located
        return _named(error, self._members[model].number, self._total)

    @torch.enable_grad()
    def _pass(self, batches: Epoch, watch: Watch | None = None) -> Tensor:
        """One pass over the training rows; the training loss ``[models]``."""
        optimiser, observation, costs = self._optimiser, self._observation, self._settings.costs
        total = torch.zeros(len(optimiser.values), dtype=torch.float64)
        for count, phase in batches.phases():
            values = optimiser.values[:count]
            parts = [part.detach().requires_grad_() for part in self._layout.parts(values)]
            gradient = torch.empty_like(values)
            step = optimiser.ahead(count, len(phase))
            total_by_step = []
            for rows, weights, scale in phase:
                logits = self._inputs.logits(parts, rows, self._dropout)
                if watch is not None:
                    logits = logits.expand(*rows.shape, -1, -1)
                losses = costs(observation(logits, rows))
                loss = (weights * losses).sum(1)
                total_by_step.append(loss.detach())
                if watch is not None:
                    watch(rows, weights, losses, logits)
                slopes = torch.autograd.grad(loss, parts, scale)
                torch.cat([slope.flatten(1) for slope in slopes], dim=1, out=gradient)
                step(gradient)
            total[:count] += torch.stack(total_by_step).sum(0, dtype=torch.float64)
        return total / self._train.weights.sum(1, dtype=torch.float64)

    @torch.no_grad()
    def _validate(self, watch: Watch | None = None) -> Tensor:
        """The validation loss ``[models]``."""
        values = self._optimiser.values
        parts = self._layout.parts(values)
        total = torch.zeros(len(values), dtype=torch.float64)
        width = max(self._layout.sizes) * self._observation.variants * len(values)
        for rows, weights in self._validation.chunks(max(self._settings.batch_size, STACK_ACTIVATIONS // width)):
            logits = self._inputs.logits(parts, rows)
            losses = self._settings.costs(self._observation(logits, rows))
            if watch is not None:
                watch(rows, weights, losses, logits.expand(*rows.shape, -1, -1))
            total.add_((weights * losses).sum(1))
        return total / self._validation.weights.sum(1, dtype=torch.float64)


def _inputs(plan: Plan, members: Sequence[_Member]) -> Inputs:
    """What the networks of a stack are evaluated on."""
    if plan.few:
        starts = [member.first_input for member in members]
        inputs = [plan.inputs[m.first_input : m.first_input + len(inputs_of(m.task))] for m in members]
        return FewInputs(plan.observation, inputs, starts)
    return ManyInputs(plan.observation, plan.inputs)


def _rows(members: Sequence[_Member], rows: Sequence[Tensor], multiple: int = 1) -> Rows:
    """Rows of the tasks as rows of the stacked observation."""
    given = [member.task.weights for member in members]
    weights = [None if each is None else each[chosen] for each, chosen in zip(given, rows, strict=True)]
    return Rows([chosen + member.first_row for chosen, member in zip(rows, members, strict=True)], weights, multiple)


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


def plans(tasks: Sequence[Task], settings: SuitedSettings, chosen: Sequence[int]) -> Iterator[Plan]:
    """The tasks ``chosen`` by number, divided into stacks: as many as fit into one, in as few as possible.

    Tasks share a stack if their networks have the same inputs and outputs and their observations can be stacked. Where
    observations cannot be stacked, tasks with the same one still can: the seeds and folds of one study.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for number in sorted(chosen, key=lambda number: -rows_of(tasks[number])):
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
