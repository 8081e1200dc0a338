"""What audited features say against a belief that recorded ones are distorted."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from problog4fairness.checks.case import SIMULATED, Case
from problog4fairness.checks.finding import LEAST_AUDITED, Finding, NotDone, share_of_draws
from problog4fairness.data import Codes, Floats
from problog4fairness.statistics import points


def feature_tables_test(case: Case) -> Finding:
    """Whether fair features are independent of each other, and of other recorded ones, as feature tables say.

    Each fair feature is shuffled within people of the same group and the same recorded value of it, which changes
    nothing if the belief is right.
    """
    if not case.belief.features:
        raise NotDone("the belief distorts no features")
    rows = audited_features(case)
    if case.belief.numbers:
        raise NotDone("the distorted features are numbers")
    if getattr(case.belief, "joint", ()):
        raise NotDone("the belief does not take them as independent")
    rng = case.rng(6)
    every = {name: _Audited(case, name, rows, rng) for name in case.fair_features}
    seen, drawn, told = [], np.zeros(SIMULATED), []
    matrix, columns = case.encoded
    for name, own in every.items():
        same = (f"{name} = ", f"{name} is ")
        others = [place for place, column in enumerate(columns) if column != name and not column.startswith(same)]
        x = own.centred(matrix[rows][:, others])
        spread = np.sqrt((own.values**2).sum() / len(rows) * (x**2).sum(axis=0)) + 1e-9
        scores = np.abs(own.values @ x) / spread
        drawn = np.maximum(drawn, (np.abs(own.shuffled @ x) / spread).max(axis=1, initial=0.0))
        seen += scores.tolist()
        told += [(name, columns[place], own.values * x[:, k]) for k, place in enumerate(others)]
    for (first, one), (second, two) in combinations(every.items(), 2):
        spread = np.sqrt((one.values**2).sum() * (two.values**2).sum() / len(rows)) + 1e-9
        seen.append(float(np.abs(one.values @ two.values) / spread))
        drawn = np.maximum(drawn, np.abs((one.shuffled * two.shuffled).sum(axis=1)) / spread)
        told.append((first, f"the fair {second}", one.values * two.values))
    if not seen:
        raise NotDone("there is one feature only")
    which = int(np.argmax(seen))
    name, other, products = told[which]
    sentence = (
        f"Among people of the same group with the same recorded {name}, the fair {name} goes with {other} (correlation "
        f"{points(float(products.sum() / (np.abs(products).sum() + 1e-9)))} points of its greatest); by the belief it "
        "does not."
    )
    beside = other.removeprefix("the fair ")
    way = f"estimate it with joint=[{name!r}, {beside!r}]" if beside in every else "write it as a program of your own"
    advice = f"Do not treat the distortion of {name} as independent of {other}: {way}."
    return Finding(sentence, share_of_draws(drawn, seen[which]), rows, advice)


def audited_features(case: Case) -> Codes:
    """The rows of which all distorted features were audited, if they are enough."""
    if not case.fair_features:
        raise NotDone("no fair features were audited")
    rows = np.flatnonzero(np.all([own.notna() for own in case.fair_features.values()], axis=0))
    if len(rows) < LEAST_AUDITED:
        raise NotDone(f"fewer than {LEAST_AUDITED} audited rows")
    return rows


class _Audited:
    """A fair feature, what is left of it within its cells, and the same shuffled."""

    def __init__(self, case: Case, name: str, rows: Codes, rng: np.random.Generator) -> None:
        fair = case.fair_features[name].iloc[rows]
        recorded = case.rows.frame[name].iloc[rows]
        keys = case.groups[0][rows].astype(str) + np.asarray(" " + recorded.astype(str), dtype=object)
        _, cells = np.unique(keys.astype(str), return_inverse=True)
        self.cells = cells.reshape(-1)
        values = np.asarray(fair.astype(str) == str(fair.mode().iloc[0]), dtype=np.float64)
        self.values = self.centred(values[:, None])[:, 0]
        self.shuffled = np.zeros((SIMULATED, len(rows)))
        for cell in np.unique(self.cells):
            own = np.flatnonzero(self.cells == cell)
            self.shuffled[:, own] = rng.permuted(np.tile(self.values[own], (SIMULATED, 1)), axis=1)

    def centred(self, x: Floats) -> Floats:
        """Columns minus their mean in each cell."""
        found = x.astype(np.float64).copy()
        for cell in np.unique(self.cells):
            own = self.cells == cell
            found[own] -= found[own].mean(axis=0)
        return found
