"""Networks for pictures, and how they are found by name."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pandas as pd
import pytest
import torch
from torch import nn

from problog4fairness.beliefs import NoBias
from problog4fairness.data import Rows
from problog4fairness.errors import P4FError, ShapeError, TrainingError
from problog4fairness.learners import Settings, fit_module
from studies.vision import ResidualNetwork, named_network, resnet50
from studies.vision.named import network_version


def striped(rows: int = 128, size: int = 16) -> tuple[torch.Tensor, torch.Tensor]:
    """A bright bar in the upper or in the lower half of a noisy picture."""
    generator = torch.Generator().manual_seed(0)
    pictures = torch.randn(rows, 3, size, size, generator=generator)
    label = torch.arange(rows) % 2
    place = torch.where(label == 1, size // 4, 3 * size // 4)
    for row in range(rows):
        pictures[row, :, place[row]] += 2
    return pictures, label


def test_a_residual_network_learns_where_something_is():
    torch.manual_seed(0)
    pictures, label = striped()
    settings = Settings(learning_rate=3e-3, batch_size=16, max_epochs=5)
    rows = Rows(pd.DataFrame({"picture": range(len(label))}), ("picture",), (0, 1), label.long().numpy())
    fit = fit_module(ResidualNetwork(width=8), pictures, NoBias(), rows, settings=settings)
    with torch.no_grad():
        assert ((fit.network(pictures)[:, 0] > 0) == (label == 1)).float().mean() > 0.95


@pytest.mark.parametrize("size", [8, 32, 45, 64])
def test_a_picture_of_any_size_gets_its_logits_whatever_its_batch(size):
    torch.manual_seed(1)
    network = ResidualNetwork(width=8, outputs=3, channels=1)
    pictures = torch.randn(6, 1, size, size)
    together = network(pictures)
    assert together.shape == (6, 3)
    torch.testing.assert_close(torch.cat([network(picture[None]) for picture in pictures]), together)
    assert network.training


def test_bad_pictures_and_widths_are_named():
    with pytest.raises(ShapeError, match=r"pictures must be \[n, 3, height, width\], not \[2, 1, 8, 8\]"):
        ResidualNetwork()(torch.zeros(2, 1, 8, 8))
    with pytest.raises(TrainingError, match=r"width 6 .* not a multiple of 4"):
        ResidualNetwork(width=6)


def test_the_small_network_by_name():
    network = named_network("small", outputs=2, channels=1)
    assert network(torch.zeros(1, 1, 32, 32)).shape == (1, 2)
    assert network_version("small") == "small"


def test_a_network_of_ones_own_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        "from torch import nn\ndef plain():\n    return nn.Linear(3, 1)\n"
        "def wide(outputs):\n    return nn.Linear(3, outputs)\n"
    )
    (tmp_path / "own_networks.py").write_text(
        text + "number = 3\ndef other():\n    return 3\ndef fails():\n    1 / 0\n"
    )
    (tmp_path / "broken_networks.py").write_text("import a_module_that_is_not_there\n")
    path = list(sys.path)
    assert named_network("own_networks:plain").out_features == 1
    assert named_network("own_networks:wide", outputs=4).out_features == 4
    assert named_network("torch.nn:Identity").__class__ is nn.Identity
    assert sys.path == path
    first = network_version("own_networks:plain")
    (tmp_path / "own_networks.py").write_text(text)
    assert network_version("own_networks:plain") != first
    for name, message in [
        ("large", "network 'large' is not small, resnet50 or package.module:factory"),
        ("no_such_package.nets:make", "no module 'no_such_package.nets' can be imported$"),
        ("broken_networks:make", r"no module 'broken_networks' .*\(No module named 'a_module_that_is_not_there'\)"),
        ("own_networks:missing", "'own_networks' has no 'missing'"),
        ("own_networks:number", "is a int, not a callable"),
        ("own_networks:other", "gives a int, not a torch.nn.Module"),
        ("own_networks:fails", "fails: ZeroDivisionError: division by zero"),
        ("os; print(1):x", "is not small, resnet50 or"),
    ]:
        with pytest.raises(P4FError, match=message) as caught:
            named_network(name)
        assert "\n" not in str(caught.value)


def torchvision(monkeypatch, make) -> None:
    """A package with the names of torchvision's API that are used, for it may not be installed."""
    package, models = ModuleType("torchvision"), ModuleType("torchvision.models")
    models.resnet50, models.ResNet50_Weights = make, SimpleNamespace(IMAGENET1K_V2="v2")
    package.models = models
    monkeypatch.setitem(sys.modules, "torchvision", package)
    monkeypatch.setitem(sys.modules, "torchvision.models", models)


def test_resnet50_gets_a_new_last_layer_and_all_of_it_learns(monkeypatch):
    def make(*, weights, progress):
        assert (weights, progress) == ("v2", False)
        body = nn.Module()
        body.conv, body.fc = nn.Conv2d(3, 8, 1).requires_grad_(False), nn.Linear(8, 1000)
        return body

    torchvision(monkeypatch, make)
    network = named_network("resnet50", outputs=2)
    assert (network.fc.in_features, network.fc.out_features) == (8, 2)
    assert all(parameter.requires_grad for parameter in network.parameters())


def test_resnet50_that_cannot_be_had_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(P4FError, match=r"resnet50 needs torchvision: pip install 'problog4fairness\[vision\]'"):
        resnet50()

    def offline(**options):
        raise OSError("no\nnetwork")

    torchvision(monkeypatch, offline)
    with pytest.raises(P4FError, match=r"the weights of ResNet-50 cannot be had \(OSError: no network\); go online"):
        resnet50()


def test_a_torchvision_for_another_torch_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision" / "__init__.py").write_text(
        "raise RuntimeError('operator torchvision::nms is not there')"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    with pytest.raises(P4FError, match=r"torchvision cannot be imported \(RuntimeError: operator .* belongs to this"):
        resnet50()
