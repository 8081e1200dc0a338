"""Several people labelled the same rows, each with errors of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import Tensor

from problog4fairness.beliefs.audit import tell
from problog4fairness.beliefs.audits import Audit, frame_of
from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.favourable import favourable_comment, favourable_json, plain_label
from problog4fairness.beliefs.general import Record
from problog4fairness.beliefs.inputs import fair_inputs
from problog4fairness.beliefs.observation import Observation
from problog4fairness.beliefs.picturing import labelled, recorded
from problog4fairness.beliefs.probabilities import Cell, Parameter, parameters_from_json, parameters_json
from problog4fairness.beliefs.sensitive import (
    declaration,
    goal,
    sensitive_comment,
    sensitive_from_json,
    sensitive_json,
)
from problog4fairness.beliefs.text import atom, comment, predicates
from problog4fairness.beliefs.votes import VotesView, coded_votes, one_alone, vote_terms
from problog4fairness.beliefs.words import Label, joined, share
from problog4fairness.errors import P4FError
from problog4fairness.rows.counted import one_by_one
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.sensitive import Sensitive
from problog4fairness.rows.types import Level

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.beliefs.audit_table import AuditTable
    from problog4fairness.beliefs.likelihood import Terms
    from problog4fairness.beliefs.priors import Beta
    from problog4fairness.program.data import Leaf
    from problog4fairness.program.diagram import Diagram

# What was said of an error: one number, or one for each (kind of) annotator, which may be one for each group.
Errors = float | Mapping[Any, Any] | None
NEGATIVE, POSITIVE = (1, 0), (0, 1)
MOST_DRAWN = 6  # kinds of annotators in a picture
_TWICE = "an annotator is named twice; each has a column of their own"
_ABOUT = (
    "Annotators: each says the fair label y_h that the classifier h gives, or errs; J is one of them.",
    "y_ holds where all of them said what they said.",
)


class Annotators(Belief):
    r"""Several people labelled the same rows, and each errs in their own way.

    P(votes) = sum over f of h_f times, for each annotator j who voted, P(j says v_j | fair = f, A)

    Use it where there are two or more opinions of the same people and nobody knows whose is right. ``y`` then has a
    column for each annotator, with gaps where they did not look; long tables are made wide by :meth:`wide`.

    What identifies it: that annotators err independently of each other, given the fair label and the group, and that
    most are right more often than not. From three annotators on, their agreement tells how often each errs (Dawid and
    Skene 1979), and no audit is needed; with two, some rows must be audited. It does not hold where they copy from each
    other, or err on the same difficult rows. Somebody who always says the same is recognised and has no say.

    Parameters
    ----------
    annotators
        The columns of their votes; or, where some have the same parameters, the columns of each kind of annotator:
        ``{"crowd": ["w1", "w2", "w3"], "expert": ["dr_lee"]}``.
    sensitive
        The column of the sensitive variable, or several columns whose values together make a group; None where
        errors do not depend on the group.
    negative, positive
        Probability that an annotator says 0 of a fair 1, and 1 of a fair 0: one number for all, or for each kind of
        annotator a number or one per group; None to be estimated.
    levels
        The groups; with two, the second is the sensitive one.
    favourable
        The label that counts as 1, where it is known already; :meth:`estimate` notes it.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.Annotators(["ann", "bob", "eve"], negative=0.2, positive=0.1)
    >>> belief.recorded_columns
    ('ann', 'bob', 'eve')
    >>> belief.probabilities[0].value
    0.2
    """

    title = "annotators"
    identified_by = (
        "that three or more err independently of each other and are mostly right; audited rows where there are fewer."
    )

    def __init__(
        self,
        annotators: Sequence[str] | Mapping[str, Sequence[str]],
        sensitive: str | Sequence[str] | None = None,
        negative: Errors = None,
        positive: Errors = None,
        *,
        levels: Sequence[Level] = (0, 1),
        favourable: Any = None,
    ) -> None:
        if not isinstance(annotators, Mapping) and len(set(annotators)) < len(annotators):
            raise P4FError(_TWICE)
        kinds = annotators if isinstance(annotators, Mapping) else {str(name): (name,) for name in annotators}
        self.annotators = {str(kind): tuple(names) for kind, names in kinds.items()}
        self._take_columns()
        self.variables = () if sensitive is None else (Sensitive.of(sensitive, levels, name="a"),)
        for name in set(self.recorded_columns) & set(self.sensitive_columns):
            raise P4FError(f"column {name!r} cannot be both a vote and the sensitive variable")
        self.favourable = plain_label(favourable)
        for name, errors in (("negative", negative), ("positive", positive)):
            for kind in set(errors) - set(self.annotators) if isinstance(errors, Mapping) else ():
                raise P4FError(f"{name} names {kind!r}, which is not among {', '.join(self.annotators)}")
        self.probabilities = tuple(
            self._parameter(Cell(level, *change, kind), self._stated(errors, kind, level))
            for kind in self.annotators
            for change, errors in ((NEGATIVE, negative), (POSITIVE, positive))
            for level in reversed(range(self._groups))
        )

    def _take_columns(self) -> None:
        self.recorded_columns = tuple(name for names in self.annotators.values() for name in names)
        if len(self.recorded_columns) < 2:
            raise P4FError("one annotator is a LabelBias; name the columns of two or more")
        if len(set(self.recorded_columns)) < len(self.recorded_columns):
            raise P4FError(_TWICE)

    @property
    def _groups(self) -> int:
        return len(self.variables[0].levels) if self.variables else 1

    def _stated(self, errors: Errors, kind: str, level: int) -> float | None:
        own = errors.get(kind) if isinstance(errors, Mapping) else errors
        own = own.get(self.variables[0].levels[level]) if isinstance(own, Mapping) and self.variables else own
        return None if own is None else float(own)

    def _parameter(self, cell: Cell, value: float | None) -> Parameter:
        who = f"{cell.feature} says {cell.recorded} of a fair {cell.fair}"
        where = f" where {self.variables[0].group_text(cell.group)}" if self.variables else ""
        return Parameter(self._name(cell), who + where, value, cell=cell)

    def _name(self, cell: Cell) -> str:
        group = f",{atom(self.variables[0].levels[cell.group])}" if self.variables else ""
        return f"{'neg' if cell.fair else 'pos'}({atom(str(cell.feature))}{group})"

    @cached_property
    def _networks(self) -> dict[str, str]:
        """The network of the program that reads each annotator's votes."""
        return dict(zip(predicates(self.recorded_columns, "v", {"a", "h", "x"}), self.recorded_columns, strict=True))

    def network_columns(self) -> dict[str, str]:
        """See :meth:`Belief.network_columns`."""
        return super().network_columns() | self._networks

    def text(self) -> str:
        """The program as text."""
        head = [*_ABOUT, *map(sensitive_comment, self.variables), *favourable_comment(self)]
        names = {column: network for network, column in self._networks.items()}
        votes = [f"nn({names[c]},[X],V,[0,1,missing]) :: said(X,{names[c]},V)." for c in self.recorded_columns]
        kinds = [f"kind({names[c]},{atom(kind)})." for kind, own in self.annotators.items() for c in own]
        facts = []
        for own in self.probabilities:
            cell = own.cell or Cell(0, 0, 0)
            where = f", {goal(self.variables[0], cell.group)}" if self.variables else ""
            head_of = f"label_{'neg' if cell.fair else 'pos'}_bias(X,J)"
            facts.append(f"{own.weight} :: {head_of} :- kind(J,{atom(str(cell.feature))}){where}.{own.remark}")
        rules = [
            "vote(X,J) :- y_h(X), \\+label_neg_bias(X,J).",
            "vote(X,J) :- \\+y_h(X), label_pos_bias(X,J).",
            "agrees(X,J) :- said(X,J,1), vote(X,J).",
            "agrees(X,J) :- said(X,J,0), \\+vote(X,J).",
            "agrees(X,J) :- said(X,J,missing).",
            f"y_(X) :- {', '.join(f'agrees(X,{names[c]})' for c in self.recorded_columns)}.",
        ]
        declared = ["nn(h,X) :: y_h(X).", *map(declaration, self.variables), *votes]
        parts = [comment(*head), *("\n".join(part) for part in (declared, kinds, facts, rules))]
        return "\n\n".join([*parts, "?- y_(x)."]) + "\n"

    def record(self, rows: Rows) -> Record:
        """See :meth:`Belief.record`: the votes are in their columns, and the query is that they are as they are."""
        return Record(1, None if rows.recorded is None else np.ones(len(rows), dtype=np.int64))

    def leaf_value(self, leaf: Leaf, rows: Rows) -> Tensor:
        """See :meth:`Belief.leaf_value`."""
        if leaf.name not in self._networks:
            return super().leaf_value(leaf, rows)
        codes = coded_votes(rows, [self._networks[leaf.name]])[:, 0]
        return torch.eye(3, dtype=torch.float64)[torch.from_numpy(codes)]

    def vote_tables(self, values: Tensor | None = None) -> Tensor:
        """P(vote | fair label, group) of each annotator, ``[annotators, groups, fair, vote]``.

        Parameters
        ----------
        values
            ``[parameters]``, to be differentiated; their known values by default.
        """
        if values is None:
            self.require_known()
            values = torch.tensor([own.value for own in self.probabilities], dtype=torch.float64)
        place = {own.cell: number for number, own in enumerate(self.probabilities)}
        index = [
            [[place[Cell(level, *change, kind)] for change in (POSITIVE, NEGATIVE)] for level in range(self._groups)]
            for kind, columns in self.annotators.items()
            for _ in columns
        ]
        wrong = values[torch.tensor(index)]
        return torch.stack(
            [torch.stack([1 - wrong[..., 0], wrong[..., 0]], -1), torch.stack([wrong[..., 1], 1 - wrong[..., 1]], -1)],
            dim=-2,
        )

    def check_rows(self, rows: Rows) -> None:
        """See :meth:`Belief.check_rows`; a group on which nobody voted is told."""
        super().check_rows(rows)
        voted = rows.frame[list(self.recorded_columns)].notna().any(axis=1).to_numpy()
        for variable in self.variables:
            shares = rows.shares(variable)[voted].sum(axis=0)
            for level in np.flatnonzero(shares == 0).tolist():
                tell(f"no row with {variable.group_text(level)} has a vote; the model learns nothing from these rows")

    def observe(self, rows: Rows) -> Observation:
        """See :meth:`Belief.observe`: through a table for each annotator, not all combinations of votes."""
        self.require_known()
        if len(rows.classes) != 2:
            raise P4FError("Annotators are for labels of two classes")
        self.require_columns(rows)
        view = VotesView(self.vote_tables(), torch.from_numpy(self._shares(rows)))
        observed = None
        if rows.recorded is not None:
            votes = torch.from_numpy(coded_votes(rows, self.recorded_columns))
            observed = view.observe(votes, None if rows.fair is None else torch.tensor(rows.fair))
        return Observation(fair_inputs(rows), view, observed, rows.outputs)

    def _shares(self, rows: Rows) -> Any:
        return rows.shares(self.variables[0]) if self.variables else np.ones((len(rows), 1))

    def _terms(self, rows: Rows) -> Terms:
        """log P(votes | fair class) of each row, as a function of the parameters."""
        votes = torch.from_numpy(coded_votes(rows, self.recorded_columns))
        return vote_terms(self.vote_tables, votes, torch.from_numpy(self._shares(rows)))

    def estimate_table(self, table: AuditTable) -> Self:
        """See :meth:`Belief.estimate_table`; the votes are in columns that the belief names."""
        rows, roles = table.labelled_with_gaps
        return self.estimate(rows, fair=roles.fair, favourable=roles.favourable, **table.options)

    def estimate(
        self,
        audit: pd.DataFrame | Audit | None = None,
        *,
        recorded: Any = None,
        fair: Any = None,
        sensitive_features: Any = None,
        favourable: Any = None,
        confidence: float = 0.95,
        prior: Mapping[str, Beta] | None = None,
        sequential: bool = False,
        drawn_from: Any = None,
        features: Sequence[str] = (),
    ) -> Self:
        """Estimate how often each annotator errs, from their votes.

        Parameters
        ----------
        audit
            A data frame with a column for each annotator; a vote may be missing.
        recorded
            The votes, where they are not in ``audit``: a frame, or an array with a column for each annotator.
        fair
            The fair label of rows that were audited, missing elsewhere: its column, or the values. Not needed from
            three annotators on.
        sensitive_features, favourable, confidence
            As for :meth:`Belief.estimate`.
        prior
            Not for annotators: theirs is Beta(1.5, 1.5).
        sequential, drawn_from
            Not for annotators, whose parameters are not counted.
        features
            Columns that the fair label depends on. They make the estimates sharper, by a linear model.
        """
        if prior:
            raise P4FError("prior=... is for counted parameters; those of annotators are Beta(1.5, 1.5) a priori")
        if sequential or drawn_from is not None:
            raise P4FError("sequential=... and drawn_from=... are for parameters that are counted, not for annotators")
        from problog4fairness.beliefs.learning import design, with_learned
        from problog4fairness.beliefs.likelihood import learn
        from problog4fairness.beliefs.votes import check_votes, read_votes

        rows = read_votes(self, one_by_one(frame_of(audit)), recorded, fair, sensitive_features, favourable)
        audited = 0 if rows.fair is None else int((rows.fair >= 0).sum())
        if len(self.recorded_columns) < 3 and not audited:
            raise P4FError("two annotators do not tell which of them errs; audit some rows (fair=...), or ask a third")
        check_votes(self, rows, self._shares(rows))
        matrix = design(self, rows, features, use_sensitive=True)
        found = learn(self._terms(rows), rows, matrix, [0.2] * len(self.probabilities), confidence, mirrored=True)
        learned = with_learned(self.probabilities, found, len(rows))
        return self._noted(self.with_probabilities(learned), favourable)

    def fair_proba(self, table: pd.DataFrame, *, sensitive_features: Any = None, favourable: Any = None) -> Any:
        """P(fair = 1 | votes) of each row, ``[rows]``, without a classifier: by how often it holds in each group.

        Parameters
        ----------
        table, sensitive_features, favourable
            As for :meth:`estimate`; the parameters are those that are known.
        """
        from problog4fairness.beliefs.votes import posterior, read_votes

        rows = read_votes(self, table, None, None, sensitive_features, favourable)
        values = torch.tensor([own.value for own in self.probabilities], dtype=torch.float64)
        self.require_known()
        return posterior(self._terms(rows)(values).numpy(), self._shares(rows))

    def by_column(self) -> dict[str, Belief]:
        """See :meth:`Belief.by_column`: each annotator alone is a bias of the label."""
        return {column: one_alone(self, kind) for kind, columns in self.annotators.items() for column in columns}

    def disagreement(self, table: pd.DataFrame) -> pd.DataFrame:
        """Of the rows that two annotators both voted on, the share on which they differ; NaN where there is none."""
        from problog4fairness.beliefs.votes import disagreement

        return disagreement(table, self.recorded_columns)

    @staticmethod
    def wide(table: pd.DataFrame, *, row: str, annotator: str, label: str) -> pd.DataFrame:
        """A long table, with a line for each vote, as one with a column for each annotator.

        Parameters
        ----------
        table
            The long table.
        row, annotator, label
            Its columns: what was labelled, by whom, and how. The index of the result is what was labelled.
        """
        from problog4fairness.beliefs.votes import wide

        return wide(table, row, annotator, label)

    def words(self, label: Label | None = None) -> list[str]:
        """See :meth:`Belief.words`."""
        label, found = label or Label(), []
        for kind, columns in self.annotators.items():
            many = f", who are {len(columns)}," if len(columns) > 1 else ""
            for level in reversed(range(self._groups)):
                people = f"people with {self.variables[0].group_text(level)}" if self.variables else "people"
                own = {c.fair: p for p in self.probabilities if (c := p.cell) and (c.feature, c.group) == (kind, level)}
                parts = [
                    f"of the {people} who should have {label.column} = {label.values[fair]}, {kind}{many} said "
                    f"{label.values[1 - fair]} of {share(own[fair])}"
                    for fair in (1, 0)
                ]
                found.append(joined(parts, f"the {people} who", "those who"))
        return ["Several people labelled the same rows, and each is taken to err independently of the others.", *found]

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`: a vote of each kind of annotator, or one for all where they are many."""
        fair = (label or Label()).fair
        votes = {kind: [own for own in self.probabilities if own.cell and own.cell.feature == kind]
                 for kind in self.annotators}  # fmt: skip
        if len(votes) > MOST_DRAWN:
            votes = {f"votes of {len(self.recorded_columns)} annotators": []}
        causes = [fair, *self.sensitive_columns]
        return labelled(fair, self.variables, *(recorded(kind, causes, own) for kind, own in votes.items()))

    def caveats(self) -> list[str]:
        """See :meth:`Belief.caveats`."""
        return ["Annotators who copied from each other, or err on the same difficult rows, look better than they are."]

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Belief.to_json`."""
        return {
            "kind": "Annotators",
            "annotators": [[kind, list(columns)] for kind, columns in self.annotators.items()],
            "variables": [sensitive_json(variable) for variable in self.variables],
            "probabilities": parameters_json(self.probabilities),
            **favourable_json(self),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Self:
        belief = cls.__new__(cls)
        belief.annotators = {str(kind): tuple(map(str, columns)) for kind, columns in value["annotators"]}
        belief._take_columns()
        belief.variables = tuple(map(sensitive_from_json, value["variables"]))[:1]
        belief.favourable = value.get("favourable")
        belief.probabilities = parameters_from_json(value["probabilities"])
        belief._check_cells()
        return belief

    def _check_cells(self) -> None:
        """Raise a ``ValueError`` where parameters that came from a file are not those of their cells."""
        wanted = {
            Cell(level, *change, kind)
            for kind in self.annotators
            for change in (NEGATIVE, POSITIVE)
            for level in range(self._groups)
        }
        fits = {own.cell for own in self.probabilities} == wanted and len(self.probabilities) == len(wanted)
        if not fits or any(own.cell is None or own.name != self._name(own.cell) for own in self.probabilities):
            raise ValueError("a parameter is not about its cell")
