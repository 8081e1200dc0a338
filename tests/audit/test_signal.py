"""How much recorded labels say about fair ones."""

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.audit.estimation.diagnostics import group_signal
from problog4fairness.data import Rows

GROUPS = np.array([0, 1, 1, 0, 1] * 20)


def rows(groups, **known):
    return Rows(pd.DataFrame({"x": np.arange(len(groups)), "a": groups}), ("x",), recorded=groups * 0, **known)


def test_every_row_has_the_signal_of_its_group():
    belief = p4f.LabelBias("a", {1: 0.3, 0: 0.1}, {1: 0.2, 0: 0.05})
    signal = belief.observe(rows(GROUPS)).signal()
    assert signal.tolist() == pytest.approx(np.where(GROUPS == 1, 0.5, 0.85))


def test_groups_that_are_not_sure_have_a_signal_between():
    belief = p4f.LabelBias("a", {1: 0.3, 0: 0.1}, {1: 0.2, 0: 0.05})
    signal = belief.observe(rows(np.array([0.0, 0.25, 1.0]))).signal()
    assert signal.tolist() == pytest.approx([0.85, 0.75 * 0.85 + 0.25 * 0.5, 0.5])


def test_the_group_with_the_least_signal_is_named():
    belief, own = p4f.LabelBias("a", {1: 0.3, 0: 0.1}, 0.2), rows(GROUPS, fair=GROUPS * 0 - 1)
    assert group_signal(belief, belief.observe(own), own) == (pytest.approx(0.5), "a = 1")


def test_a_belief_that_reads_no_column_has_one_signal_for_all():
    own = rows(GROUPS)
    assert group_signal(p4f.NoBias(), p4f.NoBias().observe(own), own) == (1.0, "nothing else is known")
