"""How often each annotator errs, from sparse votes: variational EM with errors that are partially pooled.

    fair_i ~ h(x_i),  hard_i ~ Bernoulli(hard),  vote_ij ~ (1 - g_i) errors_j(fair_i, group_i, .) + g_i / classes

where g_i is the probability of a guess on a hard row, and 0 on the others. The errors of all annotators in a group and
fair class share a Dirichlet prior, which is estimated from them (empirical Bayes): who gave few votes is drawn to the
others. Errors may be symmetric (one number for each annotator and group), and rows may be hard; of the four models the
one with the highest evidence bound is kept. With a flat prior, asymmetric errors and no hard rows this is Dawid and
Skene's model (1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import betainc, betaincinv, digamma, expit, gammaln, log_softmax, logit, softmax

from problog4fairness.data import Codes, Floats

# Rounds of EM to choose among the models, and to fit the one that is kept; parameters that move by less have settled.
CHOOSING, MOST_ROUNDS, SETTLED = 100, 500, 1e-5
# The priors are estimated again every few rounds.
EVERY = 4
# What is known of the priors: how many votes they are worth (a lognormal), and that annotators are mostly right.
WORTH, SPREAD, RIGHT, WRONG = np.log(8.0), 1.25, 4.0, 1.5
# Deviation of the weights of standardised columns in the model of the fair label; the constant's is four times that.
DEVIATION = 5.0
# Of hard rows and of guesses on them: as if so many had been counted.
HARD_PRIOR, GUESS_PRIOR, GUESSES = (1.0, 4.0), (2.0, 1.0), 5.0
# Rows that two annotators share, and the difference from the expected agreement, below which none is looked at.
LEAST_SHARED, LEAST_DIFFERENCE = 20, 0.03
# The share of a prior's worth that counts in intervals, for it is estimated itself: with all of it, 95% intervals of
# annotators with 15 votes of a class cover 91%, with half 94 to 96%.
PRIOR_SHARE = 0.5
# The evidence below which a model counts no longer.
LEAST_WEIGHT = 0.01
# How many times better than the mean of two symmetric errors their difference is known.
TIED = 1000.0
# Logarithm of how many times likelier asymmetric errors must be (Kass and Raftery 1995).
STRONG = 3.0
# Parameters whose joint curvature is inverted; of more, each annotator's alone.
MOST_JOINT = 2500


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes as a sparse table.

    Attributes
    ----------
    counts
        ``[rows, kinds * classes]``: how many annotators of a kind gave the class to the row.
    classes
        The number of classes.
    """

    counts: sparse.csr_array
    classes: int

    @classmethod
    def of(cls, rows: Codes, kinds: Codes, labels: Codes, shape: tuple[int, int], classes: int) -> Votes:
        """From a list of votes: of which row, by which kind of annotator, for which class."""
        places = (rows, kinds * classes + labels)
        counts = sparse.coo_array((np.ones(len(rows)), places), shape=(shape[0], shape[1] * classes))
        return cls(counts.tocsr(), classes)

    @property
    def kinds(self) -> int:
        """Number of kinds of annotators."""
        return int(self.counts.shape[1]) // self.classes

    def log_likelihood(self, log_tables: Floats) -> Floats:
        """Sum over votes of log P(vote | ...), ``[rows, ...]``, for ``[kinds, ..., vote]``."""
        between = log_tables.shape[1:-1]
        flat = np.moveaxis(log_tables, -1, 1).reshape(self.kinds * self.classes, -1)
        return np.asarray(self.counts @ flat).reshape(-1, *between)

    def expected(self, weights: Floats) -> Floats:
        """``[kinds, ..., vote]``: votes weighted by ``[rows, ...]``."""
        between = weights.shape[1:]
        flat = np.asarray(self.counts.T @ weights.reshape(len(weights), -1))
        return np.moveaxis(flat.reshape(self.kinds, self.classes, *between), 1, -1)

    @cached_property
    def shares(self) -> Floats:
        """``[rows, classes]``: the classes by their share of the votes, smoothed; where EM begins."""
        totals = self.counts @ np.tile(np.eye(self.classes), (self.kinds, 1))
        totals = totals + 0.25
        return np.asarray(totals / totals.sum(1, keepdims=True))


