"""The sensitive column is missing, partly missing, or known only by proxies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import Tensor

from problog4fairness.audit import (
    Audit,
    AuditRules,
    frame_of,
    planned_error,
    warn_few,
    warn_unweighted,
)
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import with_proxies
from problog4fairness.beliefs.describe.words import Label, share
from problog4fairness.beliefs.description import BeliefKind, Columns, LabelRecord, Question
from problog4fairness.beliefs.fields import GROUPS, SENSITIVE, Field
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.templates.none import NoBias
from problog4fairness.beliefs.templates.records.proxies import (
    NETWORK,
    Disparity,
    bounded_disparity,
    linked_shares,
    proxy_text,
    stated_shares,
)
from problog4fairness.beliefs.variables import Cells
from problog4fairness.data import Codes, Floats, Grouping, Level, Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import Diagram, Leaf, atom, predicates
from problog4fairness.statistics import Beta, Cell, Parameter, known_values

if TYPE_CHECKING:
    import pandas as pd


# Combinations of values of the proxies, and parameters: one for each of them and each group but the first.
MOST_CELLS, MOST_PARAMETERS = 10_000, 20_000


class UnknownGroup(Belief):
    r"""The group is known of some people or of nobody; of the others, P(group | proxies) is.

    P(a) = 1 where the group is recorded; P(a | proxies) where it is not

    Use it where the sensitive column is missing, partly missing, or was never asked for, and something else tells of
    it: a postcode, a first name. It stands before another belief, which then acts on groups that are uncertain.

    What identifies it: nothing in the table itself. The probabilities are stated (``shares``), or counted in a *linked
    sample*, rows with both the proxies and the group (:meth:`estimate`); rows of the same table in which the group is
    known are one if it is missing by chance. Given the proxies, the group is then taken to have nothing to do with the
    features; name every column that tells of it, numbers in bands, or part of the bias stays, however many rows there
    are: what the belief does not say of the group, the learner takes for the label's. :meth:`disparity` gives the
    bounds without that assumption.

    Parameters
    ----------
    sensitive
        The column of the group, missing where it is not known; the table need not have it.
    proxies
        The columns that tell of it, with their values: ``{"postcode": ("1010", "1020")}``.
    shares
        P(sensitive group | value), one for each value, or for each tuple of values of several proxies; or for each of
        them the probabilities of all groups, which sum to 1, as more than two groups need. None to be estimated.
    belief
        How the label came about, given the group; by default the recorded label is the fair one.
    groups
        The groups; of two, the second is the sensitive one.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.UnknownGroup("migrant", {"postcode": ("1010", "1020")}, {"1010": 0.1, "1020": 0.6})
    >>> sorted(own.value for own in belief.parameters)[-1]
    0.6
    """

    title = "unknown group"
    kind = BeliefKind(
        fields=(
            SENSITIVE,
            Field("proxies", "values", "The columns that tell of the group, with their values"),
            Field("belief", "belief", "How the label came about, given the group"),
            GROUPS,
        ),
        identified_by="stated probabilities, or rows of which the group is known; the table without them does not.",
        question=Question(
            "group",
            "Other columns tell of it",
            "The group is missing for some or for all; a postcode or a first name makes it likely.",
            (("postcode", "first name"), ("?group",)),
        ),
    )

    def __init__(
        self,
        sensitive: str,
        proxies: Mapping[str, Sequence[Level]],
        shares: Mapping[Any, Any] | None = None,
        *,
        belief: Belief | None = None,
        groups: Sequence[Level] = (0, 1),
    ) -> None:
        inner = None if isinstance(belief, NoBias) else belief
        super().__init__(sensitive, proxies=proxies, belief=inner, groups=groups)
        (variable,) = self.variables
        if len(variable.columns) > 1:
            raise P4FError("UnknownGroup is for one sensitive column")
        if not proxies:
            raise P4FError("name at least one proxy, with its values: {'postcode': ('1010', '1020')}")
        if isinstance(belief, UnknownGroup):
            raise P4FError("one UnknownGroup is enough; name all proxies in it")
        self.belief = inner or NoBias()
        same = [other for other in self.belief.variables if other.columns == variable.columns]
        if same and same[0].levels != variable.levels:
            raise P4FError(f"the belief knows the groups {list(same[0].levels)}, not {list(variable.levels)}")
        if self.belief.variables and not same:
            raise P4FError(
                f"the belief is about {', '.join(self.belief.columns.sensitive)}, not {variable.columns[0]!r}"
            )
        self.group = same[0] if same else variable
        # Each proxy has a name that the program of the belief does not use.
        taken = {"x", "h", NETWORK, *(variable.name for variable in self.belief.variables), self.group.name}
        names = predicates(proxies, "q", taken)
        others = [Sensitive.of(column, values) for column, values in proxies.items()]
        self.proxies = tuple(replace(v, name=name, people=False) for v, name in zip(others, names, strict=True))
        self.cells = Cells(self.proxies)
        if self.cells.count > MOST_CELLS:
            raise P4FError(f"the proxies have {self.cells.count:,} combinations of values, more than {MOST_CELLS:,}")
        count = self.cells.count * (len(self.group.levels) - 1)
        if count > MOST_PARAMETERS:
            raise P4FError(f"the groups and proxies need {count:,} parameters, more than {MOST_PARAMETERS:,}")
        values = map(self.cells.values, range(self.cells.count))
        keys = [value if len(value) > 1 else value[0] for value in values]
        for key in set(shares or {}) - set(keys):
            raise P4FError(f"shares names {key!r}, which is not among the values of {', '.join(proxies)}")
        unknown = [None] * len(self.group.levels)
        stated = {key: stated_shares(key, given, self.group) for key, given in (shares or {}).items()}
        self.group_parameters = tuple(
            self._parameter(Cell(number, 0, level), stated.get(key, unknown)[level])
            for number, key in enumerate(keys)
            for level in range(1, len(self.group.levels))
        )
        self._join()

    def _join(self) -> None:
        """What follows from the belief inside."""
        inner = self.belief
        self.variables = (self.group, *(variable for variable in inner.variables if variable != self.group))
        self.features, self.favourable = inner.features, inner.favourable
        self.kind = replace(type(self).kind, predicts_from=inner.kind.predicts_from)
        self._classifier = inner._classifier
        self.parameters = (*self.group_parameters, *inner.parameters)

    def _parameter(self, cell: Cell, value: float | None) -> Parameter:
        """P(group | values of the proxies)."""
        inside = self.cells.arguments(cell.group)
        inside += "" if self.group.binary else "," + atom(self.group.levels[cell.recorded])
        meaning = f"{self.group.group_text(cell.recorded)} where {self.cells.words(cell.group)}"
        return Parameter(f"group({inside})", meaning, value, cell=cell)

    @property
    def columns(self) -> Columns:
        """See :meth:`Belief.columns`: the proxies, too; the table need not have the group."""
        known = super().columns
        return replace(
            known,
            others=(*known.others, *(proxy.columns[0] for proxy in self.proxies)),
            withheld=self.belief.columns.withheld,
            optional=self.group.columns,
            groups={},
        )

    @property
    def record(self) -> LabelRecord:
        """See :meth:`Belief.record`: that of the belief inside."""
        return replace(self.belief.record, favourable=self.favourable)

    def _network_columns(self) -> dict[str, str]:
        inner = {name: column for name, column in super()._network_columns().items() if name != self.group.name}
        return inner | {NETWORK: self.group.columns[0]} | {proxy.name: proxy.columns[0] for proxy in self.proxies}

    def text(self) -> str:
        """The program as text: that of the belief, in which the group follows from the proxies."""
        return proxy_text(self.group, self.proxies, self.group_parameters, self.belief.text())

    def _leaf_value(self, leaf: Leaf, rows: Rows) -> Tensor:
        if leaf.name == NETWORK:
            codes = self._known(rows)
            groups = len(self.group.levels)
            return torch.eye(groups + 1, dtype=torch.float64)[torch.from_numpy(np.where(codes < 0, groups, codes))]
        for proxy in self.proxies:
            if proxy.name == leaf.name:
                return torch.from_numpy(rows.shares(proxy))
        return self.belief._leaf_value(leaf, rows)

    def _known(self, rows: Rows) -> Codes:
        """The recorded group of each row by position, -1 where there is none."""
        name = self.group.columns[0]
        if name not in rows.frame.columns:
            return np.full(len(rows), -1, dtype=np.int64)
        column, codes = rows.frame[name], np.full(len(rows), -1, dtype=np.int64)
        there = column.notna().to_numpy()
        if there.any():
            codes[there] = self.group._hard(rows.frame.loc[there, [name]])
        return codes

    def group_shares(self, rows: Rows) -> Floats:
        """``[rows, groups]``: the probability of each group, 0 or 1 where it is recorded."""
        self.columns.require(rows)
        known, groups = self._known(rows), len(self.group.levels)
        used = known_values(self.group_parameters)
        values = [used.get(parameter.name, np.nan) for parameter in self.group_parameters]
        others = np.array(values).reshape(-1, groups - 1)[self.cells.positions(rows)]
        shares = np.column_stack([1 - others.sum(axis=1), others])
        return np.where((known < 0)[:, None], np.maximum(shares, 0.0), np.eye(groups)[known])

    def _with_groups(self, rows: Rows) -> Rows:
        """The rows with what is known of their group, as the belief inside reads it."""
        return rows.with_groups(self.group, self.group_shares(rows))

    def _observation(self, rows: Rows) -> Observation:
        return self.belief.observe(self._with_groups(rows))

    def _restore(self, rows: Rows) -> Observation:
        return self.belief._restore(self._with_groups(rows))

    def _check_rows(self, rows: Rows) -> None:
        self.belief._check_rows(self._with_groups(rows))

    def groupings(self, rows: Rows) -> list[Grouping]:
        """See :meth:`Belief.groupings`: people count for each group by its probability."""
        if not set(self.columns.all) - set(self.columns.recorded) <= set(rows.frame.columns):
            return []
        return [Grouping.of(self.group, self._with_groups(rows))]

    def _with_parameters(self, parameters: tuple[Parameter, ...]) -> Self:
        other = super()._with_parameters(parameters)
        other.group_parameters = other.parameters[: len(self.group_parameters)]
        other.belief = self.belief._with_parameters(other.parameters[len(self.group_parameters) :])
        other._join()
        return other

    def _counted_parts(self) -> list[tuple[Parameter, ...]]:
        return [self.group_parameters, *self.belief._counted_parts()]

    def _with_favourable(self, label: Any) -> Self:
        other = super()._with_favourable(label)
        other.belief = self.belief._with_favourable(label)
        return other

    def estimate(  # type: ignore[override]
        self,
        audit: pd.DataFrame | Audit,
        *,
        recorded: str | None = None,
        fair: str | None = None,
        favourable: Any = None,
        confidence: float = 0.95,
        prior: Mapping[str, Beta] | None = None,
        additive: bool = False,
    ) -> Self:
        """Count the groups of a linked sample: rows with both the proxies and the group.

        Parameters
        ----------
        audit
            The linked sample; rows without a group are passed over. With ``recorded`` and ``fair``, the belief inside
            is estimated, too, from the rows whose group is known.
        recorded, fair, favourable, confidence, prior
            As for :meth:`Belief.estimate`.
        additive
            Whether the probabilities are learned by a logistic model, in which each proxy adds its part, instead of
            counted for each combination of values: for several proxies, of which many combinations have few linked
            rows, or none.
        """
        warn_unweighted(audit, "linked rows")
        error = planned_error(audit)
        frame = frame_of(audit)
        rows = Rows(frame, ())
        self.columns.require(rows)
        known = self._known(rows)
        if (known < 0).all():
            raise P4FError(f"no row of the linked sample has a value of {self.group.columns[0]!r}")
        linked = np.flatnonzero(known >= 0)
        places, sizes = self.cells.positions(rows.take(linked)).astype(np.int64), self.cells.shape if additive else None
        groups = self._prepared(None, confidence).group_parameters
        counted = linked_shares(groups, places, known[linked], confidence, sizes)
        warn_few(counted, error=error)
        inner = self.belief
        if recorded is not None and fair is not None and inner.parameters:
            chosen = frame.iloc[linked].reset_index(drop=True)
            inner = inner.estimate(chosen, recorded=recorded, fair=fair, favourable=favourable, confidence=confidence)
        estimated = self._with_parameters((*counted, *inner.parameters))
        return (estimated.with_priors(prior) if prior else estimated)._with_favourable(inner.favourable)

    def disparity(self, table: pd.DataFrame, decided: Sequence[float] | Floats, *, group: Any = None) -> Disparity:
        """The difference in what was decided between a group and the others, with the bounds that ignorance leaves.

        The value takes decisions as independent of the group given the proxies. The bounds do not: within each value of
        the proxies, those who were decided best may all be of one group (Kallus, Mao and Zhou 2022).

        Parameters
        ----------
        table
            With the proxies, and the group where it is known.
        decided
            ``[rows]``: decisions, 0 or 1, or probabilities.
        group
            Which group; of two, the sensitive one by default.
        """
        rows = Rows(table.reset_index(drop=True), ())
        self._require_known()
        values = np.asarray(decided, dtype=np.float64)
        if len(values) != len(rows):
            raise P4FError(f"there are {len(values)} decisions for {len(rows)} rows")
        levels = self.group.levels
        if (group is None and len(levels) > 2) or (group is not None and group not in levels):
            raise P4FError(f"name the group that is compared with the others: one of {list(levels)}")
        shares = self.group_shares(rows)[:, 1 if group is None else levels.index(group)]
        return bounded_disparity(values, shares, np.where(self._known(rows) < 0, self.cells.positions(rows), -1))

    @property
    def audit_rules(self) -> AuditRules:
        """See :attr:`Belief.audit_rules`; its own parameters are counted among linked rows, not audited ones."""
        return replace(super().audit_rules, counted=False)

    def words(self, label: Label | None = None) -> list[str]:
        name = self.group.columns[0]
        first = (
            f"{name} is not known of everybody; {', '.join(proxy.columns[0] for proxy in self.proxies)} tells of it."
        )
        shares = [
            f"It is taken that {parameter.meaning} in {share(parameter)} of cases."
            for parameter in self.group_parameters
        ]
        return [first, *shares, *self.belief.words(label)]

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`: the group is not on record, its proxies are."""
        proxies = [proxy.columns[0] for proxy in self.proxies]
        return with_proxies(self.belief.picture(label), self.group.columns[0], proxies, self.group_parameters)

    def limitations(self) -> list[str]:
        first = (
            "Differences between groups are estimates: the group of most people is not known, only how likely it is."
        )
        return [first, *self.belief.limitations()]
