"""How several processes share batches: each takes some rows of every batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from torch.utils.data import DataLoader, IterableDataset, Sampler

# What a data loader for a share has in common with the given one.
_KEPT = (
    "num_workers",
    "collate_fn",
    "pin_memory",
    "timeout",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
    "prefetch_factor",
    "persistent_workers",
)


@dataclass(frozen=True)
class Share:
    """Which rows of every batch a process takes: each ``count``-th, from the row ``rank`` on.

    Attributes
    ----------
    rank
        The number of the process, from 0.
    count
        How many processes there are.
    """

    rank: int = 0
    count: int = 1

    def of(self, size: int) -> tuple[slice, bool]:
        """The rows of a batch of this size, and whether they count; without a row, the first one stands in."""
        return (slice(self.rank, None, self.count), True) if size > self.rank else (slice(0, 1), False)


class ShareSampler(Sampler[list[Any]]):
    """The batches of a data loader, of each the share of this process.

    All batches of an epoch are drawn at its start, where the random numbers of all processes are still the same.
    """

    def __init__(self, loader: Any, share: Share) -> None:
        self._whole, self._share = loader, share
        self.stand_ins: set[int] = set()

    def loader(self) -> DataLoader[Any]:
        """A data loader like the given one, for these batches."""
        whole = self._whole
        return DataLoader(whole.dataset, batch_sampler=self, **{name: getattr(whole, name) for name in _KEPT})

    def __iter__(self) -> Iterator[list[Any]]:
        shares, self.stand_ins = [], set()
        for number, items in enumerate(self._whole.batch_sampler):
            own, counts = self._share.of(len(items))
            shares.append(list(items)[own])
            if not counts:
                self.stand_ins.add(number)
        yield from shares

    def __len__(self) -> int:
        return len(self._whole)


def numbered_items(loader: Iterable[Any]) -> bool:
    """Whether a loader asks a data set for items by number, batch by batch."""
    return (
        isinstance(loader, DataLoader)
        and loader.batch_sampler is not None
        and not isinstance(loader.dataset, IterableDataset)
    )
