"""Model files made up by a stranger: each is refused in one line."""

from __future__ import annotations

import numpy as np
import pytest
import safetensors.torch
import torch

import problog4fairness as p4f
from problog4fairness.estimators.model_file import ModelFileError
from tests.estimators.data import loans, quick
from tests.estimators.files import in_manifest, rewritten


def deep() -> object:
    value: object = 0
    for _ in range(900):
        value = [value]
    return value


@pytest.mark.parametrize(
    "change",
    [
        {"belief": {"kind": "LabelBias", "levels": {}}},
        {"belief": {"kind": "Nonsense"}},
        {"belief": deep()},
        {"belief": None},
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
        {"audited": -1},
        {"training_warnings": "none"},
        {"training_warnings": ["one"] * 21},
        {"training_warnings": [1]},
        {"training_warnings": ["long" * 1000]},
        {"fitted": 5},
        {"fitted": {}},
        {"fitted": {"kind": "network"}},
        {"learner": "oracle"},
        {"learner": {"name": "oracle"}},
        {"learner": {"name": ["network"]}},
        {"learner": {"name": "network", "hidden": [4]}},
        {"learner": 5},
        {"learner": None},
        {"learner": deep()},
        {"recorded": ["granted"]},
    ],
)
def test_a_hostile_manifest_is_refused_in_one_line(saved, change):
    in_manifest(saved, change)
    with pytest.raises(ModelFileError, match=r"not a model of this version|levels deep") as found:
        p4f.DebiasedClassifier.load(saved)
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 500


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("options", "sensitive", [5]),
        ("options", "test_features", "both"),
        ("options", "favourable", [1]),
        ("options", "class_weight", [[1]]),
        ("options", "use_sensitive", 1),
        ("options", "nonsense", 1),
        ("learner", "hidden", 5),
        ("learner", "hidden", [32, 32, -32]),
        ("learner", "hidden", [32, [32]]),
        ("learner", "dropout", "much"),
        ("learner", "dropout", 1.5),
        ("learner", "batch_size", -1),
        ("learner", "learning_rate", 10**400),
        ("learner", "max_epochs", {}),
        ("learner", "loss", "nonsense"),
        ("learner", "nonsense", 1),
        ("fitted", "kind", "oracle"),
        ("fitted", "kind", ["network"]),
        ("fitted", "nonsense", 1),
        ("fitted", "sizes", [7, 30_000, 30_000, 1]),
        ("fitted", "sizes", [7, *[1] * 200_000, 1]),
        ("fitted", "sizes", [7, 32, 32, 1]),
        ("fitted", "sizes", [7, 32, 32, 10**30, 1]),
        ("fitted", "sizes", [7, 32, 32, -32, 1]),
        ("fitted", "sizes", [7, 32, 32, 32, 2]),
        ("fitted", "sizes", [8, 32, 32, 32, 1]),
        ("fitted", "sizes", [7, 32, 32, True, 1]),
        ("fitted", "sizes", [7]),
        ("fitted", "sizes", 5),
        ("fitted", "dropout", "much"),
        ("fitted", "dropout", 1.0),
        ("fitted", "history", {"training": "long", "validation": []}),
        ("fitted", "history", {"training": [[1]]}),
        ("fitted", "history", {"training": [10**400]}),
        ("fitted", "history", []),
        ("fitted", "encoder", 5),
        ("encoder", "numbers", ["q0"]),
        ("encoder", "numbers", ["q0", "q1", "q2", "income", "job"]),
        ("encoder", "numbers", ["q0", "q1", "q2", "q2"]),
        ("encoder", "numbers", ["q0", "q1", "q2", "wealth"]),
        ("encoder", "numbers", [0, 1, 2, 3]),
        ("encoder", "marked", ["job"]),
        ("encoder", "marked", ["income"]),
        ("encoder", "categories", [["job", False, ["clerk", "clerk", "nurse"]]]),
        ("encoder", "categories", [["job", False, ["clerk", 5, "nurse"]]]),
        ("encoder", "categories", [["wealth", False, ["clerk", "nurse", "smith"]]]),
        ("encoder", "categories", [[4, False, ["clerk", "nurse", "smith"]]]),
        ("encoder", "categories", [["job", 0, ["clerk", "nurse", "smith"]]]),
        ("encoder", "categories", [["job", False, ["clerk"] * 3]] * 30_000),
        ("encoder", "categories", [["job", False, ["clerk", "nurse", "smith"]]] * 30_000),
        ("encoder", "categories", 5),
        ("encoder", "nonsense", 1),
    ],
)
def test_hostile_options_learners_and_encoders_are_refused_in_one_line(saved, part, name, value):
    def change(manifest):
        place = manifest["fitted"]["encoder"] if part == "encoder" else manifest[part]
        place.update({name: value})

    in_manifest(saved, change)
    with pytest.raises(ModelFileError, match="not a model of this version") as found:
        p4f.DebiasedClassifier.load(saved)
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 500


