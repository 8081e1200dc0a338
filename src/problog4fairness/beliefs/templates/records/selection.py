"""What positive and unlabelled data and selective labels share: who is selected, by group and by stated columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import log_expit

from problog4fairness.audit import (
    Audit,
    LabelModel,
    Learned,
    Terms,
    adequate_matrix,
    design_matrix,
    frame_of,
    learn,
    read_labels,
    warn_audit,
)
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.templates.labels.stage import LabelStage
from problog4fairness.beliefs.variables import Cells
from problog4fairness.data import Codes, Floats, Level, Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import predicates
from problog4fairness.statistics import Cell, Parameter, estimated_jointly, proportion

if TYPE_CHECKING:
    import pandas as pd


# A probability for all, or one for each group; where it also depends on other columns, for each (group, value, ...).
Chance = float | Mapping[Any, float | None] | None
# Parameters that the record of any table could tell apart.
MOST_STRATA = 10_000


class Selection(LabelStage):
    """A label that is on record only of those who were selected; a parameter for each stratum.

    A stratum is a group, or a group with a value of each of the columns that selection also depends on; ``affected``
    are all strata.
    """

    def _set_strata(self, by: Mapping[str, Sequence[Level]]) -> None:
        """Take the columns that selection also depends on."""
        for name in set(by) & set(self.variable.columns):
            raise P4FError(f"column {name!r} is the sensitive variable already")
        names = predicates(by, "b", {"a", "x"})
        others = [Sensitive.of(column, by[column], name) for column, name in zip(by, names, strict=True)]
        self.variables += tuple(Sensitive(v.columns, v.levels, v.name, people=False) for v in others)
        if self.cells.count > MOST_STRATA:
            raise P4FError(
                f"there are {self.cells.count:,} strata, more than {MOST_STRATA:,}; name fewer columns, or join values"
            )
        self.affected = tuple(range(self.cells.count))

    @property
    def cells(self) -> Cells:
        """The strata."""
        return Cells(self.variables)

    def where(self, cell: Cell) -> str:
        return self.cells.words(cell.group)

    def strata(self, rows: Rows) -> tuple[int, Codes | Floats]:
        return self.cells.count, self.cells.positions(rows)

    def stratum_shares(self, rows: Rows) -> Floats:
        """``[rows, strata]``: the probability of each stratum."""
        count, strata = self.strata(rows)
        return np.asarray(strata if strata.ndim == 2 else np.eye(count)[strata.astype(np.int64)], dtype=np.float64)

    def _parameters(self, chance: Chance, fair: int, name: str) -> list[Parameter]:
        """The parameters of a fair label, the strata of the sensitive group first."""
        values = map(self.cells.values, range(self.cells.count))
        keys = [value if len(value) > 1 else value[0] for value in values]
        for key in set(chance) - set(keys) if isinstance(chance, Mapping) else ():
            raise P4FError(f"{name} names {key!r}, which is not among {', '.join(map(repr, keys))}")
        stated = chance if isinstance(chance, Mapping) else dict.fromkeys(keys, chance)
        strata = sorted(self.affected, reverse=self.variable.binary)
        return [self._parameter(Cell(stratum, fair, fair), stated.get(keys[stratum])) for stratum in strata]

    def _with_parameters(self, parameters: tuple[Parameter, ...]) -> Self:
        other = super()._with_parameters(parameters)
        other._check_values()
        return other

    def _check_values(self) -> None:
        """Raise the error that names a stratum in which nobody can be selected."""
        by_stratum: dict[int, list[Parameter]] = {}
        for cell, parameter in self.by_cell().items():
            by_stratum.setdefault(cell.group, []).append(parameter)
        for stratum, parameters in by_stratum.items():
            if all(parameter.value == 0 and parameter.rows is None for parameter in parameters):
                names = " and ".join(parameter.name for parameter in parameters)
                raise P4FError(
                    f"{names} 0 would mean that no label is ever recorded where {self.cells.words(stratum)}; leave out "
                    "these rows, or say None to estimate it"
                )

    def estimate(
        self,
        audit: pd.DataFrame | Audit,
        *,
        recorded: str,
        fair: str | None = None,
        favourable: Any = None,
        confidence: float = 0.95,
        features: Sequence[str] | None = None,
        use_sensitive: bool = False,
        acceptance: Literal["auto", "label", "features"] = "auto",
        **counting: Any,
    ) -> Self:
        """Estimate who is selected: by counting in audited rows, or learned together with the fair label.

        Parameters
        ----------
        audit, recorded, favourable, confidence
            As for :meth:`Belief.estimate`.
        fair
            The column of the fair label. Not needed with ``features``.
        features
            Columns that the fair label depends on. Then no row needs to be audited: the parameters are those that make
            the record most likely, together with a linear model of the fair label by these columns.
        use_sensitive
            Whether that model uses the group; by default it is group-free, the same in all groups.
        acceptance
            For labels that are missing where nobody was accepted, learned with ``features``: whether acceptance follows
            the fair ``"label"``, as the belief says, or the ``"features"``, as a score does, so that it says nothing of
            the label of people who are alike in them. ``"auto"``: what makes the record more likely, by BIC.
        counting
            ``prior`` and ``drawn_from`` of :meth:`Belief.estimate`, for parameters that are counted.
        """
        if features is not None and counting.get("prior"):
            raise P4FError("prior=... is for parameters that are counted in audited rows; leave out features=...")
        if acceptance not in ACCEPTANCE:
            raise P4FError(f"acceptance must be one of {', '.join(map(repr, ACCEPTANCE))}, not {acceptance!r}")
        everybody = self._of_everybody()
        if features is not None:
            follows = acceptance if everybody.record.gaps else "label"
            labels = frame_of(audit), recorded, fair, favourable
            parameters = learned_from(
                everybody._prepared(None, confidence), *labels, features, confidence, use_sensitive, follows
            )
            estimated = everybody._with_counted_label(favourable)._with_parameters(parameters)
        elif fair is None:
            raise P4FError(self._ways())
        else:
            estimated = LabelStage.estimate(
                everybody, audit, recorded=recorded, fair=fair, favourable=favourable, confidence=confidence, **counting
            )
        belief = estimated if everybody is self else self
        return belief._with_parameters(estimated.parameters)._with_favourable(estimated.favourable)

    def _of_everybody(self) -> Self:
        """The belief about all people, in which parameters are estimated."""
        return self

    def _ways(self) -> str:
        """The error for who gave nothing to estimate from."""
        return "name the audited column by fair=..., or the columns that the fair label depends on by features=[...]"


SOURCE = "learned from the record with a linear model of the fair label"
ACCEPTANCE = ("auto", "label", "features")
BY_FEATURES = "acceptance follows the features; people alike in them are accepted whatever their label"
# A parameter that is not known better than this is told of.
UNTOLD = 0.5
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
    selected = np.asarray(rows.recorded) >= (0 if belief.record.gaps else 1)
    for stratum in np.flatnonzero(selected @ shares == 0).tolist():
        where = belief.cells.words(stratum)
        raise P4FError(f"no label is recorded where {where}; the record does not tell of it: audit rows, or state it")
    matrix = design_matrix(belief, rows, features, use_sensitive)
    learned = None
    if acceptance != "features":
        terms, start = record_terms(belief, rows), [0.5] * len(belief.parameters)
        # Where acceptance may follow the features, that is the rival explanation, and is judged first.
        matrix = adequate_matrix(terms, rows, matrix, start) if acceptance == "label" else matrix
        learned = learn(terms, rows, matrix, start, confidence)
    if learned is None or (acceptance == "auto" and _follows_features(rows, matrix, shares, features, learned)):
        return tuple(_accepted(parameter, rows, shares, confidence) for parameter in belief.parameters)
    ends, information = (learned.low, learned.high), learned.information
    known = estimated_jointly(belief.parameters, learned.values, *ends, information, len(rows), SOURCE)
    for parameter in known:
        low, high = parameter.low or 0.0, parameter.high or 1.0
        if high - low > UNTOLD:
            warn_audit(
                f"the record hardly tells {parameter.description}: between {low:.2f} and {high:.2f}; audit some rows, "
                "or state it"
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


def _accepted(parameter: Parameter, rows: Rows, shares: Floats, confidence: float) -> Parameter:
    """The share of a stratum that was accepted, whatever the label."""
    weights = shares[:, 0 if parameter.cell is None else parameter.cell.group]
    accepted = float(weights @ (np.asarray(rows.recorded) >= 0))
    return parameter.estimated(proportion(accepted, float(weights.sum()), confidence), BY_FEATURES)


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
    record, classes = belief.record.outcomes(rows), np.arange(len(rows.classes))
    if record.codes is None:
        raise P4FError("parameters are learned from rows that have a record")
    model = LabelModel(
        belief,
        belief._leaf_value,
        belief.bind(None).program(),
        belief.parameters,
        rows,
        np.tile(classes, (len(rows), 1)),
    )
    cells, codes = torch.from_numpy(model.cells), torch.from_numpy(record.codes).unsqueeze(1)
    return lambda parameters: model.table(parameters).clamp_min(1e-300).log()[cells, codes]
