"""
A chain: several biases, one after the other
============================================

Whether a mouth is open was missed in many blurred pictures, and then again in many dark ones. Each bias has a
sensitive variable of its own; the second acts on what the first left.
"""

import numpy as np
import pandas as pd

import problog4fairness as p4f


def pictures(rows, seed):
    """Two measured features, two sensitive variables, the fair label and the recorded one."""
    rng = np.random.default_rng(seed)
    blurry, dark = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    gap, shade = rng.normal(size=rows), rng.normal(size=rows)
    is_open = gap + 0.4 * shade + 0.3 * rng.normal(size=rows) > 0
    first = is_open & ~((blurry == 1) & (rng.random(rows) < 0.4))
    second = first & ~((dark == 1) & (rng.random(rows) < 0.45))
    columns = {"gap": gap, "shade": shade, "blurry": blurry, "dark": dark}
    return pd.DataFrame({**columns, "labelled": second.astype(int), "open": is_open.astype(int)})


table, audit, new = pictures(4000, 0), pictures(800, 1), pictures(2000, 2)

# %%
belief = p4f.chain(
    p4f.LabelBias("blurry", positive=False, affected=[1]), p4f.LabelBias("dark", positive=False, affected=[1])
)
belief = belief.estimate(audit, recorded="labelled", fair="open")
print(belief.parameter_table()[["value", "low", "high"]].round(3).to_string())

# %%
belief.picture()

# %%
# The model learns through both.

features = ["gap", "shade"]
model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
model.fit(table[features], table["labelled"], sensitive_features=table[["blurry", "dark"]])
record = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(table[features], table["labelled"])
for name, own in (("this model", model), ("trained on recorded labels", record)):
    print(f"{name:20} accuracy {(own.predict(new[features]) == new['open']).mean():.3f}")

# %%
# It also tells which labels to look at again: for pictures labelled "closed", the mean probability that the mouth is
# open, beside the share of which that is true.

chance = model.distortion_proba(table[features], table["labelled"], sensitive_features=table[["blurry", "dark"]])
closed = table.assign(expected=chance, true=table["open"])[table["labelled"] == 0]
print(closed.groupby(["blurry", "dark"])[["expected", "true"]].mean().round(3).to_string())
