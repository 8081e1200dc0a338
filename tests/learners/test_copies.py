"""Rows that occur twice teach no more than rows of weight 2: what early stopping holds out holds no copies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.learners.base import Task
from problog4fairness.learners.boosted import Boosted
from problog4fairness.learners.networks.network import Network
from problog4fairness.learners.splits import kinds_of, random_parts, split


def people(rows=600, copies=1, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 5)), columns=list("abcde")).assign(town=rng.choice(list("xyz"), rows))
    fair = rng.random(rows) < 1 / (1 + np.exp(-frame["a"]))
    order = rng.permutation(np.tile(np.arange(rows), copies))
    return frame.iloc[order].reset_index(drop=True), fair.to_numpy().astype(int)[order]


def observed(frame, labels):
    return p4f.NoBias().observe(p4f.data.Rows(frame, tuple(frame.columns), recorded=labels))


def test_copies_are_held_out_together():
    observation = observed(*people(copies=3))
    kinds = kinds_of(observation)
    assert len(kinds.unique()) == 600
    generator = torch.Generator().manual_seed(0)
    train, held = split(Task(observation), 0.1, generator, kinds)
    assert not set(kinds[train].tolist()) & set(kinds[held].tolist())
    assert 150 < len(held) <= 180
    assert len(train) + len(held) == 1800
    parts = random_parts(torch.randperm(1800, generator=generator), kinds, 3)
    assert torch.cat(parts).sort().values.tolist() == list(range(1800))
    for number, part in enumerate(parts):
        others = torch.cat(parts[:number] + parts[number + 1 :])
        assert not set(kinds[part].tolist()) & set(kinds[others].tolist())


def test_different_rows_and_cells_of_few_categories_are_no_copies():
    frame, labels = people()
    assert kinds_of(observed(frame, labels)) is None
    assert kinds_of(observed(frame[["town"]], labels)) is None


@pytest.mark.parametrize("learner", [Boosted(), Network(networks=1, max_epochs=60)])
def test_rows_that_occur_four_times_do_not_overfit(learner):
    once, (new, truth) = people(), people(4000, seed=1)
    four = people(copies=4)

    def error(data):
        fitted = learner.fit_many([Task(observed(*data), 0)], progress=False)[0]
        log = fitted.log_proba(new).numpy()
        return -float(log[np.arange(len(truth)), truth].mean())

    assert error(four) < error(once) + 0.03
