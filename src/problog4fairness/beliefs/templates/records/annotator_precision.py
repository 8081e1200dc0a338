"""How well the errors of annotators are known: intervals by the curvature of the votes' likelihood (Louis 1982).

The curvature is that of the complete data less what the fair labels, groups and hard rows would tell: the variance of
the score within each row. It is on the scale of logits, of the errors, of the share of hard rows, of guesses and of
what they say; the weights of the model of the fair label are beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import torch
from scipy import sparse
from scipy.special import betainc, betaincinv, expit, logit

from problog4fairness.audit import warn_audit
from problog4fairness.beliefs.templates.records.annotator_errors import (
    ANSWER_PRIOR,
    GUESS_PRIOR,
    HARD_PRIOR,
    Dependence,
    ErrorModel,
    Fit,
)
from problog4fairness.data import Floats
from problog4fairness.statistics import Parameter

# Names and meanings of the parameters of hard rows.
HARD = {
    "hard": "a row is hard for all annotators",
    "guess": "a vote on a hard row is a guess",
    "answer": "a guess says 1",
}
# The share of a prior's worth that counts in intervals, for it is estimated itself: with all of it, 95% intervals of
# annotators with 15 votes of a class cover 91%, with half 94 to 96%.
PRIOR_SHARE = 0.5
# The evidence below which a model counts no longer.
LEAST_WEIGHT = 0.01
# How many times better than the mean of two symmetric errors their difference is known.
TIED = 1000.0
# Parameters whose joint curvature is inverted; of more, each annotator's alone.
MOST_JOINT = 2500
# Parameters whose covariance is stored; of more, each is as sure as it is alone.
MOST_STORED = 200
# A parameter whose interval is wider is named in a warning.
WIDE = 0.5


@dataclass(frozen=True, eq=False)
class Precision:
    """How well the errors are known.

    Attributes
    ----------
    symmetric
        Whether the two errors of an annotator in a group are one number.
    low, high
        Ends of the intervals of every wrong vote's probability, ``[kinds, groups, fair]``.
    deviations
        ``[kinds, groups, fair]``: of draws.
    covariance
        Of the errors, ``[parameters, parameters]``, in the order kinds, groups, fair (one for all where symmetric);
        None where there are too many.
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
            inverse = sparse.csr_array(np.linalg.pinv(self.covariance, hermitian=True))
        else:
            deviations = self.deviations.reshape(-1)[:: 2 if self.symmetric else 1]
            inverse = sparse.diags_array(1 / np.maximum(deviations, 1e-9) ** 2).tocsr()
        if not self.symmetric:
            return inverse
        tie = sparse.diags_array(TIED * inverse.diagonal())
        mean, difference = np.full((2, 2), 0.25), np.array([[1.0, -1.0], [-1.0, 1.0]])
        return sparse.csr_array(sparse.kron(inverse, mean) + sparse.kron(tie, difference))


def precision(model: ErrorModel, fit: Fit, rival: Fit | None, confidence: float) -> Precision:
    """Intervals of the errors.

    Each is that of the Beta distribution with the error's mean and its deviation by the curvature of the likelihood. As
    long as the votes do not refute the model of the other symmetry, it counts by its evidence: an interval is that of
    the mixture.
    """
    chosen = _curved(model, fit)
    parts, weights = [chosen], np.ones(1)
    if rival is not None:
        weight = expit(rival.bound - fit.bound)
        if weight > LEAST_WEIGHT:
            parts, weights = [chosen, _curved(model, rival)], np.array([1 - weight, weight])
    tail = (1 - confidence) / 2
    z = NormalDist().inv_cdf(1 - tail)
    low, high = (_mixture_quantile(parts, weights, end) for end in (tail, 1 - tail))
    # Correlations are those of the freer model where it counts; draws are as wide as the intervals.
    freest = parts[-1] if fit.form.symmetric else chosen
    symmetric = fit.form.symmetric and len(parts) == 1
    deviations = np.maximum(high - low, 1e-9) / (2 * z)
    covariance = freest.covariance
    if covariance is not None:
        spread = deviations[..., : 1 if symmetric else 2].reshape(-1) / np.sqrt(np.diag(covariance))
        covariance = covariance * np.outer(spread, spread)
    hard = [expit(logit(chosen.hard) + side * z * chosen.hard_deviations) for side in (-1, 1)]
    return Precision(symmetric, low, high, deviations, covariance, np.stack(hard, axis=-1))


