"""Drawn faces: what is said of them is in the pixels, and the recorded labels are distorted as stated."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from problog4fairness.errors import P4FError
from studies.data import FaceData, Faces, drawn_faces
from studies.data.faces.drawing import RANGES, draw, look
from studies.data.faces.labels import (
    LABEL_NUMBERS,
    RATES,
    decisions,
    draw_labels,
    recorded_chances,
    shares,
)
from studies.data.faces.protocol import ATTRIBUTES

VISIBLE = (*ATTRIBUTES, "mouth_slightly_open")


@pytest.fixture(scope="module")
def faces() -> FaceData:
    return drawn_faces(600, seed=3)


@pytest.fixture(scope="module")
def many() -> dict[str, np.ndarray]:
    """Labels of many faces, without pictures."""
    uniform = np.random.default_rng(5).random((400_000, LABEL_NUMBERS), dtype=np.float32)
    return draw_labels(uniform, RATES)


def pictures_with(**ones: int) -> np.ndarray:
    """The same 64 people, cameras and noise, with the attributes that are asked for: grey levels from 0 to 1."""
    rng = np.random.default_rng(1)
    uniform = rng.random((64, len(RANGES)), dtype=np.float32)
    noise = rng.standard_normal((64, 32, 32), dtype=np.float32)
    values = {name: np.full(64, ones.get(name, 0), dtype=np.int64) for name in VISIBLE}
    return draw(look(uniform, values), 32, noise, 1)[:, 0] / 255


def test_shapes_and_types(faces: FaceData):
    assert len(faces) == 600
    assert faces.images.shape == (600, 3, 32, 32)
    assert faces.images.dtype == np.uint8
    assert faces.shape == (3, 32, 32)
    assert tuple(faces.attributes.columns) == ATTRIBUTES
    for values in (*faces.attributes.to_numpy().T, faces.fair, faces.recorded):
        assert set(values) == {0, 1}
    assert faces.problems == []


def test_partitions_share_out_all_rows(faces: FaceData):
    parts = [faces.rows(name) for name in ("train", "validation", "test")]
    assert sorted(np.concatenate(parts)) == list(range(600)) == faces.rows().tolist()
    assert [len(rows) / 600 for rows in parts] == pytest.approx([0.7, 0.15, 0.15], abs=0.05)
    assert [set(faces.partition[rows]) for rows in parts] == [{0}, {1}, {2}]
    with pytest.raises(P4FError, match="there is no partition 'training'; there are train, validation, test"):
        faces.rows("training")  # type: ignore[arg-type]


def test_same_seed_same_faces_and_more_rows_keep_the_first(faces: FaceData):
    more = drawn_faces(700, seed=3)
    fewer = drawn_faces(200, seed=3)
    for other, count in ((more, 600), (fewer, 200)):
        assert np.array_equal(other.images[:count], faces.images[:count])
        assert other.attributes[:count].equals(faces.attributes[:count])
        for name in ("fair", "recorded", "partition"):
            assert np.array_equal(getattr(other, name)[:count], getattr(faces, name)[:count])
    assert not np.array_equal(drawn_faces(200, seed=4).images, fewer.images)


def test_other_rates_change_the_recorded_labels_alone(faces: FaceData):
    honest = drawn_faces(600, seed=3, rates=dict.fromkeys(RATES, 0.0))
    assert np.array_equal(honest.recorded, honest.fair)
    assert np.array_equal(honest.images, faces.images)
    assert np.array_equal(honest.fair, faces.fair)
    assert not np.array_equal(faces.recorded, faces.fair)


def test_faces_differ_in_light_skin_and_place(faces: FaceData):
    sharp = faces.images[faces.attributes["blurry"] == 0].astype(float) / 255
    assert sharp.mean(axis=(1, 2, 3)).std() > 0.08
    assert sharp[:, 0, 14:18, 14:18].mean(axis=(1, 2)).std() > 0.1
    assert 0.2 < sharp.mean() < 0.7
    assert ((faces.images == 0) | (faces.images == 255)).mean() < 0.15


@pytest.mark.parametrize("name", VISIBLE)
def test_attribute_is_visible_in_the_pixels(name: str):
    without, shown = pictures_with(), pictures_with(**{name: 1})
    change = np.abs(shown - without)
    # Visible in everybody: at the least, several pixels change by more than the noise does.
    assert np.sort(change.reshape(64, -1), axis=1)[:, -3:].mean(axis=1).min() > 0.02
    assert np.median(change.max(axis=(1, 2))) > 0.1


def test_blurry_pictures_have_weaker_edges_than_noise_hides():
    def edges(pictures: np.ndarray) -> np.ndarray:
        smooth = (pictures[:, 1:] + pictures[:, :-1])[:, :, 1:] + (pictures[:, 1:] + pictures[:, :-1])[:, :, :-1]
        return np.abs(np.diff(smooth / 4, axis=1)).mean(axis=(1, 2))

    assert (edges(pictures_with(blurry=1)) < edges(pictures_with())).all()


def test_open_mouth_is_darker_or_has_teeth_and_nothing_else_changes():
    change = np.abs(pictures_with(mouth_slightly_open=1) - pictures_with())
    assert change[:, :12].max() == 0  # the upper part of the face
    assert (change.max(axis=(1, 2)) > 0).all()


def test_smiling_faces_have_other_mouths_not_other_hair():
    change = np.abs(pictures_with(smiling=1) - pictures_with())
    assert change[:, :2].mean() < 0.001 < change[:, 16:].mean()


def test_grey_pictures_are_the_coloured_ones_without_colour():
    colour, grey = drawn_faces(50), drawn_faces(50, channels=1)
    assert grey.shape == (1, 32, 32)
    mixed = np.einsum("nchw,c->nhw", colour.images.astype(float), [0.299, 0.587, 0.114])
    assert np.abs(mixed - grey.images[:, 0]).mean() < 1.5


def test_larger_pictures_show_the_same_faces():
    small, large = (drawn_faces(40, size=size).images.astype(float) for size in (32, 64))
    shrunk = large.reshape(40, 3, 32, 2, 32, 2).mean(axis=(3, 5))
    assert np.corrcoef(small.ravel(), shrunk.ravel())[0, 1] > 0.95


def test_shares_of_attributes_and_label(many: dict[str, np.ndarray]):
    expected = shares()
    assert expected.sum() == pytest.approx(1)
    for cell in product((0, 1), repeat=4):
        found = np.logical_and.reduce([many[name] == value for name, value in zip(VISIBLE, cell, strict=True)])
        assert found.mean() == pytest.approx(expected[cell], abs=0.004)


def test_recorded_labels_follow_the_stated_rates(many: dict[str, np.ndarray]):
    expected = recorded_chances()
    for cell in product((0, 1), repeat=4):
        found = np.logical_and.reduce([many[name] == value for name, value in zip(VISIBLE, cell, strict=True)])
        assert many["recorded"][found].mean() == pytest.approx(expected[cell], abs=2.5 / np.sqrt(found.sum()))


def test_stated_rates_are_those_of_the_chain():
    """The same table from the belief itself, compiled from its ProbLog program."""
    from problog4fairness import LabelBias, chain

    stages = []
    for name in ATTRIBUTES:
        p1, p2, p3, p4 = (RATES[f"p{k}_{name}"] for k in (1, 2, 3, 4))
        stages.append(LabelBias(name, negative={1: p1, 0: p2}, positive={1: p3, 0: p4}))
    belief = chain(*stages)
    assert {rate.name: rate.value for rate in belief.parameters} == RATES
    table = belief.label_table()
    assert table is not None
    assert np.asarray(table)[..., 1].reshape(2, 2, 2, 2) == pytest.approx(recorded_chances())


def test_smiling_raises_open_mouths_and_cheekbones_in_the_fair_data(many: dict[str, np.ndarray]):
    def disparity(label: str, name: str) -> float:
        return many[label][many[name] == 1].mean() - many[label][many[name] == 0].mean()

    assert disparity("high_cheekbones", "smiling") > 0.3
    fair = {name: disparity("mouth_slightly_open", name) for name in ATTRIBUTES}
    assert fair["smiling"] > 0.25
    assert min(fair.values()) > 0.05
    for name in ATTRIBUTES:  # the bias moves each of them
        assert abs(disparity("recorded", name) - fair[name]) > 0.1


def accuracy_through(*modelled: str) -> float:
    decided = decisions(modelled)
    return float((shares() * np.stack([1 - decided[..., 0], decided[..., 1]], axis=-1)).sum())


def disparities(decided: np.ndarray) -> np.ndarray:
    """Of decisions, for each attribute."""
    joint = shares()
    ones, rest = zip(*((joint.take(1, axis=k), joint.take(0, axis=k)) for k in range(3)), strict=True)
    yes = [[decided.take(value, axis=k) for value in (1, 0)] for k in range(3)]
    return np.array(
        [(ones[k] * yes[k][0]).sum() / ones[k].sum() - (rest[k] * yes[k][1]).sum() / rest[k].sum() for k in range(3)]
    )


def test_rates_hurt_the_lower_baseline_and_each_attribute_wins_a_part_back():
    lower, upper = accuracy_through(), accuracy_through(*ATTRIBUTES)
    single = [accuracy_through(name) for name in ATTRIBUTES]
    assert lower == pytest.approx(0.84, abs=0.01)
    assert upper == pytest.approx(0.99, abs=0.01)
    assert lower + 0.05 < min(single) <= max(single) < upper - 0.05
    # Where the recorded label says little about the fair one, nothing can be learnt.
    chances = recorded_chances()
    assert (chances[..., 1] - chances[..., 0]).min() > 0.2


def test_disparities_are_wrong_before_and_right_after_all_corrections():
    fair = disparities(np.broadcast_to([0.0, 1.0], (2, 2, 2, 2)))
    assert (np.abs(disparities(decisions(())) - fair) > 0.2).all()
    assert (np.abs(disparities(decisions(ATTRIBUTES)) - fair) < 0.02).all()


def test_pictures_are_centred_and_scaled(faces: FaceData):
    pictures = faces.pictures(faces.rows("train"))
    assert pictures.dtype == np.float32
    assert abs(pictures.mean()) < 0.3
    assert 0.7 < pictures.std() < 1.3
    picture, row = faces.dataset("test")[4]
    assert row == faces.rows("test")[4]
    assert np.array_equal(picture, faces.pictures([row])[0])


def test_data_loader_gives_pictures_and_rows(faces: FaceData):
    from torch.utils.data import DataLoader

    pictures, rows = next(iter(DataLoader(faces.dataset("validation"), batch_size=5)))  # type: ignore[arg-type]
    assert tuple(pictures.shape) == (5, 3, 32, 32)
    assert rows.tolist() == faces.rows("validation")[:5].tolist()


def test_audit_has_what_estimation_needs(faces: FaceData):
    audit = faces.audit("train")
    assert audit.columns.tolist() == [*ATTRIBUTES, "recorded", "fair"]
    assert audit.index.tolist() == faces.rows("train").tolist()
    assert np.array_equal(audit["fair"], faces.fair[audit.index])


def test_both_kinds_of_face_data_have_the_same_interface(faces: FaceData):
    def names_of(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")} | {"__len__"}

    from studies.data import CelebA

    for kind in (FaceData, CelebA):
        assert names_of(Faces) <= set(dir(kind)) | set(kind.__dataclass_fields__)


@pytest.mark.parametrize("channels", [1, 3])
def test_contact_sheet(tmp_path: Path, channels: int):
    figure = drawn_faces(300, channels=channels).plot(columns=4)
    assert [axes.get_ylabel() for axes in figure.axes][1:4] == ["smiling", "blurry", "high\ncheekbones"]
    shown = figure.axes[0].images[0].get_array()
    assert shown is not None
    assert shown.shape[:2] == (32, 4 * 33)
    figure.savefig(tmp_path / "sheet.png")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"rows": 0}, "rows must be a whole number of 1 or more, not 0"),
        ({"size": 8}, "size must be a whole number of 16 or more"),
        ({"size": 1000}, "size 1000 is more than 256 pixels"),
        ({"channels": 2}, "channels must be 3 for colour or 1 for grey, not 2"),
        ({"seed": -1}, "seed must be"),
        ({"rates": {"p5_smiling": 0.1}}, "there is no rate 'p5_smiling'; there are p1_high_cheekbones"),
        ({"rates": {"p1_smiling": 1.5}}, "rate 1.5 of p1_smiling is not between 0 and 1"),
    ],
)
def test_options_are_checked(options: dict[str, object], named: str):
    with pytest.raises(P4FError, match=named):
        drawn_faces(**{"rows": 10, **options})  # type: ignore[arg-type]