@dataclass(frozen=True)
class Form:
    """What a model of the errors allows.

    Attributes
    ----------
    symmetric
        Whether an annotator errs as often for each fair class.
    hard
        Whether some rows are hard for all.
    """

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
    posterior
        Dirichlet weights of the errors, ``[kinds, groups, fair, vote]``.
    prior
        Their priors, ``[groups, fair, vote]``.
    hard, guess
        How many rows are hard, and how often a vote on them is a guess.
    answers
        P(class) of guesses, ``[classes]``.
    weights
        ``[columns, classes]`` of the model of the fair label; of the first class they are 0.
    fair
        P(fair class | votes), ``[rows, classes]``.
    bound
        The evidence bound: a lower bound of the log-probability of the votes, all errors averaged over.
    """

    form: Form
    posterior: Floats
    prior: Floats
    hard: float
    guess: float
    answers: Floats
    weights: Floats
    fair: Floats
    bound: float = -np.inf

    @property
    def tables(self) -> Floats:
        """P(vote | fair, group) of each kind on rows that are not hard: posterior means."""
        return np.asarray(self.posterior / self.posterior.sum(-1, keepdims=True))


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
        ``[rows, columns]`` of the linear model of the fair label, the constant first.
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

    def choose(self, forms: Sequence[Form] = FORMS) -> tuple[Fit, Fit | None]:
        """The model with the highest evidence bound, fitted until it has settled, and the one of the other symmetry.

        Errors are taken as symmetric unless the evidence against it is strong: where annotators err together,
        asymmetric errors let the classes stand for what they err on, and the fair label is lost.
        """
        begun: dict[Form, Fit] = {}
        for form in forms:
            # From the votes, and from where the best of the simpler models ended.
            starts = [self._beginning(form)]
            simpler = [fit for other, fit in begun.items() if other.hard <= form.hard]
            starts += [max(simpler, key=lambda fit: fit.bound)] if simpler else []
            begun[form] = max((self.fit(form, fit.fair, CHOOSING) for fit in starts), key=lambda fit: fit.bound)
        best = max(begun.values(), key=lambda fit: fit.bound + STRONG * fit.form.symmetric)
        rival = begun.get(replace(best.form, symmetric=not best.form.symmetric))
        return self.fit(best.form, best.fair, MOST_ROUNDS, best), rival

    def _beginning(self, form: Form) -> Fit:
        fair = self.votes.shares.copy()
        audited = self.known >= 0
        fair[audited] = np.eye(self.votes.classes)[self.known[audited]]
        return self._first(form, fair)

    def _first(self, form: Form, fair: Floats) -> Fit:
        classes, groups = self.votes.classes, self.shares.shape[1]
        prior = np.full((classes, classes), 8 * 0.2 / max(1, classes - 1))
        np.fill_diagonal(prior, 8 * 0.8)
        prior = np.tile(prior, (groups, 1, 1))
        hard, guess = (0.1, 0.8) if form.hard else (0.0, 0.0)
        start = Fit(form, np.tile(prior, (self.votes.kinds, 1, 1, 1)), prior, hard, guess,
                    np.full(classes, 1 / classes), np.zeros((self.matrix.shape[1], classes)), fair)  # fmt: skip
        states = (self.shares[:, :, None] * fair[:, None, :])[:, :, None, :]
        if form.hard:
            # Rows whose votes disagree are the first to be thought hard.
            doubt = np.clip(2 * (1 - self.votes.shares.max(1)), 0.05, 0.9)[:, None, None, None]
            states = np.concatenate([states * (1 - doubt), states * doubt], axis=2)
        return self._maximised(start, states, priors=False)

    def fit(self, form: Form, fair: Floats, rounds: int, start: Fit | None = None) -> Fit:
        """One model, from a first guess of P(fair class | votes)."""
        at = self._first(form, fair) if start is None else start
        for number in range(rounds):
            states, bound = self._states(at)
            after = self._maximised(replace(at, bound=bound), states, priors=number % EVERY == EVERY - 1)
            moved = max(
                float(np.abs(after.tables - at.tables).max()), abs(after.hard - at.hard), abs(after.guess - at.guess)
            )
            at = after
            if moved < SETTLED and number > EVERY:
                break
        states, bound = self._states(at)
        return replace(at, fair=states.sum((1, 2)), bound=bound)

    def _expected_logs(self, fit: Fit) -> Floats:
        """E[log P(vote | fair, group)], ``[kinds, groups, fair, vote]``."""
        post = fit.posterior
        if not fit.form.symmetric:
            return np.asarray(digamma(post) - digamma(post.sum(-1, keepdims=True)))
        # [kinds, groups, (wrong, right)] spread over the wrong classes.
        wrong, right = self._of_symmetric(post)
        total = digamma(wrong + right)
        others = self.votes.classes - 1
        logs = np.broadcast_to((digamma(wrong) - total - np.log(others))[..., None, None], post.shape).copy()
        every = np.arange(self.votes.classes)
        logs[..., every, every] = (digamma(right) - total)[..., None]
        return logs

    def _of_symmetric(self, table: Floats) -> tuple[Floats, Floats]:
        """Weights of wrong and right votes of a table whose classes are all alike."""
        right = table[..., 0, 0]
        return table[..., 0, :].sum(-1) - right, right

    def _log_joint(self, fit: Fit, easy: Floats) -> Floats:
        """log P(votes, group, hard, fair), ``[rows, groups, hard, fair]``, from the logs of easy rows' tables."""
        tables = [easy]
        if fit.form.hard:
            tables.append(np.log((1 - fit.guess) * np.exp(easy) + fit.guess * fit.answers))
        votes = self.votes.log_likelihood(np.stack(tables, axis=2))
        share = np.log([1 - fit.hard, fit.hard]) if fit.form.hard else np.zeros(1)
        distinct, places, _ = self._distinct
        chance = log_softmax(distinct @ fit.weights, axis=1)[places]
        joint = votes + self._log_shares[:, :, None, None] + share[:, None] + chance[:, None, None, :]
        audited = np.flatnonzero(self.known >= 0)
        other = np.arange(self.votes.classes) != self.known[audited, None]
        joint[audited] = np.where(other[:, None, None, :], -np.inf, joint[audited])
        return np.asarray(joint)

    def _states(self, fit: Fit) -> tuple[Floats, float]:
        """P(group, hard, fair | votes), and the evidence bound."""
        easy = self._expected_logs(fit)
        joint = self._log_joint(fit, easy)
        states, total = _normalised(joint)
        return states, float(total.sum()) - self._divergence(fit, easy) + self._log_prior(fit)

    def _divergence(self, fit: Fit, easy: Floats) -> float:
        """KL divergence of the errors' posterior from their prior."""
        post, prior = fit.posterior, np.broadcast_to(fit.prior, fit.posterior.shape)
        if fit.form.symmetric:
            post, prior = (np.stack(self._of_symmetric(table), -1) for table in (post, prior))
            easy = digamma(post) - digamma(post.sum(-1, keepdims=True))
        return float((_log_beta(prior) - _log_beta(post)).sum() + ((post - prior) * easy).sum())

    def _log_prior(self, fit: Fit) -> float:
        scale = np.full((self.matrix.shape[1], 1), DEVIATION)
        scale[0] *= 4
        found = -0.5 * float(((fit.weights / scale) ** 2).sum())
        if fit.form.symmetric:
            found += sum(_hyper(np.array(self._of_symmetric(own)), 1) for own in fit.prior)
        else:
            found += sum(_hyper(own, f) for table in fit.prior for f, own in enumerate(table))
        if fit.form.hard:
            for value, (a, b) in ((fit.hard, HARD_PRIOR), (fit.guess, GUESS_PRIOR)):
                found += (a - 1) * np.log(value) + (b - 1) * np.log1p(-value) - _log_beta(np.array([a, b]))
            found += ((GUESSES - 1) * np.log(fit.answers)).sum() - _log_beta(np.full(len(fit.answers), GUESSES))
            # By Laplace's method, as many parameters are averaged over.
            found -= 0.5 * (1 + len(fit.answers)) * np.log(len(self.known) / (2 * np.pi))
        return float(found)

    def _maximised(self, fit: Fit, states: Floats, priors: bool) -> Fit:
        """The model that explains the states best."""
        counts = self.votes.expected(states)  # [kinds, groups, hard, fair, vote]
        easy, guess, hard, answers = counts[:, :, 0], fit.guess, fit.hard, fit.answers
        if fit.form.hard:
            logs = np.exp(self._expected_logs(fit))
            share = guess * answers
            guessed = counts[:, :, 1] * (share / ((1 - guess) * logs + share))
            answers = guessed.sum((0, 1, 2)) + GUESSES - 1
            answers = answers / answers.sum()
            easy = easy + counts[:, :, 1] - guessed
            (a, b), (c, d) = HARD_PRIOR, GUESS_PRIOR
            hard = (states[:, :, 1].sum() + a - 1) / (len(states) + a + b - 2)
            guess = (guessed.sum() + c - 1) / (counts[:, :, 1].sum() + c + d - 2)
            hard, guess = (float(np.clip(own, 1e-4, 1 - 1e-4)) for own in (hard, guess))
        if fit.form.symmetric:
            easy = self._symmetric(easy)
        posterior = fit.prior + easy
        fair = states.sum((1, 2))
        after = replace(fit, posterior=posterior, hard=hard, guess=guess, answers=answers, fair=fair,
                        weights=self._regressed(fit.weights, fair))  # fmt: skip
        return replace(after, prior=self._priors(after, easy)) if priors else after

    def _symmetric(self, counts: Floats) -> Floats:
        """Counts as if all classes were alike: right and wrong votes of all of them, in each."""
        every = np.arange(self.votes.classes)
        right = counts[..., every, every].sum(-1)
        wrong = counts.sum((-1, -2)) - right
        found = np.broadcast_to((wrong / (self.votes.classes - 1))[..., None, None], counts.shape).copy()
        found[..., every, every] = right[..., None]
        return found

    def _regressed(self, weights: Floats, fair: Floats, steps: int = 2) -> Floats:
        """Newton steps of the penalised multinomial regression of the fair class on the matrix."""
        (x, places, counts), classes = self._distinct, self.votes.classes
        sums = np.stack([np.bincount(places, fair[:, f], len(x)) for f in range(1, classes)], axis=1)
        width = x.shape[1]
        penalty = np.full(width, 1 / DEVIATION**2)
        penalty[0] /= 16
        for _ in range(steps):
            chance = softmax(x @ weights, axis=1)[:, 1:]
            slope = x.T @ (sums - counts[:, None] * chance) - penalty[:, None] * weights[:, 1:]
            curvature = np.zeros((classes - 1, width, classes - 1, width))
            for f in range(classes - 1):
                for g in range(f, classes - 1):
                    own = counts * chance[:, f] * ((f == g) - chance[:, g])
                    curvature[f, :, g] = curvature[g, :, f] = (x * own[:, None]).T @ x
                curvature[f, :, f] += np.diag(penalty)
            size = (classes - 1) * width
            step = np.linalg.solve(curvature.reshape(size, size) + 1e-9 * np.eye(size), slope.T.reshape(-1))
            step = np.clip(step, -2, 2).reshape(classes - 1, width).T
            weights = np.concatenate([weights[:, :1], weights[:, 1:] + step], axis=1)
        return weights

    def most_dependent(self, fit: Fit, given: Any) -> Dependence | None:
        """The pair of annotators whose agreement the model explains least, corrected for the number of pairs.

        Parameters
        ----------
        fit
            A fitted model in which every annotator is a kind; None is found where several are one.
        given
            The list of votes that the model was fitted to, with their annotators.
        """
        kinds, classes = self.votes.kinds, self.votes.classes
        if int(given.annotators.max(initial=-1)) >= kinds:
            return None
        one_hot = [self.votes.counts[:, np.arange(kinds) * classes + v] for v in range(classes)]
        shared = np.asarray((sum(one_hot).T @ sum(one_hot)).todense())
        agreed = sum(np.asarray((own.T @ own).todense()) for own in one_hot)
        states = _normalised(self._log_joint(fit, np.log(fit.tables)))[0].mean(0)
        tables = [fit.tables]
        if fit.form.hard:
            tables.append((1 - fit.guess) * fit.tables + fit.guess * fit.answers)
        # [kinds, groups, hard, fair, vote], weighted so that products of two annotators are joint probabilities.
        weighted = np.stack(tables, axis=2) * np.sqrt(states)[..., None]
        flat = weighted.reshape(kinds, -1)
        expected = np.clip(flat @ flat.T, 1e-6, 1 - 1e-6)
        agreement = agreed / np.maximum(shared, 1)
        scores = (agreement - expected) / np.sqrt(expected * (1 - expected) / np.maximum(shared, 1))
        pairs = np.triu(shared >= LEAST_SHARED, 1)
        limit = NormalDist().inv_cdf(1 - 0.005 / max(1, int(pairs.sum())))
        scores = np.where(pairs & (np.abs(agreement - expected) > LEAST_DIFFERENCE), np.abs(scores), 0.0)
        if scores.max(initial=0) <= limit:
            return None
        one, other = np.unravel_index(int(scores.argmax()), scores.shape)
        return Dependence(
            (int(one), int(other)),
            int(shared[one, other]),
            float(agreement[one, other]),
            float(expected[one, other]),
            int((scores > limit).sum()),
        )

    def _priors(self, fit: Fit, counts: Floats) -> Floats:
        """Priors that make the errors' posteriors likeliest, of those kinds that gave votes."""
        prior = fit.prior.copy()
        for group in range(len(prior)):
            if fit.form.symmetric:
                post = np.stack(self._of_symmetric(fit.posterior[:, group]), -1)
                voted = counts[:, group].sum((-1, -2)) > 0
                wrong, right = _estimated_prior(post[voted], np.array(self._of_symmetric(prior[group])), 1)
                every = np.arange(self.votes.classes)
                prior[group] = wrong / (self.votes.classes - 1)
                prior[group][every, every] = right
                continue
            for f in range(self.votes.classes):
                post = fit.posterior[:, group, f]
                prior[group, f] = _estimated_prior(post[counts[:, group, f].sum(-1) > 0.5], prior[group, f], f)
        return prior


