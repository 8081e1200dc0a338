"""Two processes of Lightning Fabric end where one ends: really two processes, started as a user starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from problog4fairness.errors import TrainingError
from problog4fairness.learners.networks.batches import LoaderBatches, TensorBatches
from problog4fairness.learners.networks.module import fit_module
from problog4fairness.learners.networks.sharing import Share
from problog4fairness.learners.settings import Settings
from tests.learners.observations import recorded_label

SCRIPT = Path(__file__).parent / "fabric_script.py"
ROOT = Path(__file__).parents[2]
FITS = ("tensors", "loader", "batches", "resumed", "patient")


def found_by(folder: Path, processes: int) -> list[dict]:
    """What each process of a run of the script found."""
    from safetensors.torch import load_file

    folder.mkdir()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), str(processes)],
        capture_output=True, text=True, timeout=240, env=environment,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    found = []
    for rank in range(processes):
        rest = json.loads((folder / str(rank) / "rest.json").read_text())
        weights = {name: load_file(folder / str(rank) / f"{name}.safetensors") for name in FITS}
        found.append({**rest, "weights": weights})
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    pytest.importorskip("lightning_fabric", reason="the extra fabric is not installed")
    folder = tmp_path_factory.mktemp("fabric")
    return found_by(folder / "one", 1)[0], found_by(folder / "two", 2)


@pytest.mark.parametrize("name", FITS)
def test_two_processes_end_where_one_ends(runs, name):
    one, both = runs
    for two in both:
        assert two["fits"][name][0] == one["fits"][name][0]
        for mine, theirs in zip(two["fits"][name][1:], one["fits"][name][1:], strict=True):
            assert mine == pytest.approx(theirs, rel=1e-5)
        for part, expected in one["weights"][name].items():
            torch.testing.assert_close(two["weights"][name][part], expected, rtol=1e-4, atol=1e-5)


def test_the_fits_are_not_trivial(runs):
    one, _ = runs
    assert len(one["fits"]["resumed"][1]) == 4
    assert one["fits"]["patient"][0] + 2 == len(one["fits"]["patient"][1]) < 30
    assert one["fits"]["loader"][1] != one["fits"]["batches"][1]


def test_a_loss_that_is_not_finite_stops_all_processes(runs):
    one, (first, second) = runs
    assert "not finite in epoch 1 at the row 3" in one["reason"]
    reasons = sorted([first["reason"], second["reason"]])
    assert "at the row 3" in reasons[0]
    assert reasons[1] == "the loss is not finite in epoch 1 in another process"


def test_shares_make_up_the_batches():
    inputs, rows = torch.arange(10.0).view(10, 1), torch.arange(10)
    likelihood = recorded_label(rows % 2)
    loaded = DataLoader(TensorDataset(inputs, rows), batch_size=3)
    sources = [
        lambda share: TensorBatches(inputs, likelihood, rows, 3, share),
        lambda share: LoaderBatches(loaded, likelihood, share),
        lambda share: LoaderBatches([(inputs[part], part) for part in rows.split(3)], likelihood, share),
    ]
    for source in sources:
        whole = [batch.rows.tolist() for batch in source(Share()).go_through(None)]
        parts = [list(source(Share(rank, 3)).go_through(None)) for rank in range(3)]
        assert {len(part) for part in parts} == {len(whole)}
        for number, batch in enumerate(whole):
            shares = [part[number] for part in parts]
            assert all(len(share.rows) and torch.equal(inputs[share.rows], share.inputs) for share in shares)
            assert sorted(row for share in shares if share.counts for row in share.rows.tolist()) == batch


def test_a_loader_loads_only_the_share():
    asked = []

    class Watched(TensorDataset):
        def __getitem__(self, item):
            asked.append(item)
            return super().__getitem__(item)

    rows = torch.arange(8)
    loader = DataLoader(Watched(rows.float().view(8, 1), rows), batch_size=4)
    list(LoaderBatches(loader, recorded_label(rows % 2), Share(1, 2)).go_through(None))
    assert asked == [1, 3, 5, 7]


def test_bad_fabric_is_named_in_one_line():
    rows = torch.arange(8)

    def fit(fabric):
        fit_module(
            nn.Linear(1, 1), rows.float().view(8, 1), recorded_label(rows % 2), settings=Settings(), fabric=fabric
        )

    class Sharded:
        """Stands for a strategy that splits the module."""

    class DDPStrategy:
        """Stands for several processes that were not launched."""

    for fabric, message in [
        ("ddp", "fabric= must be a lightning_fabric.Fabric, not str"),
        (
            SimpleNamespace(world_size=2, strategy=Sharded()),
            "Sharded of fabric= splits the module; take strategy='ddp'",
        ),
        (SimpleNamespace(world_size=2, strategy=DDPStrategy()), r"call fabric.launch\(\) before a fit on 2 processes"),
    ]:
        with pytest.raises(TrainingError, match=message):
            fit(fabric)
