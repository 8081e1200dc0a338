"""Chains: the face listing, label on top of measurement, joint estimation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs.templates.chains import chain
from problog4fairness.beliefs.templates.features.measurement import MeasurementBias
from problog4fairness.beliefs.templates.labels.label import ClassBias, LabelBias
from problog4fairness.errors import P4FError
from tests.beliefs.contract import BeliefContract, distorted_labels

EXAMPLES = Path(__file__).parents[2] / "examples"


class TestChain(BeliefContract):
    def make(self):
        return chain(LabelBias("hc"), LabelBias("bl"), LabelBias("sm"))

    def known(self):
        rates = (0.1, 0.02, 0.05, 0.15, 0.2, 0.0, 0.1, 0.03, 0.05, 0.1, 0.2, 0.01)
        return dict(zip([rate.name for rate in self.make().parameters], rates, strict=True))

    def simulate(self, belief, rows, rng):
        columns = rng.integers(0, 2, (rows, 3))
        fair = rng.integers(0, 2, rows)
        recorded = distorted_labels(belief, fair, columns @ [4, 2, 1], rng)
        return pd.DataFrame(columns, columns=["hc", "bl", "sm"]), {"recorded": recorded, "fair": fair}

    def test_the_program_is_the_papers_listing(self):
        assert self.make().program() == p4f.Program.from_file(EXAMPLES / "three_attributes.pl")

    def test_the_table_is_the_product_of_the_stages(self):
        whole = self.bound().label_table().reshape(2, 2, 2, 2, 2)
        parts = [stage.label_table() for stage in self.bound().stages]
        for i in range(2):
            for j in range(2):
                for k in range(2):
                    torch.testing.assert_close(whole[i, j, k], parts[0][i] @ parts[1][j] @ parts[2][k])


class TestLabelOnMeasurement(BeliefContract):
    def make(self):
        return chain(MeasurementBias(["income"], "a", 0.25, 0.1), LabelBias("b", positive=False))

    def known(self):
        return {"p1_b": 0.3, "p2_b": 0.1}

    def simulate(self, belief, rows, rng):
        columns = rng.integers(0, 2, (rows, 2))
        fair = rng.integers(0, 2, rows)
        recorded = distorted_labels(belief, fair, columns @ [2, 1], rng)
        return pd.DataFrame(columns, columns=["a", "b"]), {"recorded": recorded, "fair": fair}

    def test_no_bias_is_the_identity(self):
        label = self.make().bind(dict.fromkeys(self.known(), 0.0)).label_table()
        torch.testing.assert_close(label, torch.eye(2).double().expand(4, 2, 2))

    def test_the_table_of_parameters(self):
        assert self.bound().parameter_table().loc[["p1_b", "p2_b"], "value"].tolist() == [0.3, 0.1]


def test_a_chain_of_one_is_that_bias():
    alone = LabelBias("a", {1: 0.3, 0: 0.1}, 0.05)
    torch.testing.assert_close(chain(alone).label_table(), alone.label_table())


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_joint_estimation_does_not_count_errors_twice():
    test = TestChain()
    truth = test.bound()
    audit, arguments = test.audit(truth, 20_000, np.random.default_rng(1))
    joint = test.make().estimate(audit, **arguments)
    marginal = test.make().estimate(audit, **arguments, method="marginal")
    error = [(m.label_table() - truth.label_table()).abs().mean().item() for m in (joint, marginal)]
    assert error[0] < 0.01
    assert error[1] > 0.1


def test_what_no_audit_can_tell_apart_is_said():
    test = TestChain()
    audit, arguments = test.audit(test.bound(), 5000, np.random.default_rng(2))
    with pytest.warns(AuditWarning, match="only their combined effect on the label is known"):
        test.make().estimate(audit, **arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: chain(), "one or more"),
        (lambda: chain("a"), "takes LabelBias and MeasurementBias"),
        (lambda: chain(LabelBias("a"), MeasurementBias(["u"], "a")), "MeasurementBias comes before LabelBias"),
        (lambda: chain(MeasurementBias(["u"], "a"), MeasurementBias(["v"], "a")), "one MeasurementBias"),
        (lambda: chain(LabelBias("a"), ClassBias("b", (1, 2, 3))), "same classes"),
        (
            lambda: chain(MeasurementBias(["u"], "a")).estimate(None, recorded="r", fair="f"),
            "no label bias to estimate",
        ),
        (lambda: chain(LabelBias("a")).estimate(None, recorded="r", fair="f", method="x"), "method must be"),
    ],
)
def test_impossible_chains(call, message):
    with pytest.raises(P4FError, match=message):
        call()
