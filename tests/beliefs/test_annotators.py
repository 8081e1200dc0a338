"""Annotators: how often each errs, from their votes alone; gaps, ties, kinds, and one who always says the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.beliefs.describe.files import read_belief
from problog4fairness.beliefs.likelihood.general import observe_program
from problog4fairness.beliefs.likelihood.inputs import fair_inputs
from problog4fairness.beliefs.templates.records.annotators import Annotators
from problog4fairness.data.labels import majority
from problog4fairness.errors import P4FError
from tests.beliefs.contract import BeliefContract, draw, log_fair


def voted(belief: Annotators, fair: np.ndarray, groups: np.ndarray, rng, gaps: float = 0.2) -> pd.DataFrame:
    """Votes on rows with these fair labels and groups, some of them not given."""
    tables = easy_tables(belief)
    votes = {}
    hard, guess, answer = (belief.parameter_table()["value"].get(name, 0.0) for name in ("hard", "guess", "answer"))
    difficult = rng.random(len(fair)) < hard if hard else None
    for number, name in enumerate(belief.columns.recorded):
        own = draw(tables[number][groups, fair], rng).astype(float)
        if hard:
            guessed = difficult & (rng.random(len(fair)) < guess)
            own = np.where(guessed, rng.random(len(fair)) < answer, own)
        votes[name] = np.where(rng.random(len(fair)) < gaps, np.nan, own)
    return pd.DataFrame(votes)


def easy_tables(belief: Annotators) -> np.ndarray:
    """P(vote | fair, group) of each annotator on rows that are not hard, ``[annotators, groups, fair, vote]``."""
    sizes = [len(columns) for columns in belief.annotators.values()]
    return np.repeat(belief.vote_tables().tables[:, :, 0], sizes, axis=0)


class TestAnnotators(BeliefContract):
    def make(self):
        return Annotators(["Dr. Lee", "ann", "bob", "a"], "poor_area")

    def known(self):
        names = [own.name for own in self.make().parameters if own.cell is not None]
        errors = (0.3, 0.1, 0.1, 0.05, 0.2, 0.1, 0.2, 0.1, 0.1, 0.2, 0.3, 0.05, 0.2, 0.2, 0.15, 0.1)
        return dict(zip(names, errors, strict=True))

    def tables(self, belief):
        return [torch.from_numpy(easy_tables(belief))]

    def groups(self, frame):
        return frame["poor_area"].to_numpy()

    def simulate(self, belief, rows, rng):
        frame = pd.DataFrame({"poor_area": rng.integers(0, 2, rows)})
        return pd.concat([frame, voted(belief, rng.integers(0, 2, rows), self.groups(frame), rng)], axis=1), {}

    def recorded(self, belief, frame, rng):
        fair = draw(log_fair(frame, 2).exp().numpy(), rng)
        return voted(belief, fair, self.groups(frame), rng)


class TestHardRows(TestAnnotators):
    def make(self):
        return Annotators(["Dr. Lee", "ann", "bob", "a"], "poor_area", hard_rows=True)

    def known(self):
        return {**super().known(), "hard": 0.2, "guess": 0.8, "answer": 0.6}

    def tables(self, belief):
        # On all rows, hard ones among them.
        weights, tables = belief.vote_tables()
        return [torch.from_numpy(np.einsum("h,kghfv->kgfv", weights, tables))]


class TestKinds(TestAnnotators):
    def make(self):
        return Annotators({"crowd": ["w1", "w2", "w3"], "expert": ["e"]})

    def known(self):
        return {"neg(crowd)": 0.2, "pos(crowd)": 0.3, "neg(expert)": 0.05, "pos(expert)": 0.1}

    def groups(self, frame):
        return np.zeros(len(frame), dtype=int)


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("audited", [False, True])
@pytest.mark.parametrize("contract", [TestAnnotators, TestHardRows, TestKinds])
def test_tables_are_what_the_program_says(soft, audited, contract):
    rng = np.random.default_rng(0)
    belief = contract().bound()
    frame = pd.DataFrame({"x": rng.normal(size=40), "poor_area": rng.random(40) if soft else rng.integers(0, 2, 40)})
    fair = rng.integers(0, 2, 40)
    votes = voted(belief, fair, rng.integers(0, 2, 40) if belief.variables else np.zeros(40, dtype=int), rng)
    known = np.where(frame["x"] > 0, fair, -1) if audited else None
    rows = p4f.data.Rows(pd.concat([frame, votes], axis=1), ("x",), (0, 1), np.ones(40, dtype=int), known)
    inputs = fair_inputs(rows)
    expected = observe_program(
        belief.program(),
        rows,
        inputs,
        belief.record.outcomes(rows),
        classifier="h",
        value=lambda leaf: belief._leaf_value(leaf, rows),
        place=lambda leaf: inputs.index[:, 0],
    )
    found = belief.observe(rows)
    # The likelihoods differ by what does not depend on the classifier; what learners are pulled to does not.
    logs = torch.log_softmax(torch.randn(len(found.table), 2, generator=torch.Generator().manual_seed(0)).double(), 1)
    torch.testing.assert_close(found.posterior(logs).weights, expected.posterior(logs).weights)
    logits = torch.zeros(len(found.table), 1, dtype=torch.float64, requires_grad=True)
    slopes = [torch.autograd.grad(own.log_likelihood(logits).sum(), logits)[0] for own in (found, expected)]
    torch.testing.assert_close(*slopes)


def test_a_lazy_annotator_has_no_say():
    rng = np.random.default_rng(1)
    belief = Annotators(["ann", "bob", "cleo"], negative=0.15, positive=0.1)
    fair = rng.integers(0, 2, 3000)
    table = voted(belief, fair, np.zeros(3000, dtype=int), rng, gaps=0).assign(lazy=1.0)
    found = Annotators([*table.columns]).estimate(table)
    values = found.parameter_table()["value"]
    assert values["pos(lazy)"] > 0.99
    assert values["neg(lazy)"] < 0.01
    assert ((found.fair_proba(table) > 0.5) == fair).mean() > 0.93
    without = found.fair_proba(table.assign(lazy=np.nan))
    np.testing.assert_allclose(found.fair_proba(table), without, atol=0.02)


def test_who_is_better_counts_more_than_the_majority():
    rng = np.random.default_rng(2)
    errors = {"expert": 0.03, "ann": 0.35, "bob": 0.35}
    fair = rng.integers(0, 2, 4000)
    table = voted(Annotators([*errors], None, errors, errors), fair, np.zeros(4000, dtype=int), rng, gaps=0)
    found = Annotators([*errors]).estimate(table)
    right = ((found.fair_proba(table) > 0.5) == fair).mean()
    assert right > ((table.mean(axis=1) > 0.5) == fair).mean() + 0.05


def test_an_audit_makes_it_sharper_and_is_needed_for_two():
    rng = np.random.default_rng(3)
    belief = Annotators(["ann", "bob"], negative=0.2, positive=0.1)
    fair = rng.integers(0, 2, 1500)
    table = voted(belief, fair, np.zeros(1500, dtype=int), rng)
    with pytest.raises(P4FError, match="two annotators do not tell which of them errs"):
        belief.bind(None).estimate(table)
    known = np.where(np.arange(1500) < 300, fair, np.nan)
    found = belief.bind(None).estimate(table.assign(known=known), fair="known")
    assert [own.value for own in found.parameters] == pytest.approx([0.2, 0.1, 0.2, 0.1], abs=0.06)


def test_labels_are_texts_and_ties_are_no_majority():
    rng = np.random.default_rng(4)
    fair = rng.integers(0, 2, 900)
    table = voted(Annotators(list("uvw"), negative=0.1, positive=0.1), fair, np.zeros(900, dtype=int), rng)
    texts = table.replace({0.0: "no", 1.0: "yes"}).astype(object)
    found = Annotators(list("uvw")).estimate(texts, favourable="yes")
    assert found.favourable == "yes"
    features = pd.DataFrame({"x": fair + rng.normal(size=900)})
    model = p4f.DebiasedClassifier(found, "linear", random_state=0).fit(features, texts)
    assert list(model.classes_) == ["no", "yes"]
    assert ((model.predict(features) == "yes") == fair).mean() > 0.6
    explained = model.explain(features, texts)
    assert np.isnan(explained.distorted[texts.isna().all(axis=1)]).all()
    np.testing.assert_array_equal(majority(np.array([[0, 1, -1], [1, 1, 0], [-1, -1, -1]]), 2), [-1, 1, -1])


def test_who_disagrees_with_whom():
    table = pd.DataFrame({"u": [0, 1, 1, None], "v": [0, 0, 1, 1], "w": [None, None, None, 1]})
    found = Annotators(list("uvw")).disagreement(table)
    assert found.loc["u", "v"] == pytest.approx(1 / 3)
    assert found.loc["v", "w"] == 0
    assert np.isnan(found.loc["u", "w"])


def test_a_long_table_is_made_wide():
    table = pd.DataFrame({"task": [1, 1, 2], "who": ["u", "v", "u"], "vote": [0, 1, 1]})
    wide = Annotators.wide(table, row="task", annotator="who", label="vote")
    assert wide["u"].tolist() == [0, 1]
    assert np.isnan(wide.loc[2, "v"])
    with pytest.raises(P4FError, match="u voted twice on 2; keep one of these votes"):
        Annotators.wide(pd.concat([table, table[2:]]), row="task", annotator="who", label="vote")
    with pytest.raises(P4FError, match=r"no column 'whom' for the table of votes; did you mean 'who'\?"):
        Annotators.wide(table, row="task", annotator="whom", label="vote")


def test_a_program_changed_by_hand_still_reads_the_votes():
    belief = TestKinds().bound()
    text = p4f.beliefs.belief_text(belief).replace("?- y_(x).", "z(X) :- y_(X).\n?- z(x).")
    with pytest.warns(UserWarning, match="was changed by hand"):
        changed = read_belief(text)
    assert changed.columns.recorded == belief.columns.recorded


def test_a_model_is_saved_with_it(tmp_path):
    rng, contract = np.random.default_rng(5), TestKinds()
    frame = contract.people(contract.bound(), 300, rng)
    y = contract.recorded(contract.bound(), frame, rng)
    model = p4f.DebiasedClassifier(contract.bound(), "linear", random_state=0).fit(frame, y)
    model.save(tmp_path / "votes.p4f")
    again = p4f.DebiasedClassifier.load(tmp_path / "votes.p4f")
    assert again.belief_ == model.belief_
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


VOTES = pd.DataFrame({"u": [0, 1] * 20, "v": [0, 1] * 20, "w": [1, 1] * 20, "g": [0] * 20 + [1] * 20})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Annotators(["u"]), "one annotator is a LabelBias"),
        (lambda: Annotators(["u", "u"]), "an annotator is named twice"),
        (lambda: Annotators(["u", "g"], "g"), "column 'g' cannot be both a vote and the sensitive variable"),
        (lambda: Annotators(["u", "v"], None, {"z": 0.1}), "negative names 'z', which is not among u, v"),
        (lambda: Annotators(["u", "v", "z"]).estimate(VOTES), "no column 'z' for the votes; there are u, v, w, g"),
        (
            lambda: Annotators(list("uvw"), "g").estimate(VOTES.assign(w=None)),
            "w gave no vote; leave them out, or name them with others as one kind",
        ),
        (
            lambda: Annotators(list("uvw"), "g").estimate(VOTES.where(VOTES["g"] == 0).assign(g=VOTES["g"])),
            "nobody gave a vote where g = 1",
        ),
        (
            lambda: Annotators(list("uv")).estimate(VOTES, recorded={"row": "g", "label": "u"}),
            "it must have row, annotator, label",
        ),
        (
            lambda: Annotators(["u", "v", "w"]).estimate(
                pd.DataFrame({"i": [1, 1], "who": ["u", "z"], "said": [0, 1]}),
                recorded={"row": "i", "annotator": "who", "label": "said"},
            ),
            "annotator 'z' is not named in the belief",
        ),
        (lambda: Annotators(list("uvw")).estimate(VOTES.assign(u=7)), "the label has the values"),
        (lambda: Annotators(list("uvw")).estimate(VOTES[:0]), "there is no vote in the table"),
        (
            lambda: p4f.DebiasedClassifier(TestKinds().bound()).fit(VOTES[["u"]], VOTES["u"]),
            "y must have the votes of w1, w2, w3, e, a column each",
        ),
        (
            lambda: p4f.DebiasedClassifier(TestKinds().bound()).fit(VOTES[["u"]], VOTES[["u", "v"]]),
            "y has no column 'w1' of votes; there are u, v",
        ),
    ],
)
def test_impossible(call, message):
    with pytest.raises(P4FError, match=message):
        call()


def test_a_group_without_a_vote_is_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "g": [0, 1] * 30})
    votes = pd.DataFrame(rng.integers(0, 2, (60, 3)).astype(float), columns=list("uvw")).where(frame["g"] == 0)
    belief = Annotators(list("uvw"), "g", 0.1, 0.1)
    with pytest.warns(
        p4f.audit.AuditWarning, match="no row with g = 1 has a vote; the model learns nothing from these rows"
    ):
        p4f.DebiasedClassifier(belief, "linear").fit(frame, votes)
