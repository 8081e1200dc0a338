"""Other values of the parameters, without fitting again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.robustness import WhatIf, what_if
from tests.estimators.data import loans


@pytest.fixture(scope="module")
def data():
    return loans(500)


@pytest.fixture(scope="module")
def model(data):
    frame, area, fair, recorded = data
    belief = p4f.LabelBias("area", positive=False)
    audit = frame.assign(area=area, recorded=recorded, fair=fair)[:200]
    belief = belief.estimate(audit, recorded="recorded", fair="fair")
    return p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(frame, recorded, sensitive_features=area)


@pytest.fixture(scope="module")
def moves(data, model):
    frame, area, fair, recorded = data
    known = np.where(np.arange(500) < 200, fair, np.nan)
    return what_if(model, frame, recorded, sensitive_features=area, fair=known, progress=False)


def test_at_its_own_values_it_is_the_model(data, model, moves):
    frame, area, fair, _ = data
    answer, chance = moves.at(), model.predict_proba(frame)[:, 1]
    assert answer.chance == pytest.approx(chance, abs=1e-5)
    decided = chance >= 0.5
    assert answer.disparity == pytest.approx(decided[area == 1].mean() - decided[area == 0].mean(), abs=1e-5)
    assert answer.accuracy == pytest.approx(np.mean((chance >= 0.5)[:200] == fair[:200]))
    assert (answer.changed, answer.outside) == (0, False)


def test_it_is_as_near_to_a_fit_as_it_says(data, model, moves):
    frame, area, _, recorded = data
    assert moves.largest_error < 0.02
    for point in ({"p1": 0.3}, {"p1": 0.6, "p2": 0.05}):
        fitted = p4f.DebiasedClassifier(model.belief_.bind(point), "linear", random_state=0)
        decided = fitted.fit(frame, recorded, sensitive_features=area).predict(frame)
        gap = decided[area == 1].mean() - decided[area == 0].mean()
        assert moves.at(point).disparity == pytest.approx(gap, abs=moves.largest_error + 0.003)


def test_who_is_affected_is_counted_by_group(moves):
    low, high = moves.ranges[0]
    more = moves.at({"p1": high}).groups.loc["area = 1"]
    assert more["gained"] > 0
    assert more["now"] == more["before"] + more["gained"] - more["lost"]
    assert moves.at({"p1": low}).groups.loc["area = 1", "lost"] > 0
    curve = moves.along("p1")
    # It rises, but for single decisions in the other group.
    assert curve["disparity"].diff().min() > -0.02
    assert curve["disparity"].iloc[-1] - curve["disparity"].iloc[0] > 0.03
    assert curve["value"].iloc[[0, -1]].tolist() == pytest.approx([low, high])


def test_far_out_it_says_that_it_guesses(moves):
    assert moves.at({"p1": 0.95, "p2": 0.9}).outside
    assert "Interpolated between" in moves.words()


def test_it_is_read_as_it_was_written(tmp_path, moves):
    moves.save(tmp_path / "moves")
    again, point = WhatIf.load(tmp_path / "moves"), {"p1": 0.4}
    assert again.at(point).disparity == moves.at(point).disparity
    assert (again.names, again.words()) == (moves.names, moves.words())


@pytest.mark.parametrize("damage", [lambda file: b"no numbers", lambda file: file[:-9], lambda file: file[:60]])
def test_a_damaged_file_is_refused_in_one_line(tmp_path, moves, damage):
    moves.save(tmp_path / "moves")
    (tmp_path / "bad").write_bytes(damage((tmp_path / "moves").read_bytes()))
    with pytest.raises(p4f.errors.P4FError, match=r"bad cannot be read \(.*; make it again"):
        WhatIf.load(tmp_path / "bad")


def test_parts_of_two_files_are_refused(tmp_path, moves):
    replace(moves, row=moves.row[:-1]).save(tmp_path / "bad")
    with pytest.raises(p4f.errors.P4FError, match=r"row has the shape \(499,\), not \(500,\)"):
        WhatIf.load(tmp_path / "bad")


def test_a_box_is_kept_to_or_refused(data, model):
    frame, area, _, recorded = data

    def varied(**options):
        return what_if(model, frame, recorded, sensitive_features=area, progress=False, **options)

    assert varied(box={"p1": (0.2, 0.6)}).ranges[0] == pytest.approx([0.2, 0.6])
    with pytest.raises(p4f.errors.UnknownNameError, match="no parameter 'p9'"):
        varied(box={"p9": (0.2, 0.6)})
    with pytest.raises(p4f.errors.P4FError, match="the smaller one first"):
        varied(box={"p1": (0.6, 0.2)})
    with pytest.raises(p4f.errors.P4FError, match=r"beyond=-0\.1 is not between 0 and 1"):
        varied(beyond=-0.1)


def test_rows_of_one_group_only_are_refused(data, model):
    frame, area, _, recorded = data
    inside = area == 1
    with pytest.raises(
        p4f.errors.P4FError, match=r"two or more groups by area are needed to compare them; all have area = 1"
    ):
        what_if(model, frame[inside], recorded[inside], sensitive_features=area[inside])


@pytest.mark.parametrize("value", [7.0, -0.1, float("nan")])
def test_only_probabilities_are_asked_about(moves, value):
    with pytest.raises(p4f.errors.ProbabilityError, match=r"p1=.* is not between 0 and 1"):
        moves.at({"p1": value})


def test_far_out_nothing_overflows(moves):
    steep = replace(moves, surface=1e4 * moves.surface)
    assert np.isfinite(steep.at({"p1": 1.0, "p2": 1.0}).disparity)


def test_what_cannot_be_varied_is_said(data, moves):
    frame, area, _, recorded = data
    plain = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(frame, recorded)
    with pytest.raises(p4f.errors.P4FError, match="needs a label of two classes, and a belief"):
        what_if(plain, frame, recorded)
    with pytest.raises(p4f.errors.UnknownNameError, match="no parameter 'p9'; there are p1"):
        moves.at({"p9": 0.1})
