"""
Uncertainty and bounds
======================

The parameters come from a few hundred audited rows. Posterior intervals carry what these leave open to every person and
to the disparity; bounds ask for the least and the greatest disparity over all beliefs in a set.
"""

import os

import problog4fairness as p4f

short = bool(os.environ.get("P4F_SHORT"))  # make test runs this example with fewer draws
data = p4f.datasets.loans(2000)
features, poor = list(data.features), data.loans["poor_area"]
X, granted = data.loans[features], data.loans["granted"]
belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
belief = belief.estimate(data.audit, recorded="granted", fair="repaid")
model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(X, granted, sensitive_features=poor)

# %%
# Each draw takes the parameters from their posterior given the audit and other weights for the rows, and fits again.

intervals = model.uncertainty(X, granted, sensitive_features=poor, draws=10 if short else 50, progress=False)
print("\n".join(intervals.words()))

# %%
# A decision is *stable* where a person's whole interval is on one side of the threshold, otherwise *uncertain*:
# somebody should look.

print(intervals.people.head().round(3).to_string())

# %%
intervals.plot()

# %%
# Bounds need no distribution. Over all values of the parameter between .2 and .6:

bounds = model.bounds(X, granted, sensitive_features=poor, box={"p1": (0.2, 0.6)}, progress=False)
print("\n".join(bounds.words()))
