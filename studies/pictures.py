"""The pictures of a study as training takes them: a tensor where they are drawn, data loaders where they are files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from problog4fairness.errors import P4FError
from problog4fairness.program import end_with_parent
from studies.data import Faces, celeba, drawn_faces
from studies.data.faces.protocol import PARTITIONS, Part

Source: TypeAlias = Literal["drawn", "celeba"]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class FaceSet:
    """Which faces.

    Attributes
    ----------
    source
        ``"drawn"`` for :func:`~studies.data.drawn_faces`, ``"celeba"`` for :func:`~studies.data.celeba`.
    rows
        How many faces are drawn.
    size
        Height and width of a picture.
    folder
        Where CelebA is; by default in the folder that the environment variable ``P4F_DATA`` names.
    """

    source: Source = "drawn"
    rows: int = 16_000
    size: int = 32
    folder: Path | None = None


class Pictures:
    """The faces of a study.

    Attributes
    ----------
    faces
        Attributes, labels and partition.
    device
        Where networks are trained: on a GPU, if there is one.
    """

    def __init__(self, faces: Faces, batch_size: int, in_memory: bool) -> None:
        self.faces = faces
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._batch_size = batch_size
        self._all = torch.from_numpy(faces.pictures(faces.rows(None))) if in_memory else None

    def training(self) -> tuple[Tensor | Iterable[Any], dict[str, Any]]:
        """The data for ``fit_module``, and its options that say which rows are for what."""
        if self._all is None:
            return self._loader("train", shuffle=True), {"validation": self._loader("validation")}
        parts: tuple[Part, ...] = ("train", "validation")
        rows, held = (torch.from_numpy(self.faces.rows(part)) for part in parts)
        return self._all, {"train_rows": rows, "validation": held}

    def chances(self, network: torch.nn.Module) -> tuple[Codes, Floats]:
        """Rows of the test partition, and P(mouth slightly open) of each."""
        rows, found = [], []
        with torch.no_grad():
            for pictures, numbers in self._test():
                rows.append(numbers.numpy())
                found.append(network(pictures.to(self.device)).double().reshape(-1).sigmoid().cpu().numpy())
        # In place of a damaged photograph comes another one, which is not to count twice.
        distinct, first = np.unique(np.concatenate(rows), return_index=True)
        return distinct, np.concatenate(found)[first]

    def _test(self) -> Iterable[tuple[Tensor, Tensor]]:
        if self._all is None:
            return self._loader("test")
        every = self._all
        return ((every[rows], rows) for rows in torch.from_numpy(self.faces.rows("test")).split(512))

    def _loader(self, part: Part, shuffle: bool = False) -> DataLoader[Any]:
        dataset: Any = self.faces.dataset(part)
        # On a processor the network needs it, too: half of the cores read.
        cores = os.cpu_count() or 1
        workers = cores if self.device.type == "cuda" else max(1, cores // 2)
        generator = torch.Generator() if shuffle else None
        return DataLoader(
            dataset,
            batch_size=self._batch_size,
            shuffle=shuffle,
            num_workers=workers,
            worker_init_fn=partial(_begin, os.getpid()),
            generator=generator,
            persistent_workers=True,
            pin_memory=self.device.type == "cuda",
        )


def _begin(parent: int, _worker: int) -> None:
    end_with_parent(parent)


@cache
def faces_of(which: FaceSet) -> Faces:
    """These faces, read or drawn once in a process."""
    drawn = which.source == "drawn"
    faces: Faces = drawn_faces(which.rows, size=which.size) if drawn else celeba(which.folder, size=which.size)
    for part in PARTITIONS:
        if not len(faces.rows(part)):
            raise P4FError(f"of {len(faces)} faces no face is in the partition {part!r}; all three are needed")
    return faces


@cache
def pictures_of(which: FaceSet, batch_size: int) -> Pictures:
    """The pictures of these faces, once in a process."""
    return Pictures(faces_of(which), batch_size, in_memory=which.source == "drawn")
