"""Where a fit stands, on disk: one safetensors file with all tensors, and JSON for the rest in its header.

It is written whole or not at all, so a process that is killed leaves the checkpoint of the last epoch it finished; and
it is read without running anything that is in it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from problog4fairness.data import check_output, write_whole
from problog4fairness.errors import CheckpointError, TrainingError

_KEY = "problog4fairness.checkpoint"
_MOMENTS = ("exp_avg", "exp_avg_sq")


class Checkpoint:
    """The checkpoint file of a fit; ``run`` has what makes it one of this fit and of no other, as JSON values."""

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
        write_whole(self.path, save(apart, metadata={_KEY: header}))


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
