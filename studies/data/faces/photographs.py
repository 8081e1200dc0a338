"""Photographs decoded when they are asked for, one at a time, in whichever process asks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from problog4fairness.errors import P4FError
from studies.data.faces.celeba_files import LARGEST_IMAGE
from studies.data.faces.protocol import Codes, Floats

if TYPE_CHECKING:
    from torch import Tensor

Image: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]"
Names: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bytes_]]"
Transform: TypeAlias = Callable[[Image], Any]

SHORTEST_SIDE, MOST_PIXELS = 8, 4_000_000
# Of the pictures on which torchvision's networks were trained.
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class DamagedPictureError(P4FError):
    """A file that is not a whole picture of a sensible size."""


class DamagedPictureWarning(UserWarning):
    """A picture that cannot be used, and was left out or replaced."""


def decode(file: Path, size: int) -> Image:
    """The middle square of a JPEG, ``[3, size, size]``.

    Raises
    ------
    DamagedPictureError
        A missing, truncated or otherwise damaged file, or a picture of an absurd size, which is not decoded at all.
    """
    from PIL import Image as Pillow

    try:
        # Pillow warns of decompression bombs before it raises; neither is to be decoded.
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if file.stat().st_size > LARGEST_IMAGE:
                raise DamagedPictureError(f"{file}: more than {LARGEST_IMAGE} bytes")
            with Pillow.open(file, formats=["JPEG"]) as picture:
                width, height = picture.size
                if min(width, height) < SHORTEST_SIDE or width * height > MOST_PIXELS:
                    raise DamagedPictureError(f"{file}: {width} x {height} pixels is no size for a face")
                side = min(width, height)
                left, top = (width - side) // 2, (height - side) // 2
                square = picture.convert("RGB").crop((left, top, left + side, top + side))
                small = square.resize((size, size), Pillow.Resampling.BILINEAR)
    except DamagedPictureError:
        raise
    # What a decoder raises on damaged bytes is not a closed list: OSError, SyntaxError, ValueError, struct.error, ...
    except Exception as error:
        reason = str(error).replace(f"{str(file)!r}", "the file") or type(error).__name__
        raise DamagedPictureError(f"{file}: {reason}") from None
    return np.ascontiguousarray(np.asarray(small, dtype=np.uint8).transpose(2, 0, 1))


def imagenet(image: Image) -> Floats:
    """A picture scaled as torchvision's networks expect it."""
    mean, std = (np.array(values, dtype=np.float32)[:, None, None] for values in (IMAGENET_MEAN, IMAGENET_STD))
    return (image * np.float32(1 / 255) - mean) / std


class PhotographDataset:
    """Photographs as a map-style dataset, each with its row; see :class:`PictureDataset`.

    A damaged picture is replaced by the next one that is whole, which comes with its own row, so that labels stay right
    and batches keep their shape. It is named in a warning once, whichever of a data loader's processes finds it.

    Parameters
    ----------
    folder
        Of the pictures.
    names
        Of the files.
    rows
        The row of each picture in the whole data.
    damaged
        ``[rows of the whole data]`` in shared memory: 1 where a picture turned out to be damaged.
    size
        Pixels along a side.
    transform
        From ``[3, size, size]`` of 0 to 255 to what the network takes.
    tolerate
        Share of damaged pictures above which it is an error.
    """

    def __init__(
        self,
        folder: Path,
        names: Names,
        rows: Codes,
        damaged: Tensor,
        *,
        size: int,
        transform: Transform,
        tolerate: float,
    ) -> None:
        self._folder, self._names, self._rows, self._damaged = folder, names, rows, damaged
        self._size, self._transform, self._tolerate = size, transform, tolerate

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        # This ends: it is an error where all of them turn out to be damaged.
        while True:
            row = int(self._rows[index])
            if not self._damaged[row]:
                try:
                    return self._transform(decode(self._folder / self._names[index].decode(), self._size)), row
                except DamagedPictureError as error:
                    self._report(row, error)
            index = (index + 1) % len(self)

    def _report(self, row: int, error: DamagedPictureError) -> None:
        self._damaged[row] = 1
        count = int(self._damaged[self._rows].sum())
        if count > self._tolerate * len(self) or count == len(self):
            raise P4FError(
                f"{count} of {len(self)} pictures are damaged, and tolerate= allows a share of {self._tolerate:g}; "
                f"the last one is {error}"
            ) from None
        warnings.warn(DamagedPictureWarning(f"{error}; another picture takes its place"), stacklevel=3)
