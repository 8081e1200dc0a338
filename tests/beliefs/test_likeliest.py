"""More fair vectors than can be listed: the likeliest ones, and draws of the others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.beliefs import restore
from problog4fairness.beliefs.likelihood.sampled_inputs import likely_vectors, row_seeds
from problog4fairness.data import Rows
from tests.beliefs.contract import about_the_label


def bits(rows: int, count: int, seed: int = 0) -> tuple[list[str], pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Names, recorded and fair features, and labels; a fair 1 is recorded as 0 with probability .3 where a = 1."""
    rng = np.random.default_rng(seed)
    names = [f"f{number}" for number in range(count)]
    fair = pd.DataFrame(rng.integers(0, 2, (rows, count)), columns=names).assign(a=rng.integers(0, 2, rows))
    lost = (rng.random((rows, count)) < 0.3) & (fair["a"] == 1).to_numpy()[:, None]
    recorded = fair.assign(**fair[names].mask(lost, 0))
    chance = 1 / (1 + np.exp(-4 * (fair[names] - 0.5).mean(axis=1) * np.sqrt(count)))
    return names, recorded, fair, (rng.random(rows) < chance).astype(int).to_numpy()


def test_weights_are_right_on_average_and_sum_to_one():
    chance = torch.tensor([0.1, 0.3, 0.25, 0.05, 0.2, 0.4], dtype=torch.float64)
    factors = [torch.stack([1 - own, own]).expand(20_000, 1, 2) for own in chance]
    found = likely_vectors(factors, 8, row_seeds([np.zeros(20_000, dtype=np.int64)], different=True))
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(20_000, 1).double())
    # P(feature i is 1), and that two of them are.
    ones = found.positions.double()
    mean = (found.weights.unsqueeze(-1) * ones).sum(2).mean((0, 1))
    pairs = torch.einsum("rgv,rgvi,rgvj->ij", found.weights, ones, ones) / 20_000
    torch.testing.assert_close(mean, chance, atol=0.005, rtol=0)
    torch.testing.assert_close(
        pairs.fill_diagonal_(0), torch.outer(chance, chance).fill_diagonal_(0), atol=0.005, rtol=0
    )
    assert 0 < float(found.drawn.mean()) < 1


@pytest.mark.parametrize("soft", [False, True])
def test_with_room_for_all_the_numbers_are_those_of_the_whole_table(soft):
    names, recorded, _, y = bits(60, 3)
    frame = recorded.assign(x=np.arange(60.0), a=np.linspace(0.1, 0.9, 60) if soft else recorded["a"])
    rows = Rows(frame, (*names, "x"), (0, 1), y)
    belief = p4f.MeasurementBias(names, "a", {1: 0.3, 0: 0.1}, 0.05)
    factors = [table[:1, :1].expand(60, 1, 2) for table in belief.feature_tables().values()]
    assert float(likely_vectors(factors, 8, row_seeds([y], different=True)).drawn.max()) == 0
    some, whole = (p4f.MeasurementBias(names, "a", {1: 0.3, 0: 0.1}, 0.05, inputs=n).observe(rows) for n in (7, 8))
    assert (whole.drawn, some.drawn > 0) == (0, True)
    proba = [seen.recorded_proba(_log_proba(seen.table[names].sum(axis=1))) for seen in (some, whole)]
    # One vector of eight is thinned out.
    torch.testing.assert_close(*proba, atol=0.1, rtol=0)
    torch.testing.assert_close(*(own.mean(0) for own in proba), atol=0.01, rtol=0)


def _log_proba(total: pd.Series) -> torch.Tensor:
    z = torch.tensor(total.to_numpy(dtype=float)) - 1.5
    return torch.stack([torch.zeros_like(z), z], dim=1).log_softmax(1)


def test_what_is_drawn_for_a_row_to_predict_does_not_depend_on_other_rows():
    names, recorded, _, _ = bits(30, 12)
    belief = p4f.MeasurementBias(names, "a", {1: 0.23}, False, affected=[1])
    whole, part = (restore(belief, Rows(own, tuple(names))) for own in (recorded, recorded[10:].reset_index(drop=True)))
    found = [seen.fair_proba(_log_proba(seen.table[names].sum(axis=1))) for seen in (whole, part)]
    torch.testing.assert_close(found[0][10:], found[1])


def test_twenty_features_are_learned_as_well_as_if_they_were_right():
    names, recorded, fair, y = bits(3000, 20)
    belief = p4f.MeasurementBias(names, "a", {1: 0.3 / 1.3}, False, affected=[1])
    learn, test = slice(0, 2000), slice(2000, None)
    right = {}
    for name, (own, table) in {"belief": (belief, recorded), "record": (None, recorded), "truth": (None, fair)}.items():
        model = p4f.DebiasedClassifier(own, "linear", random_state=0).fit(table[learn], y[learn])
        right[name] = (model.predict(fair[test]) == y[test]).mean()
    assert right["belief"] > right["record"] + 0.8 * (right["truth"] - right["record"])
    assert "of the weight rests on draws" in str(belief.check(recorded.assign(y=y)[:400], recorded="y").notes)


def test_the_number_of_inputs_is_a_whole_one_and_is_kept():
    with pytest.raises(p4f.errors.P4FError, match="inputs must be a whole number"):
        p4f.MeasurementBias(["u", "v"], "a", inputs=0)
    belief = p4f.MeasurementBias(["u", "v"], "a", inputs=3)
    assert p4f.Belief.from_json(belief.to_json()) == belief


def test_the_printed_program_of_twenty_features_trains_to_the_same_numbers():
    """Where all but four of them are never wrong, so that all that can be fair is listed, and by hand, too."""
    rng = np.random.default_rng(0)
    names = [f"f{number}" for number in range(20)]
    strength = {name: 0.3 if number < 4 else 0.0 for number, name in enumerate(names)}
    belief = p4f.MeasurementBias(names, "a", strength, False, affected=[1])
    frame = pd.DataFrame(rng.integers(0, 2, (300, 20)), columns=names).assign(
        a=rng.integers(0, 2, 300), skill=0, other=0
    )
    y = (rng.random(300) < 1 / (1 + np.exp(-frame[names[:5]].sum(axis=1) + 2.5))).astype(int)
    assert belief.observe(Rows(frame, tuple(names), recorded=y.to_numpy())).drawn == 0
    program, beside = about_the_label(belief, frame, belief.parts[:4])
    learner = p4f.learners.Linear(penalty=0.0)
    ours = p4f.DebiasedClassifier(belief, learner).fit(frame[names], y, sensitive_features=frame[["a"]])
    theirs = p4f.DebiasedClassifier(program, learner).fit(frame[names], y, sensitive_features=beside)
    found = [own.fitted_.log_proba(frame[names]) for own in (ours, theirs)]
    torch.testing.assert_close(*found, atol=1e-6, rtol=0)
