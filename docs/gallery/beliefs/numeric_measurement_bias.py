"""
Measurement bias of numbers: a score that reads lower for one group
===================================================================

A credit score leaves out rent that was paid. For people who rent it is squeezed, too low, and says less than for
others. Labels are right: they follow from what the score should have been.
"""

import numpy as np
import pandas as pd

import problog4fairness as p4f

rng = np.random.default_rng(5)
rows = 6000
fair = pd.DataFrame(
    {"score": rng.normal(50, 10, rows), "years": rng.normal(size=rows), "renter": rng.integers(0, 2, rows)}
)
repaid = (rng.random(rows) < 1 / (1 + np.exp(-(0.25 * (fair["score"] - 50) - fair["years"])))).astype(int)
noise = rng.normal(size=rows)
low = fair["renter"] == 1
recorded = fair.assign(score=np.where(low, 0.8 * fair["score"] - 2 + 6 * noise, fair["score"] + 2 * noise))

# %%
# Of 400 people somebody found out the score that they should have had.

audit = p4f.Audit.of(recorded.assign(fair_score=fair["score"])[:400], fair="fair_score", sampling="random")
belief = p4f.NumericMeasurementBias("score", "renter").estimate(audit, recorded="score", fair="fair_score")
print(belief.parameter_table()[["value", "low", "high", "rows"]].round(2).to_string())

# %%
belief.picture()

# %%
# Given the recorded score and the group, the fair one is normal. The classifier is asked about five points of it.

centre, deviation = belief.fair_values("score", 1, [30.0, 40.0])
print(f"a recorded 30 or 40 of somebody who rents: {centre.round(1)}, give or take {deviation:.1f}")

# %%
# Judged on people whose scores are right:

learn, test = slice(400, 4000), slice(4000, None)
tables = {
    "this model": (belief, recorded),
    "trained on recorded labels": (None, recorded),
    "oracle (fair scores)": (None, fair),
}
for name, (own, table) in tables.items():
    model = p4f.DebiasedClassifier(own, "linear", random_state=0).fit(table[learn], repaid[learn])
    decisions = model.predict(fair[test])
    gap = p4f.metrics.statistical_disparity(decisions, sensitive_features=fair["renter"][test])
    print(f"{name:24} accuracy {(decisions == repaid[test]).mean():.3f}, disparity {gap:+.3f}")
