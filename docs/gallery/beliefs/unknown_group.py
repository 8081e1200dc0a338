"""
The group is not on file
========================

Nobody asked for the sensitive variable, but something else tells of it: a postcode. A linked sample, in which both
are known, says how much. The belief about the label then acts on groups that are uncertain.
"""

import numpy as np
import pandas as pd

import problog4fairness as p4f

PLACES = np.array(["north", "south"])


def people(rows, seed):
    """Most of group 1 live in the south; four in ten of its fair 1s are recorded as 0."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, rows)
    south = rng.random(rows) < np.where(group == 1, 0.9, 0.15)
    income, savings = rng.normal(size=rows), rng.normal(size=rows)
    good = income + 0.6 * savings + 0.4 * rng.normal(size=rows) > 0
    granted = good & ~((group == 1) & (rng.random(rows) < 0.4))
    columns = {"income": income, "savings": savings, "place": PLACES[south.astype(int)], "group": group}
    return pd.DataFrame({**columns, "granted": granted.astype(int), "good": good.astype(int)})


table, linked, new = people(4000, 0).drop(columns="group"), people(500, 1), people(2000, 2)

# %%
label = p4f.LabelBias("group", negative={1: 0.4}, positive=False, affected=[1])
belief = p4f.UnknownGroup("group", {"place": PLACES.tolist()}, belief=label).estimate(linked)
print(belief.parameter_table()[["value", "low", "high"]].round(3).to_string())

# %%
belief.picture()

# %%
# The table that is learned from has no column ``group``.

features = ["income", "savings", "place"]
model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(table[features], table["granted"])
record = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(table[features], table["granted"])
for name, own in (("this model", model), ("trained on recorded labels", record)):
    chance = own.predict_proba(new[features])[:, 1]
    decisions = p4f.metrics.decide(chance)
    gap = p4f.metrics.statistical_disparity(decisions, sensitive_features=new["group"])
    right = (decisions == new["good"]).mean()
    print(f"{name:20} accuracy {right:.3f}, disparity {gap:+.3f}")
