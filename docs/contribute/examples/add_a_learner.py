"""
Add a learner
=============

A learner fits a classifier of the fair label through an ``Observation``, and knows nothing else of a belief. This one
keeps, for every value of one column, the share of fair 1s: a table that EM fills.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import torch

import problog4fairness as p4f
from problog4fairness.learners import Fitted, Learner, Task


class FittedShares(Fitted):
    """The share of each class for every value of a column."""

    kind = "shares"

    def __init__(self, column: str, shares: Mapping[Any, torch.Tensor], history: list[float]) -> None:
        self.column, self.shares, self._history = column, shares, history

    def log_proba(self, table: pd.DataFrame) -> torch.Tensor:
        return torch.stack([self.shares[value] for value in table[self.column]]).log()

    @property
    def history(self) -> Mapping[str, list[float]]:
        return {"train": self._history}

    def state(self):
        raise NotImplementedError(
            "model files: tensors and plain data, from which from_state makes an equal classifier"
        )

    @classmethod
    def shapes(cls, plain, columns, classes):
        raise NotImplementedError("model files: the tensors that go with plain data from a stranger")

    @classmethod
    def from_state(cls, tensors, plain):
        raise NotImplementedError("model files: the inverse of state")


class Shares(Learner):
    """By expectation and maximisation: fill the table, ask the belief what was fair, fill it again."""

    def __init__(self, column: str, rounds: int = 30) -> None:
        self.column = column
        self.rounds = rounds

    def check_options(self) -> None:
        if self.rounds < 1:
            raise p4f.errors.TrainingError(f"rounds={self.rounds!r} is not 1 or more")

    def fit_many(self, tasks: Sequence[Task], progress: bool | None = None) -> list[FittedShares]:
        return [self._fit(task) for task in tasks]

    def _fit(self, task: Task) -> FittedShares:
        seen = task.observation
        codes, values = pd.factorize(seen.table[self.column])
        place, history = torch.from_numpy(codes), []
        share = torch.full((len(values), seen.classes), 1 / seen.classes, dtype=torch.float64)
        for _ in range(self.rounds):
            weight = seen.posterior(share.log()[place]).by_input(len(seen.table))
            share = torch.zeros_like(share).index_add_(0, place, weight) + 1e-6
            share = share / share.sum(1, keepdim=True)
            history.append(float(-seen.log_likelihood(share.logit()[place, 1:]).mean()))
        return FittedShares(self.column, dict(zip(values, share, strict=True)), history)


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
