"""Groups multiply: only the combinations that occur in rows are looked at, and the rest is refused with its number."""

from __future__ import annotations

import resource

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.beliefs.likelihood.combinations import every, occurring
from problog4fairness.data import Rows, Sensitive
from problog4fairness.errors import P4FError

MANY = 18
QUICK = p4f.learners.Network(max_epochs=1)
CHAIN = p4f.chain(*(p4f.LabelBias(f"a{i}", 0.05, 0.02) for i in range(MANY)))


def table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.integers(0, 2, (rows, MANY)), columns=[f"a{i}" for i in range(MANY)]).assign(
        x=rng.normal(size=rows), y=rng.integers(0, 2, rows)
    )


@pytest.mark.parametrize("soft", [False, True])
def test_what_is_observed_is_a_part_of_everything(soft):
    rng = np.random.default_rng(0)
    variables = [Sensitive(("a",)), Sensitive(("b",), ("u", "v", "w"), "b"), Sensitive(("c",), name="c")]
    a = rng.random(50) if soft else rng.integers(0, 2, 50)
    frame = pd.DataFrame({"a": a, "b": rng.choice(["u", "w"], 50), "c": rng.integers(0, 2, 50)})
    found = occurring(variables, Rows(frame, ()))
    joint = np.ones((50, 1))
    for variable in variables:
        joint = (joint[:, :, None] * Rows(frame, ()).shares(variable)[:, None, :]).reshape(50, -1)
    whole, values = every(variables), rng.random((12, 2, 2))
    assert found.levels.tolist() == [level for level in whole.tolist() if level[1] != 1]
    place = [whole.tolist().index(level) for level in found.levels.tolist()]
    np.testing.assert_allclose(found.mean(values[place]), np.einsum("ng,gfr->nfr", joint, values))


def test_tables_of_some_combinations_are_rows_of_the_whole_table():
    belief = p4f.chain(
        p4f.MeasurementBias(["q"], "a", {"q": {1: 0.3, 0: 0.1}}, 0.2),
        p4f.LabelBias("b", 0.1, 0.2, groups=("u", "v", "w")),
        p4f.LabelBias("c", {1: 0.3, 0: 0.1}, 0.1),
    )
    some = np.array([[1, 2, 0], [0, 0, 1], [1, 0, 1]])
    place = np.ravel_multi_index(tuple(some.T), (2, 3, 2))
    torch.testing.assert_close(belief.label_table(some), belief.label_table()[place])


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_many_chained_biases_train_predict_and_are_estimated_in_little_memory():
    frame = table(400)
    features, label = frame.drop(columns="y"), frame["y"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = p4f.DebiasedClassifier(CHAIN, QUICK, random_state=0).fit(features, label)
    assert model.predict_recorded_proba(features).shape == (400, 2)
    assert model.distortion_proba(features, label).shape == (400,)
    p4f.chain(*(p4f.LabelBias(f"a{i}", positive=False) for i in range(MANY))).estimate(
        frame.assign(fair=frame["y"]).head(60), recorded="y", fair="fair"
    )
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert more < 500_000  # kB


def test_the_whole_table_of_many_chained_biases_is_refused_with_its_number():
    with pytest.raises(P4FError, match="18 sensitive variables have 262,144 combinations of groups, more than 16,384"):
        CHAIN.label_table()


def test_uncertain_rows_with_many_combinations_and_distorted_features_are_refused_with_their_number():
    frame = table(2000)
    frame[[f"a{i}" for i in range(MANY)]] = 0.5
    belief = p4f.chain(p4f.MeasurementBias("y2", "a0", 0.1, 0.1), *(p4f.LabelBias(f"a{i}", 0.1) for i in range(MANY)))
    belief = belief.bind(dict.fromkeys([own.name for own in belief.parameters], 0.1))
    frame["y2"] = frame["y"]
    with pytest.raises(P4FError, match="2000 rows with uncertain groups have 16384 combinations of them or more"):
        p4f.DebiasedClassifier(belief, QUICK).fit(frame.drop(columns="y"), frame["y"])


def test_many_distorted_features_are_drawn_unless_all_are_asked_for():
    frame = table(20)
    belief = p4f.MeasurementBias([f"f{i}" for i in range(40)], "a0", 0.1, 0.1)
    frame = frame.assign(**{f"f{i}": 0 for i in range(40)})
    p4f.DebiasedClassifier(belief, QUICK).fit(frame.drop(columns="y"), frame["y"])
    whole = p4f.MeasurementBias(belief.features, "a0", 0.1, 0.1, inputs=2**40)
    with pytest.raises(P4FError, match="40 distorted features have 1,099,511,627,776 combinations of fair values"):
        p4f.DebiasedClassifier(whole, QUICK).fit(frame.drop(columns="y"), frame["y"])
