"""What positive and unlabelled data and selective labels share: who is selected, by group and by stated columns."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from problog4fairness.audit import frame_of
from problog4fairness.beliefs.fields import plain_label
from problog4fairness.beliefs.templates.labels.stage import LabelStage
from problog4fairness.beliefs.variables import goal
from problog4fairness.data import Codes, Floats, Level, Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import atom, predicates
from problog4fairness.statistics import Cell, Parameter

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Audit

# A probability for all, or one for each group; where it also depends on other columns, for each (group, value, ...).
Chance = float | Mapping[Any, float | None] | None
# Parameters that the record of any table could tell apart.
MOST_STRATA = 10_000


class Selection(LabelStage):
    """A label that is on record only of those who were selected; a parameter for each stratum.

    A stratum is a group, or a group with a value of each of the columns that selection also depends on; ``affected``
    are all strata.
    """

    def _set_strata(self, by: Mapping[str, Sequence[Level]], favourable: Any) -> None:
        """Take the columns that selection also depends on, and the favourable label."""
        for name in set(by) & set(self.variable.columns):
            raise P4FError(f"column {name!r} is the sensitive variable already")
        names = predicates(by, "b", {"a", "x"})
        others = [Sensitive.of(column, by[column], name) for column, name in zip(by, names, strict=True)]
        self.variables += tuple(Sensitive(v.columns, v.levels, v.name, people=False) for v in others)
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
        positions = [rows.positions(variable) for variable in self.variables]
        sizes = [len(variable.levels) for variable in self.variables]
        if all(own.ndim == 1 for own in positions):
            return int(np.prod(sizes)), np.ravel_multi_index([own.astype(np.int64) for own in positions], sizes)
        shares = np.ones((len(rows), 1))
        for variable in self.variables:
            shares = (shares[:, :, None] * rows.shares(variable)[:, None, :]).reshape(len(rows), -1)
        return shares.shape[1], shares

    def stratum_shares(self, rows: Rows) -> Floats:
        """``[rows, strata]``: the probability of each stratum."""
        count, strata = self.strata(rows)
        return np.asarray(strata if strata.ndim == 2 else np.eye(count)[strata.astype(np.int64)], dtype=np.float64)

    def _where(self, stratum: int) -> str:
        """A stratum in words."""
        pairs = zip(self.variables, self._strata()[stratum], strict=True)
        return " and ".join(variable.group_text(level) for variable, level in pairs)

    def _goals(self, stratum: int) -> str:
        """What holds in a stratum, as the body of a clause."""
        return ", ".join(goal(v, level) for v, level in zip(self.variables, self._strata()[stratum], strict=True))

    def _inside(self, stratum: int) -> str:
        """The arguments of a parameter that say its stratum."""
        pairs = zip(self.variables, self._strata()[stratum], strict=True)
        return ",".join(atom(variable.levels[level]) for variable, level in pairs)

    def _parameters(self, chance: Chance, fair: int, name: str) -> list[Parameter]:
        """The parameters of a fair label, the strata of the sensitive group first."""
        groups = [tuple(v.levels[k] for v, k in zip(self.variables, own, strict=True)) for own in self._strata()]
        keys = [group if len(group) > 1 else group[0] for group in groups]
        for key in set(chance) - set(keys) if isinstance(chance, Mapping) else ():
            raise P4FError(f"{name} names {key!r}, which is not among {', '.join(map(repr, keys))}")
        parameters = []
        for stratum in sorted(self.affected, reverse=self.variable.binary):
            value = chance.get(keys[stratum]) if isinstance(chance, Mapping) else chance
            cell = Cell(stratum, fair, fair)
            known = None if value is None else float(value)
            meaning = self._meaning(fair, self._where(stratum))
            parameters.append(Parameter(self.parameter_name(cell), meaning, known, cell=cell))
        return parameters

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
        from problog4fairness.beliefs.templates.records.learning import ACCEPTANCE, learned_from

        if features is not None and counting.get("prior"):
            raise P4FError("prior=... is for parameters that are counted in audited rows; leave out features=...")
        if acceptance not in ACCEPTANCE:
            raise P4FError(f"acceptance must be one of {', '.join(map(repr, ACCEPTANCE))}, not {acceptance!r}")
        everybody = self._of_everybody()
        if features is not None:
            follows = acceptance if everybody.missing_labels else "label"
            labels = frame_of(audit), recorded, fair, favourable
            parameters = learned_from(everybody, *labels, features, confidence, use_sensitive, follows)
            estimated = self._noted(everybody, favourable).with_parameters(parameters)
        elif fair is None:
            raise P4FError(self._ways())
        else:
            estimated = LabelStage.estimate(
                everybody, audit, recorded=recorded, fair=fair, favourable=favourable, confidence=confidence, **counting
            )
        belief = estimated if everybody is self else self
        return belief.with_parameters(estimated.parameters).with_favourable(estimated.favourable)

    def _of_everybody(self) -> Self:
        """The belief about all people, in which parameters are estimated."""
        return self

    def _ways(self) -> str:
        """The error for who gave nothing to estimate from."""
        return "name the audited column by fair=..., or the columns that the fair label depends on by features=[...]"
