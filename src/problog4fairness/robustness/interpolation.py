"""What if the parameters were others? An answer at once, between fits that were made before."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import safetensors
import safetensors.numpy
from scipy.special import expit
from scipy.stats import qmc
from sklearn.utils.validation import check_is_fitted

from problog4fairness.beliefs import Belief, Observation
from problog4fairness.data import MOST_ROWS, Codes, Floats, Grouping, Rows, parse_json, read_file, write_atomically
from problog4fairness.errors import P4FError, ProbabilityError, UnknownNameError
from problog4fairness.estimators import Refits, fair_proba, least_signal, recorded_rows
from problog4fairness.metrics import decide, selected
from problog4fairness.robustness.box import Range, checked_box, interval_of, range_of
from problog4fairness.statistics import Parameter, count, probabilities

if TYPE_CHECKING:
    from problog4fairness.estimators import DebiasedClassifier

# Fits for each term of the polynomial, about.
FITS_PER_TERM = 2.0
MOST_PARAMETERS = 8
# Values by which recorded labels say less than this about fair ones (1 - negative - positive) are left out: fits there
# are mostly chance, and a polynomial through them is.
STEADY_SIGNAL = 0.15
# Probabilities nearer to 0 and 1 than this are as good as certain.
CERTAIN = 1e-6
# What a damaged file can raise.
_WRONG = (ValueError, KeyError, TypeError, AttributeError, OverflowError, OSError)
# Bytes of a file.
MOST_BYTES = 1 << 28
# The arrays of a file, and what their axes are.
_SHAPES = {
    "values": ("parameters",), "ranges": ("parameters", "two"), "log_odds": ("rows",), "surface": ("terms", "rows"),
    "spread": ("terms", "terms"), "shares": ("rows", "groups"), "fair": ("rows",), "weights": ("rows",),
    "row": ("rows",),
}  # fmt: skip


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
    log_odds, surface
        ``[rows]``: those of the model itself; and ``[terms, rows]``: the coefficients.
    spread, reach
        ``[terms, terms]``: the inverse of the sum of squares of the fits' terms; and how far out by it the fits are.
    groups, shares
        The groups, and ``[rows, groups]`` the probability of each.
    fair, weights, row
        ``[rows]``: the fair label where it is known, -1 elsewhere; how many people such a row stands for; and the
        places of the rows in the table.
    fits
        How many classifiers were fitted.
    error, largest_error, changed_error
        How far the disparity of a fit is off that is left out and predicted from the others: the root of the mean
        square, and the largest over all fits; and the mean share of decisions that come out otherwise.
    """

    names: tuple[str, ...]
    meanings: tuple[str, ...]
    values: Floats
    ranges: Floats
    log_odds: Floats
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
        chance = expit(self.log_odds + terms @ self.surface)
        before, now = decide(expit(self.log_odds)) == 1, decide(chance) == 1
        counts = np.stack([before, now, now & ~before, before & ~now]).astype(np.float32) @ self.shares
        table = pd.DataFrame(counts.T, pd.Index(self.groups, name="group"), ["before", "now", "gained", "lost"])
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
        moved = [self._terms({**(values or {}), name: value}) @ self.surface for value in grid]
        return pd.DataFrame(
            {"value": grid, "disparity": [self._disparity(expit(self.log_odds + one)) for one in moved]}
        )

    def words(self) -> str:
        """Where the answers come from, and how far they may be off."""
        typical, most = (f"{100 * error:.1f}" for error in (self.error, self.largest_error))
        return (
            f"Interpolated between {count(self.fits, 'fit')} on {count(len(self.log_odds), 'row')}. A fit that is left "
            f"out and predicted from the others has its disparity off by {typical} points typically, {most} at most, "
            f"and {100 * self.changed_error:.1f}% of its decisions."
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write numbers and names to one file, whole or not at all."""
        about = {name: getattr(self, name) for name in _ABOUT}
        arrays = {name: np.ascontiguousarray(getattr(self, name)) for name in _SHAPES}
        write_atomically(path, safetensors.numpy.save(arrays, {"about": json.dumps(about)}))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> WhatIf:
        """Read what :meth:`save` wrote; nothing in the file is run."""
        try:
            content = read_file(path, MOST_BYTES)
            header = parse_json(content[8 : 8 + int.from_bytes(content[:8], "little")])
            about = parse_json(header["__metadata__"]["about"])
            loaded = safetensors.numpy.load(content)
            arrays: dict[str, Any] = {name: loaded[name] for name in _SHAPES}
            moves = cls(**arrays, **{name: kind(about[name]) for name, kind in _ABOUT.items()})
            moves._check()
            return moves
        except (*_WRONG, safetensors.SafetensorError) as error:
            raise P4FError(f"{path} cannot be read ({error}); make it again by what_if(...).save(path)") from None

    def _check(self) -> None:
        """Raise the error of parts that do not fit each other."""
        size = len(self.names)
        terms = 3 * size + size * (size - 1) // 2
        sizes = {"parameters": size, "two": 2, "rows": len(self.log_odds), "terms": terms, "groups": len(self.groups)}
        for name, axes in _SHAPES.items():
            shape = tuple(sizes[axis] for axis in axes)
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} has the shape {getattr(self, name).shape}, not {shape}")
        if len(self.meanings) != size:
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
        return np.asarray(terms(point[None], self.values, self.ranges)[0], dtype=np.float32)

    def _disparity(self, chance: Floats) -> float:
        return Grouping("", self.groups, self.shares).disparity(selected(chance))

    def __repr__(self) -> str:
        return f"WhatIf({', '.join(self.names)}: {self.fits} fits, {len(self.log_odds)} rows)"


def terms(points: Floats, values: Floats, ranges: Floats) -> Floats:
    """``[points, terms]``: three powers of the way of each parameter from its own value, and products of two."""
    scale = np.maximum(ranges[:, 1] - ranges[:, 0], 1e-9) / 2
    ways = (points - values) / scale
    first, second = np.triu_indices(len(values), 1)
    return np.concatenate([ways, ways**2, ways**3, ways[:, first] * ways[:, second]], axis=1)


def what_if(
    model: DebiasedClassifier,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    fair: Any = None,
    box: Mapping[str, Range] | None = None,
    beyond: float = 0.15,
    progress: bool | None = None,
) -> WhatIf:
    """Fit a model again with many values of its belief's parameters, to be asked about any others in milliseconds.

    All parameters move at once, over their intervals and beyond, apart from values by which recorded labels say almost
    nothing about fair ones.

    Parameters
    ----------
    model
        A fitted classifier of two classes, whose belief has parameters and names groups.
    X, y, sensitive_features
        Recorded data, such as those that it was trained on; of more than 20,000 rows, so many evenly spaced ones.
    fair
        Fair labels, missing where nobody looked: for the accuracy, and to learn from where the model did.
    box
        How far parameters may go, ``{"p1": (0.2, 0.6)}``; those that are not named, their intervals and ``beyond``.
    beyond
        How far to go outside the interval, or from a value that was stated.
    progress
        Whether to show a progress bar; by default only where standard error is a terminal.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=50, new=1)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> X, y, poor = data.loans[list(data.features)], data.loans["granted"], data.loans["poor_area"]
    >>> model = p4f.DebiasedClassifier(belief, "linear", random_state=0).fit(X, y, sensitive_features=poor)
    >>> moves = p4f.robustness.what_if(model, X, y, sensitive_features=poor)
    >>> moves.at({"p1": 0.5}).disparity > moves.at({"p1": 0.3}).disparity
    True
    >>> moves.at().changed, list(moves.at({"p1": 0.5}).groups)
    (0, ['before', 'now', 'gained', 'lost'])
    """
    if not 0 <= beyond <= 1:
        raise P4FError(f"beyond={beyond!r} is not between 0 and 1")
    check_is_fitted(model)
    rows = recorded_rows(model, X, y, sensitive_features, fair)
    place = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).astype(np.int64))
    rows = rows.take(place)
    belief: Belief = model.belief_
    groupings = belief.groupings(rows)
    parameters = [probability for probability in probabilities(belief.parameters) if probability.value is not None]
    if len(rows.classes) != 2 or not groupings or not parameters:
        raise P4FError("this needs a label of two classes, and a belief with parameters and groups")
    grouping = groupings[0]
    grouping.require_two()
    if len(parameters) > MOST_PARAMETERS:
        raise P4FError(f"the belief has {len(parameters)} parameters, more than {MOST_PARAMETERS} that move at once")
    names = tuple(parameter.name for parameter in parameters)
    values = np.array([parameter.value for parameter in parameters])
    refits = Refits(model, rows if model.audited_ else replace(rows, fair=None), progress)
    limits = {} if box is None else checked_box(belief, box)
    ranges = np.array(
        [_range(belief, parameter, refits.rows, limits.get(parameter.name), beyond) for parameter in parameters]
    )
    design = _design(belief, refits.rows, names, values, ranges)
    fitted = refits.near([observation for *_, observation in design])
    fits = [_log_odds(refits.fair_proba(other, fit, rows)) for (_, other, _), fit in zip(design, fitted, strict=True)]
    log_odds = _log_odds(fair_proba(model, rows))
    points = np.stack([point for point, *_ in design[1:]])
    basis, moves = terms(points, values, ranges), np.stack(fits[1:]) - fits[0]
    spread: Floats = np.linalg.pinv(basis.T @ basis, rcond=1e-8).astype(np.float64)
    surface = spread @ (basis.T @ moves)
    leverage = ((basis @ spread) * basis).sum(axis=1)
    errors = _errors(log_odds, moves, moves - basis @ surface, leverage, grouping)
    return WhatIf(
        names,
        tuple(parameter.meaning for parameter in parameters),
        values,
        ranges,
        log_odds.astype(np.float32),
        surface.astype(np.float32),
        spread,
        grouping.groups,
        grouping.shares.astype(np.float32),
        np.full(len(rows), -1, dtype=np.int8) if rows.fair is None else rows.fair.astype(np.int8),
        rows.sampling_weights().astype(np.float32),
        place,
        refits.count,
        float(leverage.max()),
        *errors,
    )


def _range(belief: Belief, parameter: Parameter, rows: Rows, limits: Range | None, beyond: float) -> Range:
    """How far a parameter may go."""
    low, high = interval_of(parameter)
    low, high = range_of(belief, parameter, rows, (low - beyond, high + beyond) if limits is None else limits)
    value = parameter.value or 0.0
    return min(low, value), max(high, value)


def _design(
    belief: Belief, rows: Rows, names: Sequence[str], values: Floats, ranges: Floats
) -> list[tuple[Floats, Belief, Observation]]:
    """Where to fit: at the values themselves, both ends of each parameter, and all over the box, more at its edges."""
    size = len(values)
    ends = np.repeat(values[None], 2 * size, axis=0)
    for number in range(size):
        ends[2 * number : 2 * number + 2, number] = ranges[number]
    fits = int(FITS_PER_TERM * terms(values[None], values, ranges).shape[1]) + 2 * size
    drawn = qmc.Sobol(size, seed=0).random_base2(int(np.ceil(np.log2(8 * fits))))
    inside = ranges[:, 0] + (1 - np.cos(np.pi * drawn)) / 2 * (ranges[:, 1] - ranges[:, 0])
    least = min(STEADY_SIGNAL, least_signal(belief.observe(rows)))
    design: list[tuple[Floats, Belief, Observation]] = []
    for point in (values, *ends, *inside):
        other = belief.bind(dict(zip(names, map(float, point), strict=True)))
        observation = other.observe(rows)
        if not design or least_signal(observation) >= least:
            design.append((point, other, observation))
        if len(design) == 1 + fits:
            break
    return design


def _log_odds(chance: Floats) -> Floats:
    favourable = np.clip(chance[:, 1], CERTAIN, 1 - CERTAIN)
    return np.log(favourable) - np.log1p(-favourable)


def _errors(
    log_odds: Floats, moves: Floats, residuals: Floats, leverage: Floats, grouping: Grouping
) -> tuple[float, float, float]:
    """How far the disparity of a fit that is predicted from the others is off, typically and at most; its decisions."""
    off, changed = [0.0], [0.0]
    for move, residual, weight in zip(moves, residuals, leverage, strict=True):
        if weight > 1 - 1e-6:
            continue  # nothing but this fit tells about its place
        fitted, predicted = (expit(log_odds + shift) for shift in (move, move - residual / (1 - weight)))
        off.append(abs(grouping.disparity(selected(fitted)) - grouping.disparity(selected(predicted))))
        changed.append(float((decide(fitted) != decide(predicted)).mean()))
    return float(np.sqrt(np.mean(np.square(off)))), max(off), float(np.mean(changed))
