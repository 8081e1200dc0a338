"""CelebA's layout, made here with a few small pictures, whole and damaged."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from problog4fairness.errors import P4FError
from studies import data
from studies.data.celeba import CelebA, celeba
from studies.data.faces import photographs
from studies.data.faces.photographs import DamagedPictureError, DamagedPictureWarning, decode

FACES = 40
NAMES = [f"{k:06}.jpg" for k in range(1, FACES + 1)]
ALL = [f"Attribute_{k}" for k in range(40)]
for name, place in {"High_Cheekbones": 19, "Blurry": 10, "Smiling": 31, "Mouth_Slightly_Open": 21}.items():
    ALL[place] = name
SIGNS = np.random.default_rng(0).choice([-1, 1], (FACES, 40))
CLEANED = np.random.default_rng(1).choice([-1, 1], FACES)
PARTITION = np.array([0] * 24 + [1] * 8 + [2] * 8)


def write_lists(folder: Path) -> None:
    lines = [str(FACES), " ".join(ALL)]
    lines += [f"{name} " + " ".join(f"{v:2}" for v in signs) for name, signs in zip(NAMES, SIGNS, strict=True)]
    (folder / "list_attr_celeba.txt").write_text("\r\n".join(lines) + "\r\n")
    (folder / "list_eval_partition.txt").write_text("".join(f"{name} 2\n" for name in NAMES))
    cleaned = SIGNS.copy()
    cleaned[:, 21] = CLEANED
    rows = [f"{name}," + ",".join(map(str, signs)) for name, signs in zip(NAMES, cleaned, strict=True)]
    (folder / "cleaned_mso_labels").mkdir()
    (folder / "cleaned_mso_labels/label_cleaned_mso.csv").write_text(
        "image_id," + ",".join(ALL) + "\n" + "\n".join(rows) + "\n"
    )
    parts = "".join(f"{name},{part}\n" for name, part in zip(NAMES, PARTITION, strict=True))
    (folder / "cleaned_mso_labels/partition.csv").write_text("image_id,partition\n" + parts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "celeba"
    (place / "img_align_celeba").mkdir(parents=True)
    write_lists(place)
    for k, name in enumerate(NAMES):
        picture = np.full((218, 178, 3), 6 * k, dtype=np.uint8)
        picture[:20] = picture[-20:] = 255  # white above and below the middle square
        Image.fromarray(picture).save(place / "img_align_celeba" / name, quality=95)
    return place


def edit(file: Path, line: int, text: str | None) -> None:
    """Replace a line, counted from 1, or take it away."""
    lines = file.read_text().splitlines()
    lines[line - 1 : line] = [] if text is None else [text]
    file.write_text("\n".join(lines) + "\n")


def damaged(folder: Path, **options: object) -> CelebA:
    with pytest.warns(DamagedPictureWarning) as told:
        faces = celeba(folder, tolerate=0.2, **options)  # type: ignore[arg-type]
    assert len(told) == 1
    assert "\n" not in str(told[0].message)
    assert faces.problems[0] in str(told[0].message)
    assert told[0].filename == __file__
    return faces


def names_of(faces: CelebA) -> list[str]:
    return [name.decode() for name in faces.names]


def test_labels_are_those_of_the_files(folder: Path):
    faces = celeba(folder)
    assert names_of(faces) == NAMES
    assert faces.problems == []
    assert faces.attributes.columns.tolist() == ["high_cheekbones", "blurry", "smiling"]
    assert np.array_equal(faces.attributes.to_numpy(), SIGNS[:, [19, 10, 31]] == 1)
    assert np.array_equal(faces.recorded, SIGNS[:, 21] == 1)
    assert np.array_equal(faces.fair, CLEANED == 1)
    assert np.array_equal(faces.partition, PARTITION)
    assert faces.rows("validation").tolist() == list(range(24, 32))
    audit = faces.audit()
    assert len(audit) == 24
    assert np.array_equal(audit["fair"], faces.fair[:24])
    assert np.array_equal(audit["recorded"], faces.recorded[:24])


def test_folder_is_found_by_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("P4F_DATA", str(folder.parent))
    assert len(data.celeba()) == FACES


def test_images_dropped_from_the_cleaned_labels_are_no_problem(folder: Path):
    edit(folder / "cleaned_mso_labels/label_cleaned_mso.csv", 4, None)
    edit(folder / "cleaned_mso_labels/partition.csv", 4, None)
    faces = celeba(folder)
    assert names_of(faces) == [name for name in NAMES if name != "000003.jpg"]
    assert faces.problems == []


def test_partition_file_may_be_at_the_top_or_be_celebas_own(folder: Path):
    (folder / "cleaned_mso_labels/partition.csv").rename(folder / "partition.csv")
    assert np.array_equal(celeba(folder).partition, PARTITION)
    (folder / "partition.csv").unlink()
    assert set(celeba(folder).partition) == {2}


def test_pictures_are_the_middle_square_scaled_for_imagenet(folder: Path):
    faces = celeba(folder, size=16)
    assert faces.shape == (3, 16, 16)
    pictures = faces.pictures([5, 0])
    assert pictures.dtype == np.float32
    expected = (30 / 255 - np.array([0.485, 0.456, 0.406])) / np.array([0.229, 0.224, 0.225])
    # Nothing of the white bands at the top and at the bottom is left, but for what JPEG smears.
    assert np.abs(pictures[0, :, 1:-1] - expected[:, None, None]).max() < 0.05
    picture, row = faces.dataset("test")[-1]
    assert row == FACES - 1
    assert np.array_equal(picture, faces.pictures([row])[0])


def brightness(image: np.ndarray) -> np.ndarray:
    return np.float32(image.mean())[None, None, None]


def test_own_transform(folder: Path):
    values = celeba(folder, size=8, transform=brightness).pictures([1, 2])
    assert values.ravel() == pytest.approx([6, 12], abs=2)


def test_nothing_is_decoded_before_it_is_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch):
    decoded: list[str] = []
    real = photographs.decode
    monkeypatch.setattr(photographs, "decode", lambda file, size: decoded.append(file.name) or real(file, size))
    dataset = celeba(folder, size=8).dataset("train")
    assert decoded == []
    assert dataset[3][1] == 3
    assert decoded == ["000004.jpg"]


@pytest.mark.parametrize(
    ("file", "line", "text", "named", "lost"),
    [
        ("list_attr_celeba.txt", 7, "000005.jpg 1 -1 1", "list_attr_celeba.txt:7: 000005.jpg has 3 values, not 40", 4),
        ("list_attr_celeba.txt", 7, "000005.jpg " + "2 " * 40, "list_attr_celeba.txt:7: '2' of 000005.jpg", 4),
        ("list_attr_celeba.txt", 7, "../x.jpg " + "1 " * 40, "'../x.jpg' is not the name of an image", 4),
        ("list_attr_celeba.txt", 7, None, "000005.jpg has no usable line in list_attr_celeba.txt", 4),
        ("list_attr_celeba.txt", 1, "41", "list_attr_celeba.txt:1: the first line says 41 images, but 40 follow", None),
        ("cleaned_mso_labels/label_cleaned_mso.csv", 6, "000005.jpg,1", "label_cleaned_mso.csv:6: 000005.jpg has 1", 4),
        ("cleaned_mso_labels/label_cleaned_mso.csv", 6, None, "000005.jpg has no usable line in the cleaned labels", 4),
        (
            "cleaned_mso_labels/partition.csv",
            6,
            "000005.jpg,3",
            "partition.csv:6: '3' of 000005.jpg is not one of 0",
            4,
        ),
        ("cleaned_mso_labels/partition.csv", 6, "000004.jpg,0", "partition.csv:6: 000004.jpg occurs twice", 4),
        ("cleaned_mso_labels/partition.csv", 6, None, "000005.jpg has no usable line in the list of partitions", 4),
    ],
)
def test_bad_line_is_named_and_left_out(
    folder: Path, file: str, line: int, text: str | None, named: str, lost: int | None
):
    edit(folder / file, line, text)
    faces = damaged(folder)
    assert any(named in problem for problem in faces.problems)
    assert names_of(faces) == [name for k, name in enumerate(NAMES) if k != lost]


def test_missing_and_truncated_pictures_are_named_and_left_out(folder: Path):
    images = folder / "img_align_celeba"
    (images / "000002.jpg").unlink()
    whole = (images / "000003.jpg").read_bytes()
    (images / "000003.jpg").write_bytes(whole[: len(whole) // 2])
    (images / "000004.jpg").write_bytes(b"")
    (images / "000006.jpg").write_bytes(b"<html>quota exceeded</html>")
    (images / "000007.jpg").unlink()
    os.mkfifo(images / "000007.jpg")  # opening it would never end
    (images / "000008.jpg").unlink()
    (images / "000008.jpg").symlink_to("000008.jpg")
    faces = damaged(folder)
    assert faces.problems == [
        "img_align_celeba/000002.jpg is missing",
        "img_align_celeba/000007.jpg is missing",
        "img_align_celeba/000008.jpg is missing",
        "img_align_celeba/000003.jpg is not a whole JPEG",
        "img_align_celeba/000004.jpg is not a whole JPEG",
        "img_align_celeba/000006.jpg is not a whole JPEG",
    ]
    assert names_of(faces) == [name for name in NAMES if name[5] not in "234678" or name[4] != "0"]


def test_too_many_problems_are_an_error(folder: Path):
    for name in NAMES[:3]:
        (folder / "img_align_celeba" / name).unlink()
    with pytest.raises(
        P4FError, match=r"3 of 40 faces cannot be used, .* 0.05: img_align_celeba/000001.jpg is missing"
    ):
        celeba(folder, tolerate=0.05)


def break_inside(folder: Path, *names: str) -> None:
    """Damage the middle of pictures, and leave their ends as they are."""
    for name in names:
        file = folder / "img_align_celeba" / name
        content = file.read_bytes()
        file.write_bytes(content[:25] + b"\xff\xd9")


def test_picture_that_fails_later_is_replaced_and_named_once(folder: Path):
    break_inside(folder, "000002.jpg", "000024.jpg")
    faces = celeba(folder, size=8, tolerate=0.2)
    assert faces.problems == []
    dataset = faces.dataset("train")
    with pytest.warns(DamagedPictureWarning, match=r"000002\.jpg: .*; another picture takes its place"):
        picture, row = dataset[1]
    assert row == 2
    assert np.array_equal(picture, faces.pictures([2])[0])
    assert dataset[1][1] == 2  # without a second warning, which would be an error here
    with pytest.warns(DamagedPictureWarning, match=r"000024\.jpg"):
        assert dataset[23][1] == 0  # the next one, from the beginning
    assert faces.problems == ["img_align_celeba/000002.jpg is damaged", "img_align_celeba/000024.jpg is damaged"]
    with pytest.raises(DamagedPictureError, match=r"000002\.jpg"):
        faces.pictures([1])
    with pytest.raises(IndexError):
        dataset[24]


def test_too_many_pictures_that_fail_later_are_an_error(folder: Path):
    break_inside(folder, *NAMES[:3])
    dataset = celeba(folder, size=8, tolerate=0.1).dataset("train")
    with (
        pytest.warns(DamagedPictureWarning),
        pytest.raises(P4FError, match=r"3 of 24 pictures are damaged, and tolerate= allows a share of 0.1; .*000003"),
    ):
        dataset[0]


def test_all_pictures_damaged_is_an_error_even_where_all_is_tolerated(folder: Path):
    break_inside(folder, *NAMES[32:])
    dataset = celeba(folder, size=8, tolerate=1).dataset("test")
    with pytest.warns(DamagedPictureWarning), pytest.raises(P4FError, match="8 of 8 pictures are damaged"):
        dataset[3]


def test_data_loader_with_workers(folder: Path):
    from torch.utils.data import DataLoader

    break_inside(folder, "000005.jpg")
    faces = celeba(folder, size=8, tolerate=0.2)
    loader = DataLoader(faces.dataset("train"), batch_size=6, num_workers=2)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the workers inherit it; what they say goes to their own standard error
        batches = list(loader)
    assert [tuple(pictures.shape) for pictures, _ in batches] == [(6, 3, 8, 8)] * 4
    rows = np.concatenate([rows.numpy() for _, rows in batches])
    assert rows.tolist() == [0, 1, 2, 3, 5, *range(5, 24)]
    assert np.array_equal(batches[1][0].numpy(), faces.pictures(rows[6:12]))
    assert faces.problems == ["img_align_celeba/000005.jpg is damaged"]


def test_dataset_pickles_small_and_whole(folder: Path):
    dataset = celeba(folder, size=8).dataset("test")
    content = pickle.dumps(dataset)
    assert len(content) < 3000
    assert np.array_equal(pickle.loads(content)[2][0], dataset[2][0])


def test_absurd_pictures_are_refused(tmp_path: Path):
    huge, bomb, tiny, png = (tmp_path / name for name in ("huge.jpg", "bomb.jpg", "tiny.jpg", "png.jpg"))
    Image.new("L", (3000, 3000)).save(huge)
    content = bytearray(huge.read_bytes())
    frame = content.index(b"\xff\xc0") + 5
    content[frame : frame + 4] = b"\xff\xdc\xff\xdc"  # says 65500 x 65500 pixels
    bomb.write_bytes(content)
    Image.new("RGB", (4, 300)).save(tiny)
    Image.new("RGB", (50, 50)).save(png, format="PNG")
    for file, reason in ((huge, "3000 x 3000"), (bomb, "exceeds limit"), (tiny, "4 x 300"), (png, "cannot identify")):
        with pytest.raises(DamagedPictureError, match=rf"{file.name}: .*{reason}") as told:
            decode(file, 32)
        assert "\n" not in str(told.value)


def test_grey_pictures_become_colour(tmp_path: Path):
    Image.new("L", (50, 60), 100).save(tmp_path / "grey.jpg")
    assert decode(tmp_path / "grey.jpg", 10).tolist() == np.full((3, 10, 10), 100).tolist()


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        ("list_attr_celeba.txt", "list_attr_celeba.txt is missing"),
        ("cleaned_mso_labels/label_cleaned_mso.csv", "label_cleaned_mso.csv is missing"),
        ("img_align_celeba", "img_align_celeba cannot be listed"),
    ],
)
def test_missing_file_says_where_to_get_it(folder: Path, missing: str, named: str):
    (folder / missing).rename(folder / "elsewhere")
    with pytest.raises(P4FError, match=rf"{named}.* CelebA project .* Wu et al.* put them in a folder 'celeba'"):
        celeba(folder)


def test_no_partition_at_all(folder: Path):
    (folder / "cleaned_mso_labels/partition.csv").unlink()
    (folder / "list_eval_partition.txt").unlink()
    with pytest.raises(P4FError, match=r"partition\.csv is missing; get "):
        celeba(folder)


def test_missing_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(P4FError, match=r"there is no folder .* P4F_DATA"):
        celeba(tmp_path / "nowhere")
    monkeypatch.delenv("P4F_DATA", raising=False)
    with pytest.raises(P4FError, match=r"the CelebA data are not here: get .* set P4F_DATA"):
        celeba()


@pytest.mark.parametrize(
    ("file", "line", "text", "named"),
    [
        (
            "list_attr_celeba.txt",
            2,
            "Smiling Blurry",
            "list_attr_celeba.txt:2: there is no attribute 'High_Cheekbones'",
        ),
        ("cleaned_mso_labels/label_cleaned_mso.csv", 1, "a,b", "csv:1: there is no column 'Mouth_Slightly_Open'"),
        ("cleaned_mso_labels/partition.csv", 1, "a,b", "partition.csv:1: the first line is 'a,b'"),
    ],
)
def test_wrong_header_is_an_error(folder: Path, file: str, line: int, text: str, named: str):
    edit(folder / file, line, text)
    with pytest.raises(P4FError, match=named):
        celeba(folder)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"size": 4}, "size must be"),
        ({"size": 4096}, "2048"),
        ({"check": "x"}, "check"),
        ({"tolerate": 2}, "tolerate 2"),
    ],
)
def test_options_are_checked(folder: Path, options: dict[str, object], named: str):
    with pytest.raises(P4FError, match=named):
        celeba(folder, **options)  # type: ignore[arg-type]


def test_import_needs_neither_torch_nor_pillow():
    code = "import sys, studies.data as d; d.celeba; print([m for m in ('torch', 'PIL') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
