"""What if the parameters were others? An answer at once, between fits that were made before."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np
import pandas as pd

from problog4fairness.beliefs.amounts import count
from problog4fairness.errors import P4FError, UnknownNameError
from problog4fairness.rows.types import Codes, Floats
from problog4fairness.rows.writing import write_whole

THRESHOLD = 0.5
_ARRAYS = ("values", "ranges", "own", "surface", "spread", "shares", "fair", "row")


@dataclass(frozen=True, eq=False)
class Answer:
    """What the model would say.

    Attributes
    ----------
    chance
        ``[rows]``: the probability of the favourable fair label.
    disparity
        Of mean probabilities: that of the sensitive group minus that of the other; of more groups, the largest
        difference.
    accuracy
        On rows whose fair label is known; None where there are none.
    groups
        By group: ``before`` and ``now``, the favourable decisions of the model itself and of this one, and those
        ``gained`` and ``lost``.
    outside
        Whether these values lie further out than the fits, so that the answer is a guess.
    """

    chance: Floats
    disparity: float
    accuracy: float | None
    groups: pd.DataFrame
    outside: bool

    @property
    def changed(self) -> int:
        """How many decisions differ from those of the model itself."""
        return round(float(self.groups["gained"].sum() + self.groups["lost"].sum()))


@dataclass(frozen=True, eq=False)
class WhatIf:
    """A model's probabilities as a function of the parameters of its belief, made by :func:`what_if`.

    The log-odds of each row are those of the model, plus a polynomial of how far each parameter is from its own value:
    its first three powers, and products of two parameters. Its coefficients are the least squares through ``fits``.

    Attributes
    ----------
    names, meanings
        The parameters.
    values, ranges
        ``[parameters]`` their own values, and ``[parameters, 2]`` how far each may go.
    own
        ``[rows]``: the log-odds of the model itself.
    surface
        ``[terms, rows]``: the coefficients.
    spread
        ``[terms, terms]``: the inverse of the sum of squares of the fits' terms; how far out values are.
    groups, shares
        The groups, and ``[rows, groups]`` the probability of each.
    fair
        ``[rows]``: the fair label where it is known, -1 elsewhere.
    row
        ``[rows]``: their places in the table.
    fits
        How many classifiers were fitted.
    reach
        How far out the fits are, as measured by ``spread``.
    error, largest_error, changed_error
        How far the disparity of a fit is off that is left out and predicted from the others: the root of the mean
        square, and the largest over all fits; and the mean share of decisions that come out otherwise.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=50, new=1)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, groups=[1])
    >>> X, y, poor = data.loans[list(data.features)], data.loans["granted"], data.loans["poor_area"]
    >>> model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(X, y, sensitive_features=poor)
    >>> moves = p4f.doubt.what_if(model, X, y, sensitive_features=poor)
    >>> moves.at().changed, list(moves.at({"p1": 0.5}).groups)
    (0, ['before', 'now', 'gained', 'lost'])
    """

    names: tuple[str, ...]
    meanings: tuple[str, ...]
    values: Floats
    ranges: Floats
    own: Floats
    surface: Floats
    spread: Floats
    groups: tuple[str, ...]
    shares: Floats
    fair: Codes
    row: Codes
    fits: int
    reach: float
    error: float
    largest_error: float
    changed_error: float

    def at(self, values: Mapping[str, float] | None = None) -> Answer:
        """What the model would say with other values of some parameters; all others keep theirs.

        Parameters
        ----------
        values
            By the name of the parameter.
        """
        terms = self._terms(values or {})
        chance = 1 / (1 + np.exp(-(self.own + terms @ self.surface)))
        before, now = self.own >= 0, chance >= THRESHOLD
        found = np.stack([before, now, now & ~before, before & ~now]).astype(np.float32) @ self.shares
        table = pd.DataFrame(found.T, pd.Index(self.groups, name="group"), ["before", "now", "gained", "lost"])
        known = self.fair >= 0
        return Answer(
            chance,
            self._disparity(chance),
            float((now[known] == self.fair[known]).mean()) if known.any() else None,
            table,
            bool(terms @ self.spread @ terms > 1.05 * self.reach),
        )

    def along(self, name: str, values: Mapping[str, float] | None = None, steps: int = 25) -> pd.DataFrame:
        """The disparity over the range of one parameter: ``value``, ``disparity``; the others as in ``values``."""
        low, high = self.ranges[self._place(name)]
        grid = np.linspace(low, high, steps)
        found = [
            self._disparity(1 / (1 + np.exp(-(self.own + self._terms({**(values or {}), name: value}) @ self.surface))))
            for value in grid
        ]
        return pd.DataFrame({"value": grid, "disparity": found})

    def words(self) -> str:
        """Where the answers come from, and how far they may be off."""
        typical, most = (f"{100 * error:.1f}" for error in (self.error, self.largest_error))
        return (
            f"Interpolated between {count(self.fits, 'fit')} on {count(len(self.own), 'row')}. A fit that is left out "
            f"and predicted from the others has its disparity off by {typical} points typically, {most} at most, and "
            f"{100 * self.changed_error:.1f}% of its decisions."
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write numbers and names to one file, whole or not at all."""
        about = {
            name: getattr(self, name)
            for name in ("names", "meanings", "groups", "fits", "reach", "error", "largest_error", "changed_error")
        }
        file = io.BytesIO()
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)
        write_whole(path, file.getvalue())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> WhatIf:
        """Read what :meth:`save` wrote; nothing in the file is run."""
        try:
            with np.load(path, allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                arrays = {name: file[name] for name in _ARRAYS}
            about |= {name: tuple(map(str, about[name])) for name in ("names", "meanings", "groups")}
            return cls(**arrays, **about)
        except (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError) as error:
            raise P4FError(f"{path} cannot be read ({error}); make it again by what_if(...).save(path)") from None

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError(f"there is no parameter {name!r}; there are {', '.join(self.names)}")
        return self.names.index(name)

    def _terms(self, values: Mapping[str, float]) -> Floats:
        point = self.values.copy()
        for name, value in values.items():
            point[self._place(name)] = value
        found: Floats = terms(point[None], self.values, self.ranges)[0].astype(np.float32)
        return found

    def _disparity(self, chance: Floats) -> float:
        return gap(chance, self.shares)

    def __repr__(self) -> str:
        return f"WhatIf({', '.join(self.names)}: {self.fits} fits, {len(self.own)} rows)"


def terms(points: Floats, values: Floats, ranges: Floats) -> Floats:
    """``[points, terms]``: three powers of the way of each parameter from its own value, and products of two."""
    scale = np.maximum(ranges[:, 1] - ranges[:, 0], 1e-9) / 2
    ways = (points - values) / scale
    first, second = np.triu_indices(len(values), 1)
    return np.concatenate([ways, ways**2, ways**3, ways[:, first] * ways[:, second]], axis=1)


def gap(chance: Floats, shares: Floats) -> float:
    """Of two groups, the mean of the second minus that of the first; of more, the largest difference."""
    means = chance @ shares / shares.sum(axis=0)
    return float(means[1] - means[0]) if len(means) == 2 else float(np.nanmax(means) - np.nanmin(means))
