from __future__ import annotations

import json
import os
import pickle

import pytest
import torch
from safetensors import safe_open

from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.training.checkpoint import Checkpoint

TENSORS = {"a": torch.arange(6.0).view(2, 3), "b": torch.tensor(3), "c": torch.arange(6.0).view(2, 3).t()}


def test_what_is_saved_is_loaded(tmp_path):
    file = Checkpoint(tmp_path / "run", {"seed": 1, "hidden": (3, 4)})
    assert file.load() is None
    file.save(TENSORS, {"losses": [0.1, 1 / 3]})
    found = Checkpoint(tmp_path / "run", {"seed": 1, "hidden": (3, 4)}).load()
    assert found is not None
    tensors, rest = found
    assert rest == {"losses": [0.1, 1 / 3]}
    assert tensors.keys() == TENSORS.keys()
    assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


def test_the_file_is_plain_safetensors_with_json(tmp_path):
    Checkpoint(tmp_path / "run", {"seed": 1}).save(TENSORS, {"x": 2})
    with safe_open(tmp_path / "run", framework="pt") as file:
        (header,) = file.metadata().values()
    assert json.loads(header) == {"run": {"seed": 1}, "rest": {"x": 2}}


def test_a_folder_that_is_read_only_is_told_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: not (path == tmp_path and mode == os.W_OK))
    with pytest.raises(P4FError, match="nothing can be written to the folder"):
        Checkpoint(tmp_path / "run", {})


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    file = Checkpoint(tmp_path / "run", {})
    file.save(TENSORS, {"epoch": 1})

    def fails(_):
        raise OSError(28, "disk full")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="disk full") as caught:
        file.save(TENSORS, {"epoch": 2})
    assert caught.value.filename == str(tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    loaded = file.load()
    assert loaded is not None
    assert loaded[1] == {"epoch": 1}


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    Checkpoint(tmp_path / "run", {"seed": 1, "gamma": 2.0}).save({}, {})
    with pytest.raises(
        TrainingError, match=r"run: a checkpoint of another fit, with gamma 2\.0 instead of 3\.0; delete"
    ):
        Checkpoint(tmp_path / "run", {"seed": 1, "gamma": 3.0}).load()


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", pickle.dumps({"a": 1}), b"\x02\0\0\0\0\0\0\0{}"])
def test_a_foreign_or_damaged_file_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "run"
    path.write_bytes(content)
    with pytest.raises(TrainingError, match="run: not a checkpoint of fit_module; delete it or name another file"):
        Checkpoint(path, {}).load()
    assert path.read_bytes() == content


def test_a_checkpoint_cut_short_is_refused(tmp_path):
    path = tmp_path / "run"
    Checkpoint(path, {}).save(TENSORS, {})
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(TrainingError, match="not a checkpoint"):
        Checkpoint(path, {}).load()
