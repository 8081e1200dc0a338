from __future__ import annotations

import errno
import json
import os
import pickle

import pytest
import safetensors.torch
import torch
from safetensors import safe_open

from problog4fairness.errors import CheckpointError, P4FError, TrainingError
from problog4fairness.learners.networks.module import Checkpoint, fit_module
from problog4fairness.learners.networks.training import Settings
from tests.learners.observations import recorded_label

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

    def fails(handle):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match=r"disk full: '.*/run'"):
        file.save(TENSORS, {"epoch": 2})
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


def test_a_checkpoint_nested_too_deeply_is_refused(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(safetensors.torch.save({}, metadata={"problog4fairness.checkpoint": "[" * 100_000}))
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        Checkpoint(path, {}).load()


def test_a_place_that_cannot_be_written_to_is_told_before_the_work(tmp_path):
    with pytest.raises(P4FError, match="is a folder; name a file in it"):
        Checkpoint(tmp_path, {})


def fit(checkpoint, epochs):
    inputs = torch.linspace(-1, 1, 40).view(20, 2)
    likelihood = recorded_label(torch.arange(20) % 2)
    torch.manual_seed(0)
    settings = Settings(max_epochs=epochs, batch_size=8, learning_rate=0.01)
    return fit_module(
        torch.nn.Linear(2, 1), inputs, likelihood, settings=settings, checkpoint=checkpoint, progress=False
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors, rest: tensors.clear(),
        lambda tensors, rest: tensors.pop("best.weight"),
        lambda tensors, rest: tensors.pop("optimiser.0.exp_avg"),
        lambda tensors, rest: tensors.pop("optimiser.1.step"),
        lambda tensors, rest: tensors.update({"optimiser.7.step": torch.tensor(1.0)}),
        lambda tensors, rest: tensors.update({"more": torch.zeros(1)}),
        lambda tensors, rest: tensors.update({"optimiser.0.exp_avg": torch.zeros(3, 2)}),
        lambda tensors, rest: tensors.update({"best.weight": torch.zeros(1, 3)}),
        lambda tensors, rest: tensors.update({"module.weight": torch.zeros(1, 2, dtype=torch.int64)}),
        lambda tensors, rest: tensors.update({"optimiser.0.step": torch.tensor(-3.0)}),
        lambda tensors, rest: tensors.update({"optimiser.1.exp_avg_sq": torch.tensor([float("nan")])}),
        lambda tensors, rest: rest.clear(),
        lambda tensors, rest: rest.update(train=[]),
        lambda tensors, rest: rest.update(train=[], validation=[]),
        lambda tensors, rest: rest.update(validation=["a", "b"]),
        lambda tensors, rest: rest.update(validation=[float("nan"), 1.0]),
        lambda tensors, rest: rest.update(validation=7),
        lambda tensors, rest: rest.update(best_epoch=99),
        lambda tensors, rest: rest.update(best_epoch="1"),
    ],
)
def test_a_state_that_no_fit_can_have_been_in_is_refused(tmp_path, change):
    path = tmp_path / "run"
    fit(path, 2)
    with safe_open(path, framework="pt") as file:
        ((key, text),) = file.metadata().items()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    header = json.loads(text)
    change(tensors, header["rest"])
    path.write_bytes(safetensors.torch.save(tensors, metadata={key: json.dumps(header)}))
    with pytest.raises(CheckpointError, match="run: not a checkpoint of fit_module"):
        fit(path, 3)


def test_a_checkpoint_cut_short_is_refused(tmp_path):
    path = tmp_path / "run"
    Checkpoint(path, {}).save(TENSORS, {})
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(TrainingError, match="not a checkpoint"):
        Checkpoint(path, {}).load()
