"""
A stacked sweep: many small networks as one
===========================================

A study fits the same small network for many seeds, strengths and beliefs. One step of a stack of networks costs
little more than a step of one, so they are fitted together; each comes out as it would have alone.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
import torch

import problog4fairness as p4f

short = bool(os.environ.get("P4F_SHORT"))  # make test runs this example with fewer networks
strengths = (0.0, 0.3, 0.6) if short else (0.0, 0.2, 0.4, 0.6, 0.8)
seeds = range(2 if short else 5)
people = 1000 if short else 4000

# %%
# For each strength of label bias and each seed two networks: one through the belief, one that learns the record as it
# is. The made-up people are the same; only what was recorded of them differs.

jobs, about = [], []
for strength in strengths:
    data = p4f.datasets.synthetic(label_bias=strength, rows=people, seed=0)
    rows = p4f.data.Rows(
        data.recorded_features.join(data.sensitive),
        features=tuple(data.recorded_features.columns),
        recorded=data.recorded_label.to_numpy(),
    )
    known = p4f.LabelBias("a", negative={1: strength}, positive=False, affected=[1])
    for name, belief in (("through the belief", known), ("trained on recorded labels", p4f.NoBias())):
        observation = belief.observe(rows)
        inputs = torch.tensor(observation.table.to_numpy(), dtype=torch.float32)
        jobs += [p4f.learners.Task(observation, seed=seed, inputs=inputs) for seed in seeds]
        about += [(name, strength)] * len(seeds)

# %%
fits = p4f.learners.fit_many(jobs, p4f.learners.Settings(max_epochs=10 if short else 30), progress=False)
print(f"{len(fits)} networks")

# %%
# All are judged on other people, by their fair labels.

new = p4f.datasets.synthetic(rows=20_000, seed=1)
X, fair = torch.tensor(new.fair_features.to_numpy(), dtype=torch.float32), new.fair_label.to_numpy()
found = {}
for fit, key in zip(fits, about, strict=True):
    with torch.no_grad():
        found.setdefault(key, []).append(((fit.network(X).squeeze(1) > 0).numpy() == fair).mean())

axes = plt.figure(figsize=(6, 3)).subplots()
for name in ("through the belief", "trained on recorded labels"):
    axes.plot(strengths, [np.mean(found[name, strength]) for strength in strengths], "o-", label=name)
axes.axhline(new.settings.limits().accuracy, color="gray", ls="--", label="the best possible")
axes.set(xlabel="share of fair 1s of the sensitive group that are recorded as 0", ylabel="accuracy on fair labels")
axes.legend(frameon=False)
plt.tight_layout()