@dataclass(frozen=True)
class Dependence:
    """Two annotators who agree more or less often than independent errors would give.

    Attributes
    ----------
    annotators
        Their positions.
    rows, agreement, expected
        Rows on which both voted, the share on which they agree, and the share that the model expects.
    pairs
        How many pairs of annotators are like them.
    """

    annotators: tuple[int, int]
    rows: int
    agreement: float
    expected: float
    pairs: int


def _normalised(joint: Floats) -> tuple[Floats, Floats]:
    """P(state | row) from its logs ``[rows, ...]``, and the logs of their sums ``[rows]``."""
    # States first: numpy is quick along long axes.
    flat = np.ascontiguousarray(joint.reshape(len(joint), -1).T)
    largest = flat.max(axis=0)
    flat = np.exp(flat - largest)
    total = flat.sum(axis=0)
    return (flat / total).T.reshape(joint.shape), np.log(total) + largest


def _log_beta(weights: Floats) -> Any:
    return gammaln(weights).sum(-1) - gammaln(weights.sum(-1))


def _hyper(prior: Floats, right: int) -> float:
    """What is known of a prior: log-density of what it is worth and of its mean."""
    worth = float(prior.sum())
    mean = prior / worth
    shape = np.full(len(prior), WRONG)
    shape[right] = RIGHT
    normal = -0.5 * ((np.log(worth) - WORTH) / SPREAD) ** 2 - np.log(SPREAD * np.sqrt(2 * np.pi))
    return float(normal + ((shape - 1) * np.log(mean)).sum() - _log_beta(shape))


