from __future__ import annotations

import math

import numpy as np
import pytest

from problog4fairness.errors import P4FError, TrainingError
from problog4fairness.learners.networks.training import Settings


@pytest.mark.parametrize(
    ("rows", "batch", "rate", "patience"),
    [(1, 1, 6.25e-5, 10), (300, 64, 1e-3, 10), (10_000, 512, 4e-3, 5), (10**6, 1024, 6.35e-3, 5)],
)
def test_batch_size_learning_rate_and_patience_suit_the_rows(rows, batch, rate, patience):
    suited = Settings().suited(rows)
    assert (suited.batch_size, suited.learning_rate) == (batch, pytest.approx(rate, rel=1e-3))
    assert suited.patience == patience
    own = Settings(batch_size=16, learning_rate=0.5, patience=3).suited(10**6)
    assert (own.batch_size, own.learning_rate, own.patience) == (16, 0.5, 3)


def test_numbers_of_a_grid_search_become_plain_ones():
    settings = Settings(hidden=[np.int64(8)], batch_size=np.int64(16), learning_rate=np.float32(0.5), dropout=0)
    assert settings.hidden == (8,)
    assert type(settings.batch_size) is int
    assert type(settings.learning_rate) is float
    assert settings == Settings(hidden=(8,), batch_size=16, learning_rate=0.5)


def test_no_hidden_layer_and_no_held_out_rows_are_allowed():
    assert Settings(hidden=(), validation=0).hidden == ()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hidden", 32, "hidden=32 is not a sequence of widths"),
        ("hidden", (32, 0), r"hidden\[1\]=0 is not a whole number of at least 1"),
        ("hidden", "ab", r"hidden\[0\]='a' is not a whole number"),
        ("dropout", 1.0, "dropout=1.0 is not a number of at least 0 and below 1"),
        ("dropout", -0.1, "dropout=-0.1"),
        ("learning_rate", 0, "learning_rate=0 is not a number above 0"),
        ("learning_rate", math.nan, "learning_rate=nan"),
        ("learning_rate", "fast", "learning_rate='fast'"),
        ("weight_decay", -1, "weight_decay=-1 is not a number of at least 0"),
        ("batch_size", 0, "batch_size=0 is not a whole number"),
        ("batch_size", 6.5, "batch_size=6.5"),
        ("max_epochs", True, "max_epochs=True"),
        ("patience", 0, "patience=0"),
        ("validation", 1, "validation=1"),
        ("gamma", math.inf, "gamma=inf"),
        ("loss", "hinge", "loss='hinge' is unknown; take one of cross_entropy, focal"),
    ],
)
def test_a_wrong_value_is_named_in_one_line(name, value, message):
    with pytest.raises(TrainingError, match=message) as caught:
        Settings(**{name: value})
    assert isinstance(caught.value, P4FError)
    assert "\n" not in str(caught.value)
