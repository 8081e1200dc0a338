"""A belief carries its favourable label and its groups; saying something else is an error, and so is not knowing."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs import Belief, belief_text, read_belief
from problog4fairness.errors import LearningWarning, P4FError
from problog4fairness.estimators.training_table import belief_for, train_on_table
from tests.estimators.data import quick

OWN = "nn(h,X)::y(X). nn(area,X)::a(X). p1::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x)."
QUICK = quick(max_epochs=2, hidden=(4,))
WORDS = {1: "approve", 0: "deny"}


def people(rows=600):
    """Applicants of whom those with area = 1 are wrongly denied; 'deny' is the larger label."""
    rng = np.random.default_rng(0)
    area, x = rng.integers(0, 2, rows), rng.normal(size=rows)
    fair = (x + rng.normal(size=rows) > 0).astype(int)
    recorded = np.where((area == 1) & (rng.random(rows) < 0.4), 0, fair)
    frame = pd.DataFrame({"x": x, "area": area})
    return frame.assign(recorded=pd.Series(recorded).map(WORDS), fair=pd.Series(fair).map(WORDS))


PEOPLE = people()
ARGUMENTS = {"recorded": "recorded", "fair": "fair", "favourable": "approve"}


def estimated():
    with warnings.catch_warnings(action="ignore"):
        return {
            "label": p4f.LabelBias("area").estimate(PEOPLE, **ARGUMENTS),
            "chain": p4f.chain(p4f.LabelBias("area", positive=False)).estimate(PEOPLE, **ARGUMENTS),
            "program": p4f.ProgramBelief(OWN).estimate(PEOPLE, **ARGUMENTS),
            "historical": p4f.HistoricalBias(["q"], "area", 0.1, label=p4f.LabelBias("area", favourable="approve")),
        }


BELIEFS = estimated()


@pytest.mark.parametrize("kind", BELIEFS)
def test_an_estimated_belief_knows_its_favourable_label_also_from_a_file(kind):
    belief = BELIEFS[kind]
    assert belief.favourable == "approve"
    text = belief_text(belief)
    assert "% The favourable label, which counts as 1, is approve.\n" in text
    for again in (read_belief(text), Belief.from_json(belief.to_json())):
        assert again.favourable == "approve"
        assert again == belief
    assert belief.bind({}, favourable="deny") != belief
    assert belief.bind({belief.parameters[0].name: 0.5}).favourable == "approve"


def test_rules_changed_by_hand_keep_the_favourable_label():
    with pytest.warns(p4f.audit.AuditWarning):
        again = read_belief(belief_text(BELIEFS["label"]).replace("?- y_(x).", "?- y_(x). ?- a(x)."))
    assert isinstance(again, p4f.ProgramBelief)
    assert again.favourable == "approve"


@pytest.mark.parametrize("kind", ["label", "chain", "program"])
def test_the_classifier_takes_it_from_the_belief(kind, tmp_path):
    features, label = PEOPLE[["x", "area"]], PEOPLE["recorded"]
    model = p4f.DebiasedClassifier(BELIEFS[kind], **QUICK).fit(features, label)
    assert model.classes_.tolist() == ["deny", "approve"]
    said = p4f.DebiasedClassifier(BELIEFS[kind], favourable="approve", **QUICK).fit(features, label)
    np.testing.assert_array_equal(model.predict_proba(features), said.predict_proba(features))
    model.save(tmp_path / "model.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "model.p4f")
    assert again.belief_.favourable == "approve"
    with pytest.raises(P4FError, match="favourable='deny' contradicts the belief, in which 'approve' is"):
        p4f.DebiasedClassifier(BELIEFS[kind], favourable="deny", **QUICK).fit(features, label)


def test_labels_that_the_belief_does_not_know_must_be_named():
    features, label = PEOPLE[["x", "area"]], PEOPLE["recorded"].map({"approve": "good", "deny": "poor"})
    with pytest.raises(P4FError, match="favourable label is 'approve', which is not among"):
        p4f.DebiasedClassifier(BELIEFS["label"], **QUICK).fit(features, label)
    model = p4f.DebiasedClassifier(BELIEFS["label"], favourable="good", **QUICK).fit(features, label)
    assert model.classes_.tolist() == ["poor", "good"]
    numbers = PEOPLE.assign(**{name: PEOPLE[name].map({"approve": 1, "deny": 0}) for name in ("recorded", "fair")})
    by_convention = p4f.LabelBias("area", positive=False).estimate(numbers, recorded="recorded", fair="fair")
    assert by_convention.favourable == 1
    with pytest.raises(P4FError, match="favourable label is 1, which is not among"):
        p4f.DebiasedClassifier(by_convention, **QUICK).fit(features, label)


def test_contradictions_while_estimating_and_chaining():
    with pytest.raises(P4FError, match="contradicts the belief"):
        BELIEFS["label"].estimate(PEOPLE, **{**ARGUMENTS, "favourable": "deny"})
    again = BELIEFS["label"].estimate(PEOPLE, recorded="recorded", fair="fair")
    assert again == BELIEFS["label"]
    with pytest.raises(P4FError, match="different favourable labels: 'approve' and 'deny'"):
        p4f.chain(p4f.LabelBias("a", favourable="approve"), p4f.LabelBias("b", favourable="deny"))
    with pytest.raises(P4FError, match="neither text nor a number"):
        p4f.LabelBias("a", favourable=["approve"])


def test_tables_take_it_from_the_belief(tmp_path):
    belief, table = BELIEFS["label"], PEOPLE.drop(columns="fair")
    model, rows = train_on_table(table, belief, recorded="recorded", **QUICK)
    assert (rows.favourable, model.classes_.tolist()) == ("approve", ["deny", "approve"])
    with pytest.raises(P4FError, match="favourable='deny' contradicts the belief"):
        train_on_table(table, belief, recorded="recorded", favourable="deny", **QUICK)
    (tmp_path / "belief.pl").write_text(belief_text(belief))
    assert belief_for(tmp_path / "belief.pl", table, sensitive="area", group="1") == belief
    with pytest.raises(P4FError, match="group='0' contradicts the belief, in which 1 is the sensitive group of 'area'"):
        belief_for(tmp_path / "belief.pl", table, group="0")


def test_comparisons_take_it_from_the_belief():
    belief, table = BELIEFS["label"], PEOPLE.drop(columns="fair")
    learner = p4f.learners.Network(max_epochs=1)
    data = table[["x", "area", "recorded"]].assign(fair=PEOPLE["fair"])
    options = {"recorded": "recorded", "fair": "fair", "methods": ["recorded_only"], "seeds": 1, "folds": 2}
    model = p4f.DebiasedClassifier(belief, learner)
    found = p4f.compare(data, model, **options)
    stated = p4f.compare(data, p4f.DebiasedClassifier(belief, learner, favourable="approve"), **options)
    pd.testing.assert_frame_equal(found.results, stated.results)
    with pytest.raises(P4FError, match="contradicts the belief"):
        p4f.compare(data, p4f.DebiasedClassifier(belief, learner, favourable="deny"), **options)


@pytest.mark.parametrize(
    "belief",
    [
        p4f.LabelBias("area", {1: 0.7, 0: 0.1}, {1: 0.6, 0: 0.1}),
        p4f.LabelBias("area", 0.1, 0.1, noise=0.9),
        p4f.chain(p4f.LabelBias("area", {1: 0.7, 0: 0.1}, {1: 0.6, 0: 0.1})),
        p4f.ProgramBelief(OWN.replace("?-", "0.9::w(X). r(X) :- \\+y(X), a(X), w(X). ?-")).bind({"p1": 0.5}),
    ],
)
def test_labels_that_mean_the_opposite_are_told_when_training(belief):
    with pytest.warns(
        p4f.audit.AuditWarning, match="where area = .* sum to more than 1.* the opposite of fair ones"
    ) as told:
        p4f.DebiasedClassifier(belief, favourable="approve", **QUICK).fit(PEOPLE[["x", "area"]], PEOPLE["recorded"])
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LearningWarning)  # two epochs are too few, and that is told too
        fine = p4f.LabelBias("area", 0.3, 0.3, favourable="approve")
        p4f.DebiasedClassifier(fine, use_sensitive=False, **QUICK).fit(PEOPLE[["x", "area"]], PEOPLE["recorded"])


@pytest.mark.parametrize("pair", [("denied", "approved"), ("no", "yes"), (1, 2)])
def test_labels_that_do_not_speak_for_themselves_are_never_taken_by_alphabet(pair):
    """With a stated belief, ``approved`` and ``denied`` took ``denied`` as favourable without a word."""
    belief, labels = p4f.LabelBias("area", {1: 0.4}, False, affected=[1]), (PEOPLE["recorded"] == "approve") * 1
    labels = labels.map(dict(enumerate(pair)))
    model = p4f.DebiasedClassifier(belief, "linear", use_sensitive=False)
    with pytest.raises(P4FError, match="favourable") as caught:
        model.fit(PEOPLE[["x", "area"]], labels)
    assert all(repr(value) in str(caught.value) for value in pair)
    stated = model.set_params(favourable=pair[1]).fit(PEOPLE[["x", "area"]], labels)
    by_belief = p4f.DebiasedClassifier(belief.bind({}, favourable=pair[1]), "linear", use_sensitive=False)
    by_belief.fit(PEOPLE[["x", "area"]], labels)
    for fitted in (stated, by_belief):
        assert fitted.classes_.tolist() == list(pair)
        assert fitted.predict_proba(PEOPLE[["x", "area"]])[:, 1].mean() > (labels == pair[1]).mean()


def test_a_name_that_says_that_1_is_bad_asks_in_fit_and_in_estimate_as_well():
    people = PEOPLE[["x", "area"]].assign(
        default=(PEOPLE["recorded"] == "deny") * 1, truth=(PEOPLE["fair"] == "deny") * 1
    )
    belief = p4f.LabelBias("area", {1: 0.4}, False, affected=[1])
    with pytest.raises(P4FError, match="'default'"):
        p4f.DebiasedClassifier(belief, "linear", use_sensitive=False).fit(people[["x", "area"]], people["default"])
    with pytest.raises(P4FError, match="'default'"):
        belief.estimate(people, recorded="default", fair="truth")
    estimated = belief.estimate(people, recorded="default", fair="truth", favourable=0)
    assert read_belief(belief_text(estimated)).favourable == 0
    model = p4f.DebiasedClassifier(estimated, "linear", use_sensitive=False)
    assert model.fit(people[["x", "area"]], people["default"]).classes_.tolist() == [1, 0]


def test_without_a_belief_no_label_is_favourable_and_scikit_learns_order_holds():
    model = p4f.DebiasedClassifier(None, "linear").fit(PEOPLE[["x"]], PEOPLE["recorded"])
    assert model.classes_.tolist() == ["approve", "deny"]