def _estimated_prior(posteriors: Floats, start: Floats, right: int) -> Floats:
    """The prior, by the expected logs of the errors that share it."""
    if not len(posteriors):
        return start
    logs = (digamma(posteriors) - digamma(posteriors.sum(-1, keepdims=True))).sum(0)
    count = len(posteriors)

    def loss(point: Floats) -> tuple[float, Floats]:
        prior = np.exp(point)
        worth = prior.sum()
        shape = np.full(len(prior), WRONG)
        shape[right] = RIGHT
        value = -count * _log_beta(prior) + ((prior - 1) * logs).sum() + _hyper(prior, right)
        slope = count * (digamma(worth) - digamma(prior)) + logs
        slope = slope - (np.log(worth) - WORTH) / SPREAD**2 / worth + (shape - 1) / prior - (shape - 1).sum() / worth
        return -float(value), -slope * prior

    found = minimize(loss, np.log(start), jac=True, method="L-BFGS-B", bounds=[(-7, 7)] * len(start))
    return np.asarray(np.exp(found.x))


@dataclass(frozen=True, eq=False)
class Precision:
    """How well the errors are known.

    Attributes
    ----------
    symmetric
        Whether the two errors of an annotator in a group are one number.
    low, high
        Ends of the intervals of every wrong vote's probability, ``[kinds, groups, fair]`` for two classes.
    covariance
        Of the errors, ``[parameters, parameters]``, in the order kinds, groups, fair (one for all where symmetric);
        None where there are too many.
    deviations
        ``[kinds, groups, fair]``: of draws.
    hard
        Ends of the intervals of ``hard``, ``guess`` and ``answer``, ``[3, 2]``; empty without hard rows.
    """

    symmetric: bool
    low: Floats
    high: Floats
    deviations: Floats
    covariance: Floats | None
    hard: Floats

    def information(self, joint: bool) -> sparse.csr_array:
        """The information of all errors, ``[kinds * groups * fair] * 2``; without ``joint``, of each annotator's alone.

        Symmetric errors are one number: their difference is taken as known.
        """
        if joint and self.covariance is not None:
            inverse: Any = np.linalg.pinv(self.covariance, hermitian=True)
        else:
            deviations = self.deviations.reshape(-1)[:: 2 if self.symmetric else 1]
            inverse = sparse.diags_array(1 / np.maximum(deviations, 1e-9) ** 2)
        if not self.symmetric:
            return sparse.csr_array(inverse)
        tie = sparse.diags_array(TIED * inverse.diagonal())
        mean, difference = np.full((2, 2), 0.25), np.array([[1.0, -1.0], [-1.0, 1.0]])
        return sparse.csr_array(sparse.kron(inverse, mean) + sparse.kron(tie, difference))


