"""What a template observes is what its printed program says: values, gradients and posteriors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.beliefs import restore
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.likelihood.combinations import occurring
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.likelihood.tables import observe_tables
from problog4fairness.beliefs.templates.custom import ProgramBelief
from problog4fairness.data import Rows
from tests.oracle import problog_answer

COUNT = 24
CLASSES = {2: (0, 1), 3: ("low", "mid", "high")}
TOLERANCE = {torch.float64: {"rtol": 1e-9, "atol": 1e-12}, torch.float32: {"rtol": 1e-4, "atol": 1e-5}}


def random_rows(seed: int, classes: int, soft: bool, features: int = 0, fair: bool = False) -> Rows:
    """Rows with groups a and b, binary features f0, f1, ... and a feature x that nothing distorts."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.random(COUNT) if soft else rng.integers(0, 2, COUNT) for name in "ab"})
    frame["x"] = rng.normal(size=COUNT)
    for number in range(features):
        frame[f"f{number}"] = rng.integers(0, 2, COUNT)
    known = rng.integers(-1, classes, COUNT) if fair else None
    names = ("x", *(f"f{number}" for number in range(features)))
    return Rows(frame, names, CLASSES[classes], rng.integers(0, classes, COUNT), known)


def classifier(observation: Observation, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    """Weights, and the logits that they give for the inputs of an observation."""
    inputs = torch.tensor(observation.table.to_numpy(dtype=np.float64)).to(dtype)
    generator = torch.Generator().manual_seed(7)
    size = (inputs.shape[1], observation.outputs)
    weights = torch.randn(size, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
    return weights, inputs @ weights + 0.3


def log_proba(logits: torch.Tensor) -> torch.Tensor:
    both = torch.cat([torch.zeros_like(logits), logits], dim=1) if logits.shape[1] == 1 else logits
    return both.detach().double().log_softmax(-1)


def by_input(observation: Observation, logs: torch.Tensor) -> torch.Tensor:
    """The posterior, ``[rows, inputs, classes]``, whatever the order of a row's variants."""
    posterior = observation.posterior(logs)
    whole = torch.zeros(len(observation), len(observation.table), observation.classes, dtype=torch.float64)
    index = posterior.inputs.unsqueeze(-1).expand_as(posterior.weights)
    return whole.scatter_add(1, index, posterior.weights)


def pull(observation: Observation, logs: torch.Tensor) -> torch.Tensor:
    """What the posterior pulls every input's logits to, ``[rows, inputs, classes]``: q_f - h_f sum q."""
    q = by_input(observation, logs)
    return q - q.sum(-1, keepdim=True) * logs.exp()


def require_equal(found: Observation, expected: Observation, attributed: bool = True) -> None:
    """The same values, gradients and posteriors.

    Where the label of a fair vector is distorted in turn, a program says what was recorded whatever the classifier says
    of any vector, but not for which of them; a template knows. Then posteriors pull learners alike, but are not equal.
    """
    pd.testing.assert_frame_equal(found.table, expected.table)
    for dtype, tolerance in TOLERANCE.items():
        slopes = []
        for one in (found, expected):
            weights, logits = classifier(one, dtype)
            value = one.log_likelihood(logits)
            slopes.append((value.detach(), *torch.autograd.grad(value.sum(), weights)))
        for ours, theirs in zip(*slopes, strict=True):
            torch.testing.assert_close(ours, theirs, **tolerance)
    logs = log_proba(classifier(found)[1])
    torch.testing.assert_close(pull(found, logs), pull(expected, logs))
    if attributed:
        torch.testing.assert_close(by_input(found, logs), by_input(expected, logs))
    torch.testing.assert_close(found.recorded_proba(logs), expected.recorded_proba(logs))


def require_table(found: Observation, rows: Rows, table: np.ndarray) -> None:
    """The observation against c_f(recorded), ``[rows, fair, recorded]``, of rows that stand for themselves."""
    coefficients = torch.tensor(table)[torch.arange(len(rows)), :, torch.tensor(rows.recorded)]
    for dtype, tolerance in TOLERANCE.items():
        weights, logits = classifier(found, dtype)
        both = torch.cat([torch.zeros_like(logits), logits], dim=1) if logits.shape[1] == 1 else logits
        terms = coefficients.to(dtype) * both.softmax(-1)[found.inputs[:, 0]]
        expected = terms.sum(-1).log()
        value = found.log_likelihood(logits)
        torch.testing.assert_close(value, expected, **tolerance)
        ours, theirs = (torch.autograd.grad(v.sum(), weights, retain_graph=True)[0] for v in (value, expected))
        torch.testing.assert_close(ours, theirs, **tolerance)
    q = found.posterior(log_proba(classifier(found)[1])).weights[:, 0]
    exact = coefficients * log_proba(classifier(found)[1]).exp()[found.inputs[:, 0]]
    torch.testing.assert_close(q, exact / exact.sum(-1, keepdim=True))


def asked_of_problog(belief: Belief, rows: Rows) -> np.ndarray:
    """P(recorded | fair), ``[rows, fair, recorded]``, one row and one fair class at a time."""
    count = len(rows.classes)
    table = np.zeros((len(rows), count, count))
    for row, columns in rows.frame.iterrows():
        groups = {v.name: float(columns[v.columns[0]]) for v in belief.variables}
        for fair in range(count):
            h = float(fair) if count == 2 else np.eye(count)[fair].tolist()
            answer = [*problog_answer(belief.text(), nn={"h": h, **groups}).values()]
            table[row, fair] = [1 - answer[0], answer[0]] if count == 2 else answer
    return table


LABELS = {
    "label": (p4f.LabelBias("a", {1: 0.3, 0: 0.1}, {1: 0.05, 0: 0.2}), 2),
    "noise": (p4f.LabelBias("a", {1: 0.3}, False, affected=[1], noise=0.1), 2),
    "classes": (p4f.ClassBias("a", CLASSES[3], 0.15, affected=[1]), 3),
    "chain": (p4f.chain(p4f.LabelBias("a", 0.3, 0.1), p4f.LabelBias("b", {1: 0.2, 0: 0.0}, False)), 2),
}


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("name", LABELS)
def test_beliefs_about_labels_say_what_problog_says(name, soft):
    belief, classes = LABELS[name]
    rows = random_rows(1, classes, soft)
    observation = belief.observe(rows)
    require_table(observation, rows, asked_of_problog(belief, rows))
    groups = occurring(belief.variables, rows)
    require_equal(observation, observe_tables(rows, groups, belief.label_table(groups.levels), {}, {}))


@pytest.mark.parametrize("classes", [2, 3])
def test_no_bias_is_the_shortest_program(classes):
    text = "nn(h,X) :: y(X). ?- y(x)."
    if classes == 3:
        text = "nn(h,[X],Y,[low,mid,high]) :: y(X,Y). ?- y(x,low). ?- y(x,mid). ?- y(x,high)."
    for fair in (False, True):
        rows = random_rows(2, classes, soft=False, fair=False)
        if fair:
            rows = Rows(
                rows.frame, rows.features, rows.classes, rows.recorded, np.where(rows.frame["a"], rows.recorded, -1)
            )
        require_equal(p4f.NoBias().observe(rows), ProgramBelief(text).observe(rows))


def listing(features: int, classes: int, shared: bool, label: str | None = None) -> str:
    """The paper's measurement listing for any number of features, and label bias by a group after it.

    As it is printed, ``a(X_)`` is a new atom for every vector. Rows of uncertain group share one A in a template, and
    in the listing if ``shared``.
    """
    vectors = [f"V{i}" for i in range(features)]
    group = "x" if shared else "X_"
    outcome, names = ("", "") if classes == 2 else (",Y", ",[low,mid,high]")
    lines = [f"nn(h,[X]{outcome}{names}) :: y_h(X{outcome}).", "nn(n,X_,N) :: n(X_,N).", "nn(a,X) :: a(X)."]
    for i in range(features):
        zero, one = ([*vectors[:i], bit, *vectors[i + 1 :]] for bit in "01")
        lines.append(f"debias_n({i + 1}, x_({','.join(zero)}), x_({','.join(one)})).")
    lines.append(rf"""
    p1(N) :: n_neg_bias(X_,N) :- a({group}).      p2(N) :: n_neg_bias(X_,N) :- \+a({group}).
    p3(N) :: n_pos_bias(X_,N) :- a({group}).      p4(N) :: n_pos_bias(X_,N) :- \+a({group}).
    n_biased(X_,N) :- \+n(X_,N), n_neg_bias(X_,N).
    n_biased(X_,N) :- n(X_,N), n_pos_bias(X_,N).
    debias(X_, X_, 0).
    debias(X_, X, N) :- >(N,0), is(N2,N-1), n_biased(X_,N), debias_n(N,X_,Xf), debias(Xf,X,N2).
    debias(X_, X, N) :- >(N,0), is(N2,N-1), \+n_biased(X_,N), debias(X_,X,N2).
    y(X_{outcome}) :- debias(X_,X,{features}), y_h(X{outcome}).""")
    row = f"x_({','.join('0' * features)})"
    if label is None:
        return "\n".join(
            [*lines, *(f"?- y({row}{value})." for value in ([""] if classes == 2 else [",low", ",mid", ",high"]))]
        )
    lines += [f"nn({label},X) :: {label}(X)."] if label != "a" else []
    return "\n".join([*lines, rf"""
    q1 :: label_neg(X) :- {label}(x).     q2 :: label_neg(X) :- \+{label}(x).
    q3 :: label_pos(X) :- {label}(x).     q4 :: label_pos(X) :- \+{label}(x).
    y_(X) :- y(X), \+label_neg(x).        y_(X) :- \+y(X), label_pos(x).
    ?- y_({row})."""])  # fmt: skip


def of_features(
    count: int, classes: int, soft: bool, label: str | None = None
) -> tuple[list[str], dict, ProgramBelief]:
    """Names of features, the strengths for a template, and the printed program with the same numbers."""
    names = [f"f{i}" for i in range(count)]
    values = np.random.default_rng(count).random((4, count))
    negative = {name: {1: values[0, i], 0: values[1, i]} for i, name in enumerate(names)}
    positive = {name: {1: values[2, i], 0: values[3, i]} for i, name in enumerate(names)}
    program = ProgramBelief(listing(count, classes, soft, label), features=names)
    bound = {f"p{k + 1}({i + 1})": values[k, i] for k in range(4) for i in range(count)}
    stages = {"q1": 0.3, "q2": 0.1, "q3": 0.05, "q4": 0.2} if label else {}
    return names, {"negative": negative, "positive": positive}, program.bind({**bound, **stages})


@pytest.mark.parametrize("fair", [False, True], ids=["recorded", "audited"])
@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_measurement_bias_is_the_printed_listing(count, classes, soft, fair):
    names, strengths, program = of_features(count, classes, soft)
    rows = random_rows(count, classes, soft, count)
    if fair:
        rows = Rows(
            rows.frame, rows.features, rows.classes, rows.recorded, np.where(rows.frame["x"] > 0, rows.recorded, -1)
        )
    require_equal(p4f.MeasurementBias(names, "a", **strengths).observe(rows), program.observe(rows))


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("count", [1, 2])
def test_historical_bias_with_a_label_is_one_program(count, soft):
    names, strengths, program = of_features(count, 2, soft, "a")
    rows = random_rows(3, 2, soft, count)
    label = p4f.LabelBias("a", {1: 0.3, 0: 0.1}, {1: 0.05, 0: 0.2})
    require_equal(p4f.HistoricalBias(names, "a", **strengths, label=label).observe(rows), program.observe(rows), False)
    alone = p4f.HistoricalBias(names, "a", **strengths)
    require_equal(alone.observe(rows), p4f.NoBias().observe(rows))
    restored, printed = restore(alone, rows), of_features(count, 2, soft)[2].observe(rows)
    logs = log_proba(classifier(restored)[1])
    torch.testing.assert_close(restored.fair_proba(logs), printed.recorded_proba(logs))


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_chain_with_measurement_is_one_program(count, soft):
    names, strengths, program = of_features(count, 2, soft, "b")
    rows = random_rows(4, 2, soft, count)
    label = p4f.LabelBias("b", {1: 0.3, 0: 0.1}, {1: 0.05, 0: 0.2})
    belief = p4f.chain(p4f.MeasurementBias(names, "a", **strengths), label)
    require_equal(belief.observe(rows), program.observe(rows), False)
    logs = log_proba(classifier(belief.observe(rows))[1])
    with pytest.raises(p4f.errors.P4FError, match="does not say which label is fair"):
        _ = program.observe(rows).posterior(logs).fair
    torch.testing.assert_close(belief.observe(rows).posterior(logs).fair.sum(-1), torch.ones(COUNT).double())


WITH_EVIDENCE = r"""
nn(h,X) :: y(X).                nn(a,X) :: a(X).
0.3 :: lost(X) :- a(X).         0.1 :: given(X).
z(X) :- y(X), \+lost(X).        z(X) :- \+y(X), given(X).
0.8 :: kept(X) :- z(X).         0.4 :: kept(X) :- \+z(X), a(X).     0.6 :: kept(X) :- \+z(X), \+a(X).
evidence(kept(x)).
?- z(x).
"""


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
def test_a_program_with_evidence_is_what_enumeration_says(soft):
    rows = random_rows(5, 2, soft)
    observation = ProgramBelief(WITH_EVIDENCE).observe(rows)
    # P(recorded, kept | fair), [rows, fair, recorded], summed over the group.
    joint = torch.zeros(COUNT, 2, 2, dtype=torch.float64)
    for group in (0, 1):
        share = torch.tensor(rows.shares(p4f.LabelBias("a").variable)[:, group])
        for fair, given, recorded in [(f, g, r) for f in (0, 1) for g in (0, 1) for r in (0, 1)]:
            lost = 0.3 * group
            right = {1: 1 - lost, 0: float(given)}[fair]
            kept = 0.8 if recorded else (0.4 if group else 0.6)
            chance = (0.1 if given else 0.9) * (right if recorded else 1 - right) * kept
            joint[:, fair, recorded] += share * chance
    for dtype, tolerance in TOLERANCE.items():
        weights, logits = classifier(observation, dtype)
        h = torch.cat([torch.zeros_like(logits), logits], dim=1).softmax(-1)[observation.inputs[:, 0]]
        whole = torch.einsum("nf,nfr->nfr", h, joint.to(dtype))
        own = whole[torch.arange(COUNT), :, torch.tensor(rows.recorded)]
        expected = own.sum(-1).log() - whole.sum((1, 2)).log()
        value = observation.log_likelihood(logits)
        torch.testing.assert_close(value, expected, **tolerance)
        ours, theirs = (torch.autograd.grad(v.sum(), weights, retain_graph=True)[0] for v in (value, expected))
        torch.testing.assert_close(ours, theirs, **tolerance)
    q = observation.posterior(log_proba(logits)).weights[:, 0]
    torch.testing.assert_close(q, (own / own.sum(-1, keepdim=True)).detach().double(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        observation.recorded_proba(log_proba(logits)),
        (whole.sum(1) / whole.sum((1, 2)).unsqueeze(1)).detach().double(),
        rtol=1e-4,
        atol=1e-5,
    )


def test_a_belief_that_cannot_observe_says_why():
    rows = random_rows(0, 2, soft=False)
    with pytest.raises(p4f.errors.P4FError, match=r"has 1 queries for 3 classes"):
        p4f.LabelBias("a", 0.1, 0.1).observe(random_rows(0, 3, soft=False))
    with pytest.raises(p4f.errors.P4FError, match="needs the column 'nowhere'"):
        p4f.LabelBias("nowhere", 0.1, 0.1).observe(rows)
    with pytest.raises(p4f.errors.MissingValueError, match="p1, p2, p3, p4"):
        p4f.LabelBias("a").observe(rows)
