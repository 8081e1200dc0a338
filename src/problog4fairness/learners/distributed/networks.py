"""Networks on a cluster: every worker of Dask has its rows, and Lightning Fabric adds up their gradients.

A step takes as many rows as on one machine, some from each worker, so the same code trains the same networks on one
worker and on many.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import torch
from torch import Tensor

from problog4fairness.beliefs import FairInputs, Observation
from problog4fairness.errors import P4FError
from problog4fairness.learners.distributed.cluster import ClusterTask, client, kernel_of, kinds_of, weights_of
from problog4fairness.learners.encoder import Encoder, encode
from problog4fairness.learners.history import Fit
from problog4fairness.learners.networks.batches import LocalBatches
from problog4fairness.learners.networks.mlp import MLP, Layout
from problog4fairness.learners.networks.module import fit_module
from problog4fairness.learners.networks.network import FittedNetwork, Network
from problog4fairness.learners.settings import SuitedSettings
from problog4fairness.program import AffineObserved

# How long a worker waits for the others before it gives up.
PATIENCE = timedelta(minutes=10)


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows as a network reads them: inputs ``[rows, width]``, kinds and weights ``[rows]``."""

    inputs: Tensor
    kinds: Tensor
    weights: Tensor

    @classmethod
    def joined(cls, parts: Sequence[Part]) -> Part:
        """The rows of several."""
        inputs, kinds, weights = zip(*((part.inputs, part.kinds, part.weights) for part in parts), strict=True)
        return cls(torch.cat(inputs), torch.cat(kinds), torch.cat(weights))

    def take(self, rows: slice) -> Part:
        """Some of the rows."""
        return Part(self.inputs[rows], self.kinds[rows], self.weights[rows])


@dataclass(frozen=True, eq=False)
class Plan:
    """What every worker does.

    Attributes
    ----------
    kernel
        The likelihood of kinds.
    settings, seeds
        How to train, and the seed of each network.
    steps
        Steps of an epoch.
    held
        Rows that say when to stop; None for the training rows themselves.
    """

    kernel: AffineObserved
    settings: SuitedSettings
    seeds: tuple[int, ...]
    steps: int
    held: Part | None


def fit_networks(learner: Network, task: ClusterTask) -> FittedNetwork:
    """Networks, trained where the rows are."""
    _require_fabric()
    settings = learner.settings().suited(task.rows)
    steps = max(1, math.ceil(task.rows / settings.batch_size))
    held = None if task.held is None else _part(task.held, task.encoder, task.kinds)
    plan = Plan(kernel_of(task.observation), settings, learner.seeds(task.seed), steps, held)
    return FittedNetwork.of(task.encoder, _on_workers(plan, task), settings.max_epochs)


def _on_workers(plan: Plan, task: ClusterTask) -> Sequence[Fit[MLP]]:
    """The same work on each worker that has rows, all at once; what the first of them found."""
    from dask.delayed import delayed
    from distributed import wait

    here = client()
    coded = delayed(_part, pure=False)
    futures = here.compute([coded(part, task.encoder, task.kinds) for part in task.data.to_delayed()])
    wait(futures)  # type: ignore[no-untyped-call]
    places = here.who_has(futures)
    by_worker: dict[str, list[Any]] = {}
    for future in futures:
        # A part that failed is nowhere, and says why.
        where = places[future.key] or future.result()
        by_worker.setdefault(where[0], []).append(future)
    first = next(iter(by_worker))
    address = (urlsplit(first).hostname or "localhost", here.submit(_free_port, workers=[first], pure=False).result())
    work = [
        here.submit(_trained, own, plan, Seat(rank, len(by_worker), address), workers=[worker], pure=False)
        for rank, (worker, own) in enumerate(by_worker.items())
    ]
    found: list[Sequence[Fit[MLP]]] = here.gather(work)
    return found[0]


def _part(frame: pd.DataFrame, encoder: Encoder, kinds: pd.DataFrame) -> Part:
    """The rows of a partition."""
    inputs = torch.from_numpy(encode(encoder, frame))
    codes, weights = (torch.tensor(own) for own in (kinds_of(frame, kinds), weights_of(frame)))
    return Part(inputs, codes.long(), weights.float())


@dataclass(frozen=True)
class Seat:
    """Which of how many workers, and where the first one listens."""

    rank: int
    count: int
    address: tuple[str, int]


def _trained(parts: Sequence[Part], plan: Plan, seat: Seat) -> Sequence[Fit[MLP]]:
    """What one worker does: its rows, its share of the held-out ones, and all networks one after another."""
    own = Part.joined(parts)
    train = torch.arange(len(own.kinds))
    validation, steps = train, plan.steps
    if plan.held is not None:
        own = Part.joined([own, plan.held.take(slice(seat.rank, None, seat.count))])
        validation, steps = torch.arange(len(train), len(own.kinds)), 1
    kernel, count = plan.kernel, len(own.kinds)
    observed = AffineObserved(kernel.widths, kernel.base, kernel.coefficients, own.kinds)
    inputs = FairInputs(pd.DataFrame(index=range(count)), torch.arange(count).unsqueeze(1))
    observation = Observation(inputs, None, observed, kernel.widths[0])
    layout = Layout((own.inputs.shape[1], *plan.settings.hidden, observation.outputs))
    fits = []
    with _together(seat) as fabric:
        for seed in plan.seeds:
            start = layout.initial(torch.Generator().manual_seed(seed))
            fit = fit_module(
                layout.network(start, plan.settings.dropout),
                LocalBatches(own.inputs, train, plan.steps),
                observation,
                settings=plan.settings,
                seed=seed,
                validation=LocalBatches(own.inputs, validation, steps),
                weights=own.weights,
                progress=False,
                fabric=fabric,
            )
            fits.append(fit)
    return fits


@contextmanager
def _together(seat: Seat) -> Iterator[Any]:
    """A Fabric whose processes are the workers; None where there is only one."""
    if seat.count == 1:
        yield None
        return
    from lightning_fabric import Fabric
    from lightning_fabric.plugins.environments.lightning import LightningEnvironment
    from lightning_fabric.strategies.ddp import DDPStrategy

    class Workers(LightningEnvironment):
        """Workers of Dask: they run already, one process on a node as far as Fabric is concerned."""

        creates_processes_externally = True
        main_address, main_port = seat.address

        def node_rank(self) -> int:
            return seat.rank

        def local_rank(self) -> int:
            return 0

    strategy = DDPStrategy(cluster_environment=Workers(), process_group_backend="gloo", timeout=PATIENCE)
    fabric = Fabric(accelerator="cpu", strategy=strategy, devices=1, num_nodes=seat.count)
    try:
        fabric.launch()
        yield fabric
    finally:
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("", 0))
        return int(listening.getsockname()[1])


def _require_fabric() -> None:
    try:
        import lightning_fabric  # noqa: F401
    except ImportError:
        raise P4FError(
            "networks on a cluster need the package lightning-fabric: pip install 'problog4fairness[cluster]'"
        ) from None