def precision(model: ErrorModel, fit: Fit, rival: Fit | None, confidence: float) -> Precision:
    """Intervals of the errors, for two classes.

    Each is that of the Beta distribution with the error's mean and its deviation by the curvature of the likelihood. As
    long as the votes do not refute the model of the other symmetry, it counts by its evidence: an interval is that of
    the mixture.
    """
    chosen = _curved(model, fit)
    parts, weights = [chosen], np.ones(1)
    if rival is not None:
        weight = 1 / (1 + np.exp(np.clip(fit.bound - rival.bound, -500, 500)))
        if weight > LEAST_WEIGHT:
            parts, weights = [chosen, _curved(model, rival)], np.array([1 - weight, weight])
    tail = (1 - confidence) / 2
    low, high = (_mixture_quantile(parts, weights, end) for end in (tail, 1 - tail))
    # Correlations are those of the freer model where it counts; draws are as wide as the intervals.
    freest = parts[-1] if fit.form.symmetric else chosen
    symmetric = fit.form.symmetric and len(parts) == 1
    deviations = np.maximum(high - low, 1e-9) / (2 * NormalDist().inv_cdf(1 - tail))
    covariance = freest.covariance
    if covariance is not None:
        spread = deviations[..., : 1 if symmetric else 2].reshape(-1) / np.sqrt(np.diag(covariance))
        covariance = covariance * np.outer(spread, spread)
    z = NormalDist().inv_cdf(1 - tail)
    hard = [expit(logit(chosen.hard) + side * z * chosen.hard_deviations) for side in (-1, 1)]
    return Precision(symmetric, low, high, deviations, covariance, np.stack(hard, axis=-1))


