"""Votes of several annotators on the same rows: reading, coding, and their likelihood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.likelihood.observation import View
from problog4fairness.beliefs.templates.custom import ProgramBelief
from problog4fairness.beliefs.templates.labels.label import LabelBias
from problog4fairness.beliefs.templates.records.annotator_errors import Votes
from problog4fairness.data import Codes, Floats, Rows, column_of, column_values, find_classes, label_codes, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.program import AffineObserved, Observed, log_outcomes
from problog4fairness.statistics import Cell, Parameter

if TYPE_CHECKING:
    from problog4fairness.beliefs.templates.records.annotators import Annotators

# What a mapping must name that says which columns of a long table hold the votes.
LONG = ("row", "annotator", "label")
# One of them where errors do not depend on a group.
_ALONE = """nn(h,X) :: y_h(X).
neg :: label_neg_bias(X).
pos :: label_pos_bias(X).
y_(X) :- y_h(X), \\+label_neg_bias(X).
y_(X) :- \\+y_h(X), label_pos_bias(X).
?- y_(x).
"""


class VoteList(NamedTuple):
    """The votes that were given: of each the row, the column of :attr:`Annotators.columns.recorded`, and the label."""

    rows: Codes
    annotators: Codes
    labels: Any

    @classmethod
    def of_wide(cls, frame: pd.DataFrame) -> VoteList:
        """From a table with a column for each annotator, in which votes may be missing."""
        values = frame.to_numpy()
        rows, annotators = np.nonzero(~np.asarray(pd.isna(values)))
        return cls(rows, annotators, values[rows, annotators])

    def by_kind(self, belief: Annotators, classes: Sequence[Any], size: int) -> Votes:
        """The votes on so many rows as a sparse table of the belief's kinds of annotators."""
        try:
            codes = label_codes(self.labels, classes, "votes")
        except P4FError:
            for number, column in enumerate(belief.columns.recorded):  # the error that names the column
                coded(self.labels[self.annotators == number], column, classes)
            raise
        kinds = np.array([kind for kind, columns in enumerate(belief.annotators.values()) for _ in columns])
        return Votes.of(self.rows, kinds[self.annotators], codes, (size, len(belief.annotators)))


def coded(labels: Any, column: str, classes: Sequence[Any]) -> Codes:
    """Each vote of an annotator by its position among the classes, -1 where there is none."""
    return label_codes(labels, classes, f"column {column!r}", missing=True)


def coded_votes(rows: Rows, column: str) -> Codes:
    """See :func:`coded`, of the rows' own column."""
    return coded(rows.column(column, "votes"), column, rows.classes)


def votes_of(belief: Annotators, rows: Rows) -> Votes:
    """The votes on rows that have a column for each annotator."""
    for name in belief.columns.recorded:
        rows.column(name, "votes")
    return VoteList.of_wide(rows.frame[list(belief.columns.recorded)]).by_kind(belief, rows.classes, len(rows))


class VoteTable(NamedTuple):
    """What is known of each row besides the votes, its fair label among it; the votes; and who gave each of them."""

    rows: Rows
    votes: Votes
    annotators: Codes


def read_votes(
    belief: Annotators, table: pd.DataFrame, recorded: Mapping[str, str] | None, fair: str | None, favourable: Any
) -> VoteTable:
    """A table of votes, wide or long; the parameters are those of :meth:`Annotators.estimate`."""
    columns = belief.columns.recorded
    if recorded is not None:
        table, votes = _long(table, recorded, columns)
    else:
        votes = VoteList.of_wide(wide_votes(table, columns))
        table = table.drop(columns=list(columns), errors="ignore")
    size, table = len(table), table.reset_index(drop=True)
    true = None if fair is None else column_values(table, fair, "fair", gaps=True)
    values = pd.unique(votes.labels).tolist() + ([] if true is None else true.dropna().unique().tolist())
    labels = list(dict.fromkeys(values))
    if not labels:
        raise P4FError("there is no vote in the table")
    classes = find_classes(labels, belief.record.favourable_among(labels, favourable), audited=True)
    codes = None if true is None else label_codes(true, classes, "the fair label", True)
    return VoteTable(Rows(table, (), classes, None, codes), votes.by_kind(belief, classes, size), votes.annotators)


