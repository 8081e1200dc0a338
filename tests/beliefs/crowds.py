"""Crowds with known truth: spammers, copies, hard rows, rare errors; and Dawid and Skene's model as a reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True, eq=False)
class Crowd:
    """Votes of workers on items, one line each, with the fair labels and how often each worker errs.

    Attributes
    ----------
    votes
        ``item``, ``worker`` and ``label`` of each vote, and the ``group`` of the item.
    fair, groups
        ``[items]``.
    errors
        ``[workers, groups, fair]``: of rows that are not hard.
    """

    votes: pd.DataFrame
    fair: np.ndarray
    groups: np.ndarray
    errors: np.ndarray

    @property
    def workers(self) -> list[str]:
        return [f"w{number}" for number in range(len(self.errors))]

    @property
    def wide(self) -> pd.DataFrame:
        table = np.full((len(self.fair), len(self.errors)), np.nan)
        table[self.votes["item"], self.votes["worker"].str[1:].astype(int)] = self.votes["label"]
        return pd.DataFrame(table, columns=self.workers).assign(group=self.groups)


def crowd(
    seed: int,
    items: int = 400,
    workers: int = 20,
    each: int = 5,
    prevalence: float = 0.3,
    errors: tuple[float, float] = (2, 8),
    symmetric: bool = False,
    hard: float = 0.0,
    answer: float = 0.5,
    hard_only_unfavourable: bool = False,
    spammers: float = 0.0,
    copies: int = 0,
    minority: float = 0.0,
) -> Crowd:
    """Votes of ``each`` workers on every item.

    ``errors`` are the weights of a Beta distribution; spammers err in half; on a share ``hard`` of the items nine in
    ten votes are guesses, which say 1 with the chance ``answer``; the last ``copies`` workers say what the first says.
    """
    rng = np.random.default_rng(seed)
    fair, groups = rng.binomial(1, prevalence, items), rng.binomial(1, minority, items)
    rates = rng.beta(*errors, size=(workers, 2, 1 if symmetric else 2)) * np.ones((workers, 2, 2))
    rates[rng.random(workers) < spammers] = 0.5
    item = np.repeat(np.arange(items), min(each, workers))
    who = rng.random((items, workers)).argsort(axis=1)[:, :each].reshape(-1)
    wrong = rng.random(len(item)) < rates[who, groups[item], fair[item]]
    label = np.where(wrong, 1 - fair[item], fair[item])
    difficult = rng.random(items) < hard
    if hard_only_unfavourable:
        difficult &= fair == 0
    guessed = difficult[item] & (rng.random(len(item)) < 0.9)
    label = np.where(guessed, rng.random(len(item)) < answer, label).astype(int)
    votes = pd.DataFrame({"item": item, "worker": [f"w{number}" for number in who], "label": label})
    if copies:
        wide = votes.pivot(index="item", columns="worker", values="label")
        copied = [f"w{number}" for number in range(workers - copies, workers)]
        for name in copied:
            wide[name] = wide["w0"]
        votes = wide.stack().rename("label").astype(int).reset_index()
    return Crowd(votes.assign(group=groups[votes["item"]]), fair, groups, rates)


def dawid_skene(votes: pd.DataFrame, rounds: int = 200, one_error: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """P(fair = 1) of each item and P(wrong | fair) of each worker, by EM from the majority (Dawid and Skene 1979)."""
    item, (worker, _), label = (
        votes["item"].to_numpy(),
        pd.factorize(votes["worker"], sort=True),
        votes["label"].to_numpy(),
    )
    items, workers = item.max() + 1, worker.max() + 1
    fair = np.bincount(item, label, items) / np.bincount(item, minlength=items)
    errors = np.zeros((workers, 2))
    for _ in range(rounds):
        for f, weight in enumerate((1 - fair, fair)):
            wrong = np.bincount(worker, weight[item] * (label != f), workers)
            errors[:, f] = (wrong + 0.01) / (np.bincount(worker, weight[item], workers) + 0.02)
        if one_error:
            wrong = np.bincount(worker, np.where(label == 1, 1 - fair[item], fair[item]), workers)
            errors[:] = ((wrong + 0.01) / (np.bincount(worker, minlength=workers) + 0.02))[:, None]
        logs = np.log([1 - fair.mean(), fair.mean()])
        terms = []
        for f in (0, 1):
            chance = np.where(label == f, 1 - errors[worker, f], errors[worker, f])
            terms.append(np.bincount(item, np.log(chance), items) + logs[f])
        fair = 1 / (1 + np.exp(np.clip(terms[0] - terms[1], -500, 500)))
    return fair, errors
