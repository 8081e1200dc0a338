"""
Label bias: the people who labelled
===================================

A bank turns down people from poor areas who could repay. The features are right; the recorded label is not. We state
that, estimate how often it happened from audited rows, and train on the recorded labels through it.
"""

import problog4fairness as p4f

data = p4f.datasets.loans()
features = list(data.features)
data.loans.head()

# %%
# The belief: fair 1s of poor areas are recorded as 0 with an unknown probability; nothing else goes wrong. Its
# picture is drawn from the program that it writes.

belief = p4f.LabelBias(sensitive="poor_area", positive=False, affected=[1])
belief.picture()

# %%
# 400 rows were checked by hand: ``repaid`` says who could repay. They give the parameter, with its 95% interval.

belief = belief.estimate(data.audit, recorded="granted", fair="repaid")
print(belief.parameter_table().drop(columns="meaning").to_string())
print(belief)

# %%
# Training goes through the belief; predicting does without it, and the model never sees the area.

model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
model.fit(data.loans[features], data.loans["granted"], sensitive_features=data.loans["poor_area"])
fair = model.predict(data.new[features])

# %%
# The fair label of the new people is known here, so the model can be judged by it, beside one that learns the record
# as it is.

columns = [*features, "poor_area"]
record = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(data.loans[columns], data.loans["granted"])
repeated = record.predict(data.new[columns])
for name, decisions in (("this model", fair), ("trained on recorded labels", repeated)):
    right = (decisions == data.new["repaid"]).mean()
    gap = p4f.metrics.statistical_disparity(decisions, sensitive_features=data.new["poor_area"])
    print(f"{name:20} accuracy {right:.3f}, disparity {gap:+.3f}")

# %%
# And it can say who was probably turned down wrongly.

chance = model.distortion_proba(data.loans[features], data.loans["granted"], sensitive_features=data.loans["poor_area"])
print(f"{(chance > 0.5).sum()} of {len(chance)} recorded labels are more likely wrong than right")
