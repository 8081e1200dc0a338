"""CelebA: photographs of celebrities, and mouth labels that were recorded carelessly and then cleaned by hand.

The pictures and their 40 attributes are Liu et al.'s (2015). Wu et al. (2023) found that Mouth_Slightly_Open is often
wrong, and labelled it again: theirs is the fair label, the original the recorded one.

The files are not part of this package; :func:`celeba` says where to get them. Pictures are decoded when they are asked
for, never all at once.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from problog4fairness.errors import P4FError, one_line
from studies.data.faces import celeba_files as files
from studies.data.faces.photographs import (
    DamagedPictureWarning,
    Names,
    PhotographDataset,
    Transform,
    decode,
    imagenet,
)
from studies.data.faces.protocol import ATTRIBUTES, Codes, Floats, Part, audit_frame, partition_rows
from studies.data.numbers import whole_number

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

COLUMNS = ("High_Cheekbones", "Blurry", "Smiling")  # CelebA's names of ATTRIBUTES
NAMED_AT_MOST = 5  # problems in a warning; all of them are in CelebA.problems


@dataclass(frozen=True, eq=False)
class CelebA:
    """CelebA's faces; see :class:`Faces` for what they share with drawn ones.

    Attributes
    ----------
    folder
        Where the files are.
    names
        The file of each row.
    attributes
        Columns high_cheekbones, blurry and smiling, 0 or 1, as CelebA recorded them.
    fair, recorded
        Whether the mouth is slightly open: the cleaned label, and CelebA's own.
    partition
        0 to train, 1 to validate, 2 to test, as in the cleaned labels.
    size
        Pixels along a side of the pictures for a network.
    transform
        What makes the network's input from a picture.
    tolerate
        Share of the data that may be damaged.
    left_out
        What was wrong with the files, one line each.
    """

    folder: Path
    names: Names
    attributes: pd.DataFrame
    fair: Codes
    recorded: Codes
    partition: Codes
    size: int = 224
    transform: Transform = imagenet
    tolerate: float = 0.01
    left_out: tuple[str, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"CelebA({len(self)} faces in {str(self.folder)!r}, 3 x {self.size} x {self.size})"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of a picture."""
        return 3, self.size, self.size

    @property
    def problems(self) -> list[str]:
        """What was left out when the files were read, and the pictures that turned out to be damaged since then."""
        # Without torch there was no data loader, and so nothing to find.
        found = np.flatnonzero(self._damaged.numpy()).tolist() if "_damaged" in self.__dict__ else []
        return [*self.left_out, *(f"{files.IMAGES}/{self.names[row].decode()} is damaged" for row in found)]

    def rows(self, partition: Part | None = None) -> Codes:
        """The rows of a partition, or all."""
        return partition_rows(self.partition, partition)

    def audit(self, partition: Part | None = "train") -> pd.DataFrame:
        """Attributes, ``recorded`` and ``fair`` of a partition, to estimate a belief's parameters from."""
        return audit_frame(self, partition)

    def pictures(self, rows: Sequence[int] | Codes) -> Floats:
        """Pictures of these rows for a network, ``[rows, 3, size, size]``; a damaged one is an error that names it."""
        folder = self.folder / files.IMAGES
        made = [self.transform(decode(folder / self.names[row].decode(), self.size)) for row in rows]
        return (
            np.stack([np.asarray(picture, dtype=np.float32) for picture in made])
            if made
            else np.empty((0, *self.shape), np.float32)
        )

    def dataset(self, partition: Part | None = "train") -> PhotographDataset:
        """The pictures of a partition for a data loader, each with its row.

        Use the rows that it gives: a picture that turns out to be damaged is replaced by the next one that is whole,
        with that one's row, and is named in a warning and in ``problems``.
        """
        rows = self.rows(partition)
        return PhotographDataset(
            self.folder / files.IMAGES,
            self.names[rows],
            rows,
            self._damaged,
            size=self.size,
            transform=self.transform,
            tolerate=self.tolerate,
        )

    @cached_property
    def _damaged(self) -> Tensor:
        # In shared memory, so that what a data loader's worker finds is known to the others and to this process.
        import torch

        damaged = torch.zeros(len(self), dtype=torch.uint8)
        damaged.share_memory_()
        return damaged


