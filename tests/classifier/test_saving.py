"""Saving and loading: the identity, and nothing runs."""

from __future__ import annotations

import hashlib
import json
import zipfile

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.classifier.saving import ModelFileError
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


def rewritten(path, change):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_the_file_can_be_read_by_a_person(saved):
    with zipfile.ZipFile(saved) as archive:
        assert sorted(archive.namelist()) == ["encoder.skops", "manifest.json", "program.pl", "weights.safetensors"]
        assert archive.read("program.pl").decode() == str(BELIEFS["label"])
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["mechanism"]["rates"][0]["value"] == 0.5
    assert {"torch", "problog"} <= set(manifest["versions"])


@pytest.mark.parametrize("name", ["weights.safetensors", "encoder.skops", "program.pl"])
def test_a_changed_part_is_refused(saved, name):
    def change(parts):
        parts[name] = parts[name][:-1] + bytes([parts[name][-1] ^ 1])

    rewritten(saved, change)
    with pytest.raises(ModelFileError, match=f"{name} was changed"):
        p4f.DebiasedClassifier.load(saved)


def test_a_foreign_or_damaged_file_is_refused(saved, tmp_path):
    content = saved.read_bytes()
    cases = {
        "missing.p4f": None,
        "text.p4f": b"hello",
        "empty.p4f": b"",
        "truncated.p4f": content[: len(content) // 2],
    }
    for name, data in cases.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
        with pytest.raises(ModelFileError, match=name):
            p4f.DebiasedClassifier.load(tmp_path / name)
    rewritten(saved, lambda parts: parts.update({"manifest.json": b'{"format": 99}'}))
    with pytest.raises(ModelFileError, match="format 99"):
        p4f.DebiasedClassifier.load(saved)
    rewritten(saved, lambda parts: parts.update(extra=b""))
    with pytest.raises(ModelFileError, match="not a model file"):
        p4f.DebiasedClassifier.load(saved)


def deep() -> object:
    value: object = 0
    for _ in range(900):
        value = [value]
    return value


@pytest.mark.parametrize(
    "change",
    [
        {"digests": 5},
        {"mechanism": {"kind": "LabelBias", "levels": {}}},
        {"mechanism": {"kind": "Nonsense"}},
        {"mechanism": deep()},
        {"features": 99},
        {"feature_names": 5},
        {"classes": None},
        {"options": []},
        {"inputs": -1},
        {"classes_dtype": "nonsense"},
    ],
)
def test_a_hostile_manifest_is_refused_in_one_line(saved, change):
    def edit(parts):
        parts["manifest.json"] = json.dumps({**json.loads(parts["manifest.json"]), **change}).encode()

    rewritten(saved, edit)
    with pytest.raises(p4f.errors.P4FError):
        p4f.DebiasedClassifier.load(saved)


def test_a_manifest_that_is_nested_too_deeply_is_refused(saved):
    rewritten(saved, lambda parts: parts.update({"manifest.json": b"[" * 100_000}))
    with pytest.raises(ModelFileError, match="not a model file"):
        p4f.DebiasedClassifier.load(saved)


def test_an_encoder_that_is_junk_is_refused(saved):
    def edit(parts):
        parts["encoder.skops"] = b"junk"
        manifest = json.loads(parts["manifest.json"])
        manifest["digests"]["encoder.skops"] = hashlib.sha256(b"junk").hexdigest()
        parts["manifest.json"] = json.dumps(manifest).encode()

    rewritten(saved, edit)
    with pytest.raises(ModelFileError, match="not a model of this version"):
        p4f.DebiasedClassifier.load(saved)


def test_a_file_that_unpacks_to_too_much_is_refused_before_it_is_read(saved, monkeypatch):
    monkeypatch.setattr("problog4fairness.classifier.saving.MAX_SIZE", 1000)
    with pytest.raises(ModelFileError, match="more than 1000 bytes"):
        p4f.DebiasedClassifier.load(saved)


def test_an_encoder_with_other_types_runs_nothing(saved, tmp_path):
    import skops.io
    from sklearn.preprocessing import FunctionTransformer

    marker = tmp_path / "ran"
    hostile = skops.io.dumps(FunctionTransformer(func=marker.touch))

    def change(parts):
        parts["encoder.skops"] = hostile
        manifest = json.loads(parts["manifest.json"])
        manifest["digests"]["encoder.skops"] = hashlib.sha256(hostile).hexdigest()
        parts["manifest.json"] = json.dumps(manifest).encode()

    rewritten(saved, change)
    with pytest.raises(ModelFileError, match="not trusted"):
        p4f.DebiasedClassifier.load(saved)
    assert not marker.exists()


def test_functions_cannot_be_saved(tmp_path):
    frame, area, _, recorded = loans(300)
    belief = p4f.ProgramMechanism(BELIEFS["program"].text(), functions={"area": lambda f: np.zeros(len(f))})
    model = p4f.DebiasedClassifier(belief, max_epochs=1).fit(frame, recorded)
    with pytest.raises(p4f.errors.P4FError, match="functions of area cannot be saved"):
        model.save(tmp_path / "m.p4f")
