"""Small pictures of faces, drawn here: the face study's data for those who do not have CelebA's.

Everything is known about them: what is in the picture, what was recorded, and the exact parameters of the bias between
the two. They need no file, no network and no graphics card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from problog4fairness.errors import P4FError
from studies.data.faces.drawing import RANGES, draw, look
from studies.data.faces.labels import LABEL_NUMBERS, checked_rates, draw_labels
from studies.data.faces.protocol import ATTRIBUTES, Codes, Floats, Part, audit_frame, partition_rows
from studies.data.numbers import whole_number

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

BLOCK = 128  # faces that share a random generator, and that are drawn at once because they fit into the cache
SMALLEST, LARGEST = 16, 256  # pixels along a side
MIDDLE, SPREAD = 0.45, 0.25  # of the brightness, roughly; a network gets (brightness - MIDDLE) / SPREAD


@dataclass(frozen=True, eq=False)
class FaceData:
    """Drawn faces; see :class:`Faces` for what they share with photographed ones.

    Attributes
    ----------
    images
        ``[rows, channels, size, size]``, 0 to 255.
    attributes
        Columns high_cheekbones, blurry and smiling, 0 or 1.
    fair, recorded
        1 where the mouth is slightly open, and where it was recorded as slightly open.
    partition
        0 to train (70%), 1 to validate (15%), 2 to test (15%).
    rates
        The true parameters of the three biases, by the names that ``chain`` gives them.
    """

    images: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
    attributes: pd.DataFrame
    fair: Codes
    recorded: Codes
    partition: Codes
    rates: dict[str, float]

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        channels, height, width = self.shape
        return f"FaceData({len(self)} faces, {channels} x {height} x {width})"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of a picture."""
        channels, height, width = self.images.shape[1:]
        return channels, height, width

    @property
    def problems(self) -> list[str]:
        """None: drawn faces are always whole."""
        return []

    def rows(self, partition: Part | None = None) -> Codes:
        """The rows of a partition, or all."""
        return partition_rows(self.partition, partition)

    def audit(self, partition: Part | None = "train") -> pd.DataFrame:
        """Attributes, ``recorded`` and ``fair`` of a partition, to estimate a belief's parameters from."""
        return audit_frame(self, partition)

    def pictures(self, rows: Sequence[int] | Codes) -> Floats:
        """Pictures of these rows for a network, ``[rows, channels, size, size]``: centred, and scaled."""
        scale, middle = np.float32(1 / (255 * SPREAD)), np.float32(MIDDLE / SPREAD)
        return self.images[np.asarray(rows, dtype=np.int64)] * scale - middle

    def dataset(self, partition: Part | None = "train") -> DrawnPictures:
        """The pictures of a partition for a data loader, each with its row."""
        return DrawnPictures(self, self.rows(partition))

    def plot(self, columns: int = 12) -> Figure:
        """A contact sheet: faces that show none of the attributes, each alone, and all of them.

        Parameters
        ----------
        columns
            Faces in each line of the sheet.
        """
        from studies.data.faces.sheet import contact_sheet

        return contact_sheet(self, columns)


class DrawnPictures:
    """Some rows of drawn faces as a map-style dataset; see :class:`PictureDataset`."""

    def __init__(self, faces: FaceData, rows: Codes) -> None:
        self._faces, self._rows = faces, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> tuple[Floats, int]:
        row = int(self._rows[index])
        return self._faces.pictures([row])[0], row


def drawn_faces(
    rows: int = 20_000,
    *,
    size: int = 32,
    channels: int = 3,
    seed: int = 0,
    rates: Mapping[str, float] | None = None,
) -> FaceData:
    """Draw faces.

    They differ in pose, light, skin, hair, size, beard, background and noise. Four attributes are visible: smiling,
    blurry, high cheekbones, and a mouth that is slightly open, which is the label. A face depends on the seed and its
    row alone: more rows keep the first ones, and other rates change nothing but the recorded labels.

    Parameters
    ----------
    rows
        Number of faces.
    size
        Pixels along a side.
    channels
        3 for colour, 1 for grey.
    seed
        Seed of the random numbers.
    rates
        Changes to the strengths of the three biases, by name: ``{"p3_smiling": 0.4}``. p1 and p2 are the chances that
        an open mouth is recorded as closed where the attribute is 1 and where it is 0, p3 and p4 that a closed one is
        recorded as open.

    Examples
    --------
    >>> faces = drawn_faces(rows=200, seed=1)
    >>> faces
    FaceData(200 faces, 3 x 32 x 32)
    >>> faces.audit("train").columns.tolist()
    ['high_cheekbones', 'blurry', 'smiling', 'recorded', 'fair']
    """
    import pandas as pd

    rows, seed = whole_number("rows", rows, least=1), whole_number("seed", seed, least=0)
    size = whole_number("size", size, least=SMALLEST)
    if size > LARGEST:
        raise P4FError(f"size {size} is more than {LARGEST} pixels")
    if channels not in (1, 3):
        raise P4FError(f"channels must be 3 for colour or 1 for grey, not {channels!r}")
    chosen = checked_rates(rates)
    images = np.empty((rows, channels, size, size), dtype=np.uint8)
    blocks = []
    for start in range(0, rows, BLOCK):
        count = min(BLOCK, rows - start)
        rng = np.random.default_rng((seed, start // BLOCK))
        uniform = rng.random((BLOCK, LABEL_NUMBERS + len(RANGES)), dtype=np.float32)[:count]
        labels = draw_labels(uniform[:, :LABEL_NUMBERS], chosen)
        noise = rng.standard_normal((count, size, size), dtype=np.float32)
        images[start : start + count] = draw(look(uniform[:, LABEL_NUMBERS:], labels), size, noise, channels)
        blocks.append(labels)
    columns = {name: np.concatenate([labels[name] for labels in blocks]) for name in blocks[0]}
    return FaceData(
        images=images,
        attributes=pd.DataFrame({name: columns[name] for name in ATTRIBUTES}),
        fair=columns["mouth_slightly_open"],
        recorded=columns["recorded"],
        partition=columns["partition"],
        rates=chosen,
    )
