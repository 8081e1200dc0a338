"""Where a fit stands, on disk: one safetensors file with all tensors, and JSON for the rest in its header.

It is written whole or not at all, so a process that is killed leaves the checkpoint of the last epoch it finished; and
it is read without running anything that is in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from problog4fairness.errors import TrainingError
from problog4fairness.files.writing import check_output, write_whole

_KEY = "problog4fairness.checkpoint"


class Checkpoint:
    """The checkpoint file of a fit.

    Parameters
    ----------
    path
        Where it is, or will be.
    run
        What makes it a checkpoint of this fit and of no other: names and JSON values.
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
            found, rest = dict(header["run"]), dict(header["rest"])
        except (SafetensorError, OSError, KeyError, TypeError, ValueError):
            raise self.damaged() from None
        for name, value in self._run.items():
            if found.get(name) != value:
                raise TrainingError(
                    f"{self.path}: a checkpoint of another fit, with {name} {_short(found.get(name))} instead of "
                    f"{_short(value)}; delete it or name another file"
                )
        return tensors, rest

    def damaged(self) -> TrainingError:
        """What to raise where the file is not what it should be."""
        return TrainingError(f"{self.path}: not a checkpoint of fit_module; delete it or name another file")

    def save(self, tensors: Mapping[str, Tensor], rest: Mapping[str, Any]) -> None:
        """Replace the file."""
        from safetensors.torch import save

        # Tensors that share memory, such as tied weights, are written as separate ones.
        apart = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
        header = json.dumps({"run": self._run, "rest": dict(rest)})
        write_whole(self.path, save(apart, metadata={_KEY: header}))


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
