"""
Only positives are recorded
===========================

An illness that was diagnosed is on file; one that was not looks like health. Where one group sees a doctor less
often, its illnesses are recorded less often. What is recorded as 0 is *unlabelled*, not healthy.
"""

import numpy as np
import pandas as pd

import problog4fairness as p4f


def patients(rows, seed):
    """Illness follows from two measurements; it is diagnosed in three of ten ill people of group 1, else in seven."""
    rng = np.random.default_rng(seed)
    pressure, age, remote = rng.normal(size=rows), rng.normal(size=rows), rng.integers(0, 2, rows)
    ill = pressure + 0.5 * age + 0.4 * rng.normal(size=rows) > 0.3
    seen = rng.random(rows) < np.where(remote == 1, 0.3, 0.7)
    columns = {"pressure": pressure, "age": age, "remote": remote}
    return pd.DataFrame({**columns, "diagnosed": (ill & seen).astype(int), "ill": ill.astype(int)})


table, audit, new = patients(4000, 0), patients(600, 1), patients(2000, 2)

# %%
# The record alone does not say how many are ill: half as many diagnoses of twice as many ill people look the same.
# Audited rows tell, or a share of ill people that is known from elsewhere (``positives=``).

belief = p4f.PositiveUnlabelled("remote").estimate(audit, recorded="diagnosed", fair="ill")
print(belief.parameter_table()[["value", "low", "high", "rows"]].round(3).to_string())

# %%
belief.picture()

# %%
features = ["pressure", "age"]
model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
model.fit(table[features], table["diagnosed"], sensitive_features=table["remote"])
record = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(table[features], table["diagnosed"])
for name, own in (("this model", model), ("trained on recorded labels", record)):
    found, ill = own.predict(new[features]), new["ill"] == 1
    print(f"{name:20} finds {found[ill].mean():.0%} of the ill, and {found[~ill].mean():.0%} of others")
