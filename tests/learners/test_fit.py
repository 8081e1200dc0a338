"""Many networks fitted as one, against plain PyTorch and against each fitted alone."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from problog4fairness.errors import P4FError, ShapeError, TrainingError
from problog4fairness.learners.base import Task
from problog4fairness.learners.networks import fit as fitting
from problog4fairness.learners.networks.fit import fit_many
from problog4fairness.learners.networks.stack import MLP, Layout
from problog4fairness.learners.networks.training import Fit, Settings
from problog4fairness.program import AffineObserved
from tests.learners.observations import alone, blended, broken, data, recorded_label

QUICK = Settings(hidden=(8, 8), learning_rate=0.01, batch_size=16, max_epochs=8, patience=10)


def plain(job: Task, settings: Settings) -> Fit[MLP]:
    """The same fit with nothing but PyTorch: one network, its optimiser, one batch after another."""
    generator = torch.Generator().manual_seed(job.seed)
    network = MLP(job.inputs.shape[1], settings.hidden, job.observation.outputs, settings.dropout)
    bound = 0.0
    with torch.no_grad():
        for parameter in network.parameters():
            bound = parameter.shape[-1] ** -0.5 if parameter.ndim == 2 else bound  # as for the layer's weight
            parameter.uniform_(-bound, bound, generator=generator)
    weights = torch.ones(len(job.observation)) if job.weights is None else job.weights
    rows = torch.arange(len(job.observation)) if job.train_rows is None else job.train_rows
    rows = rows[weights[rows] > 0]
    if job.validation_rows is None:
        rows = rows[torch.randperm(len(rows), generator=generator)]
        held = max(1, round(settings.validation * len(rows)))
        validation, train = rows[:held], rows[held:]
    else:
        validation, train = job.validation_rows, rows

    def loss(chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits = network(job.inputs[job.observation.inputs[chosen]])
        return (weights[chosen] * settings.costs(job.observation(logits, chosen))).sum(), weights[chosen].sum()

    optimiser = torch.optim.AdamW(network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    history: list[tuple[float, float]] = []
    best: dict[str, torch.Tensor] = {}
    best_epoch = 0
    while len(history) < settings.max_epochs and len(history) - best_epoch < settings.patience:
        total = torch.zeros(2)
        network.train()
        for batch in train[torch.randperm(len(train), generator=generator)].split(settings.batch_size):
            summed, weight = loss(batch)
            optimiser.zero_grad()
            (summed / weight).backward()
            optimiser.step()
            total += torch.stack([summed.detach(), weight])
        network.eval()
        with torch.no_grad():
            summed, weight = loss(validation)
        history.append(((total[0] / total[1]).item(), (summed / weight).item()))
        if best_epoch == 0 or history[-1][1] < history[best_epoch - 1][1]:
            best_epoch = len(history)
            best = {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(best)
    train_loss, validation_loss = zip(*history, strict=True)
    return Fit(network, best_epoch, train_loss, validation_loss, job.seed)


def assert_same(found: Fit[MLP], expected: Fit[MLP]) -> None:
    assert (found.best_epoch, found.epochs, found.seed) == (expected.best_epoch, expected.epochs, expected.seed)
    assert found.train_loss == pytest.approx(expected.train_loss, rel=1e-4, abs=1e-5)
    assert found.validation_loss == pytest.approx(expected.validation_loss, rel=1e-4, abs=1e-5)
    for name, value in expected.network.state_dict().items():
        torch.testing.assert_close(found.network.state_dict()[name], value, rtol=1e-3, atol=1e-4)


def held_out(job: Task, settings: Settings) -> torch.Tensor:
    """The validation rows of a job: the first of its rows as shuffled after the first weights were drawn."""
    generator = torch.Generator().manual_seed(job.seed)
    Layout((job.inputs.shape[1], *settings.hidden, 1)).initial(generator)
    order = torch.randperm(len(job.observation), generator=generator)
    return order[: round(settings.validation * len(order))]


def mixed_jobs() -> list[Task]:
    """Seeds, folds, weights, explicit validation rows, other data, other sizes: all fit into one stack."""
    inputs, label = data(203)
    other, other_label = data(90, seed=5)
    likelihood, distorted = recorded_label(label), recorded_label(~label)
    weights = torch.rand(203, generator=torch.Generator().manual_seed(9)).round(decimals=1)
    assert (weights == 0).any()
    folds = torch.arange(203) % 5
    return [
        Task(likelihood, seed=0, inputs=inputs),
        Task(likelihood, seed=1, inputs=inputs),
        Task(likelihood, seed=1, train_rows=(folds != 2).nonzero().flatten(), inputs=inputs),
        Task(distorted, seed=2, weights=weights, inputs=inputs),
        Task(recorded_label(other_label), seed=3, inputs=other),
        Task(likelihood, seed=4, train_rows=torch.arange(17), validation_rows=torch.arange(50, 90), inputs=inputs),
        Task(recorded_label(~other_label), seed=5, weights=torch.arange(1.0, 91.0), inputs=other),
    ]


@pytest.mark.parametrize("loss", ["cross_entropy", "focal"])
def test_a_stack_gives_what_plain_pytorch_gives_for_each_job(loss):
    jobs, settings = mixed_jobs(), dataclasses.replace(QUICK, loss=loss)
    assert len(list(fitting.plans(jobs, settings, range(len(jobs))))) == 1
    for job, found in zip(jobs, fit_many(jobs, settings), strict=True):
        assert_same(found, plain(job, settings))


@pytest.mark.parametrize("distinct", [8, 300])
def test_rows_that_need_several_inputs(distinct):
    jobs = [
        blended(75, distinct - 3, 1, seed=1),
        blended(120, distinct, seed=0),
        blended(120, distinct, seed=2, train_rows=torch.arange(60)),
    ]
    (plan,) = fitting.plans(jobs, QUICK, range(len(jobs)))
    assert plan.few == (distinct == 8)
    for job, found in zip(jobs, fit_many(jobs, QUICK), strict=True):
        assert_same(found, plain(job, QUICK))


def test_several_classes():
    inputs, _ = data(150)
    label = (inputs[:, 0] > 0).long() + (inputs[:, 1] > 0)
    jobs = [Task(recorded_label(label, classes=3), seed=seed, inputs=inputs) for seed in range(3)]
    found = fit_many(jobs, dataclasses.replace(QUICK, max_epochs=30))
    assert found[0].network(inputs).shape == (150, 3)
    assert all((fit.network(inputs).argmax(1) == label).float().mean() > 0.9 for fit in found)
    for job, fit in zip(jobs, fit_many(jobs, QUICK), strict=True):
        assert_same(fit, plain(job, QUICK))


def test_each_network_has_its_own_best_epoch_and_early_stop():
    settings = dataclasses.replace(QUICK, max_epochs=40, patience=3, learning_rate=0.03)
    inputs, label = data(160)
    noise = torch.rand(160, generator=torch.Generator().manual_seed(1)) < 0.5
    # Nothing can be learnt from noise, so that its networks stop early.
    jobs = [Task(recorded_label(noise if seed % 2 else label), seed=seed, inputs=inputs) for seed in range(6)]
    together = fit_many(jobs, settings)
    assert len({fit.epochs for fit in together}) > 2
    assert any(fit.epochs < 40 for fit in together)
    for job, fit in zip(jobs, together, strict=True):
        assert_same(fit, plain(job, settings))
        assert fit.validation_loss[fit.best_epoch - 1] == min(fit.validation_loss)
        assert fit.epochs == min(40, fit.best_epoch + 3)
        assert not fit.network.training


def test_networks_of_different_input_widths_give_what_plain_pytorch_gives():
    jobs = []
    for seed, features in enumerate((5, 2, 7)):
        inputs, label = data(90 + 10 * seed, features=features, seed=seed)
        jobs += [
            Task(recorded_label(label), seed=seed, inputs=inputs),
            Task(recorded_label(~label), seed=seed + 10, inputs=inputs),
        ]
    for hidden in ((8, 8), ()):
        settings = dataclasses.replace(QUICK, hidden=hidden)
        found = fit_many(jobs, settings)
        assert [fit.network.sizes[0] for fit in found] == [5, 5, 2, 2, 7, 7]
        for job, fit in zip(jobs, found, strict=True):
            assert_same(fit, plain(job, settings))


def test_networks_of_different_shapes_come_back_in_the_order_of_the_jobs():
    wide, label = data(80, features=5)
    narrow, _ = data(80, features=2)
    jobs = [
        Task(recorded_label(label), seed=0, inputs=wide),
        Task(alone(label), seed=1, inputs=narrow),
        Task(recorded_label(torch.arange(80) % 3, classes=3), seed=2, inputs=wide),
        Task(alone(~label), seed=3, inputs=narrow),
        Task(recorded_label(label), seed=4, inputs=wide),
    ]
    settings = dataclasses.replace(QUICK, max_epochs=3)
    found = fit_many(jobs, settings)
    assert [fit.seed for fit in found] == [0, 1, 2, 3, 4]
    assert [(fit.network.sizes[0], fit.network.sizes[-1]) for fit in found] == [(5, 1), (2, 1), (5, 3), (2, 1), (5, 1)]
    for job, fit in zip(jobs, found, strict=True):
        assert_same(fit, plain(job, settings))


def test_logistic_regression_is_a_network_without_hidden_layers():
    inputs, label = data(100)
    job, settings = Task(recorded_label(label), inputs=inputs), dataclasses.replace(QUICK, hidden=())
    assert_same(fit_many([job], settings)[0], plain(job, settings))


def test_without_held_out_rows_the_training_rows_choose_the_epoch():
    inputs, label = data(60)
    job = Task(recorded_label(label), seed=3, inputs=inputs)
    (found,) = fit_many([job], dataclasses.replace(QUICK, validation=0))
    (explicit,) = fit_many(
        [dataclasses.replace(job, train_rows=torch.arange(60), validation_rows=torch.arange(60))], QUICK
    )
    assert found.validation_loss == explicit.validation_loss


def test_validation_rows_are_not_trained_on_unless_asked_for():
    inputs, label = data(60)
    held = torch.arange(0, 60, 4)
    kept = torch.tensor([row for row in range(60) if row % 4])
    likelihood = recorded_label(label)
    found = fit_many([Task(likelihood, validation_rows=held, inputs=inputs)], QUICK)
    expected = fit_many([Task(likelihood, validation_rows=held, train_rows=kept, inputs=inputs)], QUICK)
    assert found[0].train_loss == expected[0].train_loss


def test_the_share_of_rows_held_out_is_what_the_settings_say():
    seen: set[int] = set()

    class Spy(AffineObserved):
        def __call__(self, logits, rows):
            if logits.requires_grad:
                seen.update(rows.flatten().tolist())
            return super().__call__(logits, rows)

    inputs, label = data(200)
    for share, trained in ((0.1, 180), (0.25, 150), (0.0, 200), (0.001, 199)):
        seen.clear()
        fit_many([Task(recorded_label(label, kernel=Spy), inputs=inputs)], dataclasses.replace(QUICK, validation=share))
        assert len(seen) == trained


def test_dropout_repeats_itself_trains_and_is_off_afterwards():
    settings = dataclasses.replace(QUICK, hidden=(32, 32), dropout=0.3, max_epochs=15)
    inputs, label = data(300)
    jobs = [Task(recorded_label(label), seed=seed, inputs=inputs) for seed in range(4)]
    first, second = fit_many(jobs, settings), fit_many(jobs, settings)
    undropped = fit_many(jobs, dataclasses.replace(settings, dropout=0.0))
    for fit, again, without in zip(first, second, undropped, strict=True):
        assert fit.train_loss == again.train_loss
        assert fit.train_loss != without.train_loss
        assert fit.network.dropout.p == 0.3
        with torch.no_grad():
            losses = -jobs[0].observation(fit.network(inputs).unsqueeze(1), torch.arange(300))
        assert losses[held_out(jobs[fit.seed], settings)].mean().item() == pytest.approx(
            min(fit.validation_loss), rel=1e-4
        )
        assert ((fit.network(inputs)[:, 0] > 0) == label).float().mean() > 0.75


def test_dropout_in_a_stack_has_the_distribution_that_it_has_alone():
    settings = Settings(hidden=(16,), dropout=0.4, learning_rate=0.02, batch_size=32, max_epochs=6, patience=10)
    inputs, label = data(120)
    # The same seed throughout, so that the networks differ in dropout alone.
    job = Task(recorded_label(label), seed=0, inputs=inputs)
    together = torch.tensor([fit.train_loss[-1] for fit in fit_many([job] * 200, settings)])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        alone = torch.tensor([plain(job, settings).train_loss[-1] for _ in range(50)])
    assert together.std().item() == pytest.approx(alone.std().item(), rel=0.4)
    assert abs(together.mean() - alone.mean()) < 3 * alone.std() / 50**0.5


def test_rows_of_weight_0_are_as_good_as_left_out():
    inputs, label = data(100)
    weights = (torch.arange(100) % 3 > 0).float()
    likelihood = recorded_label(label)
    found = fit_many([Task(likelihood, weights=weights, inputs=inputs)], QUICK)
    expected = fit_many([Task(likelihood, train_rows=weights.nonzero().flatten(), inputs=inputs)], QUICK)
    assert found[0].validation_loss == expected[0].validation_loss


def test_nobody_elses_random_numbers_change_and_no_jobs_are_no_fits():
    before = torch.get_rng_state()
    inputs, label = data(50)
    fit_many([Task(recorded_label(label), inputs=inputs)], dataclasses.replace(QUICK, dropout=0.1))
    assert torch.equal(torch.get_rng_state(), before)
    assert fit_many([]) == []


def test_a_caller_without_gradients_does_not_matter():
    inputs, label = data(50)
    job = Task(recorded_label(label), inputs=inputs)
    with torch.no_grad():
        (found,) = fit_many([job], QUICK)
    assert found.train_loss == fit_many([job], QUICK)[0].train_loss


def test_memory_for_validation_is_bounded(monkeypatch):
    inputs, label = data(400)
    jobs = [
        Task(recorded_label(label), seed=seed, validation_rows=torch.arange(300), inputs=inputs) for seed in range(2)
    ]
    whole = fit_many(jobs, QUICK)
    monkeypatch.setattr("problog4fairness.learners.networks.fit.STACK_ACTIVATIONS", 1)
    largest = 0

    class Spy(AffineObserved):
        def __call__(self, logits, rows):
            nonlocal largest
            largest = max(largest, rows.shape[1])
            return super().__call__(logits, rows)

    spied = [dataclasses.replace(job, observation=recorded_label(label, kernel=Spy)) for job in jobs[:1]]
    pieces = fit_many(spied, QUICK)
    assert largest == QUICK.batch_size
    assert pieces[0].validation_loss == pytest.approx(whole[0].validation_loss, rel=1e-5)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"inputs": torch.zeros(5)}, ShapeError, r"inputs must be \[distinct inputs, features\], not \[5\]"),
        ({"inputs": torch.zeros(50, 3).double()}, TrainingError, r"inputs are float64; pass inputs.float\(\)"),
        ({"inputs": torch.zeros(40, 3)}, ShapeError, r"needs inputs 0 .. 49, but there are 40"),
        (
            {"train_rows": torch.tensor([3, 50])},
            TrainingError,
            r"train_rows asks for row 50 of an observation with rows 0 .. 49",
        ),
        ({"train_rows": torch.tensor([-1])}, TrainingError, "asks for row -1"),
        (
            {"train_rows": torch.zeros(50, dtype=torch.bool)},
            ShapeError,
            r"train_rows must be a vector of row numbers, not \[50\]",
        ),
        ({"train_rows": torch.tensor([], dtype=torch.long)}, TrainingError, "no train rows to learn from"),
        ({"train_rows": torch.tensor([4])}, TrainingError, "1 row cannot be split .* set validation=0"),
        ({"validation_rows": torch.tensor([99])}, TrainingError, "validation_rows asks for row 99"),
        ({"validation_rows": torch.arange(50)}, TrainingError, "no train rows to learn from"),
        ({"weights": torch.ones(49)}, ShapeError, r"one number for each of 50 rows, not the shape \[49\]"),
        (
            {"weights": torch.ones(50).index_fill(0, torch.tensor([7]), -2)},
            TrainingError,
            "row 7: a weight of -2 is not 0 or more",
        ),
        ({"weights": torch.full((50,), torch.nan)}, TrainingError, "rows 0, 1, 2, 3, 4 and 45 more: a weight of nan"),
        ({"weights": torch.zeros(50)}, TrainingError, "no train rows to learn from"),
        ({"seed": -1}, TrainingError, "seed=-1 is not a whole number"),
        ({"seed": 0.5}, TrainingError, r"seed=0\.5 is not a whole number"),
    ],
)
def test_a_job_that_cannot_be_fitted_is_named_before_any_is_fitted(change, error, message):
    inputs, label = data(50)
    good = Task(recorded_label(label), inputs=inputs)
    bad = dataclasses.replace(good, **change)
    with pytest.raises(error, match=message) as caught:
        fit_many([bad], QUICK)
    assert not str(caught.value).startswith("job")
    with pytest.raises(error, match=message) as caught:
        fit_many([good, bad], QUICK)
    assert str(caught.value).startswith("task 1: ")
    assert isinstance(caught.value, P4FError)
    assert "\n" not in str(caught.value)


def test_missing_values_in_the_inputs_are_named():
    inputs, label = data(50)
    inputs[[3, 9], [0, 1]] = torch.tensor([torch.nan, torch.inf])
    with pytest.raises(
        TrainingError, match=r"inputs are not finite in the rows 3, 9; fill or drop missing values first"
    ):
        fit_many([Task(recorded_label(label), inputs=inputs)])


@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_a_loss_that_is_not_finite_names_the_job_and_the_rows(dropout):
    inputs, label = data(100)
    jobs = [
        Task(recorded_label(label), inputs=inputs),
        Task(broken(label, [31]), train_rows=torch.arange(10, 90), inputs=inputs),
    ]
    message = (
        r"^task 1: the loss is not finite in epoch 1 at the row 31: the network's output is, so check what is recorded"
    )
    with pytest.raises(TrainingError, match=message):
        fit_many(jobs, dataclasses.replace(QUICK, dropout=dropout))


def test_rows_are_numbered_as_in_the_observation_of_their_job():
    inputs, label = data(100)
    other, other_label = data(60, seed=2)

    class Late(AffineObserved):
        """Two rows of the second job break in a stack."""

        def __call__(self, logits, rows):
            bad = torch.isin(rows, torch.tensor([100 + 25, 100 + 26]))
            return super().__call__(logits, rows).masked_fill(bad, torch.nan)

        def stacked(self, others):
            whole = super().stacked(others)
            return Late(whole.widths, whole.base, whole.coefficients, whole.codes)

    jobs = [
        Task(recorded_label(label, kernel=Late), inputs=inputs),
        Task(recorded_label(other_label, kernel=Late), validation_rows=torch.arange(20, 40), inputs=other),
    ]
    with pytest.raises(TrainingError, match=r"^task 1: the loss is not finite in epoch 1 at the rows 25, 26:"):
        fit_many(jobs, QUICK)


def test_padding_is_not_counted_among_the_rows():
    inputs, label = data(40)
    job = Task(broken(label, [3]), train_rows=torch.arange(3, 13), validation_rows=torch.arange(20, 30), inputs=inputs)
    with pytest.raises(TrainingError, match=r"in epoch 1 at the row 3: the network's"):
        fit_many([job], QUICK)


def test_rows_are_named_after_other_networks_have_stopped():
    class Last(AffineObserved):
        """Row 5 of the second job breaks when its network is alone."""

        def __call__(self, logits, rows):
            found = super().__call__(logits, rows)
            return found.masked_fill((rows == 105) & (len(rows) == 1), torch.nan)

        def stacked(self, others):
            whole = super().stacked(others)
            return Last(whole.widths, whole.base, whole.coefficients, whole.codes)

    inputs, _ = data(100)
    other, label = data(100, seed=1)
    noise = torch.rand(100, generator=torch.Generator().manual_seed(0)) < 0.5
    settings = dataclasses.replace(QUICK, max_epochs=60, patience=4)
    jobs = [
        Task(recorded_label(noise, kernel=Last), inputs=inputs),
        Task(recorded_label(label, kernel=Last), train_rows=torch.arange(90), inputs=other),
    ]
    with pytest.raises(TrainingError, match=r"^task 1: the loss is not finite in epoch \d+ at the row 5:"):
        fit_many(jobs, settings)


def test_a_network_that_overflows_asks_for_a_lower_learning_rate():
    inputs, label = data(100)
    with pytest.raises(TrainingError, match=r"nor is the network's output; .* lower the learning rate \(now 1e\+30\)"):
        fit_many([Task(recorded_label(label), inputs=inputs)], dataclasses.replace(QUICK, learning_rate=1e30))


def test_a_batch_larger_than_the_data_is_the_whole_data():
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    job = Task(recorded_label(x[:, 0] > 0), seed=1, inputs=x)
    huge, whole = (fit_many([job], Settings(max_epochs=3, batch_size=size))[0] for size in (10**12, 50))
    assert huge.validation_loss == whole.validation_loss
