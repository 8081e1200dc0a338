"""What positive and unlabelled data and selective labels share: who is selected, by group and by stated columns."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from problog4fairness.audit import frame_of
from problog4fairness.beliefs.favourable import favourable_json, plain_label
from problog4fairness.beliefs.templates.labels.stage import LabelStage
from problog4fairness.beliefs.templates.records.acceptance import ACCEPTANCE, Acceptance
from problog4fairness.beliefs.variables import (
    goal,
    sensitive_from_json,
    sensitive_json,
    variable_from_json,
    variable_json,
)
from problog4fairness.data import Codes, Floats, Level, Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import atom, predicates
from problog4fairness.statistics import Cell, Parameter, parameters_from_json, parameters_json

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Audit
    from problog4fairness.statistics import Beta

# A probability for all, or one for each group; where it also depends on other columns, for each (group, value, ...).
Chance = float | Mapping[Any, float | None] | None


# Parameters that the record of any table could tell apart.
MOST_STRATA = 10_000


class Selection(LabelStage):
    """A label that is on record only of those who were selected; a parameter for each stratum.

    A stratum is a group, or a group with a value of each of the columns that selection also depends on.
    """

    def _set(
        self,
        sensitive: str | Sequence[str],
        groups: Sequence[Level],
        by: Mapping[str, Sequence[Level]],
        favourable: Any,
    ) -> None:
        """Take the sensitive variable, the columns that selection also depends on, and the favourable label."""
        variable = Sensitive.of(sensitive, groups, name="a")
        twice = [name for name in by if name in variable.columns]
        if twice:
            raise P4FError(f"column {twice[0]!r} is the sensitive variable already")
        names = predicates(by, "b", {"a", "x"})
        others = [Sensitive.of(column, by[column], name) for column, name in zip(by, names, strict=True)]
        self.variables = (variable, *(Sensitive(v.columns, v.levels, v.name, people=False) for v in others))
        self.affected = tuple(range(len(self._strata())))
        self.favourable = plain_label(favourable)

    @abstractmethod
    def _meaning(self, fair: int, where: str) -> str:
        """What a parameter is the probability of."""

    def _strata(self) -> list[tuple[int, ...]]:
        """For each stratum the position of the group and of the value of each other column."""
        count = math.prod(len(variable.levels) for variable in self.variables)
        if count > MOST_STRATA:
            raise P4FError(f"there are {count:,} strata, more than {MOST_STRATA:,}; name fewer columns, or join values")
        return list(product(*(range(len(variable.levels)) for variable in self.variables)))

    def strata(self, rows: Rows) -> tuple[int, Codes | Floats]:
        """See :meth:`LabelStage.strata`."""
        own = [rows.positions(variable) for variable in self.variables]
        sizes = [len(variable.levels) for variable in self.variables]
        if all(positions.ndim == 1 for positions in own):
            return int(np.prod(sizes)), np.ravel_multi_index([p.astype(np.int64) for p in own], sizes)
        shares = np.ones((len(rows), 1))
        for variable in self.variables:
            shares = (shares[:, :, None] * rows.shares(variable)[:, None, :]).reshape(len(rows), -1)
        return shares.shape[1], shares

    def _where(self, stratum: int) -> str:
        """A stratum in words."""
        pairs = zip(self.variables, self._strata()[stratum], strict=True)
        return " and ".join(variable.group_text(level) for variable, level in pairs)

    def _goals(self, stratum: int) -> str:
        """What holds in a stratum, as the body of a clause."""
        return ", ".join(goal(v, level) for v, level in zip(self.variables, self._strata()[stratum], strict=True))

    def _key(self, stratum: int) -> Any:
        """What a user calls a stratum: its group, or the group with the values of the other columns."""
        key = tuple(v.levels[level] for v, level in zip(self.variables, self._strata()[stratum], strict=True))
        return key if len(key) > 1 else key[0]

    def _parameters(self, chance: Chance, fair: int, name: str) -> list[Parameter]:
        """The parameters of a fair label, the strata of the sensitive group first."""
        keys = {self._key(stratum): stratum for stratum in self.affected}
        if isinstance(chance, Mapping):
            unknown = [key for key in chance if key not in keys]
            if unknown:
                raise P4FError(f"{name} names {unknown[0]!r}, which is not among {', '.join(map(repr, keys))}")
        found = []
        for key, stratum in sorted(keys.items(), key=lambda entry: -entry[1] if self.variable.binary else entry[1]):
            value = chance.get(key) if isinstance(chance, Mapping) else chance
            cell = Cell(stratum, fair, fair)
            meaning = self._meaning(fair, self._where(stratum))
            known = None if value is None else float(value)
            found.append(Parameter(self.parameter_name(cell), meaning, known, cell=cell))
        return found

    def _inside(self, stratum: int) -> str:
        """The arguments of a parameter that say its stratum."""
        pairs = zip(self.variables, self._strata()[stratum], strict=True)
        return ",".join(atom(variable.levels[level]) for variable, level in pairs)

    def with_parameters(self, probabilities: tuple[Parameter, ...]) -> Self:
        """See :meth:`Belief.with_parameters`."""
        other = super().with_parameters(probabilities)
        other._check_values()
        return other

    def _check_values(self) -> None:
        """Raise the error that names a stratum in which nobody can be selected."""
        by_stratum: dict[int, list[Parameter]] = {}
        for cell, own in self.by_cell().items():
            by_stratum.setdefault(cell.group, []).append(own)
        for stratum, parameters in by_stratum.items():
            if all(own.value == 0 and own.rows is None for own in parameters):
                raise P4FError(
                    f"{' and '.join(own.name for own in parameters)} 0 would mean that no label is ever recorded where "
                    f"{self._where(stratum)}; leave out these rows, or say None to estimate it"
                )

    def _check_cells(self) -> None:
        """See :meth:`LabelStage._check_cells`."""
        for own in self.parameters:
            cell = own.cell
            fits = cell is not None and cell.group in self.affected and cell.fair == cell.recorded and cell.fair <= 1
            if cell is None or not fits or own.name != self.parameter_name(cell):
                raise ValueError(f"parameter {own.name} is not about its cell")

    def estimate(
        self,
        audit: pd.DataFrame | Audit,
        *,
        recorded: str,
        fair: str | None = None,
        favourable: Any = None,
        confidence: float = 0.95,
        prior: Mapping[str, Beta] | None = None,
        drawn_from: Any = None,
        features: Sequence[str] | None = None,
        use_sensitive: bool = False,
        acceptance: Acceptance = "auto",
    ) -> Self:
        """Estimate who is selected: by counting in audited rows, or learned together with the fair label.

        Parameters
        ----------
        audit, recorded, favourable, confidence, prior, drawn_from
            As for :meth:`Belief.estimate`; priors are for parameters that are counted.
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
        """
        from problog4fairness.beliefs.templates.records.learning import learned_from

        if features is not None and prior:
            raise P4FError("prior=... is for parameters that are counted in audited rows; leave out features=...")
        if acceptance not in ACCEPTANCE:
            raise P4FError(f"acceptance must be one of {', '.join(map(repr, ACCEPTANCE))}, not {acceptance!r}")
        whole = self._whole()
        if features is not None:
            table = (frame_of(audit), recorded, fair, favourable)
            follows = acceptance if whole.missing_labels else "label"
            found = self._noted(learned_from(whole, *table, features, confidence, use_sensitive, follows), favourable)
        elif fair is None:
            raise P4FError(self._ways())
        else:
            found = LabelStage.estimate(
                whole,
                audit,
                recorded=recorded,
                fair=fair,
                favourable=favourable,
                confidence=confidence,
                prior=prior,
                drawn_from=drawn_from,
            )
        own = self if whole is not self else found
        return own.with_parameters(found.parameters).with_favourable(found.favourable)

    def _whole(self) -> Self:
        """The belief about all people, in which parameters are estimated."""
        return self

    def check_selected(self, rows: Rows) -> None:
        """Raise the error that names a stratum in which nothing is recorded, so that the record cannot tell of it."""
        count, strata = self.strata(rows)
        shares = strata if strata.ndim == 2 else np.eye(count)[strata.astype(np.int64)]
        selected = np.asarray(rows.recorded) >= (0 if self.missing_labels else 1)
        for stratum in np.flatnonzero(selected @ shares == 0).tolist():
            where = self._where(stratum)
            raise P4FError(
                f"no label is recorded where {where}; the record does not tell of it: audit rows, or state it"
            )

    def _ways(self) -> str:
        """The error for who gave nothing to estimate from."""
        return "name the audited column by fair=..., or the columns that the fair label depends on by features=[...]"

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Belief.to_json`."""
        return {
            "kind": type(self).__name__,
            **sensitive_json(self.variable),
            "by": [variable_json(variable) for variable in self.variables[1:]],
            "suffix": self.suffix,
            "probabilities": parameters_json(self.parameters),
            **favourable_json(self),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Self:
        belief = cls.__new__(cls)
        belief.variables = (sensitive_from_json(value), *(variable_from_json(own) for own in value["by"]))
        if any(variable.people for variable in belief.variables[1:]):
            raise ValueError("it has two sensitive variables")
        belief.affected = tuple(range(len(belief._strata())))
        belief.favourable = value.get("favourable")
        belief.suffix = value["suffix"]
        belief.parameters = parameters_from_json(value["probabilities"])
        belief._check_cells()
        belief._check_values()
        return belief