def wide_votes(table: Any, columns: Sequence[str]) -> pd.DataFrame:
    """The columns of the annotators."""
    frame = to_frame(table)
    return pd.concat([column_of(frame, name, "the votes") for name in columns], axis=1).reset_index(drop=True)


def _long(table: pd.DataFrame, names: Mapping[str, str], columns: Sequence[str]) -> tuple[pd.DataFrame, VoteList]:
    """What is known of each labelled row, and the votes of a table with a line for each vote."""
    if set(names) != set(LONG):
        raise P4FError(f"recorded={dict(names)!r} names columns of a long table: it must have {', '.join(LONG)}")
    row, annotator, label = (names[name] for name in LONG)
    check_long(table, row, annotator, label)
    table = table[table[row].notna()]
    codes, _ = pd.factorize(table[row])
    first = table.drop(columns=[annotator, label]).groupby(codes, sort=False).first()
    frame = table[[annotator, label]].assign(row=codes)[table[label].notna()]
    who, people = pd.factorize(frame[annotator].map(str))
    place = {name: number for number, name in enumerate(columns)}
    for name in people:
        if name not in place:
            raise P4FError(f"annotator {name!r} is not named in the belief; it names {len(columns)} others")
    positions = np.array([place[name] for name in people], dtype=np.int64)
    return first.reset_index(drop=True), VoteList(frame["row"].to_numpy(), positions[who], frame[label].to_numpy())


def check_long(table: pd.DataFrame, row: str, annotator: str, label: str) -> None:
    """Raise the error that says why this is no table with a line for each vote."""
    for name in (row, annotator, label):
        column_of(table, name, "the table of votes")
    voted = table[table[label].notna()]
    twice = voted[voted.duplicated([row, annotator])]
    if len(twice):
        first = twice.iloc[0]
        raise P4FError(f"{first[annotator]} voted twice on {first[row]}; keep one of these votes")


def check_votes(belief: Annotators, votes: Votes, shares: Floats) -> None:
    """Raise the error that names a kind of annotators, or a group, without votes; ``shares [rows, groups]``."""
    given = votes.expected(shares).sum(-1)
    for kind, count in zip(belief.annotators, given, strict=True):
        if not count.any():
            raise P4FError(f"{kind} gave no vote; leave them out, or name them with others as one kind")
    for group in np.flatnonzero(~given.any(axis=0)).tolist():
        where = belief.variables[0].group_text(group)
        raise P4FError(f"nobody gave a vote where {where}; leave these rows out, or the sensitive variable")


def by_column(belief: Belief) -> dict[str, Belief]:
    """Of a belief about votes, what it says of each annotator's column alone; of others nothing.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.Annotators(["ann", "bob"], negative={"ann": 0.2, "bob": 0.4}, positive=0.1)
    >>> {column: alone.parameters[0].value for column, alone in p4f.beliefs.by_column(belief).items()}
    {'ann': 0.2, 'bob': 0.4}
    """
    from problog4fairness.beliefs.templates.records.annotators import Annotators

    if not isinstance(belief, Annotators):
        return {}
    return {column: _one_alone(belief, kind) for kind, columns in belief.annotators.items() for column in columns}


def _one_alone(belief: Annotators, kind: str) -> Belief:
    """What is believed of one kind of annotator, on all rows, as a bias of the label."""
    if belief.variables:
        alone: Belief = LabelBias(belief.variables[0].columns, groups=belief.variables[0].levels)
        cells = [parameter.cell for parameter in alone.parameters]
    else:
        alone, cells = ProgramBelief(_ALONE), [Cell(0, 1, 0), Cell(0, 0, 1)]
    errors = {
        parameter.cell._replace(feature=None): parameter
        for parameter in belief.parameters
        if parameter.cell and parameter.cell.feature == kind
    }
    hard, guess, answer = belief.hard_values

    def of_all_rows(cell: Cell, named: Parameter) -> Parameter:
        error, guessed = errors[cell], answer if cell.recorded else 1 - answer
        value, low, high = (
            None if end is None else (1 - hard * guess) * end + hard * guess * guessed
            for end in (error.value, error.low, error.high)
        )
        return replace(error, name=named.name, cell=named.cell, value=value, low=low, high=high, information=None)

    pairs = zip(cells, alone.parameters, strict=True)
    parameters = tuple(of_all_rows(cell, named) for cell, named in pairs if cell is not None)
    return alone._with_parameters(parameters)._with_favourable(belief.favourable)


