"""
Add a baseline
==============

A baseline is a ``Method``: it *yields* what it wants fitted, is sent what was learned, and returns what predicts. So
a comparison fits those of all seeds and folds together. This one drops the rows of the sensitive group that were
refused: nobody knows whether that was right.
"""

import numpy as np

import problog4fairness as p4f
from problog4fairness.evaluation import METHODS, Method, Steps, Trained, Training


class WithoutRefused(Method):
    """Learns the recorded labels, without the refused rows of the sensitive group."""

    name = "without_refused"
    about = "learns the recorded labels, without refused rows of the sensitive group"
    title = "without refused rows"

    def steps(self, training: Training) -> Steps:
        rows = training.rows
        doubtful = (rows.positions(self.sensitive) == 1) & (rows.recorded == 0)
        kept = rows.take(np.flatnonzero(~doubtful)).with_features(
            [name for name in rows.features if name not in self.sensitive.columns]
        )
        fitted = yield training.task(kept.with_labels(kept.recorded))
        return Trained.plainly(fitted, kept)


METHODS["without_refused"] = WithoutRefused

# %%
# ``compare`` and ``p4f compare`` have it by its name.

data = p4f.datasets.loans(rows=1, audited=1200, new=1)
belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
found = p4f.compare(
    data.audit,
    p4f.DebiasedClassifier(belief, "linear"),
    recorded="granted",
    fair="repaid",
    methods=["recorded_only", "without_sensitive", "without_refused"],
    seeds=2,
    folds=3,
)
print(found.table("fair")[["accuracy", "disparity", "positive_rate"]].to_string())

# %%
# In the library a method is a file of ``baselines/`` and an entry of ``baselines/named.py``;
# ``tests/evaluation/test_methods.py`` checks that it does beside others what it does alone. Here it is taken out
# again.

del METHODS["without_refused"]
