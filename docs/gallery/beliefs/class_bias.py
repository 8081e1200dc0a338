"""
Label bias with three classes
=============================

Employees are rated low, middle or high, and ratings of one group are a step too low in some cases.
"""

import numpy as np
import pandas as pd

import problog4fairness as p4f

RATINGS = np.array(["low", "middle", "high"])


def employees(rows, seed):
    """Fair ratings follow from two scores; in group 1, three in ten fair ratings are recorded a step lower."""
    rng = np.random.default_rng(seed)
    skill, results, group = rng.normal(size=rows), rng.normal(size=rows), rng.integers(0, 2, rows)
    fair = np.digitize(skill + results + 0.5 * rng.normal(size=rows), [-0.8, 0.8])
    lowered = (group == 1) & (fair > 0) & (rng.random(rows) < 0.3)
    return pd.DataFrame(
        {"skill": skill, "results": results, "group": group, "rated": RATINGS[fair - lowered], "fair": RATINGS[fair]}
    )


table, audit, new = employees(4000, 0), employees(600, 1), employees(2000, 2)

# %%
# Every step from a fair class to another recorded one has a parameter of its own; the audit says which of them
# matter.

belief = p4f.ClassBias("group", RATINGS.tolist(), affected=[1]).estimate(audit, recorded="rated", fair="fair")
print(belief.parameter_table().set_index("meaning")[["value", "low", "high", "rows"]].round(3).to_string())

# %%
belief.picture()

# %%
features = ["skill", "results"]
model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
model.fit(table[features], table["rated"], sensitive_features=table["group"])
record = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(table[[*features, "group"]], table["rated"])

rated_high = pd.DataFrame(
    {
        "fair": new["fair"] == "high",
        "this model": model.predict(new[features]) == "high",
        "trained on recorded labels": record.predict(new[[*features, "group"]]) == "high",
    }
)
print("share of each group that is rated high:")
print(rated_high.groupby(new["group"]).mean().round(3).to_string())

# %%
axes = rated_high.groupby(new["group"]).mean().T.plot.barh(figsize=(6, 2.6), color=["#0072b2", "#d55e00"])
axes.set(xlabel="share of the group that is rated high")
axes.legend(["group 0", "group 1"], frameon=False)
axes.figure.tight_layout()
