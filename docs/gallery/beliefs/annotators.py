"""
Several annotators, and nobody knows who is right
=================================================

Three people labelled the same applications, each with errors of their own. From three on, their agreement tells how
often each errs; no audit is needed.
"""

import numpy as np
import pandas as pd

import problog4fairness as p4f

rng = np.random.default_rng(0)
rows = 3000
skill, grade = rng.normal(size=rows), rng.normal(size=rows)
good = skill + 0.5 * grade + 0.4 * rng.normal(size=rows) > 0
errors = {"ann": (0.3, 0.05), "bob": (0.4, 0.05), "eve": (0.15, 0.35)}  # of fair 1s, of fair 0s
votes = {
    name: np.where(rng.random(rows) < np.where(good, negative, positive), ~good, good).astype(int)
    for name, (negative, positive) in errors.items()
}
table = pd.DataFrame({"skill": skill, "grade": grade, **votes})

# %%
belief = p4f.Annotators(list(errors)).estimate(table)
print(belief.parameter_table()[["value", "low", "high"]].round(3).to_string())

# %%
belief.picture()

# %%
# What is recorded is not one label but three columns of votes.

features = ["skill", "grade"]
learn, test = slice(0, 2000), slice(2000, None)
model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(table[features][learn], table[list(errors)][learn])
print(f"this model: {(model.predict(table[features][test]) == good[test]).mean():.3f} right")
for name in errors:
    one = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(table[features][learn], table[name][learn])
    print(f"what {name} said, as it is: {(one.predict(table[features][test]) == good[test]).mean():.3f} right")
