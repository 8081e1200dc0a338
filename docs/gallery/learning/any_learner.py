"""
Any learner through one belief
==============================

A belief says how the record came about, and nothing of what learns. The same belief is learned through by a linear
model, boosted trees, networks, and any scikit-learn classifier that gives probabilities.
"""

import os

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import problog4fairness as p4f

short = bool(os.environ.get("P4F_SHORT"))  # make test runs this example on fewer rows
data = p4f.datasets.loans(rows=600 if short else 3000)
features, poor = list(data.features), data.loans["poor_area"]
belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
belief = belief.estimate(data.audit, recorded="granted", fair="repaid")

# %%
# A learner is named, or an object with options of its own. ``p4f.learners.Reweighted`` around a scikit-learn
# classifier is implied: it is fitted with weights that the belief's posterior gives, until the record no longer
# becomes more likely.

learners = {
    "linear": "linear",
    "boosted trees": p4f.learners.Boosted(leaves=15),
    "network": p4f.learners.Network(hidden=(16, 16), networks=1, max_epochs=20 if short else 200),
    "scikit-learn's trees": HistGradientBoostingClassifier(max_iter=20 if short else 60, random_state=0),
}
rows = {}
for name, learner in learners.items():
    through = p4f.DebiasedClassifier(belief, learner, random_state=0)
    through.fit(data.loans[features], data.loans["granted"], sensitive_features=poor)
    record = p4f.DebiasedClassifier(None, learner, random_state=0).fit(data.loans[features], data.loans["granted"])
    rows[name] = {
        "through the belief": (through.predict(data.new[features]) == data.new["repaid"]).mean(),
        "without the sensitive column": (record.predict(data.new[features]) == data.new["repaid"]).mean(),
    }
table = pd.DataFrame(rows).T
print(table.round(3).to_string())

# %%
# ``learner="auto"`` takes the one whose *recorded* held-out rows are likeliest through the belief. No fair label is
# needed for that.

chosen = p4f.DebiasedClassifier(belief, "auto", random_state=0)
chosen.fit(data.loans[features], data.loans["granted"], sensitive_features=poor)
print(chosen.fitted_.chosen)

# %%
axes = table.plot.barh(figsize=(7, 3), color=["#0072b2", "#999999"])
axes.set(xlim=(0.6, 0.9), xlabel="accuracy on fair labels")
axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0, 1.25), ncols=2)
plt.tight_layout()