def _mixture_quantile(parts: Sequence[_Curved], weights: Floats, share: float) -> Floats:
    """Below which the Beta distributions together have this share."""
    if len(parts) == 1:
        return np.asarray(betaincinv(*parts[0].beta, share))
    ends = np.stack([betaincinv(*part.beta, share) for part in parts])
    low, high = ends.min(0), ends.max(0)
    for _ in range(30):
        middle = (low + high) / 2
        below = sum(weight * betainc(*part.beta, middle) for weight, part in zip(weights, parts, strict=True))
        low, high = np.where(below < share, middle, low), np.where(below < share, high, middle)
    return np.asarray((low + high) / 2)


@dataclass(frozen=True, eq=False)
class _Curved:
    """Errors and how well they are known by the curvature of the likelihood, ``[kinds, groups, fair]``.

    Beside them the parameters of hard rows, with the deviations of their logits.
    """

    errors: Floats
    deviations: Floats
    covariance: Floats | None
    hard: Floats
    hard_deviations: Floats

    @property
    def beta(self) -> tuple[Floats, Floats]:
        """Parameters of the Beta distributions with these means and deviations."""
        rows = np.maximum(self.errors * (1 - self.errors) / self.deviations**2, 1e-2)
        return self.errors * rows, (1 - self.errors) * rows


