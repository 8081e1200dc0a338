"""
What if a parameter is wrong?
=============================

A parameter is known up to an interval. Sensitivity analysis fits the model again with other values, over the interval
and beyond, and shows what moves.
"""

import problog4fairness as p4f

data = p4f.datasets.loans()
features, poor = list(data.features), data.loans["poor_area"]
belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
belief = belief.estimate(data.audit, recorded="granted", fair="repaid")
model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
model.fit(data.loans[features], data.loans["granted"], sensitive_features=poor)

# %%
# Audited rows give the accuracy at each value; without them disparity and changed decisions are still there.

moves = p4f.robustness.sensitivity(
    model,
    data.loans[features],
    data.loans["granted"],
    sensitive_features=poor,
    audit=(data.audit[features], data.audit["repaid"]),
    progress=False,
)
print(moves.table.round(3).to_string())

# %%
# The shaded range is the interval of the parameter. Outside it, the answer shows what a gross mistake would cost.

moves.plot()
