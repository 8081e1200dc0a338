"""Measurement and historical bias: per-feature programs against the printed listing."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs.templates.features.measurement import MeasurementBias
from problog4fairness.beliefs.templates.historical import HistoricalBias
from problog4fairness.beliefs.templates.labels.label import LabelBias
from problog4fairness.errors import P4FError
from tests.beliefs.contract import BeliefContract, draw, feature_tables, label_table


def simulate_features(belief, rows, rng):
    groups = rng.integers(0, 2, rows)
    frame = pd.DataFrame({"a": groups})
    recorded, fair = {}, {}
    for feature, table in feature_tables(belief).items():
        values = np.array(getattr(belief, "measurement", belief).values[feature])
        seen = rng.integers(0, len(values), rows)
        frame[f"{feature} recorded"] = values[seen]
        frame[f"{feature} fair"] = values[draw(table.numpy()[groups, seen], rng)]
        recorded[feature], fair[feature] = f"{feature} recorded", f"{feature} fair"
    return frame, {"recorded": recorded, "fair": fair}


class TestMeasurementBias(BeliefContract):
    def make(self):
        return MeasurementBias(["income", "Job title"], "a")

    def known(self):
        rates = (0.3, 0.1, 0.05, 0.2, 0.4, 0.0, 0.25, 0.15)
        return dict(zip([rate.name for rate in self.make().parameters], rates, strict=True))

    def simulate(self, belief, rows, rng):
        return simulate_features(belief, rows, rng)


class TestCategorical(TestMeasurementBias):
    def make(self):
        return MeasurementBias(["level", "x"], "a", values={"level": ("low", "mid", "high")}, affected=[1])

    def known(self):
        rates = (0.1, 0.2, 0.3, 0.05, 0.0, 0.15, 0.3, 0.1)
        return dict(zip([rate.name for rate in self.make().parameters], rates, strict=True))


class TestHistoricalBias(TestMeasurementBias):
    def make(self):
        return HistoricalBias(["income", "Job title"], "a")


class TestHistoricalWithLabel(TestMeasurementBias):
    def make(self):
        return HistoricalBias(["income"], "a", label=LabelBias("a"))

    def known(self):
        return dict(
            zip(
                [rate.name for rate in self.make().parameters],
                (0.3, 0.1, 0.05, 0.2, 0.4, 0.0, 0.25, 0.15),
                strict=True,
            )
        )

    def simulate(self, belief, rows, rng):
        frame, arguments = simulate_features(belief, rows, rng)
        fair = rng.integers(0, 2, rows)
        recorded = draw(label_table(belief).numpy()[frame["a"], fair], rng)
        return frame, {**arguments, "recorded_label": recorded, "fair_label": fair}


def listing(n: int) -> str:
    """The paper's listing for n features."""
    variables = [f"V{i}" for i in range(n)]
    lines = ["nn(h,X) :: y_h(X).", "nn(n,X_,N) :: n(X_,N).", "nn(a,X_) :: a(X_)."]
    for i in range(n):
        zero, one = list(variables), list(variables)
        zero[i], one[i] = "0", "1"
        lines.append(f"debias_n({i + 1}, x_({','.join(zero)}), x_({','.join(one)})).")
    lines.append(r"""
    p1(N) :: n_neg_bias(X_,N) :- a(X_).
    p2(N) :: n_neg_bias(X_,N) :- \+a(X_).
    p3(N) :: n_pos_bias(X_,N) :- a(X_).
    p4(N) :: n_pos_bias(X_,N) :- \+a(X_).
    n_biased(X_,N) :- \+n(X_,N), n_neg_bias(X_,N).
    n_biased(X_,N) :- n(X_,N), n_pos_bias(X_,N).
    debias(X_, X_, 0).
    debias(X_, X, N) :- >(N,0), is(N2,N-1), n_biased(X_,N), debias_n(N,X_,Xf), debias(Xf,X,N2).
    debias(X_, X, N) :- >(N,0), is(N2,N-1), \+n_biased(X_,N), debias(X_,X,N2).""")
    zeros = ",".join("0" * n)
    lines.append(f"y(X_) :- debias(X_,X,{n}), y_h(X).\n?- y(x_({zeros})).")
    return "\n".join(lines)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_tables_give_the_weights_of_the_printed_listing(n):
    rng = np.random.default_rng(n)
    features = [f"f{i}" for i in range(n)]
    rates = rng.random((4, n))
    belief = MeasurementBias(features, "a")
    names = [f"p{k + 1}(f{i})" for i in range(n) for k in range(4)]
    belief = belief.bind({name: rates[int(name[1]) - 1, int(name[4:-1])] for name in names})
    tables = belief.feature_tables()
    circuit = p4f.Program(listing(n)).compile()
    parameters = {f"p{k + 1}({i + 1})": rates[k, i] for k in range(4) for i in range(n)}
    for group, recorded in itertools.product((0, 1), rng.integers(0, 2, (3, n))):

        def column(vector, i, recorded=recorded):
            return float(recorded[i - 1] ^ vector.arguments[i - 1])

        special = circuit.specialise(nn={"n": column, "a": float(group)}, parameters=parameters)
        for position, leaf in enumerate(special.free):
            bits = np.array(leaf.arguments[0].arguments)
            fair = recorded ^ bits
            expected = np.prod([tables[f][group, recorded[i], fair[i]].item() for i, f in enumerate(features)])
            assert special.coefficients[0, 1, 2 * position + 1].item() == pytest.approx(expected, abs=1e-12)


def test_strengths_can_be_given_by_group_and_by_feature():
    belief = MeasurementBias(["u", "v"], "a", negative={"u": {1: 0.3}, "v": 0.1}, positive=False)
    assert {rate.name: rate.value for rate in belief.parameters} == {
        "p1(u)": 0.3,
        "p2(u)": None,
        "p1(v)": 0.1,
        "p2(v)": 0.1,
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MeasurementBias([], "a"), "one or more different features"),
        (lambda: MeasurementBias(["a"], "a"), "both a distorted feature and the sensitive variable"),
        (lambda: MeasurementBias(["u"], "a", values={"v": (0, 1)}), "values names 'v'"),
        (lambda: MeasurementBias(["u"], "a", values={"u": (1,)}), "needs two or more values"),
        (lambda: MeasurementBias(["u"], "a", 0.1, values={"u": (1, 2, 3)}), "more than two values"),
        (lambda: MeasurementBias(["u"], "a", groups=[0, 1], affected=[7]), "affected must be some of the groups"),
        (
            lambda: MeasurementBias(["u"], "a").estimate(pd.DataFrame(), recorded={}, fair={}),
            "recorded column of feature 'u' is missing",
        ),
        (
            lambda: MeasurementBias(["u"], "a").estimate(
                pd.DataFrame({"u": [0, 2], "f": [0, 1], "a": [0, 1]}), recorded=["u"], fair=["f"]
            ),
            "recorded u has the label 2, which is not among 0, 1",
        ),
    ],
)
def test_impossible_beliefs_and_audits(call, message):
    with pytest.raises(P4FError, match=message):
        call()


def test_half_a_pair_of_labels_is_refused():
    belief, audit = HistoricalBias(["income"], "a", label=LabelBias("a")), pd.DataFrame({"a": [0], "r": [0], "f": [0]})
    with pytest.raises(P4FError, match="fair_label"):
        belief.estimate(audit, recorded=["r"], fair=["f"], fair_label="f")
