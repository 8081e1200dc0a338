"""A small folder with CelebA's layout, whose photographs are drawn faces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from studies.data import drawn_faces

COLUMNS = {"High_Cheekbones": 19, "Blurry": 10, "Smiling": 31, "Mouth_Slightly_Open": 21}


def write_celeba(folder: Path, count: int = 90) -> None:
    """Write pictures, attributes and cleaned labels; attributes that the study does not use are all -1."""
    faces = drawn_faces(count, size=16)
    names = [f"{number:06}.jpg" for number in range(1, count + 1)]
    header = [next((name for name, at in COLUMNS.items() if at == place), f"Other_{place}") for place in range(40)]
    signs = np.full((count, 40), -1)
    for place, values in zip((19, 10, 31), faces.attributes.to_numpy().T, strict=True):
        signs[:, place] = 2 * values - 1
    recorded, cleaned = signs.copy(), signs.copy()
    recorded[:, 21], cleaned[:, 21] = 2 * faces.recorded - 1, 2 * faces.fair - 1
    (folder / "img_align_celeba").mkdir(parents=True)
    (folder / "cleaned_mso_labels").mkdir()
    for name, picture in zip(names, faces.images, strict=True):
        Image.fromarray(picture.transpose(1, 2, 0)).resize((178, 218)).save(folder / "img_align_celeba" / name)
    rows = [f"{name} {' '.join(map(str, row))}" for name, row in zip(names, recorded, strict=True)]
    (folder / "list_attr_celeba.txt").write_text("\n".join([str(count), " ".join(header), *rows]) + "\n")
    rows = [f"{name},{','.join(map(str, row))}" for name, row in zip(names, cleaned, strict=True)]
    (folder / "cleaned_mso_labels" / "label_cleaned_mso.csv").write_text(
        "\n".join(["image_id," + ",".join(header), *rows]) + "\n"
    )
    parts = [f"{name},{part}" for name, part in zip(names, faces.partition, strict=True)]
    (folder / "cleaned_mso_labels" / "partition.csv").write_text("\n".join(["image_id,partition", *parts]) + "\n")
