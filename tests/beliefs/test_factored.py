"""Tables that factor, against a plain sum over everything unseen; listed and multiplied out."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import torch

from problog4fairness.beliefs.likelihood import factored
from problog4fairness.beliefs.likelihood.factored import FactoredObserved, FactoredView, row_kinds
from problog4fairness.beliefs.likelihood.inputs import FairInputs
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.errors import InconsistentEvidenceError

CASES = [((), 2), ((2, 2), 2), ((2, 3), 2), ((), 3), ((2, 2), 3)]


def random_tables(rng, groups, sizes, classes, zeros):
    def table(rows, columns):
        raw = rng.random((groups, rows, columns)) + 0.05
        if zeros:
            raw = np.where(np.eye(rows, columns), raw, raw * (rng.random((groups, rows, columns)) > 0.5))
        return torch.tensor(raw / raw.sum(-1, keepdims=True))

    return [table(size, size) for size in sizes], table(classes, classes)


class Case:
    """Rows under random tables, the observation of them, and each row's probabilities by loops."""

    def __init__(self, sizes, classes, soft=False, zeros=False, seed=0, rows=12, fair=None):
        rng = np.random.default_rng(seed)
        self.tables, self.label = random_tables(rng, 2, sizes, classes, zeros)
        self.shares = rng.random((rows, 2)) if soft else np.eye(2)[rng.integers(0, 2, rows)]
        self.shares /= self.shares.sum(1, keepdims=True)
        self.recorded = rng.integers(0, classes, rows)
        self.codes = [rng.integers(0, size, rows) for size in sizes]
        self.variants, self.outputs = int(np.prod(sizes, dtype=int)), 1 if classes == 2 else classes
        groups = self.shares if soft else self.shares.argmax(1)
        kinds, kind = row_kinds(groups, self.label, list(zip(self.codes, self.tables, strict=True)))
        view = FactoredView(kinds, kind, self.outputs)
        self.observed = view.observe(torch.tensor(self.recorded), None if fair is None else torch.tensor(fair))
        # Every row has inputs of its own.
        places = torch.arange(rows * self.variants).reshape(rows, self.variants)
        inputs = FairInputs(pd.DataFrame(index=range(rows * self.variants)), places, self.variants)
        self.observation = Observation(inputs, view, self.observed, self.outputs)
        self.logits = torch.tensor(3 * rng.normal(size=(rows, self.variants, self.outputs)))
        yes = torch.sigmoid(self.logits)
        self.h = torch.cat([1 - yes, yes], -1) if classes == 2 else torch.softmax(self.logits, -1)

    def by_hand(self):
        """s w T h of every row, ``[rows, variants, fair, recorded]``, as the formula says."""
        rows, classes = len(self.shares), self.label.shape[1]
        total = np.zeros((rows, self.variants, classes, classes))
        vectors = list(itertools.product(*(range(table.shape[-1]) for table in self.tables)))
        for i, g, v, f, r in itertools.product(
            range(rows), range(2), range(self.variants), range(classes), range(classes)
        ):
            weight = np.prod(
                [t[g, c[i], x].item() for t, c, x in zip(self.tables, self.codes, vectors[v], strict=True)]
            )
            total[i, v, f, r] += self.shares[i, g] * weight * self.label[g, f, r].item() * self.h[i, v, f].item()
        return total


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize(("sizes", "classes"), CASES)
def test_the_formula(monkeypatch, sizes, classes, soft, zeros, listed):
    if not listed:
        if not sizes:
            pytest.skip("without distorted features everything is listed")
        monkeypatch.setattr(factored, "LISTED", 0)
    case = Case(sizes, classes, soft, zeros)
    assert isinstance(case.observed, FactoredObserved) is not listed
    terms, rows = case.by_hand(), np.arange(12)
    recorded = terms.sum((1, 2))[rows, case.recorded]
    logits = case.logits.clone().requires_grad_()
    found = case.observation(logits, torch.arange(12))
    np.testing.assert_allclose(found.detach().exp().numpy(), recorded, rtol=1e-9)
    assert torch.autograd.gradcheck(lambda z: case.observation(z, torch.arange(12)), (logits,))
    single = case.observation(logits.detach().float(), torch.arange(12))
    np.testing.assert_allclose(single.numpy(), np.log(recorded), rtol=1e-5, atol=1e-5)
    log_proba = case.h.log().flatten(0, 1)
    posterior = case.observation.posterior(log_proba).weights
    expected = terms[rows, :, :, case.recorded] / recorded[:, None, None]
    np.testing.assert_allclose(posterior.numpy(), expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(case.observation.recorded_proba(log_proba).numpy(), terms.sum((1, 2)), rtol=1e-9)
    np.testing.assert_allclose(case.observation.fair_proba(log_proba).numpy(), terms.sum((1, 3)), rtol=1e-9)


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize(("sizes", "classes"), [((2, 3), 2), ((2, 2), 3)])
def test_known_fair_labels_leave_only_their_terms(monkeypatch, sizes, classes, listed):
    monkeypatch.setattr(factored, "LISTED", factored.LISTED if listed else 0)
    fair = np.array([0, 1, -1] * 4)
    case = Case(sizes, classes, fair=fair)
    terms, rows = case.by_hand(), np.arange(12)
    terms = terms[rows, :, :, case.recorded]
    keep = (fair[:, None] == -1) | (np.arange(classes) == fair[:, None])
    terms = terms * keep[:, None]
    found = case.observation(case.logits, torch.arange(12))
    np.testing.assert_allclose(found.exp().numpy(), terms.sum((1, 2)), rtol=1e-9)
    posterior = case.observation.posterior(case.h.log().flatten(0, 1)).weights
    np.testing.assert_allclose(posterior.numpy(), terms / terms.sum((1, 2), keepdims=True), rtol=1e-8, atol=1e-12)


def test_a_known_fair_label_of_one_input_is_all_that_counts():
    case = Case((), 2, fair=np.array([0, 1, -1] * 4))
    found = case.observation(case.logits, torch.arange(12)).exp()
    known = torch.tensor([0, 1] * 4)
    places = torch.tensor([i for i in range(12) if i % 3 < 2])
    torch.testing.assert_close(found[places], case.h[places, 0, known])


@pytest.mark.parametrize("listed", [True, False])
def test_stacking_is_putting_rows_one_after_another(monkeypatch, listed):
    monkeypatch.setattr(factored, "LISTED", factored.LISTED if listed else 0)
    parts = [Case((2,), 2, seed=seed, rows=8) for seed in range(3)]
    whole = parts[0].observation.stacked([part.observation for part in parts[1:]], [0, 16, 32])
    logits = torch.randn(24, 2, 1, dtype=torch.float64)
    expected = torch.cat([p.observation(logits[8 * i : 8 * i + 8], torch.arange(8)) for i, p in enumerate(parts)])
    torch.testing.assert_close(whole(logits, torch.arange(24)), expected)
    torch.testing.assert_close(whole.inputs[8:16], parts[1].observation.inputs + 16)
    rows = torch.randint(0, 24, (3, 5))
    torch.testing.assert_close(whole(logits[rows], rows), expected[rows])


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
def test_inputs_that_all_rows_share_may_be_given_once(monkeypatch, soft, classes, listed):
    monkeypatch.setattr(factored, "LISTED", factored.LISTED if listed else 0)
    case = Case((2, 3), classes, soft)
    rows = torch.randint(0, 12, (4, 7))
    once = torch.randn(4, 1, 6, case.outputs, dtype=torch.float64, requires_grad=True)
    each = once.expand(4, 7, 6, case.outputs)
    torch.testing.assert_close(case.observation(once, rows), case.observation(each, rows))
    slopes = [torch.autograd.grad(case.observation(z, rows).sum(), once)[0] for z in (once, each)]
    torch.testing.assert_close(*slopes)


@pytest.mark.parametrize("listed", [True, False])
def test_small_probabilities_fall_back_to_log_space(monkeypatch, listed):
    monkeypatch.setattr(factored, "LISTED", factored.LISTED if listed else 0)
    tables, _ = random_tables(np.random.default_rng(4), 1, (2, 2), 2, False)
    features = [(np.zeros(2, dtype=np.int64), table) for table in tables]
    kinds, codes = row_kinds(np.zeros(2, dtype=np.int64), torch.eye(2).double().unsqueeze(0), features)
    observed = FactoredView(kinds, codes, 1).observe(torch.tensor([1, 0]), None)
    z = torch.full((2, 4), -150.0, requires_grad=True)
    found = observed(z, torch.arange(2))
    torch.testing.assert_close(found, torch.tensor([-150.0, 0.0]))
    (slope,) = torch.autograd.grad(found[0], z)
    torch.testing.assert_close(slope[0].sum(), torch.tensor(1.0))


def test_huge_logits_stay_finite_and_exact():
    kinds, codes = row_kinds(np.zeros(2, dtype=np.int64), torch.eye(2).double().unsqueeze(0), [])
    observed = FactoredView(kinds, codes, 1).observe(torch.tensor([0, 1]), None)
    z = torch.tensor([[200.0], [-200.0]], requires_grad=True)
    found = observed(z)
    torch.testing.assert_close(found, torch.tensor([-200.0, -200.0]))
    (slope,) = torch.autograd.grad(found.sum(), z)
    torch.testing.assert_close(slope.flatten(), torch.tensor([-1.0, 1.0]))


def test_many_rows_of_a_kind_share_it():
    kinds, codes = row_kinds(np.arange(1000) % 2, torch.eye(2).double().expand(2, 2, 2), [])
    assert len(kinds.shares) == 2
    assert codes.shape == (1000,)


def test_what_cannot_be_recorded_is_an_error():
    label = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]], dtype=torch.float64)
    kinds, codes = row_kinds(np.zeros(3, dtype=np.int64), label, [])
    with pytest.raises(InconsistentEvidenceError, match="2 of 3 recorded labels have probability 0"):
        FactoredView(kinds, codes, 1).observe(torch.tensor([1, 0, 1]), None).require_possible()
