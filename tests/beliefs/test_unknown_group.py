"""An unknown group: tables of proxies, linked samples, partly known groups, and the bounds that ignorance leaves."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs.describe.files import belief_text, read_belief
from problog4fairness.beliefs.describe.plain_data import belief_of
from problog4fairness.beliefs.templates.labels.label import LabelBias
from problog4fairness.beliefs.templates.records.unknown_group import UnknownGroup
from problog4fairness.errors import P4FError
from tests.beliefs.contract import BeliefContract, distorted_labels

CODES = np.array(["n", "s", "w"])
SHARES = {"n": 0.1, "s": 0.9, "w": 0.5}


class TestUnknownGroup(BeliefContract):
    def make(self):
        return UnknownGroup("poor", {"postcode": tuple(CODES.tolist())}, belief=LabelBias("poor"))

    def known(self):
        return {"group(n)": 0.1, "group(s)": 0.9, "group(w)": 0.5, "p1": 0.3, "p2": 0.1, "p3": 0.05, "p4": 0.2}

    def harmless(self):
        return self.known() | dict.fromkeys(("p1", "p2", "p3", "p4"), 0.0)

    def tables(self, belief):
        return [belief.belief.label_table()]

    def people(self, belief, rows, rng):
        frame = super().people(belief, rows, rng).drop(columns="poor").assign(postcode=CODES[rng.integers(0, 3, rows)])
        poor = rng.random(rows) < frame["postcode"].map(SHARES)
        return frame.assign(poor=np.where(rng.random(rows) < 0.3, poor, np.nan))

    def simulate(self, belief, rows, rng):
        frame = pd.DataFrame({"postcode": CODES[rng.integers(0, 3, rows)], "fair": rng.integers(0, 2, rows)})
        frame["poor"] = (rng.random(rows) < frame["postcode"].map(SHARES)).astype(int)
        frame["seen"] = distorted_labels(belief.belief, frame["fair"].to_numpy(), frame["poor"].to_numpy(), rng)
        return frame, {"recorded": "seen", "fair": "fair"}


class TestThreeGroups(TestUnknownGroup):
    levels = ("a", "b", "c")
    shares = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])

    def make(self):
        inside = LabelBias("poor", groups=self.levels)
        return UnknownGroup("poor", {"postcode": tuple(CODES.tolist())}, belief=inside, groups=self.levels)

    def known(self):
        guess = {f"group({c},{g})": self.shares[i, k] for i, c in enumerate(CODES) for k, g in ((1, "b"), (2, "c"))}
        return guess | {f"neg({g})": 0.1 * k for k, g in enumerate(self.levels)} | {f"pos({g})": 0.1 for g in "abc"}

    def harmless(self):
        return self.known() | {name: 0.0 for name in self.known() if not name.startswith("group")}

    def drawn(self, codes, rng):
        chances = self.shares[codes].cumsum(axis=1)
        return (chances < rng.random(len(codes))[:, None]).sum(axis=1)

    def people(self, belief, rows, rng):
        codes = rng.integers(0, 3, rows)
        frame = pd.DataFrame({"skill": 3 * rng.normal(size=rows), "other": rng.normal(size=rows)})
        poor = pd.Series(np.array(self.levels)[self.drawn(codes, rng)], dtype=object)
        return frame.assign(postcode=CODES[codes], poor=poor.where(rng.random(rows) < 0.3, None))

    def simulate(self, belief, rows, rng):
        codes, fair = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
        groups = self.drawn(codes, rng)
        seen = distorted_labels(belief.belief, fair, groups, rng)
        frame = pd.DataFrame({"postcode": CODES[codes], "poor": np.array(self.levels)[groups], "fair": fair})
        return frame.assign(seen=seen), {"recorded": "seen", "fair": "fair"}


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=rows), "postcode": CODES[rng.integers(0, 3, rows)]})
    frame["poor"] = (rng.random(rows) < frame["postcode"].map(SHARES)).astype(int)
    frame["fair"] = (rng.random(rows) < 1 / (1 + np.exp(-2 * frame["x"]))).astype(int)
    frame["seen"] = np.where((frame["poor"] == 1) & (rng.random(rows) < 0.5), 0, frame["fair"])
    return frame


def test_a_column_without_a_single_group_is_enough():
    data, new = people(4000, 0), people(2000, 1)
    inside = LabelBias("poor", {1: 0.5}, False, affected=[1])
    belief = UnknownGroup("poor", {"postcode": tuple(CODES.tolist())}, SHARES, belief=inside)
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    model.fit(data[["x"]], data["seen"], sensitive_features=data[["postcode"]])
    assert model.predict_proba(new[["x"]])[:, 1].mean() == pytest.approx(new["fair"].mean(), abs=0.04)
    plain = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(data[["x"]], data["seen"])
    assert plain.predict_proba(new[["x"]])[:, 1].mean() < new["fair"].mean() - 0.08


def test_known_groups_are_used_as_they_are():
    data = people(500, 0)
    belief = UnknownGroup("poor", {"postcode": tuple(CODES.tolist())}, SHARES, belief=LabelBias("poor", 0.3, 0.1))
    rows = p4f.data.Rows(data, ("x",), (0, 1), data["seen"].to_numpy())
    logits = np.zeros((500, 1))
    known, certain = (own.observe(rows) for own in (belief, belief.belief))

    start = torch.from_numpy(logits)
    torch.testing.assert_close(known.log_likelihood(start), certain.log_likelihood(start))


def test_the_linked_sample_may_be_the_rows_whose_group_is_known():
    data = people(3000, 2)
    data["poor"] = data["poor"].astype(float).where(np.arange(3000) < 900)
    found = UnknownGroup("poor", {"postcode": tuple(CODES.tolist())}).estimate(data)
    assert [own.value for own in found.parameters] == pytest.approx([0.1, 0.9, 0.5], abs=0.05)
    assert sum(own.rows for own in found.parameters) == 900


def test_the_bounds_hold_and_shrink_with_what_is_known():
    data = people(3000, 3)
    belief = UnknownGroup("poor", {"postcode": tuple(CODES.tolist())}, SHARES)
    decided = data["seen"].to_numpy()
    truth = decided[data["poor"] == 1].mean() - decided[data["poor"] == 0].mean()
    some = data.assign(poor=data["poor"].astype(float).where(np.arange(3000) < 1500))
    without, partly, known = (belief.disparity(table, decided) for table in (data.drop(columns="poor"), some, data))
    for found in (without, partly):
        assert found.low <= truth <= found.high
        assert found.low <= found.value <= found.high
    assert partly.high - partly.low < 0.7 * (without.high - without.low)
    assert (known.low, known.value, known.high) == pytest.approx((truth, truth, truth))


def test_the_bounds_are_sharp():
    """Two values of one proxy, by hand: of four people half are of the group, and two were accepted."""
    table = pd.DataFrame({"q": [0, 0, 0, 0, 1, 1]})
    belief = UnknownGroup("a", {"q": (0, 1)}, {0: 0.5, 1: 0.0})
    found = belief.disparity(table, [1, 1, 0, 0, 1, 0])
    assert found.high == pytest.approx(2 / 2 - 1 / 4)
    assert found.low == pytest.approx(0 / 2 - 3 / 4)


def test_several_proxies_and_other_names_of_groups():
    belief = UnknownGroup(
        "sex",
        {"name": ("Kim", "Lee"), "a": (0, 1)},
        belief=LabelBias("sex", 0.2, 0.1, groups=("m", "f")),
        groups=("m", "f"),
    )
    assert [own.name for own in belief.group_parameters][:2] == ["group('Kim',0)", "group('Kim',1)"]
    belief.bind(None).program().compile()
    assert "It is taken that sex = f where name = Kim and a = 0 in an unknown share of cases." in belief.words()


BELIEF = UnknownGroup("a", {"q": (0, 1)}, {0: 0.5, 1: 0.1})
THREE = UnknownGroup("a", {"q": (0, 1)}, {q: {0: 0.5, 1: 0.1, 2: 0.4} for q in (0, 1)}, groups=(0, 1, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: UnknownGroup("a", {}), "name at least one proxy"),
        (lambda: UnknownGroup(("a", "b"), {"q": (0, 1)}, groups=((0, 0), (0, 1))), "for one sensitive column"),
        (lambda: UnknownGroup("a", {"q": (0, 1)}, {0: 0.5}, groups=(0, 1, 2)), r"one for each of \[0, 1, 2\] and sum"),
        (lambda: UnknownGroup("a", {"q": (0,) * 2}), "two or more different groups"),
        (lambda: THREE.disparity(pd.DataFrame({"q": [0, 1]}), [1, 0]), "name the group that is compared"),
        (lambda: UnknownGroup("a", {"q": (0, 1)}, {2: 0.5}), "shares names 2, which is not among the values of q"),
        (lambda: UnknownGroup("a", {"q": (0, 1)}, {0: {0: 0.5, 1: 0.6}}), r"and sum to 1, not \{0: 0.5, 1: 0.6\}"),
        (lambda: UnknownGroup("a", {"q": (0, 1)}, {0: 1.2}), "probability 1.2"),
        (lambda: UnknownGroup("a", {"q": (0, 1)}, belief=LabelBias("b")), "the belief is about b, not 'a'"),
        (lambda: UnknownGroup("a", {"q": (0, 1)}, belief=BELIEF), "one UnknownGroup is enough"),
        (lambda: BELIEF.estimate(pd.DataFrame({"q": [0, 1]})), "no row of the linked sample has a value of 'a'"),
        (lambda: BELIEF.estimate(pd.DataFrame({"a": [0, 1]})), "needs the column 'q'"),
        (lambda: BELIEF.estimate(pd.DataFrame({"a": [0, 1], "q": [0, 7]})), "7, which is not"),
        (lambda: BELIEF.disparity(pd.DataFrame({"q": [0, 1]}), [1]), "there are 1 decisions for 2 rows"),
        (lambda: BELIEF.disparity(pd.DataFrame({"q": [0], "a": [1]}), [1]), "all rows are of one group"),
    ],
)
def test_impossible(call, message):
    with pytest.raises(P4FError, match=message):
        call()


def test_a_value_without_a_linked_row_is_told_of():
    with pytest.warns(AuditWarning, match=r"no linked row, such as that of group\(1\)"):
        found = BELIEF.estimate(pd.DataFrame({"q": [0] * 50, "a": [0, 1] * 25}))
    counted, pooled = found.parameters
    assert pooled.value == pytest.approx(0.5, abs=0.1)
    assert pooled.high - pooled.low > counted.high - counted.low


@pytest.mark.parametrize("known", [False, True], ids=["never asked", "partly known"])
@pytest.mark.filterwarnings("ignore::problog4fairness.data.FileNote", "ignore::problog4fairness.data.FileWarning")
def test_a_table_is_trained_scored_and_reported(known):
    from problog4fairness.estimators import score_rows, train_on_table

    data = people(1200, 4).drop(columns="fair")
    data = (
        data.assign(poor=data["poor"].astype(float).where(np.arange(1200) < 300))
        if known
        else data.drop(columns="poor")
    )
    inside = LabelBias("poor", {1: 0.5}, False, affected=[1])
    belief = UnknownGroup("poor", {"postcode": tuple(CODES.tolist())}, SHARES, belief=inside)
    model, rows = train_on_table(data, belief, recorded="seen", learner="linear", random_state=0)
    assert rows.dropped == 0
    assert "poor" not in model.columns_
    scored = score_rows(model, data)
    assert scored["distorted_probability"].notna().all()
    assert 0.4 < scored["fair_probability"].mean() < 0.6
    assert "tells of it" in p4f.report(model, data, comparison=False).html


def linked(rows: int, seed: int) -> tuple[pd.DataFrame, dict]:
    """Two proxies that tell of the group independently of each other, given the group; and what they tell."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, rows)
    likely = {
        "q": np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]]),
        "r": np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]),
    }
    drawn = {name: (own.cumsum(axis=1)[group] < rng.random(rows)[:, None]).sum(axis=1) for name, own in likely.items()}
    both = np.einsum("gq,gr->gqr", likely["q"], likely["r"])
    true = both[1] / both.sum(axis=0)
    return pd.DataFrame(drawn | {"a": group}), {f"group({q},{r})": true[q, r] for q in range(4) for r in range(3)}


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_a_model_of_the_proxies_is_sharper_than_counts_and_covers_the_truth():
    belief = UnknownGroup("a", {"q": range(4), "r": range(3)})
    covered, widths = [], []
    for seed in range(10):
        table, true = linked(300, seed)
        learned, counted = belief.estimate(table, additive=True), belief.estimate(table)
        covered += [own.low <= true[own.name] <= own.high for own in learned.parameters]
        widths.append([np.mean([own.high - own.low for own in found.parameters]) for found in (learned, counted)])
        for name in ("q", "r"):  # calibrated: as many as there are, for each value of each proxy
            said = (
                pd.Series(learned.group_shares(p4f.data.Rows(table[["q", "r"]], ()))[:, 1]).groupby(table[name]).mean()
            )
            assert said.to_numpy() == pytest.approx(table.groupby(name)["a"].mean().to_numpy(), abs=0.01)
    assert np.mean(covered) >= 0.9
    learned_width, counted_width = np.mean(widths, axis=0)
    assert learned_width < 0.85 * counted_width
    drawn = np.array([[own.value for own in one.parameters] for one in learned.draws(400, random_state=0)])
    wide = np.quantile(drawn, 0.975, axis=0) - np.quantile(drawn, 0.025, axis=0)
    assert wide == pytest.approx([own.high - own.low for own in learned.parameters], abs=0.06)


