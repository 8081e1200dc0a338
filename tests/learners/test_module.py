"""Modules of any kind through a likelihood: shapes, loaders, checkpoints."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from problog4fairness.errors import ShapeError, TrainingError
from problog4fairness.learners.base import Task
from problog4fairness.learners.networks.fit import fit_many
from problog4fairness.learners.networks.module import fit_module
from problog4fairness.learners.networks.stack import MLP
from problog4fairness.learners.networks.training import Fit, Settings
from problog4fairness.program import AffineObserved
from tests.learners.observations import blend, broken, data, recorded_label

QUICK = Settings(learning_rate=0.01, batch_size=16, max_epochs=6)


class KilledError(Exception):
    """Stands for a process that is killed."""


def images(rows: int = 70) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    label = torch.arange(rows) % 2
    return torch.randn(rows, 1, 6, 6, generator=generator) + label.view(-1, 1, 1, 1), label


def convolution(seed: int = 0) -> nn.Sequential:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(), nn.Linear(64, 1)
        )


def mlp(seed: int = 0, outputs: int = 1) -> MLP:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return MLP(3, (8,), outputs)


def assert_identical(found: Fit[nn.Sequential], expected: Fit[nn.Sequential]) -> None:
    assert (found.train_loss, found.validation_loss) == (expected.train_loss, expected.validation_loss)
    assert found.best_epoch == expected.best_epoch
    for name, value in expected.network.state_dict().items():
        assert torch.equal(found.network.state_dict()[name], value), name


def test_a_convolution_with_batch_normalisation_learns():
    inputs, label = images()
    module = convolution()
    fit = fit_module(module, inputs, recorded_label(label), settings=dataclasses.replace(QUICK, max_epochs=20))
    assert fit.network is module
    assert not module.training
    with torch.no_grad():
        assert ((module(inputs)[:, 0] > 0) == (label > 0)).float().mean() > 0.9
    assert fit.validation_loss[fit.best_epoch - 1] == min(fit.validation_loss)


def test_it_is_the_fit_that_a_stack_makes():
    inputs, label = data(100)
    likelihood = recorded_label(label)
    weights = torch.rand(100, generator=torch.Generator().manual_seed(3))
    rows, held = torch.arange(80), torch.arange(80, 100)
    # One batch an epoch, because the two draw their orders differently.
    settings = dataclasses.replace(QUICK, hidden=(8,), batch_size=80, loss="focal")
    (stacked,) = fit_many([Task(likelihood, 5, rows, weights, held, inputs=inputs)], settings)
    module = fit_module(
        mlp(5), inputs, likelihood, settings=settings, train_rows=rows, validation=held, weights=weights
    )
    assert module.train_loss == pytest.approx(stacked.train_loss, rel=1e-4)
    assert module.validation_loss == pytest.approx(stacked.validation_loss, rel=1e-4)
    torch.testing.assert_close(module.network(inputs), stacked.network(inputs), rtol=1e-3, atol=1e-4)


def test_early_stopping_and_best_epoch():
    inputs, _ = data(100)
    noise = torch.rand(100, generator=torch.Generator().manual_seed(1)) < 0.5
    settings = dataclasses.replace(QUICK, max_epochs=60, patience=2, learning_rate=0.05)
    fit = fit_module(mlp(), inputs, recorded_label(noise), settings=settings)
    assert fit.epochs == fit.best_epoch + 2 < 60
    short = dataclasses.replace(settings, max_epochs=fit.best_epoch)
    held = fit_module(mlp(), inputs, recorded_label(noise), settings=short)
    for name, value in held.network.state_dict().items():
        assert torch.equal(fit.network.state_dict()[name], value)


def test_a_data_loader_gives_what_the_tensors_give():
    inputs, label = data(96)
    likelihood = recorded_label(label)
    train, held = torch.arange(80), torch.arange(80, 96)
    settings = dataclasses.replace(QUICK, batch_size=80)
    loader = DataLoader(TensorDataset(inputs[train], train), batch_size=80)
    check = DataLoader(TensorDataset(inputs[held], held), batch_size=5)
    loaded = fit_module(mlp(), loader, likelihood, settings=settings, validation=check)
    given = fit_module(mlp(), inputs, likelihood, settings=settings, train_rows=train, validation=held)
    assert loaded.train_loss == pytest.approx(given.train_loss, rel=1e-5)
    assert loaded.validation_loss == pytest.approx(given.validation_loss, rel=1e-5)
    mixed = fit_module(mlp(), inputs, likelihood, settings=settings, train_rows=train, validation=check)
    assert mixed.validation_loss == pytest.approx(given.validation_loss, rel=1e-5)


def test_rows_that_need_several_inputs():
    inputs, likelihood = blend(64, 10)
    settings = dataclasses.replace(QUICK, hidden=(8,), batch_size=64)
    rows = torch.arange(64)
    expected = fit_many([Task(likelihood, 0, rows, None, rows, inputs=inputs)], settings)[0].validation_loss
    given = fit_module(mlp(), inputs, likelihood, settings=settings, train_rows=rows, validation=rows)
    loader = DataLoader(TensorDataset(inputs[likelihood.inputs], rows), batch_size=64)
    loaded = fit_module(mlp(), loader, likelihood, settings=settings, validation=loader)
    assert given.validation_loss == pytest.approx(expected, rel=1e-4)
    assert loaded.validation_loss == pytest.approx(expected, rel=1e-4)


def test_weights_and_rows_of_weight_0():
    inputs, label = data(60)
    weights = torch.ones(60)
    weights[:30] = 0
    seen = set()

    class Spy(AffineObserved):
        def __call__(self, logits, rows):
            seen.update(rows.tolist())
            return super().__call__(logits, rows)

    fit_module(mlp(), inputs, recorded_label(label, kernel=Spy), settings=QUICK, weights=weights)
    assert seen == set(range(30, 60))
    loader = DataLoader(TensorDataset(inputs, torch.arange(60)), batch_size=15)
    fit = fit_module(mlp(), loader, recorded_label(label), settings=QUICK, weights=weights, validation=loader)
    assert fit.train_loss[-1] < fit.train_loss[0]
    with pytest.raises(TrainingError, match="all rows of the training or of the validation batches have weight 0"):
        fit_module(mlp(), loader, recorded_label(label), settings=QUICK, weights=torch.zeros(60), validation=loader)


def test_a_row_left_over_does_not_break_batch_normalisation():
    inputs, label = data(33 + 4)
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
    fit = fit_module(module, inputs, recorded_label(label), settings=QUICK, validation=torch.arange(33, 37))
    assert fit.epochs == 6


def test_validation_is_in_evaluation_mode():
    inputs, label = images()
    likelihood, held = recorded_label(label), torch.arange(40, 70)
    fit = fit_module(convolution(), inputs, likelihood, settings=QUICK, validation=held)
    with torch.no_grad():
        loss = -likelihood(fit.network(inputs[held]).unsqueeze(1), held).mean().item()
    assert min(fit.validation_loss) == pytest.approx(loss, rel=1e-5)


def test_the_gradient_is_that_of_the_weighted_mean():
    inputs, label = data(40)
    likelihood, rows = recorded_label(label), torch.arange(40)
    weights = torch.arange(1.0, 41.0)
    module, twin = mlp(), mlp()
    settings = dataclasses.replace(QUICK, batch_size=40, max_epochs=1)
    fit_module(module, inputs, likelihood, settings=settings, train_rows=rows, validation=rows, weights=weights)
    losses = -likelihood(twin(inputs).unsqueeze(1), rows)
    ((weights * losses).sum() / weights.sum()).backward()
    for found, expected in zip(module.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(found.grad, expected.grad)


def test_each_epoch_has_its_own_order():
    inputs, label = data(40)
    seen = []

    class Spy(AffineObserved):
        def __call__(self, logits, rows):
            seen.append(rows.tolist())
            return super().__call__(logits, rows)

    settings = dataclasses.replace(QUICK, batch_size=40, validation=0, max_epochs=2)
    fit_module(mlp(), inputs, recorded_label(label, kernel=Spy), settings=settings)
    first, validation, second, _ = seen
    assert validation == list(range(40)) == sorted(first) == sorted(second)
    assert first != second != validation != first


class Chained(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.layer, self.make = nn.Linear(3, 1), make

    def forward(self, x):
        return self.make(self.layer(x))


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (nn.Linear(3, 2), r"the module gives \[16, 2\] of float32 for 16 inputs, .* needs logits \[16, 1\]"),
        (Chained(lambda z: z.mean(0)), r"the module gives \[1\] of float32 for 16 inputs"),
        (Chained(lambda z: z.view(1, -1)), r"the module gives \[1, 16\] of float32"),
        (Chained(lambda z: (z, z)), r"the module gives \(.*\) for 16 inputs"),
        (Chained(lambda z: z > 0), r"the module gives .* of bool"),
    ],
)
def test_a_module_with_the_wrong_output_is_an_error_of_one_line(module, message):
    inputs, label = data(48)
    with pytest.raises(ShapeError, match=message) as caught:
        fit_module(
            module,
            inputs,
            recorded_label(label),
            settings=QUICK,
            train_rows=torch.arange(32),
            validation=torch.arange(32, 48),
        )
    assert "\n" not in str(caught.value)


def test_one_logit_may_come_without_a_dimension_and_in_half_precision():
    inputs, label = data(48)
    flat = fit_module(Chained(lambda z: z.squeeze(1)), inputs, recorded_label(label), settings=QUICK)
    assert flat.epochs == 6
    half = fit_module(Chained(lambda z: z.bfloat16()), inputs, recorded_label(label), settings=QUICK)
    assert half.epochs == 6


def test_a_loss_that_is_not_finite_names_the_rows():
    inputs, label = data(48)
    with pytest.raises(TrainingError, match=r"the loss is not finite in epoch 1 at the row 7: the network's output is"):
        fit_module(mlp(), inputs, broken(label, [7]), settings=QUICK)
    with pytest.raises(TrainingError, match=r"lower the learning rate \(now 1e\+30\)"):
        fit_module(mlp(), inputs, recorded_label(label), settings=dataclasses.replace(QUICK, learning_rate=1e30))


def test_bad_input_is_named_in_one_line():
    inputs, label = data(48)
    likelihood, rows = recorded_label(label), torch.arange(48)
    loader = DataLoader(TensorDataset(inputs, rows), batch_size=16)
    cases = [
        (lambda: fit_module(mlp(), loader, likelihood), "a data loader cannot be split; pass validation="),
        (lambda: fit_module(mlp(), loader, likelihood, validation=rows), "a data loader cannot be split"),
        (
            lambda: fit_module(mlp(), loader, likelihood, train_rows=rows, validation=loader),
            "train_rows cannot be chosen",
        ),
        (lambda: fit_module(mlp(), inputs[:40], likelihood), r"the observation needs 48 inputs, not \[40, 3\]"),
        (lambda: fit_module(mlp(), [inputs], likelihood, validation=loader), r"pairs .* not \[48, 3\]"),
        (lambda: fit_module(mlp(), [(inputs, 3)], likelihood, validation=loader), r"pairs .* not \(.*, int\)"),
        (lambda: fit_module(mlp(), [(inputs, rows[:9])], likelihood, validation=loader), r"not \(\[48, 3\] of float32"),
        (lambda: fit_module(mlp(), [(inputs, rows + 1)], likelihood, validation=loader), "gives row 48 of an obs"),
        (lambda: fit_module(mlp(), [], likelihood, validation=loader), "gives no batches"),
        (lambda: fit_module(mlp(), iter(loader), likelihood, validation=loader), "only once"),
        (lambda: fit_module(mlp(), inputs, likelihood, weights=torch.ones(3)), "one number for each of 48 rows"),
        (lambda: fit_module(mlp(), inputs, likelihood, seed=-3), "seed=-3"),
        (lambda: fit_module(nn.Flatten(), inputs, likelihood), "Flatten has no parameters that can be trained"),
        (lambda: fit_module(mlp(), inputs, likelihood, checkpoint="/no/such/place"), "the folder .* does not exist"),
    ]
    for run, message in cases:
        with pytest.raises((TrainingError, ShapeError), match=message) as caught:
            run()
        assert "\n" not in str(caught.value)


class Augmented(TensorDataset):
    """Draws from all three global streams, as data sets do."""

    def __getitem__(self, i):
        x, row = super().__getitem__(i)
        return x + 0.01 * (torch.randn(()) + random.random() + np.random.random()), row  # noqa: NPY002


def tensor_run(module, checkpoint, likelihood, settings):
    inputs, _ = images()
    return fit_module(module, inputs, likelihood, settings=settings, seed=4, checkpoint=checkpoint)


def loader_run(module, checkpoint, likelihood, settings):
    inputs, _ = images()
    train, held = torch.arange(50), torch.arange(50, 70)
    generator = torch.Generator()
    loader = DataLoader(Augmented(inputs[train], train), batch_size=16, shuffle=True, generator=generator)
    check = DataLoader(TensorDataset(inputs[held], held), batch_size=16, shuffle=True)
    return fit_module(module, loader, likelihood, settings=settings, seed=4, validation=check, checkpoint=checkpoint)


@pytest.mark.parametrize("run", [tensor_run, loader_run])
@pytest.mark.parametrize("epochs", [0, 1, 3])
def test_a_killed_run_ends_exactly_as_if_it_had_not_been(tmp_path, run, epochs):
    _, label = images()
    expected = run(convolution(), None, recorded_label(label), QUICK)
    checkpoint = tmp_path / "run.safetensors"

    class Fragile(AffineObserved):
        calls = 0

        def __call__(self, logits, rows):
            Fragile.calls += 1
            if Fragile.calls > 3 + epochs * per_epoch:
                raise KilledError
            return super().__call__(logits, rows)

    per_epoch = 4 + (1 if run is tensor_run else 2)  # training and validation batches
    with pytest.raises(KilledError):
        run(convolution(), checkpoint, recorded_label(label, kernel=Fragile), QUICK)
    assert checkpoint.exists() == (epochs > 0)
    assert [file.name for file in tmp_path.iterdir()] == (["run.safetensors"] if epochs else [])
    # Another process has other first weights and other global random numbers.
    if epochs:
        random.seed(99)
    resumed = run(convolution(seed=0 if epochs == 0 else 8), checkpoint, recorded_label(label), QUICK)
    assert_identical(resumed, expected)
    again = run(convolution(seed=9), checkpoint, recorded_label(label), QUICK)
    assert_identical(again, expected)
    longer = dataclasses.replace(QUICK, max_epochs=8)
    more = run(convolution(seed=9), checkpoint, recorded_label(label), longer)
    assert_identical(more, run(convolution(), None, recorded_label(label), longer))


def test_tied_weights_and_frozen_parts_survive_a_checkpoint(tmp_path):
    inputs, label = data(40)

    def module() -> nn.Sequential:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            made = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
        made[2].weight = made[0].weight
        made[4].requires_grad_(False)
        return made

    expected = fit_module(module(), inputs, recorded_label(label), settings=QUICK)
    path = tmp_path / "tied"
    fit_module(
        module(), inputs, recorded_label(label), settings=dataclasses.replace(QUICK, max_epochs=2), checkpoint=path
    )
    assert_identical(fit_module(module(), inputs, recorded_label(label), settings=QUICK, checkpoint=path), expected)


def test_the_random_numbers_of_others_go_on_untouched():
    inputs, label = images()
    torch_state, python_state, numpy_state = torch.get_rng_state(), random.getstate(), np.random.get_state()  # noqa: NPY002
    loader_run(convolution(), None, recorded_label(label), QUICK)
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert random.getstate() == python_state
    assert np.array_equal(np.random.get_state()[1], numpy_state[1])  # noqa: NPY002
    with torch.random.fork_rng():
        first = fit_module(convolution(), inputs, recorded_label(label), settings=QUICK)
        torch.manual_seed(5)
        assert_identical(fit_module(convolution(), inputs, recorded_label(label), settings=QUICK), first)


def test_seeds_differ():
    inputs, label = images()
    losses = {
        fit_module(convolution(), inputs, recorded_label(label), settings=QUICK, seed=s).train_loss for s in range(3)
    }
    assert len(losses) == 3


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_module_on_a_gpu_with_a_likelihood_on_the_processor():
    inputs, label = data(48)
    expected = fit_module(mlp(), inputs, recorded_label(label), settings=QUICK)
    fit = fit_module(mlp(), inputs, recorded_label(label), settings=QUICK, device="cuda")
    assert next(fit.network.parameters()).device.type == "cuda"
    assert fit.validation_loss == pytest.approx(expected.validation_loss, rel=1e-3)
