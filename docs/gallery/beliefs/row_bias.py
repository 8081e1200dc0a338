"""
Bias that depends on who decided
================================

Applicants from poor areas are turned down more often than they should be, by some officers far more than by others; and
an officer does not see the same people as a colleague. One number for the group is then wrong for almost everybody.
"""

import warnings

import numpy as np
import pandas as pd

import problog4fairness as p4f

OFFICERS = np.array(["ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hal"])
HARSH = np.array([0.0, 0.1, 0.2, 0.2, 0.3, 0.5, 0.7, 0.8])


def loans(rows, seed):
    """Officers see applicants of other incomes; ``HARSH`` is the share of good ones from poor areas they refuse."""
    rng = np.random.default_rng(seed)
    income, debt, poor = rng.normal(size=rows), rng.normal(size=rows), rng.integers(0, 2, rows)
    repaid = rng.random(rows) < 1 / (1 + np.exp(-(2 * income - debt)))
    officer = np.clip(np.floor(1.5 * income + 4 + 1.5 * rng.normal(size=rows)), 0, 7).astype(int)
    refused = (poor == 1) & (rng.random(rows) < HARSH[officer])
    frame = pd.DataFrame({"income": income, "debt": debt, "poor_area": poor, "officer": OFFICERS[officer]})
    return frame.assign(granted=(repaid & ~refused).astype(int), repaid=repaid.astype(int))


table, new = loans(4000, 0), loans(10_000, 2)
audit = p4f.Audit.of(table.sample(800, random_state=1), fair="repaid", table=table, sampling="random")

# %%
# One number for each group is contradicted by the audit, and the column on which the bias depends is named.

same = p4f.LabelBias("poor_area", positive=False, affected=[1]).estimate(audit, recorded="granted", fair="repaid")
result = same.check(table.drop(columns="repaid"), recorded="granted", audit=audit, fair="repaid")
print(result["class-conditional"].finding)
print(result["class-conditional"].advice)

# %%
# A probability for each officer, drawn to those of the others where few rows were audited. An officer of whom no row
# was audited is ``other``.

belief = p4f.RowBias("poor_area", p4f.depends_on("officer"), positive=False, affected=[1])
belief = belief.estimate(audit, recorded="granted", fair="repaid")
truth = [*HARSH, np.nan]
print(belief.parameter_table()[["value", "low", "high", "rows"]].assign(truth=truth).round(2).to_string())

# %%
print(belief)

# %%
belief.picture()

# %%
# Knowing which officer is how harsh brings the model near to one that was trained on the fair labels.


def fitted(belief, label):
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    return model.fit(table[["income", "debt"]], table[label], sensitive_features=table[["poor_area", "officer"]])


models = {
    "trained on recorded labels": fitted(None, "granted"),
    "one number for each group": fitted(same, "granted"),
    "this model": fitted(belief, "granted"),
    "oracle (fair labels)": fitted(None, "repaid"),
}
for name, model in models.items():
    found = model.predict(new[["income", "debt"]])
    off = np.abs(model.predict_proba(new[["income", "debt"]])[:, 1] - 1 / (1 + np.exp(new["debt"] - 2 * new["income"])))
    print(f"{name:26} right for {(found == new['repaid']).mean():.1%}; probabilities off by {off.mean():.3f}")

# %%
# Where the bias depends on numbers, ``model=`` makes a score of them if the audit shows that it does. Here debt has
# nothing to do with it, and the belief says so.

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    score = p4f.RowBias("poor_area", p4f.depends_on(model="income"), False, affected=[1])
    score = score.estimate(audit, recorded="granted", fair="repaid")
    none = p4f.RowBias("poor_area", p4f.depends_on("officer", model="debt"), False, affected=[1])
    none = none.estimate(audit, recorded="granted", fair="repaid")
print("\n".join(score.words()[1:]))
print(next(str(own.message) for own in told if "debt" in str(own.message)))