@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_a_model_knows_combinations_that_no_linked_row_has():
    table, _ = linked(400, 0)
    table = table[(table["q"] != 3) | (table["r"] != 2)].reset_index(drop=True)
    found = UnknownGroup("a", {"q": range(4), "r": range(3)}).estimate(table, additive=True)
    assert found.parameters[-1].name == "group(3,2)"
    assert found.parameters[-1].value > 0.8


def test_a_model_of_very_many_combinations_says_what_to_do():
    table = pd.DataFrame({"q": np.arange(40), "r": np.arange(40), "a": np.arange(40) % 2})
    with pytest.raises(P4FError, match="1,600 combinations of values, and a model of them takes 1,000 at most; join"):
        UnknownGroup("a", {"q": range(40), "r": range(40)}).estimate(table, additive=True)


def test_bounds_of_three_groups_hold_each_of_them():
    data, rng = people(2000, 5), np.random.default_rng(0)
    codes = np.searchsorted(CODES, data["postcode"])
    groups = TestThreeGroups().drawn(codes, rng)
    shares = {code: dict(zip("abc", own, strict=True)) for code, own in zip(CODES, TestThreeGroups.shares, strict=True)}
    belief = UnknownGroup("poor", {"postcode": CODES.tolist()}, shares, groups=("a", "b", "c"))
    decided = data["seen"].to_numpy()
    for level, name in enumerate("abc"):
        found = belief.disparity(data[["postcode"]], decided, group=name)
        truth = decided[groups == level].mean() - decided[groups != level].mean()
        assert found.low <= truth <= found.high


