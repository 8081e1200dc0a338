"""Fitting any number of small networks as one.

Seeds × folds × parameter values × data variants: each is a :class:`Job`, and :func:`fit_many` fits them in stacks. A
step of a stack of 25 costs little more than a step of one network alone, because most of such a step is overhead.
Each network still has its own first weights, validation rows, order of rows, best epoch and early stop, and comes out
as it would have alone, to float tolerance. With dropout that holds in distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.learners.history import Fit, History
from problog4fairness.learners.job import Job, Split, check_job, kinds_of, named, split
from problog4fairness.learners.networks.batching_plan import STACK_ACTIVATIONS, Plan, plans, rows_of
from problog4fairness.learners.networks.losses import loss_of
from problog4fairness.learners.networks.mlp import MLP, Layout
from problog4fairness.learners.networks.nonfinite import Watch
from problog4fairness.learners.networks.optimiser import StackedAdamW
from problog4fairness.learners.networks.stack import Dropout, Epoch, FewInputs, Inputs, ManyInputs, Rows
from problog4fairness.learners.progress import Bar, progress_bar
from problog4fairness.learners.settings import Settings, SuitedSettings


def fit_many(jobs: Sequence[Job], settings: Settings | None = None, progress: bool | None = None) -> list[Fit[MLP]]:
    """Fit one small network for each job.

    Parameters
    ----------
    jobs
        What to fit. Jobs whose labels have the same classes share a stack; others are fitted one stack after another.
    settings
        How, the same for all; the defaults of :class:`Settings` if not given.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.

    Returns
    -------
    list of Fit
        In the order of the jobs.

    Raises
    ------
    P4FError
        In one line: a job that cannot be fitted, before any is fitted; or a loss that is not finite, and in which rows.

    Examples
    --------
    >>> import pandas as pd
    >>> import torch
    >>> import problog4fairness as p4f
    >>> x = torch.linspace(-1, 1, 200).unsqueeze(1)
    >>> rows = p4f.data.Rows(pd.DataFrame({"x": x.squeeze(1)}), ("x",), recorded=(x.squeeze(1) > 0).long().numpy())
    >>> observation = p4f.NoBias().observe(rows)
    >>> fits = fit_many([Job(x, observation, seed=seed) for seed in range(5)], Settings(learning_rate=0.01))
    >>> [bool(fit.network(torch.tensor([0.5])) > 0) for fit in fits]
    [True, True, True, True, True]
    """
    settings = settings or Settings()
    # Each job is trained with what suits its own rows, whatever other jobs come with it.
    alike: dict[SuitedSettings, list[int]] = {}
    for number, job in enumerate(jobs):
        try:
            check_job(job)
            own = settings.suited(rows_of(job))
            _Member.of(number, job, own)
        except P4FError as error:
            raise named(error, number, len(jobs)) from None
        alike.setdefault(own, []).append(number)
    fits: dict[int, Fit[MLP]] = {}
    with progress_bar(len(jobs) * settings.max_epochs, settings.max_epochs, progress) as bar:
        for own, numbers in alike.items():
            for plan in plans(jobs, own, numbers):
                bar.begin(f"{len(fits) + len(plan.numbers)}/{len(jobs)} networks")
                fits.update(_Training(plan, jobs, own).run(bar))
    return [fits[number] for number in range(len(jobs))]


@dataclass(frozen=True)
class _Member:
    """A job in a stack, with what was drawn for it from its seed."""

    number: int
    job: Job
    generator: torch.Generator
    initial: Tensor
    split: Split

    @classmethod
    def of(cls, number: int, job: Job, settings: SuitedSettings) -> _Member:
        generator = torch.Generator().manual_seed(int(job.seed))
        initial = _layout(job, settings).initial(generator)
        total, share = len(job.observation), settings.validation
        chosen = split(
            total, job.train_rows, job.validation_rows, job.weights, share, generator, kinds_of(job.observation)
        )
        return cls(number, job, generator, initial, chosen)

    def weights(self, rows: Tensor) -> Tensor | None:
        return None if self.job.weights is None else self.job.weights[rows]


def _layout(job: Job, settings: SuitedSettings) -> Layout:
    return Layout((job.inputs.shape[1], *settings.hidden, job.observation.outputs))


class _Training:
    """The fit of one stack.

    Networks that stop are taken out of it, so all that has networks as its first dimension shrinks over time.
    """

    def __init__(self, plan: Plan, jobs: Sequence[Job], settings: SuitedSettings) -> None:
        drawn = [_Member.of(number, jobs[number], settings) for number in plan.numbers]
        order = sorted(range(len(drawn)), key=lambda i: -len(drawn[i].split.train))
        starts = [plan.first_row[i] for i in order]
        self._members = [drawn[i] for i in order]
        self._total = len(jobs)
        self._settings = settings
        self._observation = plan.observation
        self._loss: Callable[[Tensor], Tensor] = loss_of(settings)
        self._layout = Layout((plan.inputs[0].shape[1], *_layout(self._members[0].job, settings).sizes[1:]))
        self._inputs = _inputs(plan, order, self._members)
        self._train = _rows(self._members, [m.split.train for m in self._members], starts, settings.batch_size)
        self._validation = _rows(self._members, [m.split.validation for m in self._members], starts)
        self._starts = starts
        width = self._layout.sizes[0]
        values = torch.stack([_layout(m.job, settings).widened(m.initial, width) for m in self._members])
        self._optimiser = StackedAdamW(values, settings.learning_rate, settings.weight_decay)
        self._best = values.clone()
        self._histories = [History() for _ in self._members]
        self._dropout = Dropout(settings.dropout, int(self._members[0].job.seed)) if settings.dropout else None

    def run(self, bar: Bar) -> dict[int, Fit[MLP]]:
        """The fits, by the number of their job."""
        fits: dict[int, Fit[MLP]] = {}
        for epoch in range(self._settings.max_epochs):
            train, validation = self._epoch(epoch)
            improved = [h.add(t, v) for h, t, v in zip(self._histories, train, validation, strict=True)]
            chosen = torch.tensor(improved).unsqueeze(1)
            self._best = torch.where(chosen, self._optimiser.values, self._best)
            left = self._settings.max_epochs - epoch - 1
            stopped = [left == 0 or history.waited(self._settings.patience) for history in self._histories]
            bar.show(epoch + 1, sum(validation) / len(validation), len(stopped) + sum(stopped) * left)
            for model, member in enumerate(self._members):
                if stopped[model]:
                    own = _layout(member.job, self._settings)
                    numbers = self._layout.narrowed(self._best[model], own.sizes[0])
                    network = own.network(numbers, self._settings.dropout)
                    fits[member.number] = self._histories[model].fit(network, member.job.seed)
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
        self._histories = [self._histories[model] for model in models]
        self._starts = [self._starts[model] for model in models]

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
        watch = Watch(model, self._starts[model], epoch + 1, self._settings)
        try:
            self._pass(batches, watch)
            self._validate(watch)
            error: P4FError = watch.unknown()
        except TrainingError as found:
            error = found
        return named(error, self._members[model].number, self._total)

    @torch.enable_grad()
    def _pass(self, batches: Epoch, watch: Watch | None = None) -> Tensor:
        """One pass over the training rows; the training loss ``[models]``."""
        optimiser, observation, loss_of_row = self._optimiser, self._observation, self._loss
        total = torch.zeros(len(optimiser.values), dtype=torch.float64)
        for count, phase in batches.phases():
            values = optimiser.values[:count]
            parts = [part.detach().requires_grad_() for part in self._layout.parts(values)]
            gradient = torch.empty_like(values)
            step = optimiser.ahead(count, len(phase))
            seen = []
            for rows, weights, scale in phase:
                logits = self._inputs.logits(parts, rows, self._dropout)
                if watch is not None:
                    logits = logits.expand(*rows.shape, -1, -1)
                losses = loss_of_row(observation(logits, rows))
                loss = (weights * losses).sum(1)
                seen.append(loss.detach())
                if watch is not None:
                    watch.look(rows, weights, losses, logits)
                found = torch.autograd.grad(loss, parts, scale)
                torch.cat([part.flatten(1) for part in found], dim=1, out=gradient)
                step(gradient)
            total[:count] += torch.stack(seen).sum(0, dtype=torch.float64)
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
            losses = self._loss(self._observation(logits, rows))
            if watch is not None:
                watch.look(rows, weights, losses, logits.expand(*rows.shape, -1, -1))
            total.add_((weights * losses).sum(1))
        return total / self._validation.weights.sum(1, dtype=torch.float64)


def _inputs(plan: Plan, order: list[int], members: Sequence[_Member]) -> Inputs:
    """What the networks of a stack are evaluated on."""
    if plan.few:
        starts = [plan.first_input[i] for i in order]
        matrix = plan.inputs[0] if len(plan.inputs) == 1 else torch.cat(plan.inputs)
        own = [matrix[start : start + len(m.job.inputs)] for start, m in zip(starts, members, strict=True)]
        return FewInputs(plan.observation, own, starts)
    return ManyInputs(plan.observation, plan.inputs[0] if len(plan.inputs) == 1 else torch.cat(plan.inputs))


def _rows(members: Sequence[_Member], rows: Sequence[Tensor], starts: Sequence[int], multiple: int = 1) -> Rows:
    """Rows of the jobs as rows of the stacked observation."""
    weights = [member.weights(own) for member, own in zip(members, rows, strict=True)]
    return Rows([own + start for own, start in zip(rows, starts, strict=True)], weights, multiple)
