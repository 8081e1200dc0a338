"""A belief from an audited table in one step."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs import belief_text, from_audit
from problog4fairness.errors import P4FError
from problog4fairness.rows import FileNote, FileWarning, TableError, find_roles

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
pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.rows.FileNote")


def roles_of(sensitive, **options):
    return find_roles(AUDIT, recorded="granted", fair="repaid", sensitive=sensitive, **options)


@pytest.mark.filterwarnings("ignore::problog4fairness.AuditWarning")
def test_three_groups_and_simplifications():
    roles = roles_of("city")
    belief = from_audit.label_belief(roles.clean(AUDIT), roles, positive=False)
    rome = AUDIT[(AUDIT["city"] == "rome") & (AUDIT["repaid"] == 1)]
    assert belief.parameters["value"].to_dict() == {
        "neg('New York')": 0,
        "neg(oslo)": 0,
        "neg(rome)": pytest.approx(1 - rome["granted"].mean()),
    }
    with pytest.raises(P4FError, match="--only-group is for two groups"):
        from_audit.label_belief(AUDIT, roles, only_group=True)
    with pytest.raises(P4FError, match="nothing to estimate"):
        from_audit.label_belief(AUDIT, roles, negative=False, positive=False)
    notes = from_audit.audit_notes(roles.clean(AUDIT), roles, "audit.csv")
    assert notes[-1].startswith(f"city = rome: {int(rome['granted'].sum())} fair 1 recorded as 1")
    pair = roles_of("sex", group="F")
    assert list(from_audit.label_belief(pair.clean(AUDIT), pair, only_group=True).parameters.index) == ["p1", "p3"]


@pytest.mark.filterwarnings("ignore::problog4fairness.AuditWarning")
def test_features_of_several_values():
    belief, notes = from_audit.measurement_from_table(AUDIT, "audit.csv", "sex", [("noted", "level")], group="F")
    women = AUDIT[(AUDIT["sex"] == "F") & (AUDIT["noted"] == "mid")]
    found = belief.parameters["value"]["p(noted,'F',mid,high)"]
    assert found == pytest.approx((women["level"] == "high").mean())
    assert notes == ["Estimated from 900 audited rows of audit.csv.", "Feature noted: audited as level."]
    some = AUDIT.assign(noted=AUDIT["noted"].where(AUDIT.index > 9))
    with pytest.warns(FileWarning, match="10 rows lack a value of 'noted', 'level'"):
        from_audit.measurement_from_table(some, "a", "sex", [("noted", "level")], group="F")


def test_features_that_cannot_be_used():
    with pytest.raises(TableError, match="feature 'income' has 900 values"):
        from_audit.measurement_belief(AUDIT, "sex", ("M", "F"), [("income", "income")])
    with pytest.raises(TableError, match="--fair-feature 'lvel'"):
        from_audit.measurement_belief(AUDIT, "sex", ("M", "F"), [("noted", "lvel")])
    with pytest.raises(P4FError, match="each recorded one has an audited one"):
        from_audit.feature_pairs(["a"], [])
    with pytest.raises(P4FError, match="are one column"):
        from_audit.feature_pairs(["a"], ["a"])
    with pytest.raises(P4FError, match="name the distorted features"):
        from_audit.measurement_belief(AUDIT, "sex", ("M", "F"), [])


def test_the_higher_of_two_values_is_said():
    two = AUDIT.assign(a=np.where(AUDIT["level"] == "low", "x", "y"))
    with pytest.warns(FileNote, match="a: 'y' is taken as the higher value, 'x' as the lower one"):
        from_audit.measurement_belief(two, "sex", ("M", "F"), [("a", "a")])


def test_files_that_cannot_be_estimated(tmp_path):
    path = tmp_path / "own.pl"
    path.write_text("nn(h,X)::y(X). nn(a,X)::a(X). 0.1::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x).")
    roles = roles_of("sex", group="F")
    with pytest.raises(P4FError, match="no unknown parameter to estimate"):
        from_audit.belief_from_file(AUDIT, roles, path)
    path.write_text(belief_text(p4f.MeasurementBias("noted", "sex")))
    with pytest.raises(P4FError, match="is estimated with --belief measurement"):
        from_audit.belief_from_file(AUDIT, roles, path)
