"""Beliefs from an audited table as it was read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.audit.audit_table import AuditTable
from problog4fairness.beliefs import belief_text, estimate_on_table, named_belief
from problog4fairness.data import FileNote, FileWarning
from problog4fairness.errors import P4FError

ROWS = 900
RNG = np.random.default_rng(0)
CITY = RNG.choice(["rome", "oslo", "New York"], ROWS)
REPAID = RNG.integers(0, 2, ROWS)
AUDIT = pd.DataFrame(
    {
        "city": CITY,
        "repaid": REPAID,
        "granted": np.where((CITY == "rome") & (RNG.random(ROWS) < 0.4), 0, REPAID),
        "level": RNG.choice(["low", "mid", "high"], ROWS),
        "income": RNG.normal(size=ROWS),
        "sex": np.where(RNG.random(ROWS) < 0.5, "F", "M"),
    }
)
AUDIT["noted"] = np.where((AUDIT["sex"] == "F") & (AUDIT["level"] == "high"), "mid", AUDIT["level"])
pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.data.FileNote")


def table_of(sensitive, frame=AUDIT, recorded="granted", group=None, **answers):
    return AuditTable(frame, "audit.csv", sensitive, recorded, "repaid", group=group, answers=answers)


def measured(noted, level, frame=AUDIT, recorded=None, fair=None, **answers):
    features = {"features": [noted], "fair_features": [level]}
    return AuditTable(frame, "audit.csv", "sex", recorded, fair, group="F", answers=features | answers)


def estimated(name, table):
    return estimate_on_table(named_belief(name, table), table)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_three_groups_and_simplifications():
    table = table_of("city", positive=False)
    belief = estimated("label", table)
    rome = AUDIT[(AUDIT["city"] == "rome") & (AUDIT["repaid"] == 1)]
    assert belief.parameter_table()["value"].to_dict() == {
        "neg('New York')": 0,
        "neg(oslo)": 0,
        "neg(rome)": pytest.approx(1 - rome["granted"].mean()),
    }
    with pytest.raises(P4FError, match="name the one"):
        estimated("label", table_of("city", only_group=True))
    with pytest.raises(P4FError, match="nothing to estimate"):
        estimated("label", table_of("city", negative=False, positive=False))
    assert table.notes(belief)[-1].startswith(f"city = rome: {int(rome['granted'].sum())} fair 1 recorded as 1")
    assert list(estimated("label", table_of("sex", group="F", only_group=True)).parameter_table().index) == ["p1", "p3"]
    with pytest.raises(P4FError, match="recorded="):
        estimated("label", table_of("city", recorded=None))


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
@pytest.mark.parametrize("name", ["measurement", "historical"])
def test_features_of_several_values(name):
    table = measured("noted", "level")
    belief = estimated(name, table)
    assert belief.title == f"{name} bias"
    women = AUDIT[(AUDIT["sex"] == "F") & (AUDIT["noted"] == "mid")]
    found = belief.parameter_table()["value"]["p(noted,'F',mid,high)"]
    assert found == pytest.approx((women["level"] == "high").mean())
    assert table.notes(belief) == ["Estimated from 900 audited rows of audit.csv.", "Feature noted: audited as level."]
    some = AUDIT.assign(noted=AUDIT["noted"].where(AUDIT.index > 9))
    with pytest.warns(FileWarning, match="10 rows lack a value of 'sex', 'noted', 'level'"):
        estimated(name, measured("noted", "level", some))


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_historical_bias_with_a_label():
    belief = estimated("historical", measured("noted", "level", recorded="granted", fair="repaid"))
    alone = estimated("label", table_of("sex", group="F"))
    assert [own.value for own in belief.label.parameters] == [own.value for own in alone.parameters]
    assert belief.favourable == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (measured("income", "repaid"), "feature 'income' has 902 values"),
        (measured("noted", "lvel"), "fair_feature.'lvel': there is no such column"),
        (measured("noted", "noted"), "are one column"),
        (measured("noted", "level", fair_features=[]), "each recorded one has an audited one"),
        (measured("noted", "level", features=[]), "name the distorted features"),
    ],
)
def test_features_that_cannot_be_used(table, message):
    with pytest.raises(P4FError, match=message):
        estimated("measurement", table)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_the_higher_of_two_values_is_said():
    two = AUDIT.assign(a=np.where(AUDIT["level"] == "low", "x", "y"), b=np.where(AUDIT["noted"] == "low", "x", "y"))
    with pytest.warns(FileNote, match="b: 'y' is taken as the higher value, 'x' as the lower one"):
        estimated("measurement", measured("b", "a", two))


def test_files(tmp_path):
    path = tmp_path / "own.pl"
    path.write_text("nn(h,X)::y(X). nn(a,X)::a(X). 0.1::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x).")
    with pytest.raises(P4FError, match="no unknown parameter to estimate"):
        estimated(str(path), table_of("sex", group="F"))
    path.write_text(
        belief_text(p4f.MeasurementBias("noted", "sex", groups=("M", "F"), values={"noted": ("low", "mid")}))
    )
    low = AUDIT[AUDIT["level"] != "high"]
    low = low[low["noted"] != "high"].reset_index(drop=True)
    again = estimated(str(path), measured("noted", "level", low))
    assert again.parameter_table()["value"].tolist() == [0, 0, 0, 0]
    assert again.features == ("noted",)
    said = r"there is no belief 'lable'; did you mean 'label'\? there are changed, historical, label, measurement"
    with pytest.raises(P4FError, match=said):
        named_belief("lable", table_of("sex", group="F"))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("label", {"by": ["level"]}, "by='level' says nothing to LabelBias"),
        ("label", {"model": ["level"]}, "model='level' says nothing to LabelBias"),
        ("label", {"when": "level"}, "when='level' says nothing to LabelBias"),
        ("label", {"features": ["level"]}, "feature='level' says nothing to LabelBias"),
        ("row", {"by": ["level"], "changed": ["2020-03-01"]}, "changed='2020-03-01' says nothing to RowBias"),
    ],
)
def test_what_a_belief_would_not_read_is_not_passed_over(name, options, message):
    with pytest.raises(P4FError, match=message):
        named_belief(name, table_of("sex", group="F", **options))
