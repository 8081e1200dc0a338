"""
A network of your own
=====================

Any ``torch.nn.Module`` trains through an observation: pictures, texts, large networks. This one reads small drawings.
"""

import os

import numpy as np
import pandas as pd
import torch

import problog4fairness as p4f

short = bool(os.environ.get("P4F_SHORT"))  # make test runs this example on fewer pictures
rng = np.random.default_rng(0)
count = 400 if short else 3000
mouth, blurry = rng.integers(0, 2, count), rng.integers(0, 2, count)
pictures = torch.from_numpy(rng.normal(0, 0.7, (count, 1, 8, 8))).float()
pictures[mouth == 1, :, 5:7, 2:6] += 0.7
missed = (mouth == 1) & (blurry == 1) & (rng.random(count) < 0.6)
labelled = np.where(missed, 0, mouth)

# %%
# The rows say what was recorded, the belief how it came about. Features are not columns here but pictures, in the
# same order as the rows.

rows = p4f.data.Rows(
    pd.DataFrame({"blurry": blurry, "picture": range(count)}), features=("picture",), recorded=labelled
)
belief = p4f.LabelBias("blurry", negative={1: 0.6}, positive=False, affected=[1])


def network():
    """A small convolutional network with one logit."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.AvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(72, 1)
    )


# %%
settings = p4f.learners.Settings(max_epochs=5 if short else 30, learning_rate=0.01, batch_size=64)
for name, own in (("through the belief", belief), ("trained on recorded labels", p4f.NoBias())):
    fit = p4f.learners.fit_module(network(), pictures, own, rows, settings=settings, progress=False)
    with torch.no_grad():
        found = (fit.network(pictures).squeeze(1) > 0).numpy()
    right, wrong = found[mouth == 1].mean(), found[mouth == 0].mean()
    print(f"{name:20} called open: {right:.0%} of open mouths, {wrong:.0%} of others")
