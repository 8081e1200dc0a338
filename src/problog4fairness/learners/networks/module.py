"""Fitting any ``torch.nn.Module`` through a belief: images, batch normalisation, large networks.

One network at a time, from a tensor of inputs or from a data loader, on the processor or on a GPU. With a checkpoint, a
run that was killed goes on after the last epoch that it finished: the random numbers of an epoch depend on the seed and
its number only.
"""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from problog4fairness.beliefs import Belief, Observation
from problog4fairness.data import Rows, check_output, write_atomically
from problog4fairness.errors import CheckpointError, ShapeError, TrainingError
from problog4fairness.learners.base import observation_of
from problog4fairness.learners.networks.batches import Batch, Batches, described, training_batches
from problog4fairness.learners.networks.training import Fit, History, Settings, SuitedSettings, check_finite
from problog4fairness.learners.progress import Bar, progress_bar
from problog4fairness.learners.validation import check_seed

Module = TypeVar("Module", bound=nn.Module)
_KEY = "problog4fairness.checkpoint"
_MOMENTS = ("exp_avg", "exp_avg_sq")


def fit_module(
    module: Module,
    data: Tensor | Iterable[Any],
    through: Belief | Observation,
    rows: Rows | None = None,
    *,
    settings: Settings | None = None,
    seed: int = 0,
    train_rows: Tensor | None = None,
    validation: Tensor | Iterable[Any] | None = None,
    weights: Tensor | None = None,
    device: torch.device | str = "cpu",
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Fit[Module]:
    """Fit a module of any kind, in place.

    Parameters
    ----------
    module
        Gives logits ``[n, outputs]`` (or ``[n]`` where ``outputs`` is 1) for n inputs. It ends with the weights of its
        best epoch, in evaluation mode, on ``device``.
    data
        The distinct inputs ``[distinct, ...]`` that ``observation.inputs`` points at; or a ``DataLoader`` whose batches
        are pairs of inputs and row numbers, the inputs being ``[rows, variants, ...]`` where a row needs several.
    through, rows
        A belief and the rows to observe through it; or an observation. It is evaluated where its tensors are.
    settings
        How; ``hidden`` and ``dropout`` do not apply, and with a data loader neither does ``batch_size``.
    seed
        All random numbers of an epoch follow from it, those of the module and of the data loader too.
    train_rows
        Rows to learn from, by number, as in :class:`Task`; only where ``data`` is a tensor.
    validation
        Rows that choose the best epoch, or a data loader where ``data`` is one. By default a random share of the rows.
    weights
        ``[rows of the observation]``: how much each row counts.
    device
        Where the module is trained.
    checkpoint
        A file to write after each epoch. Where it exists already, the fit goes on from it, and on a processor ends
        exactly as if it had never stopped. ``settings.max_epochs`` may be raised meanwhile, nothing else.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import torch
    >>> import problog4fairness as p4f
    >>> frame = pd.DataFrame({"x": np.linspace(-1, 1, 200), "a": np.arange(200) % 2})
    >>> rows = p4f.data.Rows(frame, ("x",), recorded=(frame["x"] > 0).astype(int).to_numpy())
    >>> belief = p4f.LabelBias("a", negative={1: 0.2}, positive=0.1, affected=[1])
    >>> inputs = torch.tensor(frame[["x"]].to_numpy(), dtype=torch.float32)
    >>> settings = p4f.learners.Settings(max_epochs=5, learning_rate=0.1)
    >>> fit = p4f.learners.fit_module(torch.nn.Linear(1, 1), inputs, belief, rows, settings=settings)
    >>> bool(fit.network.weight > 0)
    True
    """
    observation = observation_of(through, rows)
    settings = (settings or Settings()).suited(len(observation))
    observation.require_possible()
    check_seed(seed)
    train, held = training_batches(data, observation, settings, seed, train_rows, validation, weights)
    module.to(device)
    run = _Run(module, observation, settings, weights, torch.device(device))
    file = None if checkpoint is None else Checkpoint(checkpoint, run.identity(seed, len(train), len(held)))
    if file is not None and (saved := file.load()) is not None:
        try:
            run.resume(*saved)
        except (LookupError, TypeError, ValueError, RuntimeError):
            raise file.damaged() from None
    epochs = settings.max_epochs
    with _randomness(run.device), progress_bar(epochs, epochs, progress) as bar:
        bar.begin(type(module).__name__)
        while run.history.epochs < epochs and not run.history.waited(settings.patience):
            run.epoch(train, held, _seeded(seed, run.history.epochs, data, validation), bar)
            if file is not None:
                file.save(*run.state())
    module.load_state_dict(run.best)
    module.eval()
    return run.history.fit(module, seed)


@contextmanager
def _randomness(device: torch.device) -> Iterator[None]:
    """Whatever is drawn or seeded inside, the streams of torch, numpy and Python go on afterwards as if it were not."""
    python, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002  data sets draw from the old stream too
    devices = range(torch.cuda.device_count()) if device.type == "cuda" else ()
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002


def _seeded(seed: int, epoch: int, *sources: object) -> torch.Generator:
    """Seed all streams for one epoch, those of data loaders too; one more stream to shuffle with."""
    streams = np.random.SeedSequence((seed, epoch)).generate_state(4).tolist()
    torch.manual_seed(streams[0])
    random.seed(streams[1])
    np.random.seed(streams[2])  # noqa: NPY002
    for owner in (*sources, *(getattr(source, "sampler", None) for source in sources)):
        generator = getattr(owner, "generator", None)
        if isinstance(generator, torch.Generator):
            generator.manual_seed(streams[3])
    return torch.Generator().manual_seed(streams[3])


class _Run:
    """A module in training: all that changes from epoch to epoch."""

    def __init__(
        self,
        module: nn.Module,
        observation: Observation,
        settings: SuitedSettings,
        weights: Tensor | None,
        device: torch.device,
    ) -> None:
        self._module, self._observation, self._settings = module, observation, settings
        self._weights, self.device = weights, device
        learning = [parameter for parameter in module.parameters() if parameter.requires_grad]
        if not learning:
            raise TrainingError(f"the module {type(module).__name__} has no parameters that can be trained")
        self._optimiser = torch.optim.AdamW(learning, lr=settings.learning_rate, weight_decay=settings.weight_decay)
        self.history = History()
        self.best = _copy(module.state_dict())

    def epoch(self, train: Batches, held: Batches, generator: torch.Generator, bar: Bar) -> None:
        """Train for one epoch and validate."""
        self._module.train()
        mean, validation = _Mean(), _Mean()
        for number, batch in enumerate(train.epoch(generator), start=1):
            mean.add(*self._step(batch))
            bar.show(self.history.epochs + number / len(train), mean.value, 1 / len(train))
        self._module.eval()
        with torch.no_grad():
            for batch in held.epoch(None):
                validation.add(*self._batch_loss(batch)[1:])
        if math.isnan(mean.value) or math.isnan(validation.value):
            raise TrainingError("all rows of the training or of the validation batches have weight 0")
        if self.history.add(mean.value, validation.value):
            self.best = _copy(self._module.state_dict())

    @torch.enable_grad()
    def _step(self, batch: Batch) -> tuple[float, float]:
        """One step of the optimiser; the sum of the weighted losses, and of the weights."""
        loss, total, weight = self._batch_loss(batch)
        if weight > 0:
            self._optimiser.zero_grad()
            (loss / weight).backward()
            self._optimiser.step()
        return total, weight

    def _batch_loss(self, batch: Batch) -> tuple[Tensor, float, float]:
        """The weighted losses of a batch, summed: as a tensor and as a number; and the sum of the weights."""
        logits = self._logits(batch)
        rows = batch.rows.to(logits.device)
        losses = self._settings.costs(self._observation(logits, rows))
        if self._weights is None:
            loss, weight = losses.sum(), float(len(rows))
        else:
            weights = self._weights.to(logits.device)[rows]
            loss, weight = (weights * losses).sum(), float(weights.sum())
        total = loss.item()
        if not math.isfinite(total):
            check_finite(rows, losses, logits, self.history.epochs + 1, self._settings)
        return loss, total, weight

    def _logits(self, batch: Batch) -> Tensor:
        """``[rows, variants, outputs]``, where the observation is."""
        outputs = self._observation.outputs
        output = self._module(batch.inputs.to(self.device))
        shape = (len(batch.inputs), outputs)
        shapes = (shape, shape[:1]) if outputs == 1 else (shape,)
        if not (isinstance(output, Tensor) and output.is_floating_point() and tuple(output.shape) in shapes):
            raise ShapeError(
                f"the module gives {described(output)} for {shape[0]} inputs, but the observation needs logits "
                f"{list(shape)}"
            )
        if output.dtype in (torch.float16, torch.bfloat16):
            output = output.float()
        logits = output.view(shape).to(self._observation.needs(torch.zeros(0, dtype=torch.long)).device)
        if batch.places is not None:
            logits = logits.index_select(0, batch.places.to(logits.device))
        return logits.view(len(batch.rows), self._observation.variants, outputs)

    def identity(self, seed: int, train: int, held: int) -> dict[str, Any]:
        """What a checkpoint must agree with."""
        settings = asdict(self._settings)
        for name in ("hidden", "dropout", "max_epochs"):
            del settings[name]
        shapes = {name: list(tensor.shape) for name, tensor in self._module.state_dict().items()}
        counts = {"rows": len(self._observation), "training batches": train, "validation batches": held}
        return {"seed": seed, **settings, **counts, "module": shapes}

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """All that changes, as tensors and as JSON values."""
        tensors = {f"module.{name}": tensor for name, tensor in self._module.state_dict().items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self.best.items()}
        for number, parts in self._optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{number}.{name}": tensor for name, tensor in parts.items()}
        return tensors, asdict(self.history)

    def resume(self, tensors: dict[str, Tensor], rest: dict[str, Any]) -> None:
        """Go on from such a state."""
        check_state(tensors, rest, self._module.state_dict(), self._optimiser.param_groups[0]["params"])
        self._module.load_state_dict(_below("module.", tensors))
        self.best = {name: tensor.to(self.device) for name, tensor in _below("best.", tensors).items()}
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _below("optimiser.", tensors).items():
            number, _, part = name.partition(".")
            moments.setdefault(int(number), {})[part] = tensor
        groups = self._optimiser.state_dict()["param_groups"]
        self._optimiser.load_state_dict({"state": moments, "param_groups": groups})
        self.history = History(**rest)


@dataclass
class _Mean:
    """A weighted mean that grows."""

    total: float = 0.0
    weight: float = 0.0

    def add(self, total: float, weight: float) -> None:
        self.total += total
        self.weight += weight

    @property
    def value(self) -> float:
        return self.total / self.weight if self.weight else math.nan


def _copy(state: dict[str, Any]) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in state.items()}


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


