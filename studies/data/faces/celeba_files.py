"""CelebA's lists and the cleaned mouth labels: read line by line, each line that is wrong named and left out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from problog4fairness.errors import P4FError

IMAGES = "img_align_celeba"
ATTRIBUTE_LIST = "list_attr_celeba.txt"
PARTITION_LIST = "list_eval_partition.txt"
CLEANED = "cleaned_mso_labels/label_cleaned_mso.csv"
CLEANED_PARTITION = ("cleaned_mso_labels/partition.csv", "partition.csv")

MOUTH = "Mouth_Slightly_Open"
MOUTH_PLACE = 22  # among the columns of the cleaned labels, which are in CelebA's order

CELEBA_SOURCE = "the CelebA project of the Multimedia Laboratory of CUHK"
CLEANED_SOURCE = (
    "Wu et al., Consistency and Accuracy of CelebA Attribute Values (2023), the GitHub repository CelebAMSO"
)

LARGEST_LIST = 200_000_000  # bytes; the largest of the published lists has 27 million
LARGEST_IMAGE = 20_000_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\.jpe?g")
_SIGN = {"-1": 0, "1": 1}
_PART = {"0": 0, "1": 1, "2": 2}

Problem = Callable[[str], None]


def where_to_get() -> str:
    """Which files there are, whose they are, and where to put them."""
    return (
        f"get {IMAGES}/, {ATTRIBUTE_LIST} and {PARTITION_LIST} from {CELEBA_SOURCE}, and {CLEANED} and partition.csv "
        f"from {CLEANED_SOURCE}; put them in a folder 'celeba' and set P4F_DATA to the folder above it"
    )


def read_attributes(folder: Path, names: Sequence[str], problem: Problem) -> dict[str, tuple[int, ...]]:
    """The named attributes of each image, 0 or 1.

    The first line of the file is the number of images, the second the attributes; then a line ``000001.jpg -1 1 ...``
    for each image.
    """
    file = folder / ATTRIBUTE_LIST
    lines = _lines(file)
    count = next(lines, (1, ""))[1].strip()
    header = next(lines, (2, ""))[1].split()
    absent = [name for name in names if name not in header]
    if absent:
        raise P4FError(f"{file}:2: there is no attribute {absent[0]!r} in the second line; get it from {CELEBA_SOURCE}")
    places = [header.index(name) + 1 for name in names]
    found: dict[str, tuple[int, ...]] = {}
    total = 0
    for number, line in lines:
        fields = line.split()
        if not fields:
            continue
        total += 1
        if len(fields) != len(header) + 1:
            problem(f"{file.name}:{number}: {_short(fields[0])} has {len(fields) - 1} values, not {len(header)}")
            continue
        _keep(found, fields[0], [fields[place] for place in places], _SIGN, f"{file.name}:{number}", problem)
    if count != str(total):
        problem(f"{file.name}:1: the first line says {_short(count)} images, but {total} follow")
    return found


def read_cleaned(folder: Path, problem: Problem) -> dict[str, tuple[int, ...]]:
    """The cleaned mouth label of each image, 0 or 1."""
    file = folder / CLEANED
    lines = _lines(file)
    header = [name.strip() for name in next(lines, (1, ""))[1].split(",")]
    if MOUTH in header:
        place = header.index(MOUTH)
    elif len(header) == 41:
        place = MOUTH_PLACE
    else:
        raise P4FError(f"{file}:1: there is no column {MOUTH!r} in the first line; get it from {CLEANED_SOURCE}")
    return _read_csv(file.name, lines, len(header), place, _SIGN, problem)


def read_partition(folder: Path, problem: Problem) -> dict[str, tuple[int, ...]]:
    """The partition of each image: that of the cleaned labels, or CelebA's own where it is missing."""
    for name in CLEANED_PARTITION:
        file = folder / name
        if file.is_file():
            lines = _lines(file)
            header = next(lines, (1, ""))[1].strip()
            if header != "image_id,partition":
                raise P4FError(f"{file}:1: the first line is {_short(header)!r}, not 'image_id,partition'")
            return _read_csv(file.name, lines, 2, 1, _PART, problem)
    file = folder / PARTITION_LIST
    if not file.is_file():
        raise P4FError(f"{folder / CLEANED_PARTITION[0]} is missing; {where_to_get()}")
    found: dict[str, tuple[int, ...]] = {}
    for number, line in _lines(file):
        fields = line.split()
        if len(fields) == 2:
            _keep(found, fields[0], fields[1:], _PART, f"{file.name}:{number}", problem)
        elif fields:
            problem(f"{file.name}:{number}: {_short(line)} is not an image and its partition")
    return found