class VoteTables(NamedTuple):
    """Shares of easy and hard rows ``[hard]``, and P(vote | fair, group) ``[kinds, groups, hard, fair, vote]``."""

    weights: Floats
    tables: Floats

    def log_terms(self, votes: Votes) -> Floats:
        """log P(votes | fair class, group), ``[rows, groups, classes]``."""
        # 0 times log 0 is 0 where nobody voted so.
        impossible = votes.log_likelihood((self.tables == 0).astype(np.float64)) > 0
        likely = votes.log_likelihood(np.log(np.where(self.tables == 0, 1.0, self.tables)))
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.logaddexp.reduce(np.where(impossible, -np.inf, likely) + np.log(self.weights)[:, None], axis=2)
            )


def fair_given_votes(terms: Floats, shares: Floats, rounds: int = 500) -> Floats:
    """P(fair class | votes) ``[rows, classes]``, where each group has the class shares that make its votes likeliest.

    ``terms`` are log P(votes | fair class, group), ``[rows, groups, classes]``.
    """
    ratio = np.exp(terms - terms.max((1, 2), keepdims=True))
    chance = np.full(terms.shape[1:], 1 / terms.shape[2])
    for _ in range(rounds):
        joint = shares[:, :, None] * chance * ratio
        joint /= np.maximum(joint.sum((1, 2), keepdims=True), 1e-300)
        settled = joint.sum(0) / np.maximum(joint.sum((0, 2)), 1e-300)[:, None]
        if np.abs(settled - chance).max() < 1e-10:
            break
        chance = np.clip(settled, 1e-12, 1)
    return np.asarray(joint.sum(1))


class VotesView(View):
    """What tables of annotators say of rows.

    ``sizes`` says how many annotators are of each kind; without ``votes``, they are not looked at.
    """

    def __init__(self, tables: VoteTables, sizes: Sequence[int], shares: Floats, votes: Votes | None) -> None:
        self.tables, self.shares, self.votes = tables, shares, votes
        self.codes = torch.from_numpy(np.unique(shares, axis=0, return_inverse=True)[1].reshape(-1))
        # What somebody among the annotators would say.
        anybody = np.einsum("h,kghfv->gfv", tables.weights, tables.tables * np.reshape(sizes, (-1, 1, 1, 1, 1)))
        self._mean = torch.from_numpy(np.einsum("ng,gfv->nfv", shares, anybody / sum(sizes)))

    def log_recorded(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`View.log_recorded`: what an annotator, any of them, would say."""
        terms = log_outcomes((1,), logits).unsqueeze(-1) + self._mean[rows].clamp_min(1e-300).log()
        return terms.logsumexp(1)

    def log_fair(self, logits: Tensor, rows: Tensor) -> Tensor:
        return log_outcomes((1,), logits)

    def observe(self, recorded: Tensor, fair: Tensor | None) -> Observed:
        """See :meth:`View.observe`: what is recorded are the votes."""
        if self.votes is None:
            raise P4FError("there are no votes on these rows")
        with np.errstate(divide="ignore"):
            terms = self.tables.log_terms(self.votes) + np.log(self.shares)[:, :, None]
        terms = np.logaddexp.reduce(terms, axis=1)
        # Only their ratio counts; many votes together are so unlikely that it would be lost.
        largest = terms.max(1, keepdims=True)
        ratios = np.exp(np.where(np.isinf(largest), terms, terms - np.maximum(largest, -1e300)))
        distinct, places = np.unique(ratios, axis=0, return_inverse=True)
        base, codes = torch.zeros(len(distinct), dtype=torch.float64), torch.from_numpy(places.reshape(-1))
        observed: Observed = AffineObserved((1,), base, torch.from_numpy(distinct), codes)
        return observed if fair is None else observed.known(fair)
