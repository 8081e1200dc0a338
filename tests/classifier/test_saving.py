"""Saving and loading: the identity, and nothing runs."""

from __future__ import annotations

import hashlib
import json
import zipfile

import numpy as np
import pytest
import safetensors.torch
import torch

import problog4fairness as p4f
from problog4fairness.classifier.parts import ModelFileError
from tests.classifier.data import QUICK, loans

BELIEFS = {
    "none": None,
    "label": p4f.LabelBias("area", {1: 0.5}, False, groups=[1]),
    "chain": p4f.chain(p4f.MeasurementBias(["q0"], "area", 0.2, 0.1), p4f.LabelBias("area", 0.2, 0.1)),
    "historical": p4f.HistoricalBias(["q0", "q1"], "area", 0.2, False),
    "program": p4f.ProgramMechanism(
        "nn(h,X)::y(X). nn(area,X)::a(X). 0.3::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x)."
    ),
}


@pytest.fixture(scope="module", params=list(BELIEFS))
def model(request):
    frame, area, _, recorded = loans(600)
    frame = frame.assign(area=area)
    options = {**QUICK, "max_epochs": 3}
    return p4f.DebiasedClassifier(BELIEFS[request.param], **options).fit(frame, recorded), frame


def test_saving_and_loading_is_the_identity(model, tmp_path):
    classifier, frame = model
    classifier.save(tmp_path / "loans.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "loans.p4f")
    np.testing.assert_array_equal(again.predict_proba(frame), classifier.predict_proba(frame))
    np.testing.assert_array_equal(again.predict(frame), classifier.predict(frame))
    np.testing.assert_array_equal(again.predict_recorded_proba(frame), classifier.predict_recorded_proba(frame))
    assert again.mechanism == classifier.mechanism_
    assert again.history_ == classifier.history_
    assert {k: v for k, v in again.get_params().items() if k != "mechanism"} == {
        k: v for k, v in classifier.get_params().items() if k != "mechanism"
    }
    assert [p.name for p in tmp_path.iterdir()] == ["loans.p4f"]


@pytest.fixture
def saved(tmp_path):
    frame, area, _, recorded = loans(300)
    path = tmp_path / "loans.p4f"
    p4f.DebiasedClassifier(BELIEFS["label"], **{**QUICK, "max_epochs": 1}).fit(
        frame, recorded, sensitive_features=area
    ).save(path)
    return path


def rewritten(path, change, sealed=True):
    """Change the parts of a file; its checksums are made again, as somebody hostile would."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    if sealed:
        sums = [f"{hashlib.sha256(parts[name]).hexdigest()}  {name}\n" for name in parts if name != "SHA256SUMS"]
        parts["SHA256SUMS"] = "".join(sums).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def in_manifest(path, change):
    """Change the manifest; ``change`` is new values, or a function that changes it."""

    def edit(parts):
        manifest = json.loads(parts["manifest.json"])
        manifest.update(change) if isinstance(change, dict) else change(manifest)
        parts["manifest.json"] = json.dumps(manifest).encode()

    rewritten(path, edit)


def test_the_file_can_be_read_by_a_person(saved):
    with zipfile.ZipFile(saved) as archive:
        assert archive.namelist() == ["SHA256SUMS", "manifest.json", "program.pl", "weights.safetensors"]
        assert archive.read("program.pl").decode() == str(BELIEFS["label"])
        manifest = json.loads(archive.read("manifest.json"))
        sums = archive.read("SHA256SUMS").decode()
        digest = hashlib.sha256(archive.read("program.pl")).hexdigest()
    assert f"{digest}  program.pl\n" in sums
    assert manifest["mechanism"]["rates"][0]["value"] == 0.5
    assert {"torch", "problog"} <= set(manifest["versions"])


def test_equal_trainings_give_equal_bytes(saved, tmp_path, monkeypatch):
    frame, area, _, recorded = loans(300)
    monkeypatch.setattr("time.time", lambda: 2e9)
    again = p4f.DebiasedClassifier(BELIEFS["label"], **{**QUICK, "max_epochs": 1})
    again.fit(frame, recorded, sensitive_features=area).save(tmp_path / "again.p4f")
    assert (tmp_path / "again.p4f").read_bytes() == saved.read_bytes()
    p4f.DebiasedClassifier.load(saved).save(tmp_path / "loaded.p4f")
    assert (tmp_path / "loaded.p4f").read_bytes() == saved.read_bytes()


@pytest.mark.parametrize("name", ["weights.safetensors", "manifest.json", "program.pl"])
def test_a_changed_part_is_refused(saved, name):
    def change(parts):
        parts[name] = parts[name].replace(b"area", b"aria") if name != "weights.safetensors" else parts[name] + b"x"

    rewritten(saved, change, sealed=False)
    with pytest.raises(ModelFileError, match=f"{name} was changed"):
        p4f.DebiasedClassifier.load(saved)


def test_the_checksums_are_for_all_parts_and_nothing_else(saved):
    rewritten(saved, lambda parts: parts.update(SHA256SUMS=parts["SHA256SUMS"] + b"x\n"), sealed=False)
    with pytest.raises(ModelFileError, match="SHA256SUMS was changed"):
        p4f.DebiasedClassifier.load(saved)


def test_a_foreign_or_damaged_file_is_refused(saved, tmp_path):
    content = saved.read_bytes()
    cases = {
        "missing.p4f": None,
        "text.p4f": b"hello",
        "empty.p4f": b"",
        "truncated.p4f": content[: len(content) // 2],
        "more.p4f": content + b"more",
    }
    for name, data in cases.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(ModelFileError, match=name):
            p4f.DebiasedClassifier.load(tmp_path / name)
    with pytest.raises(ModelFileError, match="not a file"):
        p4f.DebiasedClassifier.load(tmp_path)
    rewritten(saved, lambda parts: parts.update({"manifest.json": b'{"format": 99}'}))
    with pytest.raises(ModelFileError, match="format 99"):
        p4f.DebiasedClassifier.load(saved)
    rewritten(saved, lambda parts: parts.update(extra=b""))
    with pytest.raises(ModelFileError, match="format 99"):
        p4f.DebiasedClassifier.load(saved)


def test_further_parts_are_refused(saved):
    rewritten(saved, lambda parts: parts.update(extra=b""))
    with pytest.raises(ModelFileError, match="not a model file"):
        p4f.DebiasedClassifier.load(saved)


def test_a_file_of_the_first_format_is_told(tmp_path):
    with zipfile.ZipFile(tmp_path / "old.p4f", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("manifest.json", "weights.safetensors", "encoder.skops", "program.pl"):
            archive.writestr(name, '{"format": 1}')
    with pytest.raises(ModelFileError, match=r"format 1, this version .* reads 2; train and save the model again"):
        p4f.DebiasedClassifier.load(tmp_path / "old.p4f")


def test_an_encoder_of_another_library_is_neither_written_nor_read(saved):
    from sklearn.feature_extraction.text import CountVectorizer

    model = p4f.DebiasedClassifier.load(saved)
    model.encoder_ = CountVectorizer(input="filename")
    with pytest.raises(p4f.errors.P4FError, match="its encoder or its network is not one of problog4fairness"):
        model.save(saved)
    in_manifest(saved, {"encoder": {"class": "sklearn.feature_extraction.text.CountVectorizer", "input": "filename"}})
    with pytest.raises(ModelFileError, match="its encoder is another one"):
        p4f.DebiasedClassifier.load(saved)


def test_options_and_labels_of_all_kinds_come_back(tmp_path):
    frame, area, _, recorded = loans(200)
    words = np.where(recorded == 1, "good", "bad")
    for label in (
        recorded,
        recorded.astype(bool),
        recorded.astype(np.int8),
        recorded * 1.0,
        words,
        words.astype(object),
    ):
        options = {"class_weight": dict.fromkeys(np.unique(label).tolist(), 2.0), "favourable": label[0]}
        model = p4f.DebiasedClassifier(**options, max_epochs=1, hidden=[4]).fit(frame, label)
        model.save(tmp_path / "m.p4f")
        again = p4f.DebiasedClassifier.load(tmp_path / "m.p4f")
        assert again.class_weight == model.class_weight
        assert (again.classes_.dtype, again.classes_.tolist()) == (model.classes_.dtype, model.classes_.tolist())
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    dates = np.where(recorded == 1, np.datetime64("2020-01-01"), np.datetime64("2021-01-01"))
    with pytest.raises(p4f.errors.P4FError, match=r"labels of type datetime64.* train on numbers or texts"):
        p4f.DebiasedClassifier(max_epochs=1).fit(frame, dates).save(tmp_path / "m.p4f")


def deep() -> object:
    value: object = 0
    for _ in range(900):
        value = [value]
    return value


@pytest.mark.parametrize(
    "change",
    [
        {"mechanism": {"kind": "LabelBias", "levels": {}}},
        {"mechanism": {"kind": "Nonsense"}},
        {"mechanism": deep()},
        {"mechanism": None},
        {"features": 99},
        {"feature_names": 5},
        {"classes": None},
        {"classes": [1, 1]},
        {"classes": [0, True]},
        {"classes": [0, 1.5]},
        {"classes": [0, [1]]},
        {"classes": [0, 1, 2]},
        {"classes_dtype": "nonsense"},
        {"classes_dtype": "<U400000000"},
        {"classes_dtype": "|O,|O"},
        {"options": []},
        {"columns": [0, 1, 2, 3, 7]},
        {"columns": [0, 1, 2, 3, 3]},
        {"columns": [0, 1, 2, 3]},
        {"columns": [0, 1, 2, 3, -1]},
        {"columns": 5},
        {"seed": "one"},
        {"history": {"training": "long", "validation": []}},
        {"recorded": ["granted"]},
    ],
)
def test_a_hostile_manifest_is_refused_in_one_line(saved, change):
    in_manifest(saved, change)
    with pytest.raises(ModelFileError, match="not a model of this version"):
        p4f.DebiasedClassifier.load(saved)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("options", "hidden", [30_000, 30_000]),
        ("options", "hidden", [1] * 200_000),
        ("options", "hidden", [32, 32]),
        ("options", "hidden", [32, 32, 10**30]),
        ("options", "hidden", [32, 32, -32]),
        ("options", "hidden", 5),
        ("options", "dropout", "much"),
        ("options", "sensitive", [5]),
        ("options", "test_features", "both"),
        ("options", "favourable", [1]),
        ("options", "class_weight", [[1]]),
        ("options", "nonsense", 1),
        ("encoder", "numbers", [0]),
        ("encoder", "numbers", [0, 1, 2, 3, 4]),
        ("encoder", "marked", [4]),
        ("encoder", "categories", [[4, False, ["clerk", "clerk", "nurse"]]]),
        ("encoder", "categories", [[4, False, ["clerk", 5, "nurse"]]]),
        ("encoder", "categories", [[99, False, ["clerk", "nurse", "smith"]]]),
        ("encoder", "categories", [[4, False, ["clerk"] * 3]] * 30_000),
        ("encoder", "categories", 5),
    ],
)
def test_hostile_options_and_encoders_are_refused_in_one_line(saved, part, name, value):
    in_manifest(saved, lambda manifest: manifest[part].update({name: value}))
    with pytest.raises(ModelFileError, match="not a model of this version"):
        p4f.DebiasedClassifier.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"layers.0.weight": lambda t: t * np.nan},
        {"layers.1.bias": lambda t: t + np.inf},
        {"means": lambda t: t * np.nan},
        {"scales": lambda t: t * 0},
        {"layers.1.weight": lambda t: t.reshape(16, 64)},
        {"layers.1.weight": lambda t: t.view(torch.int32)},
        {"layers.1.weight": lambda t: t[:1].clone()},
    ],
)
def test_hostile_weights_are_refused(saved, change):
    def edit(parts):
        tensors = safetensors.torch.load(parts["weights.safetensors"])
        for name, function in change.items():
            tensors[name] = function(tensors[name])
        parts["weights.safetensors"] = safetensors.torch.save(tensors)

    rewritten(saved, edit)
    with pytest.raises(ModelFileError, match="not a model of this version"):
        p4f.DebiasedClassifier.load(saved)


def test_a_belief_with_values_that_are_lists_is_refused(tmp_path):
    frame, area, _, recorded = loans(200)
    belief = p4f.MeasurementBias(["q0"], "area", 0.2, 0.1, values={"q0": (0, 1)})
    model = p4f.DebiasedClassifier(belief, max_epochs=1).fit(frame.assign(area=area), recorded)
    model.save(tmp_path / "m.p4f")
    in_manifest(tmp_path / "m.p4f", lambda manifest: manifest["mechanism"]["values"].update(q0=[0, [1]]))
    with pytest.raises(ModelFileError, match="its values are not plain"):
        p4f.DebiasedClassifier.load(tmp_path / "m.p4f")


def test_a_program_that_is_not_that_of_the_belief_is_refused(saved):
    rewritten(saved, lambda parts: parts.update({"program.pl": parts["program.pl"].replace(b"0.5", b"0.1")}))
    with pytest.raises(ModelFileError, match="its program is not that of its belief"):
        p4f.DebiasedClassifier.load(saved)


def test_functions_cannot_be_saved(tmp_path):
    frame, area, _, recorded = loans(300)
    belief = p4f.ProgramMechanism(BELIEFS["program"].text(), functions={"area": lambda f: np.zeros(len(f))})
    model = p4f.DebiasedClassifier(belief, max_epochs=1).fit(frame, recorded)
    with pytest.raises(p4f.errors.P4FError, match="functions of area cannot be saved"):
        model.save(tmp_path / "m.p4f")
