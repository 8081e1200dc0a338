"""Parameters that are learned from the record, together with a linear model of the fair label.

Of labels that are missing where nobody was accepted, the likelihood of the record tells whether acceptance follows the
fair label, as whoever decides with private knowledge does, or the columns, as a score does:

    P(accepted | fair = f, x, A) = s_f,A        or        P(accepted | fair = f, x, A) = logistic(x, A)

Under the second the likelihood of the fair label is that of the accepted people alone, which s_1,A = s_0,A says in the
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import log_expit
from torch import Tensor

from problog4fairness.audit import LabelModel, Learned, Terms, learn, least_loss, read_labels, warn_audit
from problog4fairness.beliefs.belief import Belief
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Parameter, estimated_jointly, interval

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs.templates.records.selection import Selection

SOURCE = "learned from the record with a linear model of the fair label"
ACCEPTANCE = ("auto", "label", "features")
BY_FEATURES = "acceptance follows the features; people alike in them are accepted whatever their label"
# A parameter that is not known better than this is told of.
UNTOLD = 0.5
MOST_FEATURES = 200
# Columns, with squares and products, up to which a curved model is tried.
MOST_CURVED = 60
# Standard deviation of the weights of standardised columns beforehand; four times that for the constant.
DEVIATION = 5.0


def learned_from(
    belief: Selection,
    table: pd.DataFrame,
    recorded: str,
    fair: str | None,
    favourable: Any,
    features: Sequence[str],
    confidence: float,
    use_sensitive: bool,
    acceptance: str,
) -> tuple[Parameter, ...]:
    """The parameters, learned from a table; the arguments are those of :meth:`Selection.estimate`."""
    rows = read_labels(belief, table, recorded, fair, favourable, partly=True)
    shares = belief.stratum_shares(rows)
    selected = np.asarray(rows.recorded) >= (0 if belief.missing_labels else 1)
    for stratum in np.flatnonzero(selected @ shares == 0).tolist():
        where = belief._where(stratum)
        raise P4FError(f"no label is recorded where {where}; the record does not tell of it: audit rows, or state it")
    matrix = design(belief, rows, features, use_sensitive)
    learned = None
    if acceptance != "features":
        terms, start = record_terms(belief, rows), [0.5] * len(belief.parameters)
        # Where acceptance may follow the features, that is the rival explanation, and is judged first.
        matrix = adequate(terms, rows, matrix, start) if acceptance == "label" else matrix
        learned = learn(terms, rows, matrix, start, confidence)
    if learned is None or (acceptance == "auto" and _follows_features(rows, matrix, shares, features, learned)):
        return tuple(_accepted(own, rows, shares, confidence) for own in belief.parameters)
    return _with_learned(belief.parameters, learned, len(rows))


def _with_learned(parameters: Sequence[Parameter], learned: Learned, rows: int) -> tuple[Parameter, ...]:
    """The parameters with what was learned of them; warns of those that the record hardly tells."""
    known = estimated_jointly(parameters, learned.values, learned.low, learned.high, learned.information, rows, SOURCE)
    for own in known:
        if (own.high or 1) - (own.low or 0) > UNTOLD:
            warn_audit(
                f"the record hardly tells {own.description}: between {own.low:.2f} and {own.high:.2f}; "
                "audit some rows, or state it"
            )
    return known


def _follows_features(rows: Rows, matrix: Floats, shares: Floats, features: Sequence[str], learned: Learned) -> bool:
    """Whether acceptance follows the features rather than the fair label, by BIC."""
    recorded = np.asarray(rows.recorded)
    fair = np.where(recorded >= 0, recorded, -1 if rows.fair is None else rows.fair)
    by_columns = np.concatenate([matrix[:, 1:], shares], axis=1)
    known = fair >= 0
    loss = _logistic_loss(by_columns, recorded >= 0) + _logistic_loss(matrix[known], fair[known] == 1)
    by_features = 2 * loss + (by_columns.shape[1] + matrix.shape[1]) * np.log(len(rows))
    by_label = 2 * learned.loss + (matrix.shape[1] + len(learned.values)) * np.log(len(rows))
    if by_features >= by_label:
        return False
    warn_audit(
        f"who was accepted follows {', '.join(features)} rather than the fair label (BIC {by_features:.0f} against "
        f"{by_label:.0f}): people alike in these are taken as accepted whatever their label; say "
        "acceptance='label' where whoever decided knew more"
    )
    return True


def _accepted(own: Parameter, rows: Rows, shares: Floats, confidence: float) -> Parameter:
    """The share of a stratum that was accepted, whatever the label."""
    weights = shares[:, 0 if own.cell is None else own.cell.group]
    count = float(weights.sum())
    value = float(weights @ (np.asarray(rows.recorded) >= 0)) / count
    low, high = interval(value, count, confidence)
    return replace(own, value=value, low=low, high=high, rows=round(count), source=BY_FEATURES)


def _logistic_loss(matrix: Floats, holds: Any) -> float:
    """Minus the log-likelihood of a logistic model, penalised as the one of the fair label is."""
    scale = np.where(np.ptp(matrix, axis=0) == 0, 4 * DEVIATION, DEVIATION)
    sign = 2.0 * holds - 1

    def slope(weights: Floats) -> tuple[float, Floats]:
        margins = sign * (matrix @ weights)
        loss = 0.5 * float(((weights / scale) ** 2).sum()) - float(log_expit(margins).sum())
        return loss, weights / scale**2 - matrix.T @ (sign * np.exp(log_expit(-margins)))

    return float(minimize(slope, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B").fun)


def record_terms(belief: Belief, rows: Rows) -> Terms:
    """log P(record | fair class) of each row by the belief's program, in which all parameters are open."""
    record, classes = belief.record(rows), len(rows.classes)
    if record.codes is None:
        raise P4FError("parameters are learned from rows that have a record")
    program = belief.unknown().program()
    known = [leaf for leaf in program.compile().leaves if leaf.kind == "network" and leaf.name != belief.classifier]
    values = [belief._leaf_value(leaf, rows).reshape(len(rows), -1) for leaf in known]
    columns = np.column_stack([*values, np.zeros(len(rows))])
    kinds, place = np.unique(columns, axis=0, return_inverse=True)
    cells = torch.from_numpy(kinds).repeat_interleave(classes, 0).split([v.shape[1] for v in values] + [1], dim=1)
    h = torch.arange(classes).repeat(len(kinds))
    nn = {belief.classifier: h.double() if classes == 2 else torch.eye(classes).double()[h]}
    nn |= {str(leaf): cell if leaf.outcomes else cell.reshape(-1) for leaf, cell in zip(known, cells, strict=False)}
    model = LabelModel(program, nn, belief.parameters)
    which, codes = torch.from_numpy(place.reshape(-1)), torch.from_numpy(record.codes)

    def terms(parameters: Tensor) -> Tensor:
        table = model.table(parameters).clamp_min(1e-300).log().reshape(len(kinds), classes, -1)
        return table[which, :, codes]

    return terms


