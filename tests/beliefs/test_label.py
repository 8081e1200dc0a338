"""Label bias: the paper's listing, its simplifications, many groups, many classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs.templates.chains import chain
from problog4fairness.beliefs.templates.labels.label import ClassBias, LabelBias
from problog4fairness.errors import P4FError, ProbabilityError
from problog4fairness.statistics import Parameter
from tests.beliefs.contract import BeliefContract, distorted_labels

EXAMPLES = Path(__file__).parents[2] / "examples"


class TestLabelBias(BeliefContract):
    def make(self):
        return LabelBias("poor_area")

    def known(self):
        return {"p1": 0.3, "p2": 0.1, "p3": 0.05, "p4": 0.2}

    def simulate(self, belief, rows, rng):
        groups, fair = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
        recorded = distorted_labels(belief, fair, groups, rng)
        return pd.DataFrame({"poor_area": groups, "granted": recorded, "repaid": fair}), {
            "recorded": "granted",
            "fair": "repaid",
        }

    def test_the_program_is_the_papers_listing(self):
        assert self.make().program() == p4f.Program.from_file(EXAMPLES / "label.pl")


class TestWithNoise(TestLabelBias):
    def make(self):
        return LabelBias("poor_area", positive=False, affected=[1], noise=None)

    def known(self):
        return {"p1": 0.3, "p_noise": 0.1}

    def test_the_program_is_the_papers_listing(self):
        """The loan example: negative bias against one group, and noise for all."""
        table = self.bound().label_table()
        expected = torch.tensor([[[0.9, 0.1], [0.1, 0.9]], [[0.9, 0.1], [1 - 0.66, 0.66]]], dtype=torch.float64)
        torch.testing.assert_close(table, expected)


class TestManyGroups(BeliefContract):
    def make(self):
        return LabelBias("region", groups=("north", "South East", "west"), affected=["north", "South East"])

    def known(self):
        return {"neg(north)": 0.3, "neg('South East')": 0.1, "pos(north)": 0.05, "pos('South East')": 0.2}

    def simulate(self, belief, rows, rng):
        groups, fair = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
        recorded = distorted_labels(belief, fair, groups, rng)
        region = np.array(["north", "South East", "west"])[groups]
        return pd.DataFrame({"region": region}), {"recorded": recorded, "fair": fair}


class TestSeveralColumns(BeliefContract):
    def make(self):
        return LabelBias(["sex", "old"], groups=[("f", 0), ("f", 1), ("m", 0), ("m", 1)], positive=False)

    def known(self):
        return {"neg(g(f,0))": 0.3, "neg(g(f,1))": 0.1, "neg(g(m,0))": 0.2, "neg(g(m,1))": 0.0}

    def simulate(self, belief, rows, rng):
        groups, fair = rng.integers(0, 4, rows), rng.integers(0, 2, rows)
        frame = pd.DataFrame({"sex": np.array(["f", "f", "m", "m"])[groups], "old": np.array([0, 1, 0, 1])[groups]})
        return frame, {"recorded": distorted_labels(belief, fair, groups, rng), "fair": fair}


class TestManyClasses(BeliefContract):
    def make(self):
        return ClassBias("a", ("low", "middle", "high"), affected=[1])

    def known(self):
        names = [rate.name for rate in self.make().parameters]
        return dict(zip(names, (0.1, 0.2, 0.3, 0.05, 0.0, 0.15), strict=True))

    def simulate(self, belief, rows, rng):
        groups, fair = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
        recorded = distorted_labels(belief, fair, groups, rng)
        names = np.array(["low", "middle", "high"])
        return pd.DataFrame({"a": groups, "seen": names[recorded], "true": names[fair]}), {
            "recorded": "seen",
            "fair": "true",
        }


def test_rules_are_left_out_where_bias_is_ruled_out():
    text = str(LabelBias("a", {1: 0.25}, False, affected=[1]))
    assert "label_pos_bias" not in text
    assert "\\+a(X)" not in text
    table = LabelBias("a", {1: 0.25}, False, affected=[1]).label_table()
    torch.testing.assert_close(table[0], torch.eye(2).double())
    torch.testing.assert_close(table[1], torch.tensor([[1, 0], [0.25, 0.75]], dtype=torch.float64))


def test_one_number_is_for_all_groups_and_a_dictionary_for_each():
    assert [rate.value for rate in LabelBias("a", 0.2, {0: 0.1}).parameters] == [0.2, 0.2, None, 0.1]


def test_estimates_are_shares_of_their_cells():
    audit = pd.DataFrame({"a": [1] * 8 + [0] * 4, "fair": [1, 1, 1, 1, 1, 0, 0, 0] + [1, 1, 0, 0]})
    audit["recorded"] = [0, 0, 1, 1, 1, 1, 0, 0] + [1, 1, 0, 0]
    with pytest.warns(AuditWarning):
        estimated = LabelBias("a").estimate(audit, recorded="recorded", fair="fair")
    assert estimated.parameter_table()["value"].tolist() == pytest.approx([2 / 5, 0, 1 / 3, 0])
    assert estimated.parameter_table()["rows"].tolist() == [5, 2, 3, 2]
    # As many as Wilson's intervals take to shrink to ±.1, at the shares that were seen; not by Hoeffding's inequality.
    assert estimated.parameter_table()["still_needed"].tolist() == [49, 20, 38, 20]
    assert "95%" in str(estimated)


def test_student_labels_by_grade_carry_no_signal_for_girls():
    """The counts of the student study: 42 of 361 and 56 of 67 girls, 79 of 346 and 44 of 82 boys."""
    rows = [(0, 1, 0, 42), (0, 1, 1, 319), (0, 0, 1, 56), (0, 0, 0, 11)]
    rows += [(1, 1, 0, 79), (1, 1, 1, 267), (1, 0, 1, 44), (1, 0, 0, 38)]
    audit = pd.DataFrame([r[:3] for r in rows for _ in range(r[3])], columns=["boy", "passed", "predicted"])
    with pytest.warns(AuditWarning, match=r"where boy = 0, recorded labels carry almost no signal .*0.048"):
        LabelBias("boy").estimate(audit, recorded="predicted", fair="passed")


def test_labels_that_mean_the_opposite_are_noticed():
    fair = np.tile([0, 1], 200)
    audit = pd.DataFrame({"a": np.repeat([0, 1], 200), "r": 1 - fair, "f": fair})
    with pytest.warns(AuditWarning, match="mean the opposite"):
        LabelBias("a").estimate(audit, recorded="r", fair="f")


def test_intervals_wider_than_a_plan_allows_are_noticed():
    belief = LabelBias("a", positive=False, affected=[1])
    audit = pd.DataFrame({"a": 1, "r": np.where(np.arange(200) % 4 == 0, 0, 1), "f": 1})
    with pytest.warns(AuditWarning, match=r"where a = 1\) is known only to lie between .* about 0.250; audit more"):
        belief.estimate(audit[:40], recorded="r", fair="f")
    # Half the width of the interval is what counts, as for plan_audit.
    found = belief.estimate(audit, recorded="r", fair="f")
    assert found.parameters[0].half_width < 0.1
    assert found.parameters[0].still_needed(0.1) == 0


def test_strings_need_to_be_told_which_is_favourable():
    audit = pd.DataFrame({"a": [0, 1] * 50, "r": ["yes", "no"] * 50, "f": ["yes", "yes"] * 50})
    with pytest.raises(P4FError, match=r"has the values 'no', 'yes'; state which one is favourable"):
        LabelBias("a").estimate(audit, recorded="r", fair="f")
    with pytest.warns(AuditWarning):
        estimated = LabelBias("a").estimate(audit, recorded="r", fair="f", favourable="yes")
    assert estimated.parameters[0].value == 1


def test_a_soft_group_counts_for_each_group_by_its_share():
    audit = pd.DataFrame({"a": [0.0, 0.25, 1.0, 0.75] * 100, "r": [1, 0, 0, 1] * 100, "f": 1})
    estimated = LabelBias("a", positive=False).estimate(audit, recorded="r", fair="f")
    assert estimated.parameters[0].value == pytest.approx((0.25 + 1) / (0.25 + 1 + 0.75))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LabelBias("a", 1.3), "probability 1.3 of p1"),
        (lambda: LabelBias("a", {2: 0.1}), "names the group 2, which is not among"),
        (lambda: LabelBias("a", groups=[0, 1], affected=[5]), "affected must be some of the groups"),
        (lambda: LabelBias("a", groups=[1]), "two or more different groups"),
        (lambda: LabelBias([]), "at least one sensitive column"),
        (lambda: LabelBias(["a", "b"]), "each group must be a tuple of 2 values"),
        (lambda: ClassBias("a", (0, 1)), "three or more classes"),
        (lambda: LabelBias("a", groups=("nu\0l", "b", "c")), "holds a NUL or a lone surrogate"),
    ],
)
def test_impossible_beliefs(call, message):
    with pytest.raises(P4FError, match=message):
        str(call())


@pytest.mark.parametrize(
    ("arguments", "columns", "message"),
    [
        ({"recorded": "nope"}, {}, "'nope'.*there are a, r, f"),
        ({"fair": "nope"}, {}, "'nope'"),
        ({}, {"f": [None] * 4}, "no audited row is filled in"),
        ({}, {"r": [1, None, 0, 1]}, "recorded values have 1 missing"),
        ({}, {"a": [0, 1, 2, 0]}, "has the value 2, which is not between 0 and 1"),
        ({}, {"a": ["x", "y", "x", "y"]}, "name the groups"),
        ({}, {"a": [0, None, 0, 1]}, "'a' has 1 missing"),
    ],
)
def test_impossible_audits(arguments, columns, message):
    audit = pd.DataFrame({"a": [0, 1, 0, 1], "r": [0, 1, 1, 0], "f": [1, 1, 0, 0]} | columns)
    with pytest.raises(P4FError, match=message):
        LabelBias("a").estimate(audit, **{"recorded": "r", "fair": "f"} | arguments)


def test_a_missing_group_is_named():
    audit = pd.DataFrame({"a": ["x", "c"], "r": [0, 1], "f": [0, 1]})
    with pytest.raises(P4FError, match="'c', which is not among the groups 'x', 'y'"):
        LabelBias("a", groups=("x", "y")).estimate(audit, recorded="r", fair="f")


def test_a_parameter_keeps_its_cell():
    belief = LabelBias("a", 0.2)
    bare = {own.name: Parameter(own.name, own.meaning, own.value) for own in belief.parameters}
    assert belief.bind(bare) == belief
    both = chain(belief)
    assert str(both.bind({own.name: own for own in both.parameters})) == str(both)


def test_probability_error_is_a_p4f_error():
    assert issubclass(ProbabilityError, P4FError)
