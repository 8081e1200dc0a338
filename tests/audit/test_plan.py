"""Plans for a belief: in rounds, by group and recorded label, until its parameters are known."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.audit.reading import AuditWarning
from problog4fairness.beliefs import belief_text, read_belief
from problog4fairness.data import TableError, counted_rows
from problog4fairness.errors import P4FError

DATA = p4f.datasets.loans(rows=3000, audited=10, new=10)
LOANS, FAIR = DATA.loans, DATA.loans_repaid.to_numpy()
FULL = p4f.LabelBias("poor_area")
ONE = p4f.LabelBias("poor_area", positive=False, affected=[1])
COLUMNS = {"recorded": "granted", "fair": "repaid"}


def truth(name):
    """What the parameter of a label bias is in this very table."""
    recorded, area = LOANS["granted"].to_numpy(), LOANS["poor_area"].to_numpy()
    group, fair = {"p1": (1, 1), "p2": (0, 1), "p3": (1, 0), "p4": (0, 0)}[name]
    cell = (area == group) & (fair == FAIR)
    return (recorded[cell] != fair).mean()


def fill(todo, part=slice(None)):
    """Somebody fills in some of the open rows."""
    todo = todo.copy()
    todo["repaid"] = todo["repaid"].astype(object)
    open_ = todo.index[todo["repaid"].isna() | (todo["repaid"] == "")][part]
    todo.loc[open_, "repaid"] = FAIR[todo.loc[open_, "row"].astype(int)]
    return todo


def rounds(belief, **options):
    """All rounds until the plan says stop."""
    todo, seen = None, []
    for _ in range(40):
        plan = belief.plan_audit(LOANS, pilot=todo, **COLUMNS, **options)
        seen.append(plan)
        if plan.stop:
            return todo, seen
        todo = fill(plan.draw(random_state=3))
    raise AssertionError("it never stops")


def test_rounds_end_with_every_parameter_known_and_far_fewer_rows_than_hoeffding():
    todo, seen = rounds(FULL)
    last = seen[-1]
    assert len(seen) > 2
    assert (last.parameters["half_width"] <= 0.1).all()
    assert last.audited == len(todo) < last.hoeffding.asked / 5
    assert todo["row"].is_unique
    assert last.to_draw == 0
    assert "stop: every parameter is within 0.1" in str(last)
    assert "rows drawn at random from everybody" in seen[0]._repr_html_()
    found = FULL.estimate(todo, **COLUMNS)
    for own in found.parameters:
        assert own.low <= truth(own.name) <= own.high
        assert own.high - own.low <= 0.2
        assert own.still_needed(0.1) == 0
        assert own.still_needed(0.01) > 0


def test_what_the_belief_rules_out_gets_a_few_rows_that_test_it():
    plan = ONE.plan_audit(LOANS, **COLUMNS)
    assert plan.strata["to_draw"].tolist() == [10, 10, 15, 10]
    assert plan.parameters.index.tolist() == ["p1"]
    assert "10 rows of each test that" in str(plan)
    stated = p4f.LabelBias("poor_area", positive=0, affected=[1]).plan_audit(LOANS, **COLUMNS)
    assert stated.parameters.index.tolist() == ["p1"]
    todo = fill(plan.draw())
    wrong = todo.index[(todo["poor_area"] == 1) & (todo["granted"] == 1)][0]
    todo.loc[wrong, "repaid"] = 0
    with pytest.warns(
        AuditWarning, match="1 of 10 audited rows with poor_area = 1, granted = 1 have another fair label"
    ):
        again = ONE.plan_audit(LOANS, pilot=todo, **COLUMNS)
    # What was ruled out and seen is now measured.
    assert again.strata["to_draw"][3] > 0


def test_a_round_may_be_filled_in_in_part():
    todo = fill(FULL.plan_audit(LOANS, **COLUMNS).draw(), slice(0, 25))
    plan = FULL.plan_audit(LOANS, pilot=todo, **COLUMNS)
    assert (plan.audited, plan.open) == (25, 35)
    assert "35 rows that were drawn are still to be filled in" in str(plan)
    more = plan.draw()
    assert more["row"].is_unique
    pd.testing.assert_series_equal(more["repaid"][:60], todo["repaid"])
    assert more["p4f_round"].tolist() == [1] * 60 + [2] * (len(more) - 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        estimated = FULL.estimate(todo, **COLUMNS)
    assert estimated._design.rows.sum() == 25


def test_every_row_says_how_likely_it_was_drawn():
    todo = fill(FULL.plan_audit(LOANS, **COLUMNS).draw())
    more = FULL.plan_audit(LOANS, pilot=todo, **COLUMNS).draw()
    # Weighted by 1 / probability, the rows of a stratum stand for all of its rows in the table.
    for (area, granted), own in more.groupby(["poor_area", "granted"]):
        size = ((LOANS["poor_area"] == area) & (LOANS["granted"] == granted)).sum()
        assert (1 / own["p4f_probability"].astype(float)).sum() == pytest.approx(size, rel=1e-3)


def test_the_same_seed_draws_the_same_rows():
    plan = FULL.plan_audit(LOANS, **COLUMNS)
    pd.testing.assert_frame_equal(plan.draw(random_state=1), plan.draw(random_state=1))
    assert set(plan.draw(random_state=1)["row"]) != set(plan.draw(random_state=2)["row"])


def test_guesses_make_a_pilot_unnecessary():
    guessed = FULL.bind({"p1": 0.4, "p2": 0.1, "p3": 0.1, "p4": 0.1}).plan_audit(LOANS, **COLUMNS)
    assert guessed.to_draw > FULL.plan_audit(LOANS, **COLUMNS).to_draw
    assert "parameters are as stated" in str(guessed)
    # Not the same of each: most where a share is uncertain and counts for many people.
    assert guessed.strata["to_draw"].max() > 3 * guessed.strata["to_draw"].min()
    assert p4f.LabelBias("poor_area", negative=0.2, positive=0.1).plan_audit(LOANS, **COLUMNS).to_draw > 60
    other = FULL.plan_audit(LOANS, pilot=DATA.audit, **COLUMNS)
    assert "its rows do not count" in str(other)
    assert other.audited == 0


@pytest.mark.parametrize("design", ["hoeffding", "random"])
def test_the_papers_plan_is_drawn_whatever_was_recorded(design):
    plan = FULL.plan_audit(LOANS, design=design, error=0.15, **COLUMNS)
    todo = fill(plan.draw())
    assert len(todo) == plan.to_draw == (plan.hoeffding.stratified if design == "hoeffding" else plan.hoeffding.simple)
    assert FULL.plan_audit(LOANS, design=design, error=0.15, pilot=todo, **COLUMNS).stop
    counted = FULL.estimate(todo[["poor_area", "granted", "repaid"]].astype(int), **COLUMNS)
    assert FULL.estimate(todo, **COLUMNS) == counted


def test_beliefs_without_cells_plan_for_what_their_parameters_do_together():
    noisy = p4f.LabelBias("poor_area", noise=None)
    todo, seen = rounds(noisy)
    assert "the plan is for P(recorded | fair, group)" in str(seen[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        found = noisy.estimate(todo, **COLUMNS)
    table = found.label_table()
    assert float(table[1, 1, 0]) == pytest.approx(truth("p1"), abs=0.1)
    two = p4f.chain(p4f.LabelBias("poor_area"), p4f.LabelBias("children", groups=tuple(range(6))))
    many = LOANS[LOANS["children"] < 6]
    assert len(two.plan_audit(many, **COLUMNS).strata) == 24
    soft = LOANS.assign(poor_area=LOANS["poor_area"] * 0.8 + 0.1)
    plan = FULL.plan_audit(soft, error=0.3, **COLUMNS)
    assert plan.design == "random"
    assert "the groups of poor_area are uncertain" in str(plan)


def test_a_program_of_ones_own_has_the_groups_that_occur():
    belief = p4f.ProgramBelief(
        r"""
        nn(h,X) :: y(X).
        nn(poor_area,X) :: a(X).
        p1 :: refused(X) :- a(X).
        granted(X) :- y(X), \+refused(X).
        ?- granted(x).
        """
    )
    todo, _ = rounds(belief)
    found = belief.estimate(todo, **COLUMNS)
    assert found.parameters[0].value == pytest.approx(truth("p1"), abs=0.1)


def test_measurement_bias_plans_by_recorded_features():
    rng = np.random.default_rng(0)
    fair = rng.integers(0, 2, 2000)
    area = rng.integers(0, 2, 2000)
    seen = np.where((area == 1) & (rng.random(2000) < 0.3), 0, fair)
    table = pd.DataFrame({"hours": seen, "area": area})
    belief = p4f.MeasurementBias("hours", "area")
    todo = None
    for _ in range(30):
        plan = belief.plan_audit(table, fair="true_hours", pilot=todo)
        if plan.stop:
            break
        todo = plan.draw()
        todo["true_hours"] = fair[todo["row"].astype(int)]
    assert plan.stop
    found = belief.estimate(todo, recorded=["hours"], fair=["true_hours"])
    cell = (area == 1) & (seen == 0)
    own = next(own for own in found.parameters if own.cell[:3] == (1, 1, 0))
    assert own.low <= fair[cell].mean() <= own.high
    assert found._design.draws(found.parameters, 5, rng)[own.name].shape == (5,)
    assert p4f.beliefs.read_belief(belief_text(found)) == found


def test_the_design_is_kept_with_the_belief_and_can_be_drawn_from():
    todo, _ = rounds(ONE)
    found = ONE.estimate(todo, **COLUMNS)
    again = read_belief(belief_text(found))
    assert again == found
    draws = again._design.draws(again.parameters, 4000, np.random.default_rng(0))["p1"]
    low, high = np.quantile(draws, [0.025, 0.975])
    own = found.parameters[0]
    assert draws.mean() == pytest.approx(own.value, abs=0.02)
    assert (low, high) == pytest.approx((own.low, own.high), abs=0.04)
    assert "drawn by what was recorded" in str(found)
    with pytest.warns(AuditWarning, match="only"):
        plain = found.estimate(todo[["poor_area", "granted", "repaid"]].astype(int), **COLUMNS)
    assert plain._design is None
    text = belief_text(found)
    with pytest.raises(P4FError, match="its design does not fit itself"):
        read_belief(text.replace('"ruled":[0,1,3]', '"ruled":[0,1,9]'))


def test_shares_come_from_the_rows_or_from_the_table_or_it_is_an_error():
    todo, _ = rounds(ONE)
    found = ONE.estimate(todo, **COLUMNS)
    bare = todo.drop(columns="p4f_design")
    with pytest.raises(P4FError, match="the shares of the whole table, column p4f_design, are missing") as raised:
        ONE.estimate(bare, **COLUMNS)
    assert "\n" not in str(raised.value)
    assert ONE.estimate(bare, drawn_from=LOANS, **COLUMNS) == found
    assert ONE.estimate(todo, drawn_from=LOANS, **COLUMNS) == found
    counted = counted_rows([todo[["poor_area", "granted", "repaid"]]])
    assert len(counted) < len(todo)
    assert ONE.estimate(counted, drawn_from=LOANS, **COLUMNS) == found
    with pytest.raises(P4FError, match="drawn from another table"):
        ONE.estimate(todo, drawn_from=LOANS[::-1], **COLUMNS)
    mixed = todo.copy()
    mixed.loc[mixed.index[:3], "p4f_design"] = None
    assert ONE.estimate(mixed, **COLUMNS) == found
    other = p4f.LabelBias("married")
    with pytest.raises(P4FError, match="nothing says how many rows of the table have married = "):
        other.estimate(todo.assign(married=todo["poor_area"]), **COLUMNS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(repaid="maybe"), "'maybe', which is not among '0', '1'"),
        (lambda t: pd.concat([t, t[:1]]), "occurs twice"),
        (lambda t: t.assign(row=99999), "99999, which is no row of the table"),
        (lambda t: t.assign(p4f_design="{"), "was changed and cannot be read"),
        (lambda t: t.assign(p4f_design=[*t["p4f_design"][:-1], '{"sizes": {}}']), "holds 2 designs"),
        (lambda t: t.drop(columns="repaid"), "no column 'repaid' to fill in"),
        (lambda t: t.drop(columns="row"), "lack the column 'row'"),
    ],
)
def test_rows_that_are_not_what_was_drawn(change, message):
    todo = fill(FULL.plan_audit(LOANS, **COLUMNS).draw())
    with pytest.raises(P4FError, match=message):
        FULL.plan_audit(LOANS, pilot=change(todo), **COLUMNS)


def test_a_design_of_another_table_or_plan_is_refused():
    todo = fill(FULL.plan_audit(LOANS, **COLUMNS).draw())
    with pytest.raises(TableError, match="drawn from another table, not from this one; draw into a new file"):
        FULL.plan_audit(LOANS[:2900], pilot=todo, **COLUMNS)
    with pytest.raises(TableError, match="another table"):
        FULL.plan_audit(LOANS, pilot=todo, design="hoeffding", **COLUMNS)
    with pytest.raises(P4FError, match="no audited row is filled in"):
        FULL.estimate(FULL.plan_audit(LOANS, **COLUMNS).draw(), **COLUMNS)


def test_bad_arguments():
    with pytest.raises(P4FError, match="design must be one of"):
        FULL.plan_audit(LOANS, design="best", **COLUMNS)
    with pytest.raises(P4FError, match="error 0 is not between 0 and 1"):
        FULL.plan_audit(LOANS, error=0, **COLUMNS)
    with pytest.raises(P4FError, match="name the column of the recorded label"):
        FULL.plan_audit(LOANS)
    with pytest.raises(P4FError, match="there is nothing to audit"):
        p4f.LabelBias("poor_area", negative=0, positive=0).plan_audit(LOANS, **COLUMNS)
    with pytest.raises(TableError, match="already has a column 'granted'; name another one by fair="):
        FULL.plan_audit(LOANS, recorded="granted", fair="granted").draw()


@pytest.mark.parametrize("number", [-1, 0, float("inf"), 10**30])
def test_a_round_that_is_none_is_refused(number):
    todo = fill(FULL.plan_audit(LOANS, **COLUMNS).draw()).assign(p4f_round=number)
    with pytest.raises(TableError, match="p4f_round"):
        FULL.plan_audit(LOANS, pilot=todo, **COLUMNS)


def test_rounds_that_are_missing_count_as_the_first():
    todo = fill(FULL.plan_audit(LOANS, **COLUMNS).draw()).assign(p4f_round=None)
    assert FULL.plan_audit(LOANS, pilot=todo, **COLUMNS).draw()["p4f_round"].max() == 2
