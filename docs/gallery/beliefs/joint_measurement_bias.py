"""
Features that are distorted together, and many of them
======================================================

Who has a steady job mostly is insured, too. Where one of the two was not recorded, the other tells of it; a belief that
takes features one by one does not see that.
"""

import numpy as np
import pandas as pd

import problog4fairness as p4f

rng = np.random.default_rng(0)
rows, names = 8000, ["steady", "insured", "owner", "indebted"]
common = 2.5 * rng.normal(size=(rows, 1))
fair = pd.DataFrame((common + rng.normal(size=(rows, 4)) > 0).astype(int), columns=names)
fair["parent"] = rng.integers(0, 2, rows)
chance = 1 / (1 + np.exp(-(fair[names] - 0.5) @ np.array([4.0, 4.0, -4.0, 2.0])))
label = (rng.random(rows) < chance).astype(int)
lost = rng.random((rows, 4)) < np.where(fair["parent"] == 1, 0.5, 0.2)[:, None]
recorded = fair.assign(**fair[names].mask(lost, 0))

# %%
# ``joint=True`` estimates P(fair vector | recorded vector, group). What few audited rows say of one vector is put
# together with what all of them say of each feature.

audit = recorded.join(fair.add_prefix("fair_"))[:1000]
columns = {"recorded": names, "fair": [f"fair_{name}" for name in names]}
together = p4f.MeasurementBias(names, "parent", positive=False, joint=True).estimate(audit, **columns)
alone = p4f.MeasurementBias(names, "parent", positive=False).estimate(audit, **columns)
print(together.parameter_table().set_index("meaning")[["value", "low", "high"]].round(3).head(4).to_string())

# %%
together.picture()

# %%
learn, test = slice(1000, 5000), slice(5000, None)
tables = {
    "together": (together, recorded),
    "one by one": (alone, recorded),
    "trained on recorded labels": (None, recorded),
    "oracle (fair features)": (None, fair),
}
for name, (own, table) in tables.items():
    model = p4f.DebiasedClassifier(own, "linear", random_state=0).fit(table[learn], label[learn])
    print(f"{name:26} {(model.predict(fair[test]) == label[test]).mean():.3f} right")

# %%
# Where features are many, their fair vectors cannot all be listed: twenty have a million. Then a row stands for 32 of
# them, the likeliest ones and draws of the others, and the observation tells how much of the weight was drawn.

few = p4f.MeasurementBias(names, "parent", {1: 0.4, 0: 0.2}, False, inputs=8)
seen = few.observe(p4f.data.Rows(recorded[:500], features=tuple(names)))
print(f"with 8 of {2 ** len(names)} vectors, {seen.drawn:.1%} of the weight is drawn")