def present_images(folder: Path) -> frozenset[str]:
    """Names of the files in the folder of images, by one listing."""
    try:
        with os.scandir(folder / IMAGES) as entries:
            return frozenset(entry.name for entry in entries if _is_file(entry))
    except OSError as error:
        raise P4FError(f"{folder / IMAGES} cannot be listed ({error.strerror}); {where_to_get()}") from None


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a symbolic link that leads to itself
        return False


def whole_images(folder: Path, names: Sequence[str], problem: Problem) -> list[str]:
    """Those images that begin and end as a JPEG does; the others are named."""
    whole = []
    for name in names:
        if _has_both_ends(folder / IMAGES / name):
            whole.append(name)
        else:
            problem(f"{IMAGES}/{name} is not a whole JPEG")
    return whole


def _has_both_ends(file: Path) -> bool:
    """Whether a file begins and ends as a JPEG does; a download that broke off does not."""
    try:
        with file.open("rb") as stream:
            begin = stream.read(3)
            length = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, length - 32))
            # Some writers fill up the last bytes after the end of the picture.
            return begin == b"\xff\xd8\xff" and b"\xff\xd9" in stream.read() and length <= LARGEST_IMAGE
    except OSError:
        return False


def usable_images(
    sources: Sequence[tuple[str, Collection[str]]], images: Collection[str], problem: Problem
) -> list[str]:
    """Images that all lists know and that are there, in order; the others are named.

    CelebA's own lists may know more images than the cleaned ones: those were dropped on purpose.
    """
    cleaned, partition = sources[0][1], sources[1][1]
    usable = []
    for name in sorted({*cleaned, *partition}):
        absent = [source for source, names in sources if name not in names]
        if absent:
            problem(f"{name} has no usable line in {absent[0]}")
        elif name not in images:
            problem(f"{IMAGES}/{name} is missing")
        else:
            usable.append(name)
    return usable


def _read_csv(
    file: str, lines: Iterator[tuple[int, str]], columns: int, place: int, values: dict[str, int], problem: Problem
) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for number, line in lines:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == columns:
            _keep(found, fields[0], [fields[place]], values, f"{file}:{number}", problem)
        elif line.strip():
            problem(f"{file}:{number}: {_short(fields[0])} has {len(fields) - 1} values, not {columns - 1}")
    return found


def _keep(
    found: dict[str, tuple[int, ...]],
    name: str,
    texts: Sequence[str],
    values: dict[str, int],
    place: str,
    problem: Problem,
) -> None:
    # A name becomes a path, so nothing but a plain file name will do.
    wrong = next((text for text in texts if text not in values), None)
    if not _NAME.fullmatch(name):
        problem(f"{place}: {_short(name)!r} is not the name of an image")
    elif wrong is not None:
        problem(f"{place}: {_short(wrong)!r} of {name} is not one of {', '.join(values)}")
    elif name in found:
        problem(f"{place}: {name} occurs twice; the first one counts")
    else:
        found[name] = tuple(values[text] for text in texts)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text file with their numbers."""
    if not file.is_file():
        raise P4FError(f"{file} is missing; {where_to_get()}")
    try:
        if file.stat().st_size > LARGEST_LIST:
            raise P4FError(f"{file} has {file.stat().st_size} bytes, which is too large for a list of CelebA's images")
        with file.open(encoding="utf-8-sig", errors="replace") as stream:
            yield from enumerate(stream, 1)
    except OSError as error:
        raise P4FError(f"{file} cannot be read: {error.strerror}") from None


def _short(text: str) -> str:
    text = text.strip()
    return text if len(text) <= 40 else text[:40] + "..."
