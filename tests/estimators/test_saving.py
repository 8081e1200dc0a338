"""Saving and loading: the identity, and nothing runs."""

from __future__ import annotations

import hashlib
import json
import zipfile

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.estimators.model_file import ModelFileError
from tests.estimators.data import loans, quick
from tests.estimators.files import in_manifest, rewritten

BELIEFS = {
    "none": None,
    "label": p4f.LabelBias("area", {1: 0.5}, False, affected=[1]),
    "chain": p4f.chain(p4f.MeasurementBias(["q0"], "area", 0.2, 0.1), p4f.LabelBias("area", 0.2, 0.1)),
    "historical": p4f.HistoricalBias(["q0", "q1"], "area", 0.2, False),
    "program": p4f.ProgramBelief("nn(h,X)::y(X). nn(area,X)::a(X). 0.3::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x)."),
}


@pytest.fixture(scope="module", params=list(BELIEFS))
def model(request):
    frame, area, _, recorded = loans(600)
    frame = frame.assign(area=area)
    options = quick(max_epochs=3)
    return p4f.DebiasedClassifier(BELIEFS[request.param], **options).fit(frame, recorded), frame


def test_saving_and_loading_is_the_identity(model, tmp_path):
    classifier, frame = model
    classifier.save(tmp_path / "loans.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "loans.p4f")
    np.testing.assert_array_equal(again.predict_proba(frame), classifier.predict_proba(frame))
    np.testing.assert_array_equal(again.predict(frame), classifier.predict(frame))
    np.testing.assert_array_equal(again.predict_recorded_proba(frame), classifier.predict_recorded_proba(frame))
    assert again.belief == classifier.belief_
    assert again.history_ == classifier.history_
    assert type(again.learner) is type(classifier.learner)
    assert plain_params(again) == plain_params(classifier)
    assert [p.name for p in tmp_path.iterdir()] == ["loans.p4f"]


def plain_params(model):
    """All options, those of the learner among them, but for the objects that hold them."""
    return {name: value for name, value in model.get_params().items() if name not in ("belief", "learner")}


def test_the_file_can_be_read_by_a_person(saved):
    with zipfile.ZipFile(saved) as archive:
        assert archive.namelist() == ["SHA256SUMS", "manifest.json", "program.pl", "weights.safetensors"]
        assert archive.read("program.pl").decode() == str(BELIEFS["label"])
        manifest = json.loads(archive.read("manifest.json"))
        sums = archive.read("SHA256SUMS").decode()
        digest = hashlib.sha256(archive.read("program.pl")).hexdigest()
    assert f"{digest}  program.pl\n" in sums
    assert manifest["belief"]["parameters"][0]["value"] == 0.5
    assert (manifest["learner"]["name"], manifest["learner"]["max_epochs"]) == ("network", 1)
    assert set(manifest["fitted"]) == {"kind", "encoder", "networks", "sizes", "dropout", "history"}
    assert manifest["fitted"]["encoder"] == {
        "numbers": ["q0", "q1", "q2", "income"],
        "marked": [],
        "categories": [["job", False, ["clerk", "nurse", "smith"]]],
    }
    assert manifest["fitted"]["sizes"] == [7, 32, 32, 32, 1]
    assert {"torch", "problog"} <= set(manifest["versions"])


def test_equal_trainings_give_equal_bytes(saved, tmp_path, monkeypatch):
    frame, area, _, recorded = loans(300)
    monkeypatch.setattr("time.time", lambda: 2e9)
    again = p4f.DebiasedClassifier(BELIEFS["label"], **quick(max_epochs=1))
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
    with pytest.raises(ModelFileError, match="not a plain file"):
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


def test_a_file_of_the_second_format_is_told(saved):
    in_manifest(saved, {"format": 2})
    with pytest.raises(ModelFileError, match=r"format 2, this version .* reads 4; train and save the model again"):
        p4f.DebiasedClassifier.load(saved)


def test_an_encoder_of_another_library_is_neither_written_nor_read(saved):
    from sklearn.feature_extraction.text import CountVectorizer

    model = p4f.DebiasedClassifier.load(saved)
    model.fitted_.encoder = CountVectorizer(input="filename")
    with pytest.raises(p4f.errors.P4FError, match="the model cannot be saved: 'CountVectorizer' object has no"):
        model.save(saved)
    strange = {"class": "sklearn.feature_extraction.text.CountVectorizer", "input": "filename"}
    in_manifest(saved, lambda manifest: manifest["fitted"].update(encoder=strange))
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
        model = p4f.DebiasedClassifier(**options, **quick(max_epochs=1, hidden=[4], dropout=0)).fit(frame, label)
        model.save(tmp_path / "m.p4f")
        again = p4f.DebiasedClassifier.load(tmp_path / "m.p4f")
        assert again.class_weight == model.class_weight
        assert again.learner.settings() == model.learner.settings()
        assert (again.classes_.dtype, again.classes_.tolist()) == (model.classes_.dtype, model.classes_.tolist())
        np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    dates = np.where(recorded == 1, np.datetime64("2020-01-01"), np.datetime64("2021-01-01"))
    with pytest.raises(p4f.errors.P4FError, match=r"labels of type datetime64.* train on numbers or texts"):
        p4f.DebiasedClassifier(**quick(max_epochs=1)).fit(frame, dates).save(tmp_path / "m.p4f")


def test_functions_cannot_be_saved(tmp_path):
    frame, area, _, recorded = loans(300)
    belief = p4f.ProgramBelief(BELIEFS["program"].text(), functions={"area": lambda f: np.zeros(len(f))})
    model = p4f.DebiasedClassifier(belief, **quick(max_epochs=1)).fit(frame, recorded)
    with pytest.raises(p4f.errors.P4FError, match="functions of area cannot be saved"):
        model.save(tmp_path / "m.p4f")
