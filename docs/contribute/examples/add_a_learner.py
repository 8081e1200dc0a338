"""
Add a learner
=============

A learner fits a classifier of the fair label through an ``Observation``, and knows nothing else of a belief. This one
keeps, for every value of one column, the share of fair 1s: a table that EM fills.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch

import problog4fairness as p4f
from problog4fairness.learners import Bar, Fitted, Learner, Task


class FittedShares(Fitted):
    """The share of each class for every value of a column.

    ``state``, ``shapes`` and ``from_state`` would put it into model files; a classifier in front of which stands an
    encoder has most of that from ``FittedEncoded``.
    """

    kind = "shares"

    def __init__(self, column: str, shares: Mapping[Any, torch.Tensor], losses: list[float]) -> None:
        self.column, self.shares, self.history = column, shares, {"train": losses}

    def log_proba(self, table: pd.DataFrame) -> torch.Tensor:
        return torch.stack([self.shares[value] for value in table[self.column]]).log()


@dataclass(eq=False, repr=False)
class Shares(Learner):
    """By expectation and maximisation: fill the table, ask the belief what was fair, fill it again."""

    column: str
    rounds: int = 30

    def check_options(self) -> None:
        if self.rounds < 1:
            raise p4f.errors.TrainingError(f"rounds={self.rounds!r} is not 1 or more")

    def fit_task(self, task: Task, bar: Bar) -> FittedShares:
        observation = task.observation
        codes, values = pd.factorize(observation.table[self.column])
        place, losses = torch.from_numpy(codes), []
        share = torch.full((len(values), observation.classes), 1 / observation.classes, dtype=torch.float64)
        for _ in range(self.rounds):
            weight = observation.posterior(share.log()[place]).by_input(len(observation.table))
            share = torch.zeros_like(share).index_add_(0, place, weight) + 1e-6
            share = share / share.sum(1, keepdim=True)
            losses.append(float(-observation.log_likelihood(share.logit()[place, 1:]).mean()))
        bar.show(1, losses[-1], 1)
        return FittedShares(self.column, dict(zip(values, share, strict=True)), losses)


# %%
# An observation offers ``table``, the distinct inputs; ``posterior(log_proba)``, the expected weight of every input
# and fair class; and ``log_likelihood(logits)``, which can be differentiated. Whatever belief is behind it, the
# learner is the same.

data = p4f.datasets.loans(rows=5000)
belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
model = p4f.DebiasedClassifier(belief, Shares("job"), random_state=0)
model.fit(data.loans[["job"]], data.loans["granted"], sensitive_features=data.loans["poor_area"])

found = pd.DataFrame(
    {
        "recorded": data.loans.groupby("job")["granted"].mean(),
        "through the belief": {job: float(share[1]) for job, share in model.fitted_.shares.items()},
        "fair": data.loans_repaid.groupby(data.loans["job"]).mean(),
    }
)
print(found.round(3).to_string())
print(f"loss: {model.history_['train'][0]:.4f}, in the end {model.history_['train'][-1]:.4f}")

# %%
# In the library a learner is a file of ``learners/``, its name in ``learners/named.py`` makes ``learner="shares"``
# work everywhere, and its test inherits ``tests/learners/contract.py``.
