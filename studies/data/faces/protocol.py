"""What all face data offer, drawn or photographed: pictures, three attributes, and a mouth label told twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

Codes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
Floats: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float32]]"
Part: TypeAlias = Literal["train", "validation", "test"]

# In the order in which the chain of label biases applies them.
ATTRIBUTES = ("high_cheekbones", "blurry", "smiling")
PARTITIONS: tuple[Part, ...] = ("train", "validation", "test")


class PictureDataset(Protocol):
    """A map-style dataset, as ``torch.utils.data.DataLoader`` takes it: ``[i]`` is a picture and its row."""

    def __len__(self) -> int:
        """Number of pictures."""
        ...

    def __getitem__(self, index: int) -> tuple[Any, int]:
        """A picture for a network, ``[channels, height, width]``, and its row in the whole data."""
        ...


class Faces(Protocol):
    """Faces with three attributes, and whether the mouth is slightly open: as it is, and as it was recorded.

    :class:`FaceData` and :class:`CelebA` are both of this kind, and so may be your own data. Row numbers always count
    in the whole data, not within a partition, so one likelihood serves for training, validation and test.
    """

    @property
    def attributes(self) -> pd.DataFrame:
        """Columns high_cheekbones, blurry and smiling, 0 or 1."""
        ...

    @property
    def fair(self) -> Codes:
        """1 where the mouth is slightly open."""
        ...

    @property
    def recorded(self) -> Codes:
        """1 where it was recorded as slightly open."""
        ...

    @property
    def partition(self) -> Codes:
        """0 to train, 1 to validate, 2 to test."""
        ...

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of a picture."""
        ...

    @property
    def problems(self) -> list[str]:
        """What is wrong with the data, one line each; empty where all is well."""
        ...

    def __len__(self) -> int:
        """Number of faces."""
        ...

    def rows(self, partition: Part | None = None) -> Codes:
        """The rows of a partition, or all."""
        ...

    def audit(self, partition: Part | None = "train") -> pd.DataFrame:
        """Attributes, ``recorded`` and ``fair`` of a partition, to estimate a belief's parameters from."""
        ...

    def pictures(self, rows: Sequence[int] | Codes) -> Floats:
        """Pictures of these rows for a network: ``[rows, channels, height, width]``."""
        ...

    def dataset(self, partition: Part | None = "train") -> PictureDataset:
        """The pictures of a partition for a data loader, each with its row."""
        ...


def partition_rows(partition: Codes, name: Part | None) -> Codes:
    """The rows of a partition by its name, or all rows."""
    if name is None:
        return np.arange(len(partition), dtype=np.int64)
    if name not in PARTITIONS:
        raise P4FError(f"there is no partition {name!r}; there are {', '.join(PARTITIONS)}")
    return np.flatnonzero(partition == PARTITIONS.index(name)).astype(np.int64)


def audit_frame(faces: Faces, partition: Part | None) -> pd.DataFrame:
    """See :meth:`Faces.audit`; the index holds the row numbers."""
    frame = faces.attributes.assign(recorded=faces.recorded, fair=faces.fair)
    return frame.iloc[faces.rows(partition)]
