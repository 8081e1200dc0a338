"""
Measurement bias: a feature that counts one group short
=======================================================

"Was employed for the past three years" stands for a steady job. Parental leave counts as absence, so the recorded
feature is too low for parents. The labels are right: they follow from the fair feature.
"""

import problog4fairness as p4f

data = p4f.datasets.synthetic(measurement_bias=0.4, rows=8000, seed=0)
names = {"r": "income", "q1": "steady", "q2": "insured", "q3": "owner"}
recorded = data.recorded_features.rename(columns=names)
fair = data.fair_features.rename(columns=names)
parent = data.sensitive.rename("parent")
features = list(recorded.columns)

# %%
# The made-up people have four features, all of which are recorded as 0 for four in ten parents who have them. The
# parameters of the belief lead *back*: the probability that a recorded 0 is a fair 1. An audit has both of some
# people.

audit = recorded.join(fair.add_prefix("fair_")).join(parent)[:500]
belief = p4f.MeasurementBias(features, "parent", positive=False, affected=[1])
belief = belief.estimate(audit, recorded=features, fair=[f"fair_{name}" for name in features])
print(belief.parameter_table()[["value", "low", "high", "rows"]].round(3).to_string())

# %%
belief.picture()

# %%
# The classifier is asked about every fair vector that a recorded one may stand for, weighted by its probability.

learn, test = slice(0, 5000), slice(5000, None)
X, label = recorded.assign(parent=parent)[learn], data.recorded_label[learn]
model = p4f.DebiasedClassifier(belief, "boosted", random_state=0).fit(X, label)
plain = p4f.DebiasedClassifier(None, "boosted", random_state=0).fit(X, label)

# %%
# Judged on people whose features were recorded rightly:

for name, own in (("this model", model), ("trained on recorded labels", plain)):
    decisions = own.predict(fair.assign(parent=parent)[test])
    right = (decisions == data.fair_label[test]).mean()
    gap = p4f.metrics.statistical_disparity(decisions, sensitive_features=parent[test])
    print(f"{name:20} accuracy {right:.3f}, disparity {gap:+.3f}")
print(f"the best that is possible here: {data.settings.limits().accuracy:.3f}")
