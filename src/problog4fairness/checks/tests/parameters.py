"""Whether audited rows were recorded as often in each way as the parameters say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from problog4fairness.checks import needs
from problog4fairness.checks.case import Case, moved
from problog4fairness.checks.finding import Finding, NotDone, least_shown, share_of_draws
from problog4fairness.checks.tests.audited_rows import cells_of, who
from problog4fairness.checks.tests.calibration import LEAST_CELL
from problog4fairness.data import Codes, Floats
from problog4fairness.statistics import count, percent


@dataclass(frozen=True, eq=False)
class _Share:
    """A share that was audited, and what the belief says of it."""

    rows: Codes
    hits: float
    size: float
    chance: float
    slopes: Floats
    words: str


def parameters_test(case: Case) -> Finding:
    """Whether the parameters are those of the audit: the share that is furthest off decides.

    Audits are simulated from the belief, with parameters that are drawn from what is known of them.
    """
    shares, reason = [], ""
    for part in (_label_shares, _feature_shares):
        try:
            shares += list(part(case))
        except NotDone as why:
            reason = reason or str(why)
    if not shares:
        raise NotDone(reason or f"no cell has {LEAST_CELL} audited rows")
    rng = case.rng(3)
    moves = case.drawn(rng)
    largest, scores, centres, errors = np.zeros(len(moves)), [], [], []
    for share in shares:
        size = share.size
        chance = np.clip(share.chance + moves @ share.slopes, 0, 1)
        centre = float(chance.mean())
        spread = np.sqrt(size * centre * (1 - centre) + size**2 * float(chance.var())) + 1e-9
        scores.append(abs(share.hits - size * centre) / spread)
        centres.append(centre)
        errors.append(spread / size)
        # Hits of so many rows, which need not be whole.
        whole = max(round(size), 1)
        hits = rng.binomial(whole, chance) * (size / whole)
        largest = np.maximum(largest, np.abs(hits - size * centre) / spread)
    which = int(np.argmax(scores))
    worst = shares[which]
    rate = worst.hits / worst.size
    sentence = f"{worst.words}: {percent(rate)} by the audit, {percent(centres[which])} by the belief."
    advice = "Estimate the parameters from this audit: belief.estimate(audit, ...), or p4f estimate."
    of = [f" of {share.words[0].lower()}{share.words[1:]}" for share in shares]
    least = least_shown(np.array(errors), of, len(of))
    return Finding(sentence, share_of_draws(largest, scores[which]), worst.rows, advice, least=least)


def _counted(case: Case, rows: Codes, people: Codes, label: int) -> tuple[float, float]:
    """How many rows of a cell were recorded with a label, and of how many.

    Where rows were drawn by group and recorded label, they are weighted, and are as many rows of a random sample as
    would tell as much. A cell takes a random part of each stratum; that part is what is not known.
    """
    hit = case.recorded[rows[people]] == label
    if case.rows.audit_weights is None:
        return float(hit.sum()), float(len(people))
    groups, labels, weights = case.groups[0][rows], case.recorded[rows], case.stands_for
    share = case.average(case.recorded[rows] == label, np.isin(np.arange(len(rows)), people))
    group, total, variance = groups[people[0]], weights[people].sum(), 0.0
    near = float(np.clip(share, 1 / (len(people) + 2), 1 - 1 / (len(people) + 2)))
    for recorded in np.unique(labels[groups == group]):
        stratum = (groups == group) & (labels == recorded)
        drawn, inside = int(stratum.sum()), int((labels[people] == recorded).sum())
        part = (inside + 1) / (drawn + 2)
        variance += weights[stratum].mean() ** 2 * drawn * part * (1 - part) * ((recorded == label) - near) ** 2
    size = near * (1 - near) * total**2 / max(variance, 1e-12)
    return share * size, size


def _label_shares(case: Case) -> Iterator[_Share]:
    needs.random_audit(case)
    rows = case.audited
    cells, names = cells_of(case, rows)
    places = np.arange(len(rows))
    given = case.given[rows][places, case.fair]
    slopes = case.slopes[:, rows][:, places, case.fair]
    for cell in range(len(names)):
        people = np.flatnonzero(cells == cell)
        # Impossible labels are the matter of another test, certain ones say nothing.
        moving = np.abs(slopes[:, people]).max(axis=(0, 1), initial=0) > 0
        labels = np.flatnonzero((given[people].max(axis=0) > 0) | moving)
        if len(people) < LEAST_CELL or len(labels) < 2:
            continue
        for label in labels[1:] if len(labels) == 2 else labels:
            yield _Share(
                rows[people],
                *_counted(case, rows, people, int(label)),
                float(given[people, label].mean()),
                slopes[:, people, label].mean(axis=1),
                f"Recorded as {case.outcomes[label]}, of {count(len(people))} audited {who(case, *names[cell])}",
            )


def _feature_shares(case: Case) -> Iterator[_Share]:
    needs.audited_features(case)
    rows = case.audited_features
    audited, (groups, names) = case.rows.take(rows), case.groups
    base = case.belief.feature_distortion(audited)
    changes = {name: np.zeros((len(case.spread), len(rows))) for name in base}
    for place in np.flatnonzero(case.spread):
        other, step = moved(case.belief, int(place))
        for name, moved_chances in other.feature_distortion(audited).items():
            changes[name][place] = (moved_chances - base[name]) / step
    for name, fair in case.fair_features.items():
        chances, slopes = base[name], changes[name]
        recorded = audited.frame[name].astype(str)
        wrong = np.asarray(fair.iloc[rows].astype(str).to_numpy() != recorded.to_numpy())
        for group in np.unique(groups[rows]):
            for value in sorted(recorded.unique()):
                cell = np.flatnonzero((groups[rows] == group) & (recorded == value).to_numpy())
                chance = float(chances[cell].mean()) if len(cell) else 0.0
                if len(cell) < LEAST_CELL or not 0 < chance < 1:
                    continue
                of = f" where {names[group]}" if names[group] else ""
                words = f"Fairly another value, of {count(len(cell))} audited rows with {name} = {value} on record{of}"
                hits = float(wrong[cell].sum())
                yield _Share(rows[cell], hits, float(len(cell)), chance, slopes[:, cell].mean(axis=1), words)
