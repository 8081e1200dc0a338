"""What a bias depends on besides the group, as a user says it, and as it is taken from audited rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import chi2

from problog4fairness.audit import warn_audit
from problog4fairness.beliefs.fields import is_number, plain_value
from problog4fairness.data import OTHER, Category, Floats, Level, Period, Rows, Score, Sensitive, numbers_of, values_of
from problog4fairness.errors import P4FError

# More values than this of one column are names of rows, not of cells.
MOST_VALUES = 2_000


@dataclass(frozen=True)
class By:
    """What :func:`by` said.

    Attributes
    ----------
    columns
        Each with its values, or with none where they are taken from the audit.
    model
        Columns of numbers that the bias may depend on.
    period
        The periods, where it depends on the time.
    found
        What audited rows told of it: the values of columns, and a score of numbers.
    """

    columns: tuple[tuple[str, tuple[Level, ...]], ...] = ()
    model: tuple[str, ...] = ()
    period: Period | None = None
    found: tuple[Sensitive, ...] = ()

    @property
    def waiting(self) -> By | None:
        """What audited rows must tell before the belief is about it; None where all is said."""
        columns = tuple((name, values) for name, values in self.columns if not values)
        return By(columns, self.model) if columns or self.model else None

    @property
    def names(self) -> tuple[str, ...]:
        """All its columns."""
        return (*(name for name, _ in self.columns), *self.model)

    def without(self, names: Sequence[str]) -> By:
        """Without columns that count already."""
        twice = next((name for name in self.model if name in names), None)
        if twice is not None:
            raise P4FError(f"column {twice!r} is the sensitive variable already; leave it out of model=...")
        return replace(self, columns=tuple(column for column in self.columns if column[0] not in names))

    def variables(self) -> list[Sensitive]:
        """What the bias depends on as far as it is said, each a variable of the program."""
        known: list[Sensitive] = [Category.listing(name, values, name) for name, values in self.columns if values]
        return [*known, *([] if self.period is None else [self.period]), *self.found]

    def found_in(self, rows: Rows, hit: Floats, groups: Floats) -> By:
        """The same with what audited rows tell: the values that occur, and the score where the audit supports one.

        Parameters
        ----------
        rows, hit, groups
            Audited rows that could have been distorted, whether they were, and ``[rows, groups]``.
        """
        variables: list[Sensitive] = [
            Category.listing(name, _values(rows, name), name) for name, values in self.columns if not values
        ]
        if self.model:
            numbers = {name: numbers_of(rows.column(name, "model=...")) for name in self.model}
            score = _fitted_score(numbers, hit, groups, rows.weights)
            variables += [] if score is None else [score]
        known = tuple(column for column in self.columns if column[1])
        return replace(self, columns=known, model=(), found=(*self.found, *variables))

    def to_json(self) -> dict[str, Any]:
        """Plain data, the periods aside."""
        variables = [_plain(variable) for variable in self.found]
        return {
            "columns": {name: [plain_value(value) for value in values] for name, values in self.columns},
            "model": list(self.model),
            **({"found": variables} if variables else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> By:
        """The inverse of :meth:`to_json`."""
        columns = value.get("columns") or {}
        variables = tuple(map(_found, value.get("found", ())))
        if not columns and not value.get("model"):
            return cls(found=variables)
        declared = depends_on(*([columns] if isinstance(columns, Mapping) else columns), model=value.get("model") or ())
        return replace(declared, found=variables)


# What audited rows may tell.
_FOUND: Mapping[str, type[Sensitive]] = {"category": Category, "score": Score}


def _plain(variable: Sensitive) -> dict[str, Any]:
    """What audited rows told, as plain data."""
    kind = next(name for name, known in _FOUND.items() if type(variable) is known)
    levels = [plain_value(level) for level in variable.levels]
    more = {field.name: list(getattr(variable, field.name)) for field in _more(type(variable))}
    return {"as": kind, "name": variable.name, "columns": list(variable.columns), "levels": levels, **more}


def _found(value: Mapping[str, Any]) -> Sensitive:
    """The inverse of :func:`_plain`, of data that anybody may have written."""
    kind, name, columns, levels = _FOUND[value["as"]], value["name"], value["columns"], value["levels"]
    more = {field.name: tuple(value[field.name]) for field in _more(kind)}
    numbers = [number for part in more.values() for number in part]
    if not all(isinstance(text, str) for text in (name, *columns)) or not all(map(is_number, numbers)):
        raise ValueError("what the bias depends on is not as it should be")
    return kind(tuple(columns), tuple(plain_value(level) for level in levels), name, people=False, **more)


def _more(kind: type[Sensitive]) -> tuple[Any, ...]:
    """The fields that a kind of variable has besides those of all."""
    return fields(kind)[len(fields(Sensitive)) :]


def depends_on(*columns: str | Mapping[str, Sequence[Level]], model: str | Sequence[str] = ()) -> By:
    """What a bias depends on besides the group, for :class:`RowBias`.

    Parameters
    ----------
    columns
        Names of columns of values, such as who decided: each value has a probability of its own, shrunk towards the
        others where rows are few. Which values there are is taken from the audit, or given:
        ``{"officer": ("ann", "bob")}``.
    model
        Columns of numbers, such as income: where the audit shows that the bias depends on them, a penalised logistic
        regression of the error on them makes a score, and each of its bands has a probability.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.depends_on("officer", model="income").names
    ('officer', 'income')
    >>> belief = p4f.RowBias("poor_area", p4f.depends_on({"officer": ("ann", "bob")}), positive=False)
    >>> [own.name for own in belief.parameters][:3]
    ['neg(1,ann)', 'neg(1,bob)', 'neg(1,other)']
    """
    known: dict[str, tuple[Level, ...]] = {}
    for column in columns:
        if not isinstance(column, str | Mapping):
            raise P4FError(f"depends_on(...) takes names of columns, or {{name: values}}, not {column!r}")
        for name, values in ({column: ()} if isinstance(column, str) else column).items():
            if name in known:
                raise P4FError(f"depends_on(...) names the column {name!r} twice")
            if isinstance(values, str):
                raise P4FError(f"the values of {name!r} are a list: depends_on({{{name!r}: [{values!r}]}})")
            # Numbers of numpy are numbers, and a value that is said twice is one.
            known[name] = tuple(
                dict.fromkeys(value.item() if isinstance(value, np.generic) else value for value in values)
            )
    numbers = (model,) if isinstance(model, str) else tuple(model)
    if not known and not numbers:
        raise P4FError("depends_on(...) needs the name of a column, such as depends_on('officer')")
    twice = next((name for name in numbers if name in known), None)
    if twice is not None:
        raise P4FError(f"column {twice!r} is in depends_on(...) and in model=...; leave it out of one")
    return By(tuple(known.items()), numbers)


def _values(rows: Rows, name: str) -> tuple[Level, ...]:
    """The values of a column in audited rows, as groups."""
    values = [value for value in values_of(rows.column(name, "what the bias depends on")) if value != OTHER]
    if not values:
        raise P4FError(f"column {name!r} has no value in the audited rows; leave it out of depends_on(...)")
    if len(values) > MOST_VALUES:
        raise P4FError(
            f"column {name!r} has {len(values):,} values, more than {MOST_VALUES:,}; "
            f"join some, or depends_on(model=[{name!r}])"
        )
    return tuple(values)


# The chance at which an audit that shows nothing is taken to show something.
LEVEL = 0.05
# Slopes of columns with deviation 1 have a normal prior with deviation 1.
PENALTY = 1.0
# Bands of a score, and audited rows that one needs.
MOST_BANDS, LEAST_BAND = 5, 40
# Newton steps; far fewer are needed.
STEPS = 50


def _fitted_score(columns: Mapping[str, Floats], hit: Floats, groups: Floats, weights: Floats | None) -> Score | None:
    """The score of the rows that were distorted against those that were not; None where the audit shows none.

    A likelihood ratio test against one probability for each group decides, at 5%. ``columns`` hold the numbers of the
    audited rows, NaN where one is missing; ``hit`` is 1 where the label was distorted, ``groups`` are shares.
    """
    weight = np.ones(len(hit)) if weights is None else weights
    names = [name for name, values in columns.items() if np.nanstd(values) > 0]
    bands = int(min(MOST_BANDS, weight.sum() // LEAST_BAND))
    listed = ", ".join(columns)
    if not names or bands < 2 or not 0 < (weight * hit).sum() < weight.sum():
        warn_audit(f"too few audited rows tell whether the bias depends on {listed}; that is left out")
        return None
    raw = np.column_stack([columns[name] for name in names])
    middles, scales = np.nanmean(raw, axis=0), np.nanstd(raw, axis=0)
    x = np.nan_to_num((raw - middles) / scales)
    occurring = groups[:, groups.sum(axis=0) > 0]
    free, penalty = np.column_stack([occurring, x]), np.r_[np.zeros(occurring.shape[1]), np.full(len(names), 1e-6)]
    _, by_group = _regression(occurring, hit, weight, np.zeros(occurring.shape[1]))
    _, by_score = _regression(free, hit, weight, penalty)
    p = float(chi2.sf(2 * (by_score - by_group), len(names)))
    if p > LEVEL:
        warn_audit(f"the audit does not show that the bias depends on {listed} (p = {p:.2f}); that is left out")
        return None
    penalty[occurring.shape[1] :] = PENALTY
    slopes = _regression(free, hit, weight, penalty)[0][occurring.shape[1] :] / scales
    # The score of one column is that column, whatever its slope.
    slopes = np.ones(1) if len(names) == 1 else slopes / np.abs(slopes * scales).max()
    score = np.where(np.isnan(raw), middles, raw) @ slopes
    cuts = np.unique(np.quantile(score, np.arange(1, bands) / bands))
    cuts = cuts[cuts > score.min()]
    if not len(cuts):
        return None
    plain = (tuple(map(float, values)) for values in (slopes, middles, cuts))
    return Score(tuple(names), tuple(range(1, len(cuts) + 2)), "score", False, *plain)


def _regression(x: Floats, hit: Floats, weight: Floats, penalty: Floats) -> tuple[Floats, float]:
    """The coefficients of a logistic regression, each with its penalty, by Newton's method; and the log-likelihood."""
    coefficients = np.zeros(x.shape[1])
    for _ in range(STEPS):
        chance = expit(x @ coefficients)
        slope = x.T @ (weight * (hit - chance)) - penalty * coefficients
        # A tiny ridge keeps groups in which nobody, or everybody, was distorted from running away.
        curve = (x.T * (weight * chance * (1 - chance))) @ x + np.diag(penalty + 1e-3)
        step = np.linalg.solve(curve, slope)
        coefficients = coefficients + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    z = x @ coefficients
    return coefficients, float((weight * (hit * z - np.logaddexp(0, z))).sum())