def _curved(model: ErrorModel, fit: Fit) -> _Curved:
    """The curvature of the votes' likelihood (Louis 1982), which knows that fair labels are not known.

    It is that of the complete data less what they would tell: the variance of the score within each row.
    """
    votes, groups, width = model.votes, model.shares.shape[1], model.matrix.shape[1]
    wrong = np.stack([fit.tables[..., 0, 1], fit.tables[..., 1, 0]], -1)  # [kinds, groups, fair]
    states, _ = _normalised(model._log_joint(fit, np.log(fit.tables)))
    sides, extra = (1 if fit.form.symmetric else 2), (3 if fit.form.hard else 0)
    size = votes.kinds * groups * sides
    own, cross, shared = np.zeros(size), np.zeros((size, extra)), np.zeros((extra, extra))
    chance = softmax(model.matrix @ fit.weights, axis=1)[:, 1]
    scores: list[tuple[Floats, Any]] = []
    for group, hard, fair in np.ndindex(groups, states.shape[2], 2):
        weight = states[:, group, hard, fair]
        total = np.asarray(votes.counts.T @ weight).reshape(votes.kinds, 2)
        place = (np.arange(votes.kinds) * groups + group) * sides + (fair if sides == 2 else 0)
        first, second, others, mixed, both = _slopes(fit, wrong[:, group, fair], fair, bool(hard))
        np.add.at(own, place, -(total * second).sum(-1))
        if hard:
            np.add.at(cross, place, -np.einsum("kv,kva->ka", total, mixed))
            shared -= np.einsum("kv,kvab->ab", total, both)
        entries = (first.reshape(-1), (np.arange(2 * votes.kinds), np.repeat(place, 2)))
        parts = [votes.counts @ sparse.csr_array(entries, (2 * votes.kinds, size))]
        if extra:
            parts.append(np.column_stack([np.full(len(weight), hard - fit.hard), votes.counts @ others]))
        parts.append(model.matrix * (fair - chance)[:, None])
        scores.append((weight, sparse.hstack([sparse.csr_array(part) for part in parts]).tocsr()))
    prior = (PRIOR_SHARE * fit.prior.sum(-1) * wrong * (1 - wrong))[..., :sides].reshape(-1)
    penalty = np.full(width, 1 / DEVIATION**2)
    penalty[0] /= 16
    values = np.array([fit.hard, fit.guess, fit.answers[-1]])[:extra]
    worth = np.array([sum(HARD_PRIOR), sum(GUESS_PRIOR), 2 * GUESSES])[:extra] * values * (1 - values)
    if extra:
        shared[0, 0] += len(states) * fit.hard * (1 - fit.hard)
    label = (model.matrix * (chance * (1 - chance))[:, None]).T @ model.matrix
    least = np.concatenate([prior, worth, penalty])
    mean = sum(part.multiply(weight[:, None]) for weight, part in scores).tocsr()
    # The parameters of all annotators together, or only those that they share with each one's alone.
    joint = size <= MOST_JOINT
    if joint:
        full = np.diag(least)
        full[np.arange(size), np.arange(size)] += own
        full[:size, size : size + extra] += cross
        full[size : size + extra, :size] += cross.T
        full[size : size + extra, size : size + extra] += shared
        full[size + extra :, size + extra :] += label
        for weight, part in scores:
            full -= (part.T @ part.multiply(weight[:, None])).toarray()
        full += (mean.T @ mean).toarray()
        logits = _inverse(full, least)
        variance = np.diag(logits)
    else:
        lost = sum(part.multiply(part).multiply(weight[:, None]).sum(0) for weight, part in scores)
        complete = np.concatenate([own, np.diag(shared), np.diag(label)]) + least
        variance = 1 / np.maximum(complete - np.asarray(lost - mean.multiply(mean).sum(0)).reshape(-1), least)
    errors = (wrong[..., :1] if sides == 1 else wrong).reshape(-1)
    inside = errors * (1 - errors)
    covariance = logits[:size, :size] * np.outer(inside, inside) if joint else None
    spread = (np.sqrt(variance[:size]) * inside).reshape(votes.kinds, groups, sides)
    return _Curved(wrong, np.broadcast_to(spread, (votes.kinds, groups, 2)), covariance,
                   values, np.sqrt(variance[size : size + extra]))  # fmt: skip


