"""What every learner must fulfil; the tests of each inherit it."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.errors import P4FError
from problog4fairness.learners.base import Learner, Task
from problog4fairness.learners.fitted import Fitted

FEATURES = ("x", "kind", "first", "second")
PROGRAM = r"""nn(h,X) :: y(X).  nn(a,X) :: a(X).
0.4 :: officer(X) :- a(X).
0.05 :: mistake(X).
seen(X) :- y(X), \+officer(X).
seen(X) :- \+y(X), mistake(X).
?- seen(x).
"""
# Only those who came were recorded, and who would be granted it came more often.
SELECTED = (
    PROGRAM
    + r"""0.9 :: came(X) :- y(X).
0.3 :: came(X) :- \+y(X).
evidence(came(x)).
"""
)
LABEL = p4f.LabelBias("a", negative={1: 0.4, 0: 0.1}, positive=0.05)
MEASUREMENT = p4f.MeasurementBias(["first", "second"], "a", negative=0.3, positive=0.1, affected=[1])
BELIEFS = {
    "label": LABEL,
    "measurement": MEASUREMENT,
    "historical": p4f.HistoricalBias(["first"], "a", negative=0.3, positive=0.1, label=LABEL),
    "program": p4f.ProgramBelief(PROGRAM),
}


@cache
def people(rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Fair features and fair labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=rows),
            "kind": np.array(["u", "v", "w"])[rng.integers(0, 3, rows)],
            "first": rng.integers(0, 2, rows),
            "second": rng.integers(0, 2, rows),
            "a": rng.integers(0, 2, rows),
        }
    )
    z = 2.5 * frame["x"] + 2 * (frame["kind"] == "v") - 1 + 2 * frame["first"] - 2 * frame["second"]
    return frame, (rng.random(rows) < 1 / (1 + np.exp(-z.to_numpy()))).astype(np.int64)


def recorded(name: str, frame: pd.DataFrame, fair: np.ndarray, seed: int = 7) -> tuple[pd.DataFrame, np.ndarray]:
    """What the belief of this name makes of them."""
    rng = np.random.default_rng(seed)
    frame, label = frame.copy(), fair.copy()
    for feature in {"measurement": ("first", "second"), "historical": ("first",)}.get(name, ()):
        hit = (rng.random(len(frame)) < 0.25) & ((frame["a"] == 1) | (name == "historical"))
        frame[feature] = np.where(hit, 1 - frame[feature], frame[feature])
    if name != "measurement":
        down = rng.random(len(fair)) < np.where(frame["a"] == 1, 0.4, 0.0 if name == "program" else 0.1)
        label = np.where(fair == 1, ~down, rng.random(len(fair)) < 0.05).astype(np.int64)
    return frame, label


def rows_of(frame: pd.DataFrame, label: np.ndarray, classes: int = 2, **options) -> p4f.data.Rows:
    return p4f.data.Rows(frame, FEATURES, tuple(range(classes)), label, **options)


def accuracy(fitted: Fitted, frame: pd.DataFrame, fair: np.ndarray) -> float:
    return float((fitted.log_proba(frame[list(FEATURES)]).argmax(1).numpy() == fair).mean())


class LearnerContract:
    """Give :meth:`make`, a quick learner; ``saved`` says whether what it learns can be saved."""

    saved = True
    rows = 1500
    margin = 0.03

    def make(self) -> Learner:
        raise NotImplementedError

    @pytest.mark.parametrize("name", list(BELIEFS))
    def test_it_learns_the_fair_label(self, name):
        frame, fair = people(self.rows, 0)
        biased, label = recorded(name, frame, fair)
        through = self.make().fit(BELIEFS[name], rows_of(biased, label))
        known = self.make().fit(p4f.NoBias(), rows_of(frame, fair))
        new = people(4000, 1)
        assert accuracy(through, *new) > accuracy(known, *new) - self.margin
        if name == "label":
            naive = self.make().fit(p4f.NoBias(), rows_of(biased, label))
            assert accuracy(through, *new) > accuracy(naive, *new) + 0.02

    def test_probabilities_are_those_of_classes(self):
        frame, fair = people(300, 0)
        fitted = self.make().fit(LABEL, rows_of(*recorded("label", frame, fair)))
        found = fitted.log_proba(frame[list(FEATURES)])
        assert found.dtype == torch.float64
        assert found.shape == (300, 2)
        torch.testing.assert_close(found.exp().sum(1), torch.ones(300).double())
        torch.testing.assert_close(fitted.log_proba(frame[list(FEATURES)].iloc[7:9]), found[7:9])
        assert fitted.log_proba(frame[list(FEATURES)].iloc[:0]).shape == (0, 2)

    def test_equal_trainings_are_equal_and_leave_random_numbers_alone(self):
        frame, fair = people(300, 0)
        observation = LABEL.observe(rows_of(*recorded("label", frame, fair)))
        state = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        first, second = (self.make().fit(observation, seed=3).log_proba(frame) for _ in range(2))
        assert torch.equal(first, second)
        assert torch.equal(torch.get_rng_state(), state[0])
        assert np.array_equal(np.random.get_state()[1], state[1])  # noqa: NPY002

    def test_rows_of_weight_0_do_not_count(self):
        frame, fair = people(1200, 0)
        wrong = np.arange(1200) % 2 == 0
        label = np.where(wrong, 1 - fair, fair)
        observation = p4f.NoBias().observe(rows_of(frame, label))
        weights = torch.from_numpy(np.where(wrong, 0.0, 1.5))
        assert accuracy(self.make().fit(observation, weights=weights), *people(2000, 1)) > 0.75
        chosen = self.make().fit_many([Task(observation, train_rows=torch.from_numpy(np.flatnonzero(~wrong)))])
        assert accuracy(chosen[0], *people(2000, 1)) > 0.75

    def test_many_classes(self):
        frame, fair = people(self.rows, 0)
        third = np.where(frame["kind"] == "w", 2, fair)
        rng = np.random.default_rng(0)
        lost = (third == 2) & (frame["a"] == 1) & (rng.random(len(frame)) < 0.4)
        others = [(a, f, r) for a in (0, 1) for f in range(3) for r in range(3) if f != r]
        transitions = {key: 0.4 if key == (1, 2, 0) else 0.0 for key in others}
        belief = p4f.ClassBias("a", (0, 1, 2), transitions)
        fitted = self.make().fit(belief, rows_of(frame, np.where(lost, 0, third), 3))
        new, own = people(2000, 1)
        found = fitted.log_proba(new[list(FEATURES)])
        assert found.shape == (2000, 3)
        torch.testing.assert_close(found.exp().sum(1), torch.ones(2000).double())
        assert (found.argmax(1).numpy() == np.where(new["kind"] == "w", 2, own)).mean() > 0.78

    def test_known_fair_labels_teach(self):
        frame, fair = people(800, 0)
        rng = np.random.default_rng(0)
        noise = rng.integers(0, 2, 800)
        known = np.where(np.arange(800) < 400, fair, -1)
        # What was recorded says nothing of the fair label, so all that is learned comes from the known ones.
        belief = p4f.LabelBias("a", negative=0.5, positive=0.499)
        fitted = self.make().fit(belief, rows_of(frame, noise, fair=known))
        assert accuracy(fitted, *people(2000, 1)) > 0.75

    def test_missing_and_unknown_values(self):
        frame, fair = people(400, 0)
        holes = frame.assign(x=frame["x"].where(frame.index % 7 > 0), kind=frame["kind"].where(frame.index % 9 > 0))
        fitted = self.make().fit(LABEL, rows_of(*recorded("label", holes, fair)))
        new = pd.DataFrame({"x": [np.nan, 0.5], "kind": ["z", None], "first": [1, 0], "second": [np.nan, 1]})
        assert bool(fitted.log_proba(new).isfinite().all())

    def test_saving_and_loading_is_the_identity(self):
        frame, fair = people(400, 0)
        fitted = self.make().fit(LABEL, rows_of(*recorded("label", frame, fair)))
        if not self.saved:
            with pytest.raises(P4FError, match="cannot be saved: reading such a file back would mean trusting it"):
                fitted.state()
            return
        tensors, plain = fitted.state()
        plain = json.loads(json.dumps(plain))
        shapes = type(fitted).shapes(plain, list(FEATURES), 2)
        assert shapes == {name: (tuple(value.shape), value.dtype) for name, value in tensors.items()}
        again = Fitted.kinds[fitted.kind].from_state(tensors, plain)
        assert torch.equal(again.log_proba(frame), fitted.log_proba(frame))
        assert again.history == fitted.history
        assert {name: list(own) for name, own in again.categories.items()} == {"kind": ["u", "v", "w"]}
        for wrong in ({**plain, "more": 1}, {name: value for name, value in plain.items() if name != "encoder"}):
            if wrong != plain:
                with pytest.raises(ValueError, match="its"):
                    type(fitted).shapes(wrong, list(FEATURES), 2)

    def test_rows_without_a_record_are_named(self):
        frame, _ = people(50, 0)
        with pytest.raises(P4FError, match="no recorded label"):
            self.make().fit(LABEL, p4f.data.Rows(frame, FEATURES))
