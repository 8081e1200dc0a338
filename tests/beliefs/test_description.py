"""What a belief says of itself as data: the columns that it reads, and how the label is on record."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.beliefs import Columns, LabelRecord, ProgramBelief, restore
from problog4fairness.data import Rows
from problog4fairness.errors import MissingValueError, P4FError, UnknownNameError

LABEL = p4f.LabelBias("area", negative={1: 0.3}, positive=False, affected=[1])
BY_OFFICER = p4f.RowBias("area", p4f.depends_on({"officer": ("ann", "bob")}), False)
CHOSEN = p4f.SelectiveLabels("area", 0.8, 0.4, decided_by={"officer": ("ann", "bob")})
HISTORY = p4f.HistoricalBias("skill", "area", {1: 0.4}, False, affected=[1])
NUMBERS = p4f.NumericMeasurementBias("score", "area", 0.8, -2, 3, mean=50, spread=10)


@pytest.mark.parametrize(
    ("belief", "expected"),
    [
        (LABEL, {"sensitive": ("area",), "all": ("area",), "groups": {"area": (0, 1)}}),
        (BY_OFFICER, {"others": ("officer",), "withheld": ("officer",), "all": ("area", "officer"), "date": None}),
        (CHOSEN, {"others": ("officer",), "withheld": ("officer",), "context": ("area", "officer")}),
        (p4f.ChangedBias("area", "day", positive=False), {"date": "day", "withheld": ("day",)}),
        (p4f.Annotators(["ann", "bob"], "area"), {"recorded": ("ann", "bob"), "context": ("area",)}),
        (NUMBERS, {"features": ("score",), "numbers": ("score",), "audited": ("score",), "context": ("area",)}),
        (p4f.chain(NUMBERS, BY_OFFICER), {"numbers": ("score",), "audited": (), "withheld": ("officer",)}),
        (HISTORY, {"features": ("skill",), "audited": ("skill",)}),
        (
            p4f.UnknownGroup("area", {"street": ("a", "b")}, belief=LABEL),
            {"sensitive": ("area",), "others": ("street",), "all": ("street",), "optional": ("area",), "groups": {}},
        ),
    ],
    ids=lambda part: type(part).__name__,
)
def test_columns_are_said_by_what_they_are_for_the_belief(belief, expected):
    assert isinstance(belief.columns, Columns)
    assert {name: getattr(belief.columns, name) for name in expected} == expected


def test_the_record_has_gaps_where_the_belief_or_its_last_stage_says_so():
    assert [belief.record.gaps for belief in (LABEL, CHOSEN, p4f.chain(LABEL, CHOSEN))] == [False, True, True]
    assert not p4f.SelectiveLabels("area", kept="accepted").record.gaps
    assert [HISTORY.record.copied, LABEL.record.copied] == [False, True]


def test_a_missing_label_is_an_outcome_or_an_error():
    rows = Rows(pd.DataFrame({"x": [1, 2, 3]}), (), recorded=np.array([0, 1, -1]))
    assert LabelRecord(gaps=True).outcomes(rows).codes.tolist() == [0, 1, 2]
    assert LabelRecord(columns=("ann", "bob")).outcomes(rows).codes.tolist() == [1, 1, 1]
    with pytest.raises(P4FError, match="1 rows have no recorded label"):
        LabelRecord().outcomes(rows)


def test_a_program_for_three_classes_may_have_a_fourth_query_for_rows_without_a_label():
    classifier = "nn(h,[X],Y,[0,1,2]) :: y(X,Y). 0.5 :: kept(X)."
    rules = "z(X,Y) :- y(X,Y), kept(X). z(X,none) :- \\+kept(X)."
    queries = [f"?- z(x,{value})." for value in (0, 1, 2, "none")]
    assert ProgramBelief(" ".join([classifier, rules, *queries])).record.gaps
    assert not ProgramBelief(" ".join([classifier, rules, *queries[:3]])).record.gaps


def test_bind_states_opens_and_notes_the_favourable_label():
    bound = LABEL.bind({"p1": 0.2}, favourable="yes")
    assert (bound.parameters[0].value, bound.favourable) == (0.2, "yes")
    assert bound.bind({"p1": LABEL.parameters[0]}).parameters == LABEL.parameters
    for opened in (bound.bind(None), bound.bind({"p1": None})):
        assert opened.parameters[0].value is None
        assert opened.favourable == "yes"
        with pytest.raises(MissingValueError, match="p1"):
            opened.observe(Rows(pd.DataFrame({"area": [0, 1]}), ()))
    with pytest.raises(UnknownNameError, match="p2"):
        LABEL.bind({"p2": 0.2})


def test_features_of_a_fair_world_are_restored_also_where_the_group_is_unknown():
    frame = pd.DataFrame({"skill": [0, 1, 0, 0], "area": [1.0, 1.0, 0.0, np.nan], "street": list("aabb")})
    belief = p4f.UnknownGroup("area", {"street": ("a", "b")}, {"a": 0.5, "b": 0.25}, belief=HISTORY)
    restored = restore(belief, Rows(frame, ("skill",)))
    # The classifier is sure that whoever has the skill has a fair 1.
    sure = torch.where(torch.tensor(restored.table["skill"].to_numpy())[:, None] == torch.tensor([0, 1]), 0.0, -1e4)
    assert restored.fair_proba(sure.double())[:, 1].tolist() == pytest.approx([0.4, 1.0, 0.0, 0.25 * 0.4])
    assert restored.feature_distortion()["skill"].tolist() == pytest.approx([0.4, 0.0, 0.0, 0.25 * 0.4])
    assert belief.observe(Rows(frame, ("skill",))).feature_distortion() == {}
