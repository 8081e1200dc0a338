"""Simulated audits: tables of which everything is known, audited in rounds as a plan asks for, many at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy.special import betaln, xlogy

from problog4fairness.audit import Design, Target, next_round, wanted_rows
from problog4fairness.statistics import Cell, most_likely_shares
from studies.engine.stack import Identity, Keys, Stack, Table, Work

ERROR, CONFIDENCE = 0.1, 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
# As `plan_audit` does: rows of each stratum in the first round, and of each that only tests what is ruled out.
PILOT, TEST = 15, 10
# Draws behind intervals by simulation, within each simulated audit.
DRAWS = 400
# Rounds after which an audit is given up; none needs as many.
MOST_ROUNDS = 80
SCORE, PLAIN, POSTERIOR, DELTA, BOOTSTRAP, ALWAYS = (
    "score, corrected", "score", "posterior", "delta", "bootstrap", "at every look")  # fmt: skip
INTERVALS = (SCORE, PLAIN, POSTERIOR, DELTA, BOOTSTRAP, ALWAYS)
ROWS, ROUNDS = "rows", "rounds"

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A table of which everything is known, and what is believed of it.

    Attributes
    ----------
    name
        What it is called.
    people
        ``[group][recorded][fair]``: how many there are.
    ruled
        The strata ``(group, recorded)`` in which the belief says that what was recorded is fair.
    """

    name: str
    people: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    ruled: tuple[tuple[int, int], ...] = ()

    @cached_property
    def counts(self) -> Array:
        """The same as an array."""
        return np.array(self.people, dtype=np.int64)

    @property
    def cells(self) -> list[Cell]:
        """Of the parameters: fair 1s recorded as 0, and fair 0s as 1, in each group."""
        changes = [(group, fair) for group in range(len(self.people)) for fair in (1, 0)]
        return [Cell(group, fair, 1 - fair) for group, fair in changes if (group, 1 - fair) not in self.ruled]

    def truth(self, cell: Cell) -> float:
        """The parameter of a cell."""
        own = self.counts[cell.group, :, cell.fair]
        return float(own[cell.recorded] / own.sum())

    def share(self, cell: Cell) -> float:
        """The share of all people that have the group and the fair label of a cell."""
        return float(self.counts[cell.group, :, cell.fair].sum() / self.counts.sum())

    def empty(self) -> Design:
        """Nothing audited yet."""
        sizes = self.counts.sum(axis=2).reshape(-1)
        ruled = tuple(int(np.ravel_multi_index(own, self.counts.shape[:2])) for own in self.ruled)
        return Design(("",), self.counts.shape[:2], sizes.astype(float), (np.zeros((len(sizes), 2)),), ruled)


def word(cell: Cell) -> str:
    """What a parameter is called in the results."""
    return f"{'negative' if cell.fair else 'positive'}, group {cell.group}"


@dataclass(frozen=True)
class AuditStack(Stack):
    """Some simulated audits of one case, side by side."""

    case: Case
    seeds: tuple[int, ...]

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.case.name}, audits {self.seeds[0]} to {self.seeds[-1]}"

    @property
    def cells(self) -> int:
        """See :attr:`Stack.cells`."""
        return len(self.seeds)

    @property
    def settings(self) -> Identity:
        """See :attr:`Stack.settings`."""
        return {"people": self.case.people, "ruled": self.case.ruled, "seeds": list(self.seeds)}

    def metrics(self) -> list[tuple[str, str]]:
        """What is measured of each audit: ``(metric, parameter)``."""
        names = [word(cell) for cell in self.case.cells]
        return [(ROWS, ""), (ROUNDS, ""), *((interval, name) for interval in INTERVALS for name in names)]

    def keys(self) -> Keys:
        """See :meth:`Stack.keys`."""
        return [(self.case.name, seed, *own) for own in self.metrics() for seed in self.seeds]

    def compute(self, work: Work) -> Table:
        """See :meth:`Stack.compute`."""
        found = simulate(self.case, len(self.seeds), np.random.default_rng([self.seeds[0], 7]))
        work.report(1.0)
        return [[*key, float(found[key[2], key[3]][place % len(self.seeds)])] for place, key in enumerate(self.keys())]