@dataclass(frozen=True, eq=False)
class _Curved:
    """Errors with their deviations by the curvature, ``[kinds, groups, fair]``, and their covariance.

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


def _mixture_quantile(parts: Sequence[_Curved], weights: Floats, share: float) -> Floats:
    """Below which the mixture of the Beta distributions has this share."""
    ends = np.stack([betaincinv(*part.beta, share) for part in parts])
    low, high = ends.min(0), ends.max(0)
    for _ in range(30 if len(parts) > 1 else 0):
        middle = (low + high) / 2
        below = sum(weight * betainc(*part.beta, middle) for weight, part in zip(weights, parts, strict=True))
        low, high = np.where(below < share, middle, low), np.where(below < share, high, middle)
    return np.asarray((low + high) / 2)


def _curved(model: ErrorModel, fit: Fit) -> _Curved:
    votes, (groups, sides) = model.votes, fit.prior.shape[:2]
    states, _ = model.states(fit, np.log(fit.tables))
    size, extra = votes.kinds * groups * sides, 3 if fit.form.hard else 0
    chance = expit(model.matrix @ fit.weights)
    alone, cross, shared = np.zeros(size), np.zeros((size, extra)), np.zeros((extra, extra))
    scores = []
    for group, hard, fair in np.ndindex(groups, states.shape[2], 2):
        weight = states[:, group, hard, fair]
        total = np.asarray(votes.counts.T @ weight).reshape(votes.kinds, 2)
        place = (np.arange(votes.kinds) * groups + group) * sides + fair * (sides - 1)
        first, second = _slopes(fit, group, fair, hard)
        curvature = -np.einsum("kv,kvab->kab", total, second)
        np.add.at(alone, place, curvature[:, 0, 0])
        entries = (first[..., 0].reshape(-1), (np.arange(2 * votes.kinds), np.repeat(place, 2)))
        parts = [votes.counts @ sparse.csr_array(entries, (2 * votes.kinds, size))]
        if extra:
            np.add.at(cross[:, 1:], place, curvature[:, 0, 1:])
            shared[1:, 1:] += curvature[:, 1:, 1:].sum(0)
            guesses = votes.counts @ first[..., 1:].reshape(-1, 2)
            parts.append(np.column_stack([np.full(len(weight), hard - fit.hard), guesses]))
        parts.append(model.matrix * (fair - chance)[:, None])
        scores.append((weight, sparse.hstack([sparse.csr_array(part) for part in parts]).tocsr()))
    values = np.array([fit.hard, fit.guess, fit.answer])[:extra]
    if extra:
        shared[0, 0] += len(states) * fit.hard * (1 - fit.hard)
    inside = fit.errors * (1 - fit.errors)
    least = np.concatenate([
        (PRIOR_SHARE * fit.prior.sum(-1) * inside[..., :sides]).reshape(-1),
        np.array([sum(HARD_PRIOR), sum(GUESS_PRIOR), sum(ANSWER_PRIOR)])[:extra] * values * (1 - values),
        model.penalty,
    ])  # fmt: skip
    label = (model.matrix * (chance * (1 - chance))[:, None]).T @ model.matrix
    mean = sum(part.multiply(weight[:, None]) for weight, part in scores).tocsr()
    joint = size <= MOST_JOINT
    if joint:
        full = np.diag(least)
        full[:size, :size] += np.diag(alone)
        full[:size, size : size + extra] += cross
        full[size : size + extra, :size] += cross.T
        full[size : size + extra, size : size + extra] += shared
        full[size + extra :, size + extra :] += label
        for weight, part in scores:
            full -= (part.T @ part.multiply(weight[:, None])).toarray()
        logits = _inverse(full + (mean.T @ mean).toarray(), least)
        variance = np.diag(logits)
    else:
        lost = sum(part.multiply(part).multiply(weight[:, None]).sum(0) for weight, part in scores)
        complete = np.concatenate([alone, np.diag(shared), np.diag(label)]) + least
        variance = 1 / np.maximum(complete - np.asarray(lost - mean.multiply(mean).sum(0)).reshape(-1), least)
    scale = inside[..., :sides].reshape(-1)
    covariance = logits[:size, :size] * np.outer(scale, scale) if joint else None
    spread = (np.sqrt(variance[:size]) * scale).reshape(votes.kinds, groups, sides)
    deviations = np.broadcast_to(spread, inside.shape)
    return _Curved(fit.errors, deviations, covariance, values, np.sqrt(variance[size : size + extra]))


def _slopes(fit: Fit, group: int, fair: int, hard: int) -> tuple[Floats, Floats]:
    """First and second derivatives of log P(vote) by the logits of the error, of ``guess`` and of ``answer``.

    ``[kinds, votes, 3]`` and ``[kinds, votes, 3, 3]``.
    """
    points = np.stack(np.broadcast_arrays(logit(fit.errors[:, group, fair]), *logit([fit.guess, fit.answer])), axis=1)
    logits = torch.from_numpy(np.clip(points, -40.0, 40.0)).requires_grad_()
    error, guess, answer = logits.sigmoid().unbind(1)
    vote = torch.stack([1 - error, error] if fair == 0 else [error, 1 - error])
    guessed = torch.stack([1 - answer, answer])
    logs = ((1 - guess) * vote + guess * guessed if hard else vote).log().sum(1)
    first = [torch.autograd.grad(log, logits, create_graph=True)[0] for log in logs]
    second = [
        torch.stack([torch.autograd.grad(slope.sum(), logits, retain_graph=True)[0] for slope in slopes.unbind(1)], 1)
        for slopes in first
    ]
    return torch.stack(first, 1).detach().numpy(), torch.stack(second, 1).numpy()


def _inverse(curvature: Floats, least: Floats) -> Floats:
    """The covariance; in directions in which there is less curvature than the priors have, it is theirs."""
    scale = 1 / np.sqrt(np.maximum(np.diag(curvature), least))
    sizes, directions = np.linalg.eigh(curvature * np.outer(scale, scale))
    floor = float((least * scale**2).min())
    return np.asarray((directions / np.maximum(sizes, max(floor, 1e-4)) @ directions.T) * np.outer(scale, scale))


def learned_parameters(
    errors: Sequence[Parameter],
    kinds: Sequence[str],
    fit: Fit,
    known: Precision,
    rows: int,
    confidence: float,
) -> tuple[Parameter, ...]:
    """The parameters of errors, whose cells name one of the kinds, and those of hard rows, with what was learned."""
    number = {kind: place for place, kind in enumerate(kinds)}
    places = [
        (number[str(parameter.cell.feature)], parameter.cell.group, parameter.cell.fair)
        for parameter in errors
        if parameter.cell
    ]
    flat = [int(np.ravel_multi_index(place, fit.errors.shape)) for place in places]
    names = {place: parameter.name for place, parameter in zip(flat, errors, strict=True)}
    matrix = known.information(joint=len(errors) <= MOST_STORED)
    source = f"{'symmetric, ' if fit.form.symmetric else ''}from votes, pooled across annotators"
    learned = []
    for parameter, place, position in zip(errors, places, flat, strict=True):
        entries = slice(*matrix.indptr[position : position + 2])
        pairs = zip(matrix.indices[entries].tolist(), matrix.data[entries].tolist(), strict=True)
        information = tuple((names[other], value) for other, value in pairs)
        value, low, high = (float(array[place]) for array in (fit.errors, known.low, known.high))
        learned.append(
            replace(parameter, value=value, low=low, high=high, rows=rows, source=source, information=information)
        )
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    hard = zip(HARD.items(), (fit.hard, fit.guess, fit.answer), known.hard.tolist(), strict=False)
    for (name, meaning), value, (low, high) in hard:
        information = ((name, (2 * z / max(high - low, 1e-6)) ** 2),)
        hard_rows = Parameter(name, meaning, value, low, high, rows, source="from votes", confidence=confidence)
        learned.append(replace(hard_rows, information=information))
    return tuple(learned)


def warn_of_votes(
    parameters: Sequence[Parameter], fit: Fit, pair: Dependence | None, annotators: Sequence[str]
) -> None:
    """Warn of what the votes do not tell, and of errors that are not independent: one warning each."""
    widths = [(parameter.high or 0) - (parameter.low or 0) for parameter in parameters]
    count = sum(width > WIDE for width in widths)
    if count:
        widest = parameters[int(np.argmax(widths))]
        many = (
            f"{count} of {len(parameters)} parameters, such as {widest.description},"
            if count > 1
            else widest.description
        )
        warn_audit(
            f"the votes hardly tell {many} between {widest.low:.2f} and {widest.high:.2f}; "
            "audit some rows, or name annotators with few votes as one kind"
        )
    if fit.form.hard and fit.hard * fit.guess > 0.01:
        warn_audit(
            f"annotators err on the same rows: about {fit.hard:.0%} of the rows are hard for all of them, and "
            f"{fit.guess:.0%} of votes on these are guesses; audit some of the rows on which they disagree"
        )
    if pair is not None:
        one, other = (annotators[number] for number in pair.annotators)
        warn_audit(
            f"annotators do not err independently: {one} and {other} agree on {pair.agreement:.0%} of {pair.rows} "
            f"shared rows, and independent errors would give {pair.expected:.0%} ({pair.pairs} such pairs); some "
            "may copy, or err on the same rows: look at belief.disagreement(votes), and audit some rows"
        )
