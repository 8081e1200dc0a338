"""Other values of the parameters, without fitting again."""

from __future__ import annotations

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.classifier.bounds import with_values
from problog4fairness.doubt import WhatIf, what_if
from tests.classifier.data import loans


@pytest.fixture(scope="module")
def data():
    return loans(500)


@pytest.fixture(scope="module")
def model(data):
    frame, area, fair, recorded = data
    belief = p4f.LabelBias("area", positive=False)
    belief = belief.estimate(recorded=recorded[:200], fair=fair[:200], sensitive_features=area[:200])
    return p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(frame, recorded, sensitive_features=area)


@pytest.fixture(scope="module")
def moves(data, model):
    frame, area, fair, recorded = data
    known = np.where(np.arange(500) < 200, fair, np.nan)
    return what_if(model, frame, recorded, sensitive_features=area, fair=known, progress=False)


def test_at_its_own_values_it_is_the_model(data, model, moves):
    frame, area, fair, _ = data
    own, chance = moves.at(), model.predict_proba(frame)[:, 1]
    assert own.chance == pytest.approx(chance, abs=1e-5)
    assert own.disparity == pytest.approx(chance[area == 1].mean() - chance[area == 0].mean(), abs=1e-5)
    assert own.accuracy == pytest.approx(np.mean((chance >= 0.5)[:200] == fair[:200]))
    assert (own.changed, own.outside) == (0, False)


def test_it_is_as_near_to_a_fit_as_it_says(data, model, moves):
    frame, area, _, recorded = data
    assert moves.largest_error < 0.02
    for point in ({"p1": 0.3}, {"p1": 0.6, "p2": 0.05}):
        fitted = p4f.DebiasedClassifier(with_values(model.belief_, point), "linear", random_state=0)
        chance = fitted.fit(frame, recorded, sensitive_features=area).predict_proba(frame)[:, 1]
        gap = chance[area == 1].mean() - chance[area == 0].mean()
        assert moves.at(point).disparity == pytest.approx(gap, abs=moves.largest_error + 0.003)


def test_who_is_affected_is_counted_by_group(moves):
    low, high = moves.ranges[0]
    more = moves.at({"p1": high}).groups.loc["area = 1"]
    assert more["gained"] > 0
    assert more["now"] == more["before"] + more["gained"] - more["lost"]
    assert moves.at({"p1": low}).groups.loc["area = 1", "lost"] > 0
    curve = moves.along("p1")
    assert curve["disparity"].is_monotonic_increasing
    assert curve["value"].iloc[[0, -1]].tolist() == pytest.approx([low, high])


def test_far_out_it_says_that_it_guesses(moves):
    assert moves.at({"p1": 0.95, "p2": 0.9}).outside
    assert "Interpolated between" in moves.words()


def test_it_is_read_as_it_was_written(tmp_path, moves):
    moves.save(tmp_path / "moves.npz")
    again, point = WhatIf.load(tmp_path / "moves.npz"), {"p1": 0.4}
    assert again.at(point).disparity == moves.at(point).disparity
    assert (again.names, again.words()) == (moves.names, moves.words())
    (tmp_path / "bad.npz").write_bytes(b"no numbers")
    with pytest.raises(p4f.errors.P4FError, match=r"bad.npz cannot be read"):
        WhatIf.load(tmp_path / "bad.npz")


def test_what_cannot_be_varied_is_said(data, moves):
    frame, area, _, recorded = data
    plain = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(frame, recorded)
    with pytest.raises(p4f.errors.P4FError, match="needs a label of two classes, and a belief"):
        what_if(plain, frame, recorded)
    with pytest.raises(p4f.errors.UnknownNameError, match="no parameter 'p9'; there are p1"):
        moves.at({"p9": 0.1})