def test_an_audit_is_planned_from_everybody_where_the_group_is_to_be_found_out():
    data = people(1500, 6)
    belief = UnknownGroup("poor", {"postcode": CODES.tolist()}, belief=LabelBias("poor"))
    plan = belief.plan_audit(data[["x", "postcode", "seen"]], recorded="seen")
    assert "the table has no column 'poor', which the audit has to find out" in " ".join(plan.notes)
    assert plan.to_draw > 0
    assert belief.plan_audit(data.drop(columns="fair"), recorded="seen").design == "neyman"


@pytest.mark.parametrize(
    ("proxies", "values", "groups", "message"),
    [(32, 2, 2, "combinations"), (4, 10, 300, "parameters"), (1, 2, 100_000, "parameters")],
)
def test_products_are_counted_before_they_are_built(proxies, values, groups, message):
    named = {f"column{number}": tuple(range(values)) for number in range(proxies)}
    with pytest.raises(P4FError, match=message):
        UnknownGroup("poor", named, groups=tuple(range(groups)))


def test_a_file_with_a_product_is_refused_before_it_is_built():
    belief = UnknownGroup("poor", {"postcode": ("n", "s")})
    plain = belief.to_json()
    plain["proxies"] = {f"c{number}": ["n", "s"] for number in range(32)}
    with pytest.raises(P4FError, match="combinations"):
        belief_of(plain)


def test_many_cells_take_linear_time():
    belief = UnknownGroup("poor", {name: tuple(range(15)) for name in ("a", "b", "c")}, groups=("x", "y", "z"))
    began = time.process_time()
    assert read_belief(belief_text(belief)) == belief
    assert time.process_time() - began < 15
