"""One process or several that train the same module: who takes which rows, and how their sums come together.

Several processes are those of Lightning Fabric, an extra: ``pip install 'problog4fairness[fabric]'``. Every process
takes its share of every batch, losses are divided by the weight of the *whole* batch, and gradients are added up, so
that n processes make the steps that one process makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from problog4fairness.errors import TrainingError
from problog4fairness.learners.networks.sharing import Share

# Fabric's strategies that keep the whole module in every process; by name, so that Fabric need not be imported.
_WHOLE = {"SingleDeviceStrategy", "DataParallelStrategy", "DDPStrategy"}


class Processes:
    """One process, without Fabric.

    Parameters
    ----------
    device
        Where the module is trained.
    """

    def __init__(self, device: torch.device | str) -> None:
        self.device = torch.device(device)
        self.share = Share()

    def setup(self, module: nn.Module, optimiser: torch.optim.Optimizer) -> tuple[Callable[[Tensor], Any], Any]:
        """What to call instead of the module, and the optimiser to step with."""
        return module, optimiser

    def backward(self, loss: Tensor, weight: float) -> None:
        """Gradients of the sum of all processes' losses, divided by the weight."""
        (loss / weight).backward()

    def sums(self, *values: float) -> tuple[float, ...]:
        """Each of the values, summed over the processes."""
        return values

    def part(self) -> None:
        """From here on the processes draw different random numbers, for their rows are different ones."""


class FabricProcesses(Processes):
    """The processes of a ``lightning_fabric.Fabric``.

    Parameters
    ----------
    fabric
        Launched, if it has several processes; on one device, or with a strategy that copies the module ("ddp").
    """

    def __init__(self, fabric: Any) -> None:
        if not hasattr(fabric, "world_size") or not hasattr(fabric, "strategy"):
            raise TrainingError(f"fabric= must be a lightning_fabric.Fabric, not {type(fabric).__name__}")
        kinds = {kind.__name__ for kind in type(fabric.strategy).__mro__}
        if not kinds & _WHOLE:
            raise TrainingError(f"{type(fabric.strategy).__name__} of fabric= splits the module; take strategy='ddp'")
        if fabric.world_size > 1 and not torch.distributed.is_initialized():
            raise TrainingError(f"call fabric.launch() before a fit on {fabric.world_size} processes")
        super().__init__(fabric.device)
        self.share = Share(int(fabric.global_rank), int(fabric.world_size))
        self._fabric = fabric

    def setup(self, module: nn.Module, optimiser: torch.optim.Optimizer) -> tuple[Callable[[Tensor], Any], Any]:
        """See :meth:`Processes.setup`; all processes begin with the weights of the first."""
        wrapped, stepping = self._fabric.setup(module, optimiser)
        return wrapped, stepping

    def backward(self, loss: Tensor, weight: float) -> None:
        """See :meth:`Processes.backward`; the strategy takes the mean of the gradients, so it is made a sum here."""
        self._fabric.backward(loss * (self.share.count / weight))

    def sums(self, *values: float) -> tuple[float, ...]:
        """See :meth:`Processes.sums`."""
        if self.share.count == 1:
            return values
        # Some accelerators have no float64.
        dtype = torch.float64 if self.device.type in ("cpu", "cuda") else torch.float32
        together = self._fabric.all_reduce(torch.tensor(values, dtype=dtype, device=self.device), reduce_op="sum")
        return tuple(together.tolist())

    def part(self) -> None:
        """See :meth:`Processes.part`; the first process goes on as one alone would."""
        if self.share.rank:
            torch.manual_seed(torch.initial_seed() + self.share.rank)


def processes_of(fabric: Any, device: torch.device | str) -> Processes:
    """The processes of a Fabric, or this one alone."""
    return Processes(device) if fabric is None else FabricProcesses(fabric)
