"""The likelihood of the templates against a plain sum over everything unseen, and against programs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from problog4fairness.errors import InconsistentEvidenceError
from problog4fairness.learners import Job, Mixture, Settings, fit_many
from problog4fairness.learners.mixture import fair_log_probability, row_kinds


def random_tables(rng, groups, sizes, classes, zeros):
    def table(rows, columns):
        raw = rng.random((groups, rows, columns)) + 0.05
        if zeros:
            raw = np.where(np.eye(rows, columns), raw, raw * (rng.random((groups, rows, columns)) > 0.5))
        return torch.tensor(raw / raw.sum(-1, keepdims=True))

    return [table(size, size) for size in sizes], table(classes, classes)


def by_hand(shares, recorded, label, codes, tables, probabilities):
    """P(recorded) as the formula says, with loops."""
    total = 0.0
    for g, share in enumerate(shares):
        for v, values in enumerate(itertools.product(*(range(t.shape[-1]) for t in tables))):
            weight = np.prod([t[g, c, x].item() for t, c, x in zip(tables, codes, values, strict=True)])
            for f in range(label.shape[1]):
                total += share * weight * label[g, f, recorded].item() * probabilities[v][f]
    return total


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize(("sizes", "classes"), [((), 2), ((2, 2), 2), ((2, 3), 2), ((), 3), ((2, 2), 3)])
def test_the_formula(sizes, classes, soft, zeros):
    rng = np.random.default_rng(0)
    rows, groups = 12, 2
    tables, label = random_tables(rng, groups, sizes, classes, zeros)
    shares = rng.random((rows, groups)) if soft else np.eye(groups)[rng.integers(0, groups, rows)]
    shares /= shares.sum(1, keepdims=True)
    recorded = rng.integers(0, classes, rows)
    codes = [rng.integers(0, size, rows) for size in sizes]
    kinds, kind = row_kinds(shares, recorded, label, list(zip(codes, tables, strict=True)))
    variants = int(np.prod(sizes)) if sizes else 1
    outputs = 1 if classes == 2 else classes
    likelihood = Mixture(kinds, kind, torch.zeros(rows, variants, dtype=torch.long), outputs)
    logits = torch.tensor(3 * rng.normal(size=(rows, variants, outputs))).requires_grad_()
    if classes == 2:
        yes = torch.sigmoid(logits.detach())
        probabilities = torch.cat([1 - yes, yes], -1).numpy()
    else:
        probabilities = torch.softmax(logits.detach(), -1).numpy()
    found = likelihood(logits, torch.arange(rows))
    expected = [
        by_hand(shares[i], recorded[i], label, [c[i] for c in codes], tables, probabilities[i]) for i in range(rows)
    ]
    np.testing.assert_allclose(found.detach().exp().numpy(), expected, rtol=1e-9)
    assert torch.autograd.gradcheck(lambda z: likelihood(z, torch.arange(rows)), (logits,))
    single = likelihood(logits.detach().float(), torch.arange(rows))
    np.testing.assert_allclose(single.numpy(), np.log(expected), rtol=1e-5, atol=1e-5)


def test_many_rows_of_a_kind_share_it():
    shares = np.eye(2)[np.arange(1000) % 2]
    kinds, codes = row_kinds(shares, np.arange(1000) // 2 % 2, torch.eye(2).double().expand(2, 2, 2), [])
    assert len(kinds.shares) == 4
    assert codes.shape == (1000,)


def test_stacking_is_putting_rows_one_after_another():
    rng = np.random.default_rng(1)
    parts = []
    for _ in range(3):
        tables, label = random_tables(rng, 2, (2,), 2, False)
        shares = np.eye(2)[rng.integers(0, 2, 8)]
        kinds, codes = row_kinds(shares, rng.integers(0, 2, 8), label, [(rng.integers(0, 2, 8), tables[0])])
        parts.append(Mixture(kinds, codes, torch.randint(0, 4, (8, 2)), 1))
    whole = parts[0].stacked(parts[1:], [0, 4, 8])
    logits = torch.randn(24, 2, 1, dtype=torch.float64)
    expected = torch.cat([part(logits[8 * i : 8 * i + 8], torch.arange(8)) for i, part in enumerate(parts)])
    torch.testing.assert_close(whole(logits, torch.arange(24)), expected)
    torch.testing.assert_close(whole.index[8:16], parts[1].index + 4)
    rows = torch.randint(0, 24, (3, 5))
    torch.testing.assert_close(whole(logits[rows], rows), expected[rows])


def test_huge_logits_stay_finite_and_exact():
    shares = np.ones((2, 1))
    kinds, codes = row_kinds(shares, np.array([0, 1]), torch.eye(2).double().unsqueeze(0), [])
    likelihood = Mixture(kinds, codes, torch.zeros(2, 1, dtype=torch.long), 1)
    z = torch.tensor([[[200.0]], [[-200.0]]], requires_grad=True)
    found = likelihood(z, torch.arange(2))
    torch.testing.assert_close(found, torch.tensor([-200.0, -200.0]))
    (slope,) = torch.autograd.grad(found.sum(), z)
    torch.testing.assert_close(slope.flatten(), torch.tensor([-1.0, 1.0]))


def test_the_fair_label_is_the_likelihood_without_the_label_part():
    rng = np.random.default_rng(2)
    tables, _ = random_tables(rng, 2, (2, 2), 2, False)
    shares = np.eye(2)[rng.integers(0, 2, 6)]
    features = [(rng.integers(0, 2, 6), table) for table in tables]
    kinds, codes = row_kinds(shares, None, None, features)
    logits = torch.randn(6, 4, 1, dtype=torch.float64)
    fair = fair_log_probability(kinds, codes, logits)
    torch.testing.assert_close(fair.exp().sum(-1), torch.ones(6).double())
    for label in (0, 1):
        recorded, place = row_kinds(shares, np.full(6, label), torch.eye(2).double().expand(2, 2, 2), features)
        same = Mixture(recorded, place, torch.zeros(6, 4, dtype=torch.long), 1)(logits, torch.arange(6))
        torch.testing.assert_close(fair[:, label], same)


def test_what_cannot_be_recorded_is_an_error():
    label = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]], dtype=torch.float64)
    with pytest.raises(InconsistentEvidenceError, match="2 of 3 recorded labels have probability 0"):
        row_kinds(np.ones((3, 1)), np.array([1, 0, 1]), label, [])


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_inputs_that_all_rows_share_may_be_given_once(soft, classes):
    rng = np.random.default_rng(3)
    tables, label = random_tables(rng, 2, (2, 3), classes, False)
    shares = rng.random((10, 2)) if soft else np.eye(2)[rng.integers(0, 2, 10)]
    shares /= shares.sum(1, keepdims=True)
    features = [(rng.integers(0, size, 10), table) for size, table in zip((2, 3), tables, strict=True)]
    kinds, codes = row_kinds(shares, rng.integers(0, classes, 10), label, features)
    outputs = 1 if classes == 2 else classes
    likelihood = Mixture(kinds, codes, torch.zeros(10, 6, dtype=torch.long), outputs)
    rows = torch.randint(0, 10, (4, 7))
    once = torch.randn(4, 1, 6, outputs, dtype=torch.float64, requires_grad=True)
    each = once.expand(4, 7, 6, outputs)
    torch.testing.assert_close(likelihood(once, rows), likelihood(each, rows))
    slopes = [torch.autograd.grad(likelihood(z, rows).sum(), once)[0] for z in (once, each)]
    torch.testing.assert_close(*slopes)


def test_many_small_probabilities_fall_back_to_log_space():
    tables, _ = random_tables(np.random.default_rng(4), 1, (2, 2), 2, False)
    features = [(np.zeros(2, dtype=np.int64), table) for table in tables]
    kinds, codes = row_kinds(np.ones((2, 1)), np.array([1, 0]), torch.eye(2).double().unsqueeze(0), features)
    likelihood = Mixture(kinds, codes, torch.zeros(2, 4, dtype=torch.long), 1)
    z = torch.full((2, 4, 1), -150.0, requires_grad=True)
    found = likelihood(z, torch.arange(2))
    torch.testing.assert_close(found, torch.tensor([-150.0, 0.0]))
    (slope,) = torch.autograd.grad(found[0], z)
    torch.testing.assert_close(slope[0].sum(), torch.tensor(1.0))


@pytest.mark.parametrize("contexts", [1, 3, 400])
def test_runs_are_the_same_as_an_index_in_every_way_of_looking_up(contexts):
    """One context: inputs are shared; a few: runs are looked up; many: each batch looks up its inputs."""
    rng = np.random.default_rng(5)
    rows, runs = 400, torch.arange(400) % contexts
    jobs: dict[str, list[Job]] = {"runs": [], "index": []}
    for seed in range(2):
        tables, label = random_tables(rng, 2, (2, 2), 2, False)
        features = [(rng.integers(0, 2, rows), table) for table in tables]
        kinds, codes = row_kinds(np.eye(2)[rng.integers(0, 2, rows)], rng.integers(0, 2, rows), label, features)
        inputs = torch.randn(4 * contexts, 3)
        index = 4 * runs.unsqueeze(1) + torch.arange(4)
        for name, place in (("runs", runs), ("index", index)):
            likelihood = Mixture(kinds, codes, place, 1)
            torch.testing.assert_close(likelihood.index, index)
            assert likelihood.input_range() == (0, 4 * contexts - 1)
            assert len(likelihood) == rows
            jobs[name].append(Job(inputs, likelihood, seed=seed))
    settings = Settings(max_epochs=3, hidden=(8,))
    for one, other in zip(*(fit_many(both, settings, progress=False) for both in jobs.values()), strict=True):
        assert one.validation_loss == pytest.approx(other.validation_loss, rel=1e-5)
        x = torch.randn(5, 3)
        torch.testing.assert_close(one.network(x), other.network(x), rtol=1e-4, atol=1e-5)