@pytest.mark.parametrize(
    "change",
    [
        {"layers.0.weight": lambda t: t * np.nan},
        {"layers.1.bias": lambda t: t + np.inf},
        {"means": lambda t: t * np.nan},
        {"scales": lambda t: t * 0},
        {"layers.1.weight": lambda t: t.reshape(-1, 64)},
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
    model = p4f.DebiasedClassifier(belief, **quick(max_epochs=1)).fit(frame.assign(area=area), recorded)
    model.save(tmp_path / "m.p4f")
    in_manifest(tmp_path / "m.p4f", lambda manifest: manifest["belief"].update(values={"q0": [0, [1]]}))
    with pytest.raises(ModelFileError, match="not a model"):
        p4f.DebiasedClassifier.load(tmp_path / "m.p4f")


def test_a_program_that_is_not_that_of_the_belief_is_refused(saved):
    rewritten(saved, lambda parts: parts.update({"program.pl": parts["program.pl"].replace(b"0.5", b"0.1")}))
    with pytest.raises(ModelFileError, match="its program is not that of its belief"):
        p4f.DebiasedClassifier.load(saved)


def test_numbers_that_overflow_are_no_prediction(tmp_path):
    frame, area, _, recorded = loans(100)
    model = p4f.DebiasedClassifier(
        p4f.LabelBias("poor", 0.1, 0.1),
        p4f.learners.Network(hidden=(2,) * 12, max_epochs=1, networks=1),
        random_state=0,
    )
    model.fit(frame, recorded, sensitive_features=area)
    parameters = list(model.fitted_.networks[0].parameters())
    with torch.no_grad():
        for parameter in parameters:
            parameter.fill_(3e38)
        parameters[-2][:, 1:] = -3e38
    model.save(tmp_path / "m.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "m.p4f")
    with pytest.raises(p4f.errors.P4FError, match="its numbers overflow"):
        again.predict_proba(frame)


def test_something_before_a_model_file_is_refused(saved):
    content = saved.read_bytes()
    saved.write_bytes(b"#!/bin/sh\n" + content)
    with pytest.raises(ModelFileError, match="something stands before"):
        p4f.DebiasedClassifier.load(saved)


def test_rows_whose_numbers_alone_overflow_are_counted(tmp_path):
    """NaN in some rows only, as in the file with 3,174 empty probabilities: all else is finite."""
    frame, area, _, recorded = loans(100)
    model = p4f.DebiasedClassifier(
        p4f.LabelBias("poor", 0.1, 0.1),
        p4f.learners.Network(hidden=(2,) * 12, max_epochs=1, networks=1),
        random_state=0,
    )
    model.fit(frame, recorded, sensitive_features=area)
    parameters = list(model.fitted_.networks[0].parameters())
    with torch.no_grad():
        for parameter in parameters:
            parameter.fill_(3e38 if parameter.ndim > 1 else 0.0)
        parameters[-2][:, 1:] = -3e38
    model.save(tmp_path / "m.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "m.p4f")
    lost = again.fitted_.log_proba(frame).isnan().any(1)
    assert 0 < lost.sum() < len(frame)
    with pytest.raises(p4f.errors.P4FError, match=f"no probability for {int(lost.sum())} of"):
        again.predict_proba(frame)
    assert np.isfinite(again.predict_proba(frame[~lost.numpy()])).all()