def design(belief: Belief, rows: Rows, features: Sequence[str], use_sensitive: bool) -> Floats:
    """The matrix of the linear model: a constant, the features standardised, and the groups if they are used."""
    parts = [np.ones((len(rows), 1)), *(_encoded(rows.column(name, "features"), name) for name in features)]
    if use_sensitive:
        parts += [rows.shares(variable)[:, 1:] for variable in belief.variables if variable.people]
    matrix = np.concatenate(parts, axis=1)
    if matrix.shape[1] > MOST_FEATURES:
        raise P4FError(f"features make {matrix.shape[1]} columns, more than {MOST_FEATURES}; name fewer of them")
    return matrix


def adequate(terms: Terms, rows: Rows, matrix: Floats, start: Sequence[float]) -> Floats:
    """The matrix itself, or with squares and products of its columns, where the record is likelier by these (BIC).

    A model of the fair label that is too simple makes parameters take up what it leaves over.
    """
    columns = [own for own in matrix.T[1:] if np.ptp(own) > 0]
    pairs = [(a * b) for place, a in enumerate(columns) for b in columns[place:] if len(np.unique(a * b)) > 2]
    if not pairs or matrix.shape[1] + len(pairs) > MOST_CURVED:
        return matrix
    products = np.stack(pairs, axis=1)
    curved = np.concatenate([matrix, (products - products.mean(axis=0)) / (products.std(axis=0) + 1e-12)], axis=1)
    gain = least_loss(terms, rows, matrix, start) - least_loss(terms, rows, curved, start)
    if 2 * gain <= len(pairs) * np.log(len(rows)):
        return matrix
    warn_audit(
        "the record contradicts that the fair label is linear in the features: squares and products of them are taken, "
        "too; audit some rows where it may be more curved than that"
    )
    return curved


def _encoded(column: pd.Series[Any], name: str) -> Floats:
    """A column as numbers: standardised, or an indicator for each value but the first."""
    import pandas as pd

    missing = int(column.isna().sum())
    if missing:
        raise P4FError(f"feature {name!r} has {missing} missing values; drop these rows, or name other features")
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=np.float64).reshape(-1, 1)
        return np.asarray((values - values.mean()) / (values.std() or 1.0))
    return np.asarray(pd.get_dummies(column, drop_first=True), dtype=np.float64)
