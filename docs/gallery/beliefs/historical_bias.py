"""
Historical bias: the world itself was unfair
============================================

Fewer opportunities really led to lower incomes, and these really lead to more defaults. The record is right about the
world as it was. Somebody who decides as if people had lived in a fair world states that as historical bias.
"""

import problog4fairness as p4f

data = p4f.datasets.synthetic(historical_bias=0.4, rows=8000, seed=0)
minority = data.sensitive.rename("minority")

# %%
# The rule from features to label is the same in both worlds. So the classifier learns the recorded labels, and the
# belief is applied to the people to decide on: each stands for all feature vectors that he or she may have had in a
# fair world. What somebody would have had is not found in a file; here the made-up data know it.

features = list(data.recorded_features.columns)
audit = data.recorded_features.join(data.fair_features.add_prefix("fair_")).join(minority)[:500]
belief = p4f.HistoricalBias(features, "minority", positive=False, affected=[1])
belief = belief.estimate(audit, recorded=features, fair=[f"fair_{name}" for name in features])
print(belief.parameter_table()[["value", "low", "high", "rows"]].round(3).to_string())

# %%
belief.picture()

# %%
# Both models get the features as the world made them.

X = data.recorded_features.assign(minority=minority)
learn, test = slice(0, 5000), slice(5000, None)
model = p4f.DebiasedClassifier(belief, "boosted", random_state=0).fit(X[learn], data.recorded_label[learn])
plain = p4f.DebiasedClassifier(None, "boosted", random_state=0).fit(X[learn], data.recorded_label[learn])
for name, own in (("this model", model), ("trained on recorded labels", plain)):
    gap = p4f.metrics.statistical_disparity(own.predict(X[test]), sensitive_features=minority[test])
    print(f"{name:20} disparity {gap:+.3f}")
gap = p4f.metrics.statistical_disparity(data.fair_label[test], sensitive_features=minority[test])
print(f"{'fair labels':20} disparity {gap:+.3f}")
