"""What audited rows, whose fair label is known, say against a belief."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from problog4fairness.beliefs import restore, search_change
from problog4fairness.checks import needs
from problog4fairness.checks.case import SIMULATED, Case, is_uncertain, moved
from problog4fairness.checks.finding import Finding, NotDone, least_shown, normals, share_of_draws
from problog4fairness.checks.tests.calibration import LEAST_CELL, audited_residuals
from problog4fairness.data import Codes, Floats, days_of
from problog4fairness.statistics import count, percent, points, probabilities

# Kinds of rows that a cell may have, on average.
MOST_KINDS = 6


def cells_of(case: Case, rows: Codes) -> tuple[Codes, list[tuple[str, int]]]:
    """The cell of each audited row, its group and fair label; and the names of the groups with the label."""
    groups, names = case.groups
    classes = len(case.rows.classes)
    keys, cells = np.unique(groups[rows] * classes + case.fair, return_inverse=True)
    return cells.reshape(-1), [(names[key // classes], int(key % classes)) for key in keys]


def who(case: Case, group: str, fair: int) -> str:
    """The people of a cell."""
    of = f"{group} and " if group else ""
    return f"people with {of}a fair {case.rows.classes[fair]}"


def impossible_test(case: Case) -> Finding:
    """Whether something was recorded that the belief calls impossible for that fair label."""
    rows, each = case.audited, np.arange(len(case.audited))
    # An estimate of exactly 0 or 1 is no certainty.
    uncertain = [parameter for parameter in probabilities(case.belief.parameters) if is_uncertain(parameter)]
    inside = {parameter.name: min(max(parameter.value or 0.0, 0.01), 0.99) for parameter in uncertain}
    audited = case.rows.take(rows).without_record()
    chance = case.belief.bind(inside).observe(audited).recorded_given().numpy()
    impossible = chance[each, case.fair] <= 0
    if not impossible.any():
        raise NotDone("the belief rules nothing out")
    hit = impossible[each, case.recorded[rows]]
    concerned = count(impossible.any(axis=1).sum(), "audited row")
    if not hit.any():
        return Finding(f"None of {concerned} was recorded as the belief calls impossible.", 1.0, rows[hit], "")
    first = int(np.flatnonzero(hit)[0])
    groups, names = case.groups
    people = who(case, names[groups[rows[first]]], int(case.fair[first]))
    sentence = (
        f"{count(hit.sum())} of {concerned} were recorded as the belief calls impossible: of the {people}, some were "
        f"recorded as {case.outcomes[case.recorded[rows[first]]]}."
    )
    advice = "Look at these rows; if the fair labels are right, believe in that kind of bias, too, and estimate it."
    return Finding(sentence, 1 / (SIMULATED + 1), rows[hit], advice)


def conditional_test(case: Case) -> Finding:
    """Whether the recorded label still depends on the features, within people of the same fair label and group.

    Recorded labels are shuffled within these cells, which changes nothing if the belief is right. Each feature is
    compared in each cell, and in all groups of a fair label together, as one that makes the same difference in each.
    """
    rows = case.audited
    cells, names = alike_cells(case, rows)
    matrix, columns = case.encoded
    matrix = np.column_stack([matrix, case.chances[:, -1]])[rows]
    rng = case.rng(2)
    by_label: dict[tuple[int, int], list[tuple[Floats, Floats, Floats, int]]] = {}
    for cell, (_, fair) in enumerate(names):
        people = np.flatnonzero(cells == cell)
        for value in range(1, len(case.outcomes)):
            hit = (case.recorded[rows[people]] == value).astype(np.float64)
            if min(hit.sum(), len(hit) - hit.sum()) < LEAST_CELL:
                continue
            x = matrix[people] - matrix[people].mean(axis=0)
            # As differences of rates, each as sure as its cell makes it.
            hit = hit / hit.var(ddof=1)
            variance = (x**2).sum(axis=0) * hit.var(ddof=1)
            simulated = rng.permuted(np.tile(hit, (SIMULATED, 1)), axis=1) @ x
            by_label.setdefault((fair, value), []).append((hit @ x, variance, simulated, cell))
    if not by_label:
        raise NotDone(f"no cell has {LEAST_CELL} audited rows that were recorded in each of two ways")
    all_scores, compared, largest = [], [], np.zeros(SIMULATED)
    for (_, value), parts in by_label.items():
        sums = [np.sum(part, axis=0) for part in list(zip(*parts, strict=True))[:3]]
        whole = [(*sums, parts[0][3])] if len(parts) > 1 else []
        for statistic, variance, simulated, cell in [*parts, *whole]:
            all_scores.append(_scores(statistic, variance))
            compared.append((cell, value))
            largest = np.maximum(largest, _scores(simulated, variance).max(axis=1))
    scores = np.stack(all_scores)
    # The fair probability stands for all features; a reader is told of one.
    which, column = np.unravel_index(scores[:, :-1].argmax(), scores[:, :-1].shape)
    p = share_of_draws(largest, float(scores.max()))
    finding = _dependence(case, cells, names, *compared[which], columns[column], matrix[:, column], p)
    # Of half of the people against the others, in all groups of a fair label.
    halves, labels = list[float](), list[str]()
    for (fair, value), parts in by_label.items():
        inside = np.isin(cells, [part[3] for part in parts])
        rate = float((case.recorded[rows[inside]] == value).mean())
        halves.append(2 * np.sqrt(rate * (1 - rate) / inside.sum()))
        labels.append(f" between halves of the people with a fair {case.rows.classes[fair]}")
    return replace(finding, least=least_shown(np.array(halves), labels, scores.size))


def alike_cells(case: Case, rows: Codes) -> tuple[Codes, list[tuple[str, int]]]:
    """As :func:`cells_of`, with a cell of its own for each kind of row that the belief tells apart."""
    cells, names = cells_of(case, rows)
    given = np.round(case.given[rows, case.fair], 6)
    kinds, place = np.unique(np.column_stack([cells, given]), axis=0, return_inverse=True)
    if len(kinds) > max(MOST_KINDS * len(names), len(rows) // MOST_KINDS):
        raise NotDone("the belief says something else of almost every row")
    return place.reshape(-1), [names[int(kind[0])] for kind in kinds]


def _scores(values: Floats, variance: Floats) -> Floats:
    return np.asarray(np.abs(values) / np.sqrt(np.maximum(variance, 1e-12)))


def _dependence(
    case: Case, cells: Codes, names: list[tuple[str, int]], cell: int, value: int, column: str, x: Floats, p: float
) -> Finding:
    """A column on which a label depends in a cell, in words: the rates on both sides of its middle."""
    people = np.flatnonzero(cells == cell)
    hit = case.recorded[case.audited[people]] == value
    above = x[people] > np.median(x[people])
    if not above.any():
        above = x[people] >= np.median(x[people])
    rates = [float(hit[side].mean()) if side.any() else float("nan") for side in (above, ~above)]
    sides = (f"where {column}", "elsewhere") if " = " in column else (f"where {column} is high", "where it is low")
    sentence = (
        f"Of the {who(case, *names[cell])}, {percent(rates[0])} were recorded as {case.outcomes[value]} "
        f"{sides[0]} and {percent(rates[1])} {sides[1]}; by the belief both are the same."
    )
    name, *category = column.split(" = ", maxsplit=1)
    dependence = f"depends_on({name!r})" if category else f"depends_on(model=[{name!r}])"
    advice = (
        f"The bias depends on {name}: believe in one that depends on the row, RowBias(..., {dependence}), instead of "
        "one number for each group."
    )
    return Finding(sentence, p, case.audited[people], advice)


def independence_test(case: Case) -> Finding:
    """Whether the fair label depends on the group, given the features.

    The sum of (fair - P(fair | features)) × (member - P(member | features)) is 0 on average if it does not, where one
    of the two models is right. Of every row of the table its expectation given the recorded label is taken, and audited
    rows correct it: that has less noise than audited rows alone.
    """
    rows = case.audited
    classes, table, rng = range(1, len(case.rows.classes)), slice(0, case.size), case.rng(4)
    shown, part = (case.posterior - case.chances)[table], float(case.stands_for.sum()) / case.size
    factors, products, labels = [], [], []
    for group, member, chance in case.membership:
        for k in classes:
            factor = np.zeros((len(rows), len(case.rows.classes)))
            factor[:, k] = (member - chance)[rows]
            factors.append(factor)
            products.append(shown[:, k] * (member - chance)[table] * part)
            labels.append((group, k))
    residuals = audited_residuals(case, rows, np.stack(factors, axis=2), rng)
    of_table = np.stack(products, axis=1)
    covariance = of_table.T @ of_table
    spread = np.sqrt(residuals.variance + np.diag(covariance)) + 1e-9
    drawn = residuals.simulated + normals(covariance, len(residuals.simulated), rng)
    scores = (residuals.values + of_table.sum(axis=0)) / spread
    which = int(np.abs(scores).argmax())
    p = share_of_draws(np.abs(drawn / spread).max(axis=1), float(np.abs(scores[which])))
    group, label = labels[which]
    _, member, chance = case.membership[which // len(classes)]
    inside = member[rows] > 0.5
    rates = [case.average(case.fair == label, side) for side in (inside, ~inside)]
    # The least squares slope of the fair label on being a member, both given the features.
    gap = float(scores[which] * spread[which] / ((member - chance)[table] ** 2).sum() / part)
    sentence = (
        f"Of the audited people with {group}, {percent(rates[0])} have a fair {case.rows.classes[label]}, of the "
        f"others {percent(rates[1])}; given the features, the difference is {points(gap)} points."
    )
    advice = "Let the fair label depend on the group: use_sensitive=True, or --use-sensitive."
    scale = np.array([((member - chance)[table] ** 2).sum() for _, member, chance in case.membership])
    scale = np.repeat(scale, len(classes)) * part
    least = least_shown(spread / np.maximum(scale, 1e-9), [f" where {group}" for group, _ in labels], len(labels))
    return Finding(sentence, p, rows[inside], advice, float(np.abs(scores[which])), least=least)


def change_test(case: Case) -> Finding:
    """Whether some day divides audited rows into more and less distorted ones.

    Within people of whom the belief says the same, by fair label; see :func:`.beliefs.change.search_change`.
    """
    assert case.when is not None  # a need of the check
    rows = case.audited
    days = days_of(case.rows.frame[case.when].iloc[rows])
    wrong = case.recorded[rows] != case.fair
    change = search_change(days, alike_cells(case, rows)[0], wrong.astype(np.float64), case.seed)
    late = days >= np.datetime64(change.day)
    rates = [percent(float(wrong[side].mean())) for side in (~late, late)]
    how = "wrongly, or not at all," if case.belief.record.gaps else "wrongly"
    known = "nothing changed" if case.belief.columns.date is None else "nothing changed that it does not say"
    sentence = (
        f"Of {count(len(rows), 'audited row')}, {rates[0]} were recorded {how} before {change.day} and {rates[1]} "
        f"since then, the day of {case.when!r} that divides them best; by the belief {known}."
    )
    advice = (
        f"The bias changed: believe in ChangedBias(..., when={case.when!r}, changed={change.day!r}), or let it search "
        "the day."
    )
    return Finding(sentence, change.p, rows[wrong], advice)


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
    base = restore(case.belief, audited).feature_distortion()
    changes = {name: np.zeros((len(case.spread), len(rows))) for name in base}
    for place in np.flatnonzero(case.spread):
        other, step = moved(case.belief, int(place))
        for name, moved_chances in restore(other, audited).feature_distortion().items():
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
