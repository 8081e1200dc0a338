"""The pictures of a study as training takes them: a tensor where they are drawn, data loaders where they are files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from problog4fairness import datasets
from problog4fairness.datasets.faces.protocol import PARTITIONS, Faces, Part
from problog4fairness.errors import P4FError
from problog4fairness.experiments.faces.plan import FaceStudy
from problog4fairness.lifetime import end_with_parent

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


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
        return self._all, {"rows": rows, "validation": held}

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


def faces_of(study: FaceStudy) -> Faces:
    """The faces of a study, read or drawn once in a process."""
    return _faces(study.data, study.rows, study.size, study.folder)


def pictures_of(study: FaceStudy) -> Pictures:
    """The pictures of a study, once in a process."""
    return _pictures(study.data, study.rows, study.size, study.folder, study.training.batch_size)


@cache
def _faces(data: str, rows: int, size: int, folder: Path | None) -> Faces:
    faces: Faces = datasets.drawn_faces(rows, size=size) if data == "drawn" else datasets.celeba(folder, size=size)
    for part in PARTITIONS:
        if not len(faces.rows(part)):
            raise P4FError(f"of {len(faces)} faces no face is in the partition {part!r}; all three are needed")
    return faces


@cache
def _pictures(data: str, rows: int, size: int, folder: Path | None, batch_size: int) -> Pictures:
    return Pictures(_faces(data, rows, size, folder), batch_size, in_memory=data == "drawn")
