"""
Selective labels: only those who were accepted have an outcome
==============================================================

Whether a loan is repaid is known only where it was granted. Whoever decided knew something, and was harder on one
group: so those with an outcome are not like the others. Their rows are in the table, with a missing label, and count.
"""

import numpy as np
import pandas as pd

import problog4fairness as p4f


def applicants(rows, seed):
    """Who could repay is accepted more often, and less often in poor areas; of the others there is no outcome."""
    rng = np.random.default_rng(seed)
    income, savings, poor = rng.normal(size=rows), rng.normal(size=rows), rng.integers(0, 2, rows)
    good = income + 0.6 * savings + 0.5 * rng.normal(size=rows) > 0
    accepted = rng.random(rows) < np.where(good, np.where(poor == 1, 0.5, 0.8), 0.2)
    columns = {"income": income, "savings": savings, "poor_area": poor, "could_repay": good.astype(int)}
    return pd.DataFrame({**columns, "repaid": np.where(accepted, good.astype(float), np.nan)})


table, audit, new = applicants(4000, 0), applicants(800, 1), applicants(2000, 2)
print(f"no outcome: {table['repaid'].isna().mean():.0%} of rows")

# %%
# The audit has people who were turned down, too: somebody found out whether they could have repaid.

belief = p4f.SelectiveLabels("poor_area").estimate(audit, recorded="repaid", fair="could_repay")
print(belief.parameter_table()[["value", "low", "high", "rows"]].round(3).to_string())

# %%
belief.picture()

# %%
# An ordinary model can only learn from those who were accepted.

features = ["income", "savings"]
model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
model.fit(table[features], table["repaid"], sensitive_features=table["poor_area"])
known = table[table["repaid"].notna()]
accepted = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(known[features], known["repaid"])
for name, own in (("this model", model), ("only those accepted", accepted)):
    chance = own.predict_proba(new[features])[:, 1]
    right = ((chance > 0.5) == (new["could_repay"] == 1)).mean()
    print(
        f"{name:20} accuracy {right:.3f}; expects {chance.mean():.0%} to repay, {new['could_repay'].mean():.0%} could"
    )
