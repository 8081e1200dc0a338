"""
Bias that changed over time
===========================

Until a reform, half of the good applicants of one group were refused; since then hardly any. Nobody wrote down when
practice really changed, and the people who apply have changed, too.
"""

import numpy as np
import pandas as pd

import problog4fairness as p4f


def decisions(rows, seed):
    """The reform is on 2021-03-01; early applicants are the stronger ones."""
    rng = np.random.default_rng(seed)
    skill, years, group = rng.normal(size=rows), rng.normal(size=rows), rng.integers(0, 2, rows)
    due = rng.random(rows) < 1 / (1 + np.exp(-(2 * skill + years)))
    late = np.clip(400 - 150 * skill + 100 * rng.normal(size=rows), 0, 799).astype(int)
    day = pd.Timestamp("2020-01-01") + pd.to_timedelta(late, unit="D")
    refused = (group == 1) & (rng.random(rows) < np.where(day < "2021-03-01", 0.6, 0.05))
    frame = pd.DataFrame({"skill": skill, "years": years, "group": group, "day": day})
    return frame.assign(hired=(due & ~refused).astype(int), due=due.astype(int))


table, new = decisions(4000, 0), decisions(10_000, 2)
audit = p4f.Audit.of(table.sample(800, random_state=1), fair="due", table=table, sampling="random")

# %%
# The day is searched for among those of the audited rows. ``p`` is the chance of as clear a change where there was
# none: it counts in that many days were tried.

belief = p4f.ChangedBias("group", when="day", positive=False, affected=[1])
belief = belief.estimate(audit, recorded="hired", fair="due")
print(belief.change_point)
print(belief.parameter_table()[["value", "low", "high", "rows"]].assign(truth=[0.6, 0.05]).round(2).to_string())

# %%
# Any belief can be asked whether the bias changed: ``check(..., when="day")``.

same = p4f.LabelBias("group", positive=False, affected=[1]).estimate(audit, recorded="hired", fair="due")
result = same.check(table.drop(columns="due"), recorded="hired", audit=audit, fair="due", when="day")
print(result["over time"].finding)
print(result["over time"].advice)

# %%
print(belief)

# %%
belief.picture()

# %%


def fitted(belief, label):
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    return model.fit(table[["skill", "years"]], table[label], sensitive_features=table[["group", "day"]])


models = {
    "trained on recorded labels": fitted(None, "hired"),
    "one number for each group": fitted(same, "hired"),
    "this model": fitted(belief, "hired"),
    "oracle (fair labels)": fitted(None, "due"),
}
for name, model in models.items():
    found = model.predict(new[["skill", "years"]])
    off = np.abs(
        model.predict_proba(new[["skill", "years"]])[:, 1] - 1 / (1 + np.exp(-2 * new["skill"] - new["years"]))
    )
    print(f"{name:26} right for {(found == new['due']).mean():.1%}; probabilities off by {off.mean():.3f}")
