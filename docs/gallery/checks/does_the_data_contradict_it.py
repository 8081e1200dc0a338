"""
Does the data contradict the belief?
====================================

Recorded data cannot confirm a belief, but they can refute it; audited rows can do so sooner. ``belief.check`` runs
all tests that the data allow, corrected for their number.
"""

import os

import pandas as pd

import problog4fairness as p4f

short = bool(os.environ.get("P4F_SHORT"))  # make test runs this example on fewer rows
data = p4f.datasets.loans(1000 if short else 3000)
# The audited people are in the record, too.
loans = pd.concat([data.loans, data.audit.drop(columns="repaid")], ignore_index=True)
audit = p4f.Audit.of(data.audit, fair="repaid", sampling="random")
belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
belief = belief.estimate(audit, recorded="granted", fair="repaid")

# %%
# The belief that the made-up loans were drawn from:

found = p4f.check(belief, loans, recorded="granted", audit=audit, fair="repaid")
found

# %%
# And one with the groups swapped:

swapped = p4f.LabelBias("poor_area", negative={0: 0.4, 1: 0.0}, positive=False)
p4f.check(swapped, loans, recorded="granted", audit=audit, fair="repaid")

# %%
# Several beliefs about the same record are compared by how well they explain held-out recorded labels. The best of
# them need not be right.

beliefs = {"turned down in poor areas": belief, "turned down elsewhere": swapped, "no bias": p4f.NoBias()}
which = p4f.checks.compare_beliefs(beliefs, loans, recorded="granted")
print(which.round(4).to_string())
