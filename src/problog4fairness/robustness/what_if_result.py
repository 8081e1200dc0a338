"""What if the parameters were others? An answer at once, between fits that were made before."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
import safetensors
import safetensors.numpy
from scipy.special import expit

from problog4fairness.data import Codes, Floats, Grouping, parse_json, read_file, write_whole
from problog4fairness.errors import P4FError, ProbabilityError, UnknownNameError
from problog4fairness.metrics import decide, selected
from problog4fairness.statistics import count

# What a damaged file can raise.
_WRONG = (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError)
# Bytes of a file.
MOST_BYTES = 1 << 28
_ARRAYS = ("values", "ranges", "own", "surface", "spread", "shares", "fair", "weights", "row")


def _texts(values: Sequence[object]) -> tuple[str, ...]:
    return tuple(map(str, values))


# What is written beside the arrays, and what it is.
_ABOUT: dict[str, Callable[[Any], Any]] = {
    "names": _texts, "meanings": _texts, "groups": _texts, "fits": int, "reach": float, "error": float,
    "largest_error": float, "changed_error": float,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Answer:
    """What the model would say.

    Attributes
    ----------
    chance
        ``[rows]``: the probability of the favourable fair label.
    disparity
        The selection rate of the sensitive group minus that of the other; of more groups, the largest difference.
    accuracy
        On rows whose fair label is known, weighted as their audit says; None where there are none.
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
    weights
        ``[rows]``: how many people each row with a fair label stands for, as its audit says.
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
    >>> moves = p4f.robustness.what_if(model, X, y, sensitive_features=poor)
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
    weights: Floats
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
            By the name of the parameter, each between 0 and 1.
        """
        terms = self._terms(values or {})
        chance = expit(self.own + terms @ self.surface)
        before, now = decide(expit(self.own)) == 1, decide(chance) == 1
        found = np.stack([before, now, now & ~before, before & ~now]).astype(np.float32) @ self.shares
        table = pd.DataFrame(found.T, pd.Index(self.groups, name="group"), ["before", "now", "gained", "lost"])
        known = self.fair >= 0
        return Answer(
            chance,
            self._disparity(chance),
            float(np.average(now[known] == self.fair[known], weights=self.weights[known])) if known.any() else None,
            table,
            bool(terms @ self.spread @ terms > 1.05 * self.reach),
        )

    def along(self, name: str, values: Mapping[str, float] | None = None, steps: int = 25) -> pd.DataFrame:
        """The disparity over the range of one parameter: ``value``, ``disparity``; the others as in ``values``."""
        low, high = self.ranges[self._place(name)]
        grid = np.linspace(low, high, steps)
        found = [
            self._disparity(expit(self.own + self._terms({**(values or {}), name: value}) @ self.surface))
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
        about = {name: getattr(self, name) for name in _ABOUT}
        arrays = {name: np.ascontiguousarray(getattr(self, name)) for name in _ARRAYS}
        write_whole(path, safetensors.numpy.save(arrays, {"about": json.dumps(about)}))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> WhatIf:
        """Read what :meth:`save` wrote; nothing in the file is run."""
        try:
            content = read_file(path, MOST_BYTES)
            header = parse_json(content[8 : 8 + int.from_bytes(content[:8], "little")])
            about = parse_json(header["__metadata__"]["about"])
            loaded = safetensors.numpy.load(content)
            arrays: dict[str, Any] = {name: loaded[name] for name in _ARRAYS}
            about = {name: kind(about[name]) for name, kind in _ABOUT.items()}
            found = cls(**arrays, **about)
            found._check()
            return found
        except (*_WRONG, safetensors.SafetensorError) as error:
            raise P4FError(f"{path} cannot be read ({error}); make it again by what_if(...).save(path)") from None

    def _check(self) -> None:
        """Raise the error of parts that do not fit each other."""
        size, people, terms = len(self.names), len(self.own), len(self.spread)
        wanted = {
            "values": (size,), "ranges": (size, 2), "own": (people,), "surface": (terms, people),
            "spread": (terms, terms), "shares": (people, len(self.groups)), "fair": (people,),
            "weights": (people,), "row": (people,),
        }  # fmt: skip
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} has the shape {getattr(self, name).shape}, not {shape}")
        if len(self.meanings) != size or terms != 3 * size + size * (size - 1) // 2:
            raise ValueError("its parts do not fit each other")

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise UnknownNameError(f"there is no parameter {name!r}; there are {', '.join(self.names)}")
        return self.names.index(name)

    def _terms(self, values: Mapping[str, float]) -> Floats:
        point = self.values.copy()
        for name, value in values.items():
            if not 0 <= value <= 1:
                raise ProbabilityError(f"{name}={value!r} is not between 0 and 1")
            point[self._place(name)] = value
        found: Floats = terms(point[None], self.values, self.ranges)[0].astype(np.float32)
        return found

    def _disparity(self, chance: Floats) -> float:
        return Grouping("", self.groups, self.shares).disparity(selected(chance))

    def __repr__(self) -> str:
        return f"WhatIf({', '.join(self.names)}: {self.fits} fits, {len(self.own)} rows)"


def terms(points: Floats, values: Floats, ranges: Floats) -> Floats:
    """``[points, terms]``: three powers of the way of each parameter from its own value, and products of two."""
    scale = np.maximum(ranges[:, 1] - ranges[:, 0], 1e-9) / 2
    ways = (points - values) / scale
    first, second = np.triu_indices(len(values), 1)
    return np.concatenate([ways, ways**2, ways**3, ways[:, first] * ways[:, second]], axis=1)
