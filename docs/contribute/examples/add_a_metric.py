"""
Add a metric
============

A metric is one entry of ``METRICS``. Scores, comparisons with their tables, and fairlearn's ``MetricFrame`` are made
from it. This one is the share of people who should get the favourable label and do not.
"""

import numpy as np

import problog4fairness as p4f
from problog4fairness.metrics import METRICS, Metric


def wrongly_refused(judged):
    """Of the rows with label 1, the share that is decided 0; NaN where there is none."""
    due = judged.weights @ judged.label
    return float(judged.weights @ (judged.label * (1 - judged.decision)) / due) if due else float("nan")


METRICS["wrongly_refused"] = Metric("wrongly_refused", "wrongly refused", wrongly_refused, None, ("labels",))

# %%
# Called alone, as scikit-learn calls metrics:

print(METRICS["wrongly_refused"]([1, 1, 1, 1, 0], [1, 0, 0, 1, 0]))

# %%
# In each group:

poor = np.array([1, 1, 0, 0, 0])
frame = p4f.metrics.metric_frame([1, 1, 1, 1, 0], [1, 0, 1, 1, 0], sensitive_features=poor)
print(frame.by_group["wrongly_refused"])

# %%
# In a comparison:

data = p4f.datasets.loans(rows=1, audited=600, new=1)
belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
found = p4f.compare(
    data.audit,
    p4f.DebiasedClassifier(belief, "linear"),
    recorded="granted",
    fair="repaid",
    methods=["recorded_only", "without_sensitive"],
    seeds=2,
    folds=2,
)
print(found.table("fair")[["accuracy", "wrongly_refused"]].to_string())

# %%
# In the library the function is in ``metrics/values.py`` and the entry in ``metrics/table.py``. Here it is taken out
# again, so that other examples are as they were.

del METRICS["wrongly_refused"]
