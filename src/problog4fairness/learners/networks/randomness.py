"""Random numbers that depend on a seed and an epoch only, so that an epoch can be repeated in another process."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def own_randomness(device: torch.device) -> Iterator[None]:
    """Whatever is drawn or seeded inside, the streams of torch, numpy and Python go on afterwards as if it were not."""
    python, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002  data sets draw from the old stream too
    devices = range(torch.cuda.device_count()) if device.type == "cuda" else ()
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)  # noqa: NPY002


def begin_epoch(seed: int, epoch: int, *sources: object) -> torch.Generator:
    """Seed all streams for one epoch, and give one more to shuffle with.

    Parameters
    ----------
    seed, epoch
        What the random numbers depend on.
    sources
        Data loaders, which may have streams of their own; anything else has none.
    """
    streams = np.random.SeedSequence((seed, epoch)).generate_state(4).tolist()
    torch.manual_seed(streams[0])
    random.seed(streams[1])
    np.random.seed(streams[2])  # noqa: NPY002
    for owner in (*sources, *(getattr(source, "sampler", None) for source in sources)):
        generator = getattr(owner, "generator", None)
        if isinstance(generator, torch.Generator):
            generator.manual_seed(streams[3])
    return torch.Generator().manual_seed(streams[3])
