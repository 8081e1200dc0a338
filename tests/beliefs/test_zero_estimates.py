"""An estimate of exactly 0 or 1 is not certainty; only what somebody states is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")


def audit_without_errors(rows: int = 100) -> pd.DataFrame:
    """Audited rows in which no fair 0 was recorded as 1, and a few fair 1s as 0."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 2, rows), "fair": rng.integers(0, 2, rows)})
    return frame.assign(recorded=np.where(rng.random(rows) < 0.3, 0, frame["fair"]))


def table() -> pd.DataFrame:
    """Recorded rows, some of which are what the audit never saw."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 400), "x": rng.normal(size=400)})
    fair = (frame["x"] + 0.3 * rng.normal(size=400) > 0).astype(int)
    return frame.assign(recorded=np.where(rng.random(400) < 0.05, 1 - fair, fair), fair=fair)


def test_an_estimate_of_zero_is_used_as_its_posterior_mean() -> None:
    audit = audit_without_errors()
    belief = p4f.LabelBias("a").estimate(audit, recorded="recorded", fair="fair")
    for own in belief.parameters[2:]:
        assert own.value == 0
        assert own.rows is not None
        assert own.used == pytest.approx(0.5 / (own.rows + 1), rel=1e-3)
        assert own.weight in belief.text()
    tables = belief.label_table().numpy()
    assert (tables > 0).all()
    assert np.allclose(tables.sum(axis=-1), 1)


def test_what_is_stated_as_impossible_stays_so() -> None:
    belief = p4f.LabelBias("a", negative=0.3, positive=0.0)
    assert belief.label_table().numpy()[:, 0, 1].tolist() == [0, 0]


def test_fair_labels_that_contradict_an_estimate_of_zero_can_be_learned_from() -> None:
    rows = table()
    belief = p4f.LabelBias("a").estimate(audit_without_errors(), recorded="recorded", fair="fair")
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    model.fit(rows[["x"]], rows["recorded"], sensitive_features=rows[["a"]], fair=rows["fair"])
    assert np.isfinite(model.predict_proba(rows[["x"]])).all()


def test_a_belief_file_keeps_the_estimate_and_its_use() -> None:
    belief = p4f.LabelBias("a").estimate(audit_without_errors(), recorded="recorded", fair="fair")
    again = p4f.beliefs.read_belief(p4f.beliefs.belief_text(belief))
    assert again == belief
    assert [own.used for own in again.parameters] == [own.used for own in belief.parameters]


def test_a_number_of_zero_that_is_written_by_hand_is_stated() -> None:
    belief = p4f.LabelBias("a", negative=False).estimate(audit_without_errors(), recorded="recorded", fair="fair")
    text = p4f.beliefs.belief_text(belief)
    changed = text.replace(f"{belief.parameters[0].weight} ::", "0.0 ::", 1)
    with pytest.warns(AuditWarning, match="changed by hand"):
        again = p4f.beliefs.read_belief(changed)
    assert again.parameters[0].used == 0
    assert again.parameters[0].rows is None


@pytest.mark.parametrize("right", [0, 5])
def test_probabilities_of_several_classes_still_sum_to_one(right: int) -> None:
    fair = ["a"] * (6 + right) + ["b"] * 8 + ["c"] * 8
    recorded = ["b"] * 6 + ["a"] * right + ["b"] * 8 + ["c"] * 8
    audit = pd.DataFrame({"g": 1, "fair": fair, "recorded": recorded})
    audit = pd.concat([audit, audit.assign(g=0)])
    belief = p4f.ClassBias("g", ("a", "b", "c")).estimate(audit, recorded="recorded", fair="fair")
    tables = belief.label_table().numpy()
    assert (tables > 0).all()
    assert np.allclose(tables.sum(axis=-1), 1)
