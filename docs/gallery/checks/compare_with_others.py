"""
Compare with what you would do instead
======================================

Leaving out the sensitive column, massaging labels, equal shares by thresholds: each is a method, and all are run on
the same splits with the same learner.
"""

import os

import problog4fairness as p4f

short = bool(os.environ.get("P4F_SHORT"))  # make test runs this example on fewer rows
data = p4f.datasets.loans(rows=1, audited=400 if short else 2000, new=1)
belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
belief = belief.estimate(data.audit, recorded="granted", fair="repaid")

# %%
# Here all rows have a fair label, so the methods are judged by it. Judged by recorded labels, methods that repeat the
# bias look best: that is why an audit is needed.

found = p4f.compare(
    data.audit,
    p4f.DebiasedClassifier(belief, "linear"),
    recorded="granted",
    fair="repaid",
    seeds=2 if short else 5,
    folds=3,
)
print(found.table("fair").to_string())

# %%
print(found.table("recorded").to_string())

# %%
found.plot()