def celeba(
    folder: str | os.PathLike[str] | None = None,
    *,
    size: int = 224,
    transform: Transform | None = None,
    check: Literal["ends", "listing"] = "ends",
    tolerate: float = 0.01,
) -> CelebA:
    """Read CelebA's lists and the cleaned mouth labels; the pictures are decoded later, when they are asked for.

    The data are the images of the cleaned labels (201,636 where all files are whole). A line or a picture that cannot
    be used is left out, with one warning for all of them; ``problems`` names each.

    Parameters
    ----------
    folder
        Where the files are; by default the folder ``celeba`` in the one that the environment variable ``P4F_DATA``
        names. In it, under their publishers' names: ``img_align_celeba/``, ``list_attr_celeba.txt``,
        ``cleaned_mso_labels/label_cleaned_mso.csv`` and ``cleaned_mso_labels/partition.csv`` (also without the
        folder). Where the last one is missing, ``list_eval_partition.txt`` is used.
    size
        Pixels along a side: the middle square of a picture is resized to it.
    transform
        From a picture ``[3, size, size]`` of 0 to 255 to the network's input, for example to augment; by default
        scaled as torchvision's networks expect it. For a data loader that spawns its workers it must be a function of
        a module, not a lambda.
    check
        ``"ends"`` looks at the first and last bytes of each picture, which finds downloads that broke off;
        ``"listing"`` only whether it is there, for slow disks.
    tolerate
        Share of the data that may be left out; more is an error.
    """
    import pandas as pd

    size = whole_number("size", size, least=8)
    if size > 2048:
        raise P4FError(f"size {size} is more than 2048 pixels")
    if check not in ("ends", "listing"):
        raise P4FError(f"check must be 'ends' or 'listing', not {check!r}")
    if not 0 <= tolerate <= 1:
        raise P4FError(f"tolerate {tolerate:g} is not between 0 and 1")
    place = _folder(folder)
    problems: list[str] = []
    cleaned = files.read_cleaned(place, problems.append)
    partition = files.read_partition(place, problems.append)
    attributes = files.read_attributes(place, (*COLUMNS, files.MOUTH), problems.append)
    listed = len({*cleaned, *partition})
    sources = [
        ("the cleaned labels", cleaned),
        ("the list of partitions", partition),
        (files.ATTRIBUTE_LIST, attributes),
    ]
    names = files.usable_images(sources, files.present_images(place), problems.append)
    if check == "ends":
        names = files.whole_images(place, names, problems.append)
    _judge(place, listed, len(names), problems, tolerate)
    values = np.array([attributes[name] for name in names], dtype=np.int64)
    return CelebA(
        folder=place,
        names=np.array(names, dtype=np.bytes_),
        attributes=pd.DataFrame(values[:, :3], columns=list(ATTRIBUTES)),
        fair=np.array([cleaned[name][0] for name in names], dtype=np.int64),
        recorded=values[:, 3].copy(),
        partition=np.array([partition[name][0] for name in names], dtype=np.int64),
        size=size,
        transform=imagenet if transform is None else transform,
        tolerate=float(tolerate),
        left_out=tuple(one_line(text) for text in problems),
    )


def _folder(folder: str | os.PathLike[str] | None) -> Path:
    data = os.environ.get("P4F_DATA")
    if folder is None and not data:
        raise P4FError(f"the CelebA data are not here: {files.where_to_get()}")
    place = Path(folder) if folder is not None else Path(str(data)) / "celeba"
    if not place.is_dir():
        raise P4FError(f"there is no folder {place}: {files.where_to_get()}")
    return place


def _judge(place: Path, listed: int, usable: int, problems: Sequence[str], tolerate: float) -> None:
    """One warning for all problems, or an error where they are too many."""
    lost = listed - usable
    some = "; ".join(problems[:NAMED_AT_MOST])
    if len(problems) > NAMED_AT_MOST:
        some += f"; and {len(problems) - NAMED_AT_MOST} more"
    if not listed:
        raise P4FError(f"{place}: the lists name no faces; {files.where_to_get()}")
    if not usable or lost > tolerate * listed:
        raise P4FError(
            f"{place}: {lost} of {listed} faces cannot be used, and tolerate= allows a share of {tolerate:g}: {some}"
        )
    if problems:
        warnings.warn(
            DamagedPictureWarning(one_line(f"{place}: {lost} of {listed} faces left out: {some}")), stacklevel=3
        )
