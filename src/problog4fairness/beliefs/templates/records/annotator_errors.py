"""How often each annotator errs, from sparse votes: variational EM with errors that are partially pooled.

    fair_i ~ Bernoulli(h(x_i)),  hard_i ~ Bernoulli(hard)
    vote_ij ~ (1 - g_i) errors_j(fair_i, group_i, .) + g_i answers

where g_i is ``guess`` on hard rows and 0 on the others. The errors of all annotators in a group and fair class share a
Beta prior, which is estimated from them (empirical Bayes): whoever gave few votes is shrunk towards the others. Errors
may be symmetric (one number for each annotator and group), and rows may be hard; of the four models the one with the
highest evidence bound is kept. With a flat prior, asymmetric errors and no hard rows this is Dawid and Skene's model
(1979).

Arrays of errors end with two entries, of a wrong vote and of a right one: ``[kinds, groups, sides, 2]``, with one side
for symmetric errors and otherwise one for each fair class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import betaln, digamma, expit, log_expit

from problog4fairness.data import Codes, Floats

# Rounds of EM to choose among the models, and to fit the one that is kept; parameters that move by less have settled.
CHOOSING, MOST_ROUNDS, SETTLED = 100, 500, 1e-5
# The priors are estimated again every few rounds.
EVERY = 4
# The prior at the start, and what is known of priors: how many votes they are worth (a lognormal), and that annotators
# are mostly right (a Beta), as weights of wrong and right votes.
FIRST, WORTH, SPREAD, MOSTLY = np.array([1.6, 6.4]), np.log(8.0), 1.25, np.array([1.5, 4.0])
# Deviation of the weights of standardised columns in the model of the fair label; the constant's is four times that.
DEVIATION = 5.0
# Priors of the share of hard rows, of guesses on them, and of what guesses say: as if so many had been counted.
HARD_PRIOR, GUESS_PRIOR, ANSWER_PRIOR = (1.0, 4.0), (2.0, 1.0), (5.0, 5.0)
# Rows that two annotators share, and the difference from the expected agreement, below which none is looked at.
LEAST_SHARED, LEAST_DIFFERENCE = 20, 0.03
# Logarithm of how many times likelier asymmetric errors must be (Kass and Raftery 1995).
STRONG = 3.0


@dataclass(frozen=True, eq=False)
class Votes:
    """``[rows, kinds * 2]``: how many annotators of a kind gave the row a 0, and a 1."""

    counts: sparse.csr_array

    @classmethod
    def of(cls, rows: Codes, kinds: Codes, labels: Codes, shape: tuple[int, int]) -> Votes:
        """From a list of votes: of which row, by which kind of annotator, 0 or 1."""
        places = (rows, kinds * 2 + labels)
        return cls(sparse.coo_array((np.ones(len(rows)), places), shape=(shape[0], shape[1] * 2)).tocsr())

    @property
    def kinds(self) -> int:
        """Number of kinds of annotators."""
        return int(self.counts.shape[1]) // 2

    def log_likelihood(self, log_tables: Floats) -> Floats:
        """Sum over votes of log P(vote | ...), ``[rows, ...]``, for ``[kinds, ..., vote]``."""
        flat = np.moveaxis(log_tables, -1, 1).reshape(self.kinds * 2, -1)
        return np.asarray(self.counts @ flat).reshape(-1, *log_tables.shape[1:-1])

    def expected(self, weights: Floats) -> Floats:
        """``[kinds, ..., vote]``: votes weighted by ``[rows, ...]``."""
        flat = np.asarray(self.counts.T @ weights.reshape(len(weights), -1))
        return np.moveaxis(flat.reshape(self.kinds, 2, *weights.shape[1:]), 1, -1)

    @cached_property
    def share(self) -> Floats:
        """``[rows]``: the share of 1s, smoothed; where EM begins."""
        totals = self.counts @ np.tile(np.eye(2), (self.kinds, 1)) + 0.25
        return np.asarray(totals[:, 1] / totals.sum(1))


class Form(NamedTuple):
    """Whether an annotator errs as often for each fair class, and whether some rows are hard for all."""

    symmetric: bool
    hard: bool


FORMS = tuple(Form(symmetric, hard) for hard in (False, True) for symmetric in (True, False))


@dataclass(frozen=True, eq=False)
class Fit:
    """A model fitted to votes.

    Attributes
    ----------
    form
        Of the model.
    posterior, prior
        Beta weights of the errors, ``[kinds, groups, sides, 2]`` and ``[groups, sides, 2]``.
    hard, guess, answer
        How many rows are hard, how often a vote on them is a guess, and how often a guess says 1.
    weights
        ``[columns]`` of the logistic model of the fair label.
    fair
        P(fair = 1 | votes), ``[rows]``.
    bound
        The evidence bound: a lower bound of the log-probability of the votes, all errors averaged over.
    """

    form: Form
    posterior: Floats
    prior: Floats
    hard: float
    guess: float
    answer: float
    weights: Floats
    fair: Floats
    bound: float = -np.inf

    @property
    def errors(self) -> Floats:
        """P(wrong vote | fair, group) of each kind on rows that are not hard, ``[kinds, groups, fair]``."""
        errors = self.posterior[..., 0] / self.posterior.sum(-1)
        return np.broadcast_to(errors, (*errors.shape[:2], 2))

    @property
    def answers(self) -> Floats:
        """P(vote) of a guess, ``[vote]``."""
        return np.array([1 - self.answer, self.answer])

    @property
    def tables(self) -> Floats:
        """P(vote | fair, group) on easy and on hard rows, ``[kinds, groups, hard, fair, vote]``."""
        easy = by_vote(np.stack([self.errors, 1 - self.errors], axis=-1))
        return np.stack([easy, (1 - self.guess) * easy + self.guess * self.answers][: 1 + self.form.hard], axis=2)


def by_vote(pairs: Floats) -> Floats:
    """``[..., fair, vote]`` from ``[..., sides, (wrong, right)]``; from the former it gives the latter again."""
    return np.stack([pairs[..., 0, ::-1], pairs[..., -1, :]], axis=-2)


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """Votes with what is known of the rows; fits models of the annotators' errors.

    Attributes
    ----------
    votes
        The votes.
    shares
        ``[rows, groups]``: the probability of each group.
    matrix
        ``[rows, columns]`` of the logistic model of the fair label, the constant first.
    known
        ``[rows]``: the fair class where it was audited, else -1.
    """

    votes: Votes
    shares: Floats
    matrix: Floats
    known: Codes

    @cached_property
    def _log_shares(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.shares))

    @cached_property
    def _distinct(self) -> tuple[Floats, Codes, Floats]:
        """The distinct rows of the matrix, which of them each row has, and how many have it."""
        rows, places, counts = np.unique(self.matrix, axis=0, return_inverse=True, return_counts=True)
        return rows, places.reshape(-1), counts.astype(np.float64)

    @cached_property
    def penalty(self) -> Floats:
        """``[columns]``: what a squared weight of the model of the fair label costs."""
        scale = np.full(self.matrix.shape[1], DEVIATION)
        scale[0] *= 4
        return np.asarray(1 / scale**2)

    def choose(self, forms: Sequence[Form] = FORMS) -> tuple[Fit, Fit | None]:
        """The model with the highest evidence bound, fitted until it has settled, and the one of the other symmetry.

        Errors are taken as symmetric unless the evidence against it is strong: where annotators err together,
        asymmetric errors let the classes stand for what they err on, and the fair label is lost.
        """
        fits: dict[Form, Fit] = {}
        for form in forms:
            # From the votes, and from where the best of the simpler models ended.
            starts = [np.where(self.known >= 0, self.known, self.votes.share)]
            simpler = [fit for other, fit in fits.items() if other.hard <= form.hard]
            starts += [max(simpler, key=lambda fit: fit.bound).fair] if simpler else []
            tried = (self._fitted(self._start(form, fair), CHOOSING) for fair in starts)
            fits[form] = max(tried, key=lambda fit: fit.bound)
        best = max(fits.values(), key=lambda fit: fit.bound + STRONG * fit.form.symmetric)
        rival = fits.get(best.form._replace(symmetric=not best.form.symmetric))
        return self._fitted(best, MOST_ROUNDS), rival

    def _start(self, form: Form, fair: Floats) -> Fit:
        """Where EM begins, from a first guess of P(fair = 1 | votes)."""
        prior = np.tile(FIRST, (self.shares.shape[1], 2 - form.symmetric, 1))
        hard, guess = (0.1, 0.8) if form.hard else (0.0, 0.0)
        start = Fit(form, np.tile(prior, (self.votes.kinds, 1, 1, 1)), prior, hard, guess, 0.5,
                    np.zeros(self.matrix.shape[1]), fair)  # fmt: skip
        states = (self.shares[:, :, None] * np.stack([1 - fair, fair], axis=1)[:, None, :])[:, :, None, :]
        if form.hard:
            # Rows whose votes disagree are the first to be thought hard.
            majority = np.maximum(self.votes.share, 1 - self.votes.share)
            doubt = np.clip(2 * (1 - majority), 0.05, 0.9)[:, None, None, None]
            states = np.concatenate([states * (1 - doubt), states * doubt], axis=2)
        return self._maximised(start, states, priors=False)

    def _fitted(self, fit: Fit, rounds: int) -> Fit:
        """The model after so many rounds of EM, or once it has settled."""
        for number in range(rounds):
            states, bound = self._states(fit)
            after = self._maximised(replace(fit, bound=bound), states, priors=number % EVERY == EVERY - 1)
            moved = max(float(np.abs(after.errors - fit.errors).max()),
                        abs(after.hard - fit.hard), abs(after.guess - fit.guess))  # fmt: skip
            fit = after
            if moved < SETTLED and number > EVERY:
                break
        states, bound = self._states(fit)
        return replace(fit, fair=states[..., 1].sum((1, 2)), bound=bound)

    def states(self, fit: Fit, log_tables: Floats) -> tuple[Floats, Floats]:
        """P(group, hard, fair | votes) ``[rows, groups, hard, fair]`` and log P(votes) ``[rows]``, by these tables."""
        votes = self.votes.log_likelihood(log_tables)
        hard = np.log([1 - fit.hard, fit.hard]) if fit.form.hard else np.zeros(1)
        distinct, places, _ = self._distinct
        z = distinct @ fit.weights
        fair = np.stack([log_expit(-z), log_expit(z)], axis=1)[places]
        joint = votes + self._log_shares[:, :, None, None] + hard[:, None] + fair[:, None, None, :]
        for f in (0, 1):
            joint[self.known == 1 - f, :, :, f] = -np.inf
        # States first: numpy is quick along long axes.
        flat = np.ascontiguousarray(joint.reshape(len(joint), -1).T)
        largest = flat.max(axis=0)
        flat = np.exp(flat - largest)
        total = flat.sum(axis=0)
        return (flat / total).T.reshape(joint.shape), np.log(total) + largest

    def _states(self, fit: Fit) -> tuple[Floats, float]:
        """P(group, hard, fair | votes) by the expected logarithms of the errors, and the evidence bound."""
        logs = _expected_logs(fit.posterior)
        tables = [by_vote(logs)]
        if fit.form.hard:
            tables.append(np.log((1 - fit.guess) * np.exp(tables[0]) + fit.guess * fit.answers))
        states, total = self.states(fit, np.stack(tables, axis=2))
        divergence = (_log_beta(fit.prior) - _log_beta(fit.posterior)).sum()
        divergence += ((fit.posterior - fit.prior) * logs).sum()
        return states, float(total.sum()) - float(divergence) + self._log_prior(fit)

    def _log_prior(self, fit: Fit) -> float:
        total = -0.5 * float(self.penalty @ fit.weights**2) + sum(_hyper(prior) for prior in fit.prior.reshape(-1, 2))
        if fit.form.hard:
            priors = ((fit.hard, HARD_PRIOR), (fit.guess, GUESS_PRIOR), (fit.answer, ANSWER_PRIOR))
            for value, (a, b) in priors:
                total += (a - 1) * np.log(value) + (b - 1) * np.log1p(-value) - betaln(a, b)
            # By Laplace's method, as many parameters are averaged over.
            total -= 0.5 * len(priors) * np.log(len(self.known) / (2 * np.pi))
        return float(total)

    def _maximised(self, fit: Fit, states: Floats, priors: bool) -> Fit:
        """The model that explains the states best."""
        counts = self.votes.expected(states)  # [kinds, groups, hard, fair, vote]
        easy, hard, guess, answer = counts[:, :, 0], fit.hard, fit.guess, fit.answer
        if fit.form.hard:
            guesses = guess * fit.answers
            errors = np.exp(by_vote(_expected_logs(fit.posterior)))
            guessed = counts[:, :, 1] * (guesses / ((1 - guess) * errors + guesses))
            easy = easy + counts[:, :, 1] - guessed
            hard = _share(states[:, :, 1].sum(), len(states), HARD_PRIOR)
            guess = _share(guessed.sum(), counts[:, :, 1].sum(), GUESS_PRIOR)
            answer = _share(guessed[..., 1].sum(), guessed.sum(), ANSWER_PRIOR)
        pairs = by_vote(easy)
        pairs = pairs.sum(2, keepdims=True) if fit.form.symmetric else pairs
        fair = states[..., 1].sum((1, 2))
        after = replace(fit, posterior=fit.prior + pairs, hard=hard, guess=guess, answer=answer, fair=fair,
                        weights=self._regressed(fit.weights, fair))  # fmt: skip
        if not priors:
            return after
        # Priors that make the errors' posteriors likeliest, of those kinds that gave votes.
        prior = fit.prior.copy()
        for group, side in np.ndindex(prior.shape[:2]):
            voted = pairs[:, group, side].sum(-1) > 0.5
            prior[group, side] = _likeliest_prior(after.posterior[voted, group, side], prior[group, side])
        return replace(after, prior=prior)

    def _regressed(self, weights: Floats, fair: Floats, steps: int = 2) -> Floats:
        """Newton steps of the penalised logistic regression of the fair class on the matrix."""
        x, places, counts = self._distinct
        sums = np.bincount(places, fair, len(x))
        for _ in range(steps):
            chance = expit(x @ weights)
            slope = x.T @ (sums - counts * chance) - self.penalty * weights
            curvature = (x * (counts * chance * (1 - chance))[:, None]).T @ x + np.diag(self.penalty + 1e-9)
            weights = weights + np.clip(np.linalg.solve(curvature, slope), -2, 2)
        return weights

    def most_dependent(self, fit: Fit, annotators: Codes) -> Dependence | None:
        """The pair of annotators whose agreement the model explains least, corrected for the number of pairs.

        ``annotators`` says who gave each vote; there is no pair where several of them are one kind.
        """
        kinds = self.votes.kinds
        if int(annotators.max(initial=-1)) >= kinds:
            return None
        zeros, ones = self.votes.counts[:, ::2], self.votes.counts[:, 1::2]
        shared = np.asarray(((zeros + ones).T @ (zeros + ones)).todense())
        agreed = np.asarray((zeros.T @ zeros + ones.T @ ones).todense())
        # [kinds, groups, hard, fair, vote], weighted so that products of two annotators are joint probabilities.
        states = self.states(fit, np.log(fit.tables))[0].mean(0)
        weighted = (fit.tables * np.sqrt(states)[..., None]).reshape(kinds, -1)
        expected = np.clip(weighted @ weighted.T, 1e-6, 1 - 1e-6)
        agreement = agreed / np.maximum(shared, 1)
        scores = np.abs(agreement - expected) / np.sqrt(expected * (1 - expected) / np.maximum(shared, 1))
        pairs = np.triu(shared >= LEAST_SHARED, 1)
        limit = NormalDist().inv_cdf(1 - 0.005 / max(1, int(pairs.sum())))
        scores = np.where(pairs & (np.abs(agreement - expected) > LEAST_DIFFERENCE), scores, 0.0)
        if scores.max(initial=0) <= limit:
            return None
        pair = np.unravel_index(int(scores.argmax()), scores.shape)
        one, other = (int(place) for place in pair)
        share, by_model = float(agreement[pair]), float(expected[pair])
        return Dependence((one, other), int(shared[pair]), share, by_model, int((scores > limit).sum()))


class Dependence(NamedTuple):
    """Two annotators, by position, who agree more or less often than independent errors would give.

    On how many rows both voted, the share on which they agree, the share that the model expects; and how many pairs
    are like them.
    """

    annotators: tuple[int, int]
    rows: int
    agreement: float
    expected: float
    pairs: int


def _share(count: float, total: float, prior: tuple[float, float]) -> float:
    """The likeliest probability of what was counted, with its prior."""
    return float(np.clip((count + prior[0] - 1) / (total + sum(prior) - 2), 1e-4, 1 - 1e-4))


def _expected_logs(posterior: Floats) -> Any:
    return digamma(posterior) - digamma(posterior.sum(-1, keepdims=True))


def _log_beta(weights: Floats) -> Any:
    return betaln(weights[..., 0], weights[..., 1])


def _hyper(prior: Floats) -> float:
    """What is known of a prior: log-density of what it is worth and of its mean."""
    worth = float(prior.sum())
    normal = -0.5 * ((np.log(worth) - WORTH) / SPREAD) ** 2 - np.log(SPREAD * np.sqrt(2 * np.pi))
    return float(normal + ((MOSTLY - 1) * np.log(prior / worth)).sum() - _log_beta(MOSTLY))


def _likeliest_prior(posteriors: Floats, start: Floats) -> Floats:
    """The prior, by the expected logs of the errors that share it."""
    if not len(posteriors):
        return start
    logs, count = _expected_logs(posteriors).sum(0), len(posteriors)

    def loss(point: Floats) -> tuple[float, Floats]:
        prior = np.exp(point)
        worth = prior.sum()
        value = -count * _log_beta(prior) + ((prior - 1) * logs).sum() + _hyper(prior)
        slope = count * (digamma(worth) - digamma(prior)) + logs - (np.log(worth) - WORTH) / SPREAD**2 / worth
        slope += (MOSTLY - 1) / prior - (MOSTLY - 1).sum() / worth
        return -float(value), -slope * prior

    return np.asarray(np.exp(minimize(loss, np.log(start), jac=True, method="L-BFGS-B", bounds=[(-7, 7)] * 2).x))