def simulate(case: Case, audits: int, rng: np.random.Generator) -> dict[tuple[Any, Any], Array]:
    """Audits in rounds until every interval is short enough: rows, rounds, and whether each interval held the truth."""
    design, targets = case.empty(), [case.empty().target(cell, word(cell), "") for cell in case.cells]
    sizes, truths = design.sizes, np.array([case.truth(cell) for cell in case.cells])
    people = case.counts.reshape(-1, 2)
    active = np.isin(np.arange(len(sizes)), np.concatenate([own.used for own in targets]))
    least = np.minimum(np.where(active, PILOT, TEST), sizes)
    seen = _drawn(people, np.zeros((audits, len(sizes), 2)), np.broadcast_to(least, (audits, len(sizes))), rng)
    low, high = np.zeros((2, audits, len(targets)))
    always = np.ones((audits, len(targets)))
    going, rounds = np.arange(audits), np.ones(audits)
    for _ in range(MOST_ROUNDS):
        own = seen[going]
        ends = np.array([target.interval(own, sizes, CONFIDENCE) for target in targets])
        low[going], high[going] = ends[:, 0].T, ends[:, 1].T
        pairs = zip(targets, truths.tolist(), strict=True)
        always[going] *= np.array([_always_holds(target, truth, own) for target, truth in pairs]).T
        halves = (high[going] - low[going]) / 2
        left = (halves > ERROR).any(axis=1)
        if not left.any():
            break
        going, own, halves = going[left], own[left], halves[left]
        wanted = wanted_rows(targets, [own], [np.full_like(own, 0.5)], sizes, halves, ERROR, CONFIDENCE)
        seen[going] = _drawn(people, own, next_round(wanted, own.sum(-1), least), rng)
        rounds[going] += 1
    found: dict[tuple[Any, Any], Array] = {(ROWS, ""): seen.sum((1, 2)), (ROUNDS, ""): rounds}
    ends_of = {SCORE: (low, high), **_others(targets, seen, sizes, rng)}
    held = {name: _holds(*ends, truths) for name, ends in ends_of.items()} | {ALWAYS: always}
    for name in INTERVALS:
        found |= {(name, word(cell)): held[name][:, place] for place, cell in enumerate(case.cells)}
    return found


def _always_holds(target: Target, value: float, counts: Array) -> Array:
    """Whether no look at the rows so far refuses a value, however often one looks.

    In each stratum the rows are more likely under an even mixture of all proportions than under the true one only by
    luck: the ratio of the two is a martingale, and so is the product over strata, which exceeds 1 / (1 - confidence) at
    any time with a probability of 1 - confidence at most.
    """
    rows = counts[..., target.used, :]
    hits, total = rows[..., target.fair], rows.sum(-1)
    top, bottom = target.top[target.used], target.bottom[target.used]
    factors = np.broadcast_to(top - value * bottom, hits.shape)
    wanted = np.full(hits.shape[:-1], value * target.constant)
    shares = most_likely_shares(hits, total, factors, wanted)
    likely = (xlogy(hits, shares) + xlogy(total - hits, 1 - shares)).sum(-1)
    mixed = betaln(hits + 1, total - hits + 1).sum(-1) + np.log(1 - CONFIDENCE)
    # No shares at all make the value what it is to be.
    missed = np.abs((factors * shares).sum(-1) - wanted) > 1e-6 * (np.abs(top).sum() + target.constant)
    return np.asarray(~missed & (mixed <= likely), dtype=np.float64)


def _holds(low: Array, high: Array, truths: Array) -> Array:
    return np.asarray((low <= truths + 1e-9) & (truths <= high + 1e-9), dtype=np.float64)


def _drawn(people: Array, seen: Array, more: Array, rng: np.random.Generator) -> Array:
    """The rows so far and some more, drawn without replacement."""
    left = np.maximum(people - seen, 0).astype(np.int64)
    count = np.clip(more, 0, left.sum(-1)).astype(np.int64)
    ones = rng.hypergeometric(left[..., 1], left[..., 0], count)
    return seen + np.stack([count - ones, ones], axis=-1)


def _others(targets: Any, seen: Array, sizes: Array, rng: np.random.Generator) -> dict[str, tuple[Array, Array]]:
    """Other intervals for the same rows: without the correction, and three that simulation or a formula gives."""
    rows = seen.sum(-1)
    finite = np.sqrt(np.maximum(sizes - rows, 0) / np.maximum(sizes - 1, 1))
    whole = np.maximum(sizes - rows, 0).astype(np.int64)
    posterior = rng.beta(seen[..., 1] + 0.5, seen[..., 0] + 0.5, (DRAWS, *rows.shape))
    posterior = (seen[..., 1] + rng.binomial(whole, posterior)) / np.maximum(sizes, 1)
    share = seen[..., 1] / np.maximum(rows, 1)
    again = rng.binomial(rows.astype(np.int64), share, (DRAWS, *rows.shape)) / np.maximum(rows, 1)
    bootstrap = np.clip(share + finite * (again - share), 0, 1)
    ends: dict[str, list[tuple[Array, Array]]] = {name: [] for name in (PLAIN, POSTERIOR, BOOTSTRAP, DELTA)}
    for target in targets:
        ends[PLAIN].append(target.interval(seen, sizes, CONFIDENCE, corrected=False))
        for name, draws in ((POSTERIOR, posterior), (BOOTSTRAP, bootstrap)):
            values = np.nan_to_num(target.value(draws if target.fair else 1 - draws), nan=0.5)
            ends[name].append(tuple(np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)))
        # Two rows of each kind are imagined, as Agresti and Coull do for one proportion.
        guessed = (seen[..., target.fair] + 2) / (rows + 4)
        spread = (target.spread(guessed) * finite**2 / (rows + 4)).sum(-1)
        value = target.value(guessed)
        ends[DELTA].append((value - Z * np.sqrt(spread), value + Z * np.sqrt(spread)))
    return {name: (np.stack([a for a, _ in own], -1), np.stack([b for _, b in own], -1)) for name, own in ends.items()}