def _slopes(fit: Fit, e: Floats, fair: int, hard: bool) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Slopes of log P(vote) by the logits of the error, of ``guess`` and of ``answer``, ``[kinds, votes]``.

    The first and second one by the error; the first ones by hard rows' parameters ``[kinds * votes, 2]``; the mixed
    ones ``[kinds, votes, 3]``, and those among hard rows' parameters ``[kinds, votes, 3, 3]``, whose first is the share
    of hard rows itself.
    """
    sign = np.array([1.0, -1.0] if fair else [-1.0, 1.0])  # of a vote that is wrong, and of one that is right
    theta = np.where(sign > 0, e[:, None], 1 - e[:, None])
    slope = (e * (1 - e))[:, None] * sign
    others, mixed, both = np.zeros((*theta.shape, 2)), np.zeros((*theta.shape, 3)), np.zeros((*theta.shape, 3, 3))
    if not hard:
        first = slope / theta
        return first, slope * (1 - 2 * e)[:, None] / theta - first**2, others.reshape(-1, 2), mixed, both
    m, c = fit.guess, float(fit.answers[1])
    p = (1 - m) * theta + m * fit.answers
    first = (1 - m) * slope / p
    second = (1 - m) * slope * (1 - 2 * e)[:, None] / p - first**2
    guess = m * (1 - m) * (fit.answers - theta)
    turn = c * (1 - c) * np.array([-1.0, 1.0])
    others = np.stack([guess / p, m * turn / p], -1)
    mixed[..., 1] = -m * (1 - m) * slope / p - first * others[..., 0]
    mixed[..., 2] = -first * others[..., 1]
    both[..., 1, 1] = guess * (1 - 2 * m) / p - others[..., 0] ** 2
    both[..., 2, 2] = m * turn * (1 - 2 * c) / p - others[..., 1] ** 2
    both[..., 1, 2] = both[..., 2, 1] = m * (1 - m) * turn / p - others[..., 0] * others[..., 1]
    return first, second, others.reshape(-1, 2), mixed, both


def _inverse(curvature: Floats, least: Floats) -> Floats:
    """The covariance; in directions in which there is less curvature than the priors have, it is theirs."""
    scale = 1 / np.sqrt(np.maximum(np.diag(curvature), least))
    sizes, directions = np.linalg.eigh(curvature * np.outer(scale, scale))
    floor = float((least * scale**2).min())
    return np.asarray((directions / np.maximum(sizes, max(floor, 1e-4)) @ directions.T) * np.outer(scale, scale))


def fair_given_votes(terms: Floats, shares: Floats, rounds: int = 500) -> Floats:
    """P(fair class | votes) ``[rows, classes]``, where each group has the class shares that make its votes likeliest.

    Parameters
    ----------
    terms
        log P(votes | fair class, group), ``[rows, groups, classes]``.
    shares
        ``[rows, groups]``.
    """
    ratio = np.exp(terms - terms.max((1, 2), keepdims=True))
    chance = np.full(terms.shape[1:], 1 / terms.shape[2])
    found = np.zeros((len(terms), terms.shape[2]))
    for _ in range(rounds):
        joint = shares[:, :, None] * chance * ratio
        joint /= np.maximum(joint.sum((1, 2), keepdims=True), 1e-300)
        found = joint.sum(1)
        settled = joint.sum(0) / np.maximum(joint.sum((0, 2)), 1e-300)[:, None]
        if np.abs(settled - chance).max() < 1e-10:
            break
        chance = np.clip(settled, 1e-12, 1)
    return found
