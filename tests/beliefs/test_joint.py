"""Features that are distorted together: P(fair vector | recorded vector, group)."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs.likelihood.combinations import answers, every
from problog4fairness.beliefs.templates.custom import ProgramBelief
from problog4fairness.beliefs.templates.features.measurement import MeasurementBias
from problog4fairness.data import Rows
from problog4fairness.errors import P4FError
from tests.beliefs.contract import BeliefContract, draw, feature_tables
from tests.beliefs.test_observe import require_equal

NAMES = ["u", "v", "w", "x"]
VECTORS = list(itertools.product((0, 1), repeat=2))


class TestJoint(BeliefContract):
    def make(self):
        return MeasurementBias(["income", "Job title"], "a", joint=True)

    def known(self):
        rates = np.random.default_rng(0).dirichlet([4, 1, 1, 1], 8)[:, 1:].reshape(-1)
        return dict(zip([own.name for own in self.make().parameters], rates.tolist(), strict=True))

    def simulate(self, belief, rows, rng):
        (table,) = feature_tables(belief).values()
        groups, seen = rng.integers(0, 2, rows), rng.integers(0, 4, rows)
        pairs = {"recorded": seen, "fair": draw(table.numpy()[groups, seen], rng)}
        frame = pd.DataFrame({"a": groups})
        columns = {}
        for role, codes in pairs.items():
            names = [f"{name} {role}" for name in belief.features]
            frame[names] = np.array(VECTORS)[codes]
            columns[role] = dict(zip(belief.features, names, strict=True))
        return frame, columns


def test_a_program_by_hand_says_the_same():
    """One recorded vector in one group: an annotated disjunction over what was changed."""
    belief = MeasurementBias(["u", "v"], "a", affected=[1], joint=True)
    rates = dict(zip([own.name for own in belief.parameters], [0.1, 0.2, 0.3] * 4, strict=True))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"u": 0, "v": 1, "a": 1, "x": rng.normal(size=20)})
    rows = Rows(frame, ("x", "u", "v"), (0, 1), rng.integers(0, 2, 20))
    # Recorded is 0, 1; in the order of the fair vectors 0,0 and 1,0 and 1,1 these flips have 0.1, 0.2 and 0.3.
    text = (
        "nn(h,X) :: y_h(X). nn(a,X) :: a(X).\n"
        "0.1 :: flip(0,1) ; 0.2 :: flip(1,1) ; 0.3 :: flip(1,0) ; 0.4 :: flip(0,0).\n"
        "y(X) :- a(X), flip(B,C), y_h(x_(B,C)). y(X) :- \\+a(X), y_h(x_(0,0)). ?- y(x)."
    )
    require_equal(belief.bind(rates).observe(rows), ProgramBelief(text, features=["u", "v"]).observe(rows))


def program_tables(belief: MeasurementBias) -> dict[str, torch.Tensor]:
    """P(fair value | recorded value, groups) of each part, ``[groups, recorded, fair]``, as the program says it."""
    circuit, groups, tables, first = belief._bound_program().compile(), every(belief.variables), {}, 0

    def certain(part, value):
        return value.double() if part.binary else torch.eye(len(part.values)).double()[value]

    for part in belief.parts:
        # Every query is about one part, so the others may have any value.
        recorded = torch.arange(len(part.values))
        cases = {own.name: certain(own, recorded if own is part else 0 * recorded) for own in belief.parts}
        count = 1 if part.binary else len(part.values)
        answer = answers(circuit, belief.variables, groups, cases)[..., first : first + count]
        tables[part.title] = torch.cat([1 - answer, answer], dim=-1) if part.binary else answer
        first += count
    return tables


@pytest.mark.parametrize(
    "belief",
    [
        TestJoint().make().bind(TestJoint().known()),
        MeasurementBias(["u", "v"], "a", {"u": 0.1, "v": {0: 0.2, 1: 0.3}}, {"u": 0.05, "v": 0.15}),
        MeasurementBias(["u"], "a", 0.1, False, affected=[1]),
    ],
)
def test_tables_that_are_looked_up_are_those_of_the_program(belief):
    tables = program_tables(belief)
    for name, table in belief.feature_tables().items():
        torch.testing.assert_close(table, tables[name], rtol=0, atol=1e-12)


def test_five_features_together_are_fitted_in_no_time():
    rng = np.random.default_rng(0)
    names, groups, fair = list("pqrst"), rng.integers(0, 2, 400), rng.integers(0, 2, (400, 5))
    frame = pd.DataFrame(fair * (rng.random((400, 5)) > 0.3 * groups[:, None]), columns=names).assign(a=groups)
    belief = MeasurementBias(names, "a", joint=True)
    audit = frame.assign(**{f"fair_{name}": fair[:, place] for place, name in enumerate(names)})
    with pytest.warns(AuditWarning, match="no audited row has"):
        belief = belief.estimate(audit, recorded=names, fair=[f"fair_{name}" for name in names])
    clf = p4f.DebiasedClassifier(belief, learner="linear")
    clf.fit(frame[names], fair.sum(axis=1) > 2, sensitive_features=frame["a"])
    right = clf.predict(pd.DataFrame(fair, columns=names)) == (fair.sum(axis=1) > 2)
    assert right.mean() > 0.9


def dependent(rows: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Recorded and fair features that go together, and labels that depend on how they differ."""
    rng = np.random.default_rng(seed)
    common = 2.5 * rng.normal(size=(rows, 1))
    fair = pd.DataFrame((common + rng.normal(size=(rows, 4)) > 0).astype(int), columns=NAMES)
    fair["a"] = rng.integers(0, 2, rows)
    lost = rng.random((rows, 4)) < np.where(fair["a"] == 1, 0.5, 0.2)[:, None]
    z = (fair[NAMES] - 0.5) @ np.array([4.0, 4.0, -4.0, 2.0])
    return fair.assign(**fair[NAMES].mask(lost, 0)), fair, (rng.random(rows) < 1 / (1 + np.exp(-z))).astype(int)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_it_closes_the_gap_that_independence_leaves():
    recorded, fair, y = dependent(8000, 0)
    audit = recorded.join(fair.add_prefix("fair "))[:500]
    columns = {"recorded": NAMES, "fair": [f"fair {name}" for name in NAMES]}
    learn, test = slice(0, 4000), slice(4000, None)
    beliefs = {
        own: MeasurementBias(NAMES, "a", None, False, joint=own).estimate(audit, **columns) for own in (False, True)
    }
    models = {
        "truth": p4f.DebiasedClassifier(None, "linear").fit(fair[learn], y[learn]),
        **{
            own: p4f.DebiasedClassifier(belief, "linear").fit(recorded[learn], y[learn])
            for own, belief in beliefs.items()
        },
    }
    right = {name: (own.predict(fair[test]) == y[test]).mean() for name, own in models.items()}
    assert right["truth"] - right[True] < 0.2 * (right["truth"] - right[False])
    # Audited, the data contradict independence and say so; joint features are not tested for it.
    fairly = dict(zip(NAMES, columns["fair"], strict=True))
    found = beliefs[False].check(audit.assign(y=y[:500]), recorded="y", fair=fairly)
    assert "joint=[" in str(found)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_drawn_tables_are_tables():
    recorded, fair, y = dependent(300, 1)
    belief = MeasurementBias(["u", "v"], "a", joint=True)
    belief = belief.estimate(recorded.join(fair.add_prefix("f ")), recorded=["u", "v"], fair=["f u", "f v"])
    for drawn in belief.draws(5, 0):
        (table,) = drawn.feature_tables().values()
        torch.testing.assert_close(table.sum(-1), torch.ones(2, 4).double())
        assert bool((table >= 0).all())
    plan = belief.plan_audit(recorded.assign(y=y), recorded="y", error=0.2)
    assert any("distorted together" in note for note in plan.notes)


def test_some_features_together_and_others_alone():
    belief = MeasurementBias(["u", "v", "w"], "a", None, False, affected=[1], joint=["w", "u"])
    assert [part.features for part in belief.parts] == [("u", "w"), ("v",)]
    # A recorded 1 stays: from 0,0 to three others, from 0,1 and from 1,0 to 1,1; and one parameter of v.
    assert len(belief.parameters) == 3 + 1 + 1 + 1
    assert p4f.Belief.from_json(belief.to_json()) == belief


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MeasurementBias(["u", "v"], "a", joint=["u", "z"]), "must be True, False, or two or more of"),
        (lambda: MeasurementBias(["u", "v"], "a", joint=["u"]), "must be True, False, or two or more of"),
        (lambda: MeasurementBias(["u", "v"], "a", 0.1, joint=True), "u, v together have more than two values"),
        (lambda: MeasurementBias([f"f{i}" for i in range(7)], "a", joint=True), "7 features have 128 combinations"),
    ],
)
def test_impossible_beliefs(call, message):
    with pytest.raises(P4FError, match=message):
        call()