class Checkpoint:
    """The checkpoint file of a fit: safetensors with all tensors, and JSON for the rest in its header.

    It is written whole or not at all, so a process that is killed leaves the checkpoint of the last epoch it finished;
    and it is read without running anything in it. ``run`` has what makes it one of this fit and of no other.
    """

    def __init__(self, path: str | os.PathLike[str], run: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self._run = json.loads(json.dumps(dict(run)))
        if not self.path.parent.is_dir():
            raise TrainingError(f"{self.path}: the folder of the checkpoint does not exist")
        check_output(self.path)

    def load(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """The tensors and the rest, or None where there is no file yet."""
        from safetensors import SafetensorError, safe_open

        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                header = json.loads((file.metadata() or {})[_KEY])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is not a mapping
            stored, rest = dict(header["run"]), dict(header["rest"])
        except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError):
            raise self.damaged() from None
        for name, value in self._run.items():
            if stored.get(name) != value:
                raise CheckpointError(
                    f"{self.path}: a checkpoint of another fit, with {name} {_short(stored.get(name))} instead of "
                    f"{_short(value)}; delete it or name another file"
                )
        return tensors, rest

    def damaged(self) -> CheckpointError:
        """What to raise where the file is not what it should be."""
        return CheckpointError(f"{self.path}: not a checkpoint of fit_module; delete it or name another file")

    def save(self, tensors: Mapping[str, Tensor], rest: Mapping[str, Any]) -> None:
        """Replace the file."""
        from safetensors.torch import save

        # Tensors that share memory, such as tied weights, are written as separate ones.
        apart = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
        header = json.dumps({"run": self._run, "rest": dict(rest)})
        write_atomically(self.path, save(apart, metadata={_KEY: header}))


def check_state(
    tensors: Mapping[str, Tensor], rest: Mapping[str, Any], module: Mapping[str, Tensor], learning: Sequence[Tensor]
) -> None:
    """Raise ``ValueError`` where this is no state of a fit of the module and its learning parameters after an epoch."""
    expected = {f"{place}.{name}": tensor for place in ("module", "best") for name, tensor in module.items()}
    for number, parameter in enumerate(learning):
        # A parameter that no loss depends on has none of these.
        if any(name.startswith(f"optimiser.{number}.") for name in tensors):
            expected |= {f"optimiser.{number}.{name}": parameter for name in _MOMENTS}
            expected[f"optimiser.{number}.step"] = torch.zeros(())
    if tensors.keys() != expected.keys():
        raise ValueError("other tensors than those of the module and its optimiser")
    for name, tensor in tensors.items():
        if tensor.shape != expected[name].shape or tensor.dtype != expected[name].dtype:
            raise ValueError(f"{name} has another shape or type")
        least = {"step": 1, "exp_avg_sq": 0}.get(name.rpartition(".")[2] if name.startswith("optimiser.") else "")
        if least is not None and not bool((tensor >= least).all()):
            raise ValueError(f"{name} is below {least}")
    train, validation = rest["train"], rest["validation"]
    if not isinstance(train, list) or not isinstance(validation, list) or len(train) != len(validation):
        raise ValueError("the losses are not two lists")
    if not all(type(loss) is float and math.isfinite(loss) for loss in train + validation):
        raise ValueError("a loss is not a number")
    if rest["best_epoch"] != validation.index(min(validation)) + 1:
        raise ValueError("the best epoch is another one")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
