"""The review queue: how many are expected, a ranking that separates, why, and whether it was right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.app.report.review import neighbours
from problog4fairness.data import Grouping, Rows
from problog4fairness.statistics import percent
from tests.app.report.pages import Page


def test_expected_numbers_are_by_group_and_recorded_label(report, loans, model):
    columns = [*loans.features, "poor_area"]
    chance = np.nan_to_num(model.distortion_proba(loans.loans[columns], loans.loans["granted"]))
    words = Page(report.html).words
    assert f"about {chance.sum():,.0f} are expected" in words
    assert "How many are expected, by group and recorded label" in words


def test_the_ranking_separates_and_is_exported_whole(report, tmp_path):
    assert report.queue["odds"].is_monotonic_decreasing
    assert report.queue["odds"].head(20).nunique() == 20
    assert len(report.queue) > len(report.suspects) == 20
    report.save_queue(tmp_path / "suspects.csv")
    back = pd.read_csv(tmp_path / "suspects.csv", index_col="row")
    assert back.index.tolist() == report.queue.index.tolist()
    assert back["odds"].tolist() == pytest.approx(report.queue["odds"].tolist(), rel=1e-5)
    assert {"fair_probability", "distorted", "odds", "nearest_neighbours"} <= set(back.columns)


def test_the_queue_is_judged_by_audited_rows(report, loans, model):
    columns = [*loans.features, "poor_area"]
    chance = np.nan_to_num(model.distortion_proba(loans.audit[columns], loans.audit["granted"]))
    queued, wrong = chance > 0.5, (loans.audit["granted"] != loans.audit["repaid"]).to_numpy()
    share = percent((queued & wrong).sum() / queued.sum())
    told = f"Of {queued.sum()} audited rows more likely distorted than not (out of sample), an estimated {share} ("
    assert told in Page(report.html).words


def test_people_alike_are_of_other_groups():
    """Ten people at 0 and ten at 5; those of the other group were all granted at 5 and never at 0."""
    frame = pd.DataFrame({"x": [0.0] * 30 + [5.0] * 30, "group": [0, 1] * 30})
    recorded = ((frame["x"] == 5) & (frame["group"] == 0)).astype(int).to_numpy()
    rows = Rows(frame, ("x", "group"), recorded=recorded)
    grouping = Grouping("group", ("group = 0", "group = 1"), np.eye(2)[frame["group"]])
    found = neighbours(rows, grouping, np.array([31, 1, 30]))
    assert found[0] == pytest.approx(15 / 25)
    assert found[1] == pytest.approx(10 / 25)
    assert found[2] == 0
