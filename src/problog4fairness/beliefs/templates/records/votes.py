"""Votes of several annotators on the same rows: reading, coding, and what they tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.audit import audit_column, audit_frame, two_classes, value_codes
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.likelihood.observation import View
from problog4fairness.beliefs.templates.custom import ProgramBelief
from problog4fairness.beliefs.templates.labels.label import LabelBias
from problog4fairness.beliefs.templates.records.annotator_errors import Votes
from problog4fairness.data import Codes, Floats, Rows, is_frame, label_codes, to_frame
from problog4fairness.errors import P4FError, among
from problog4fairness.program import AffineObserved, Observed, log_outcomes
from problog4fairness.statistics import Cell, Parameter

if TYPE_CHECKING:
    from problog4fairness.beliefs.templates.records.annotators import Annotators

# The code of a vote that was not given.
NO_VOTE = 2
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


@dataclass(frozen=True, eq=False)
class VoteList:
    """The votes that were given, one after another.

    Attributes
    ----------
    rows, annotators
        ``[votes]``: which row, and which column of :attr:`Annotators.recorded_columns`.
    labels
        ``[votes]``: as they were written.
    size
        How many rows there are.
    """

    rows: Codes
    annotators: Codes
    labels: Any
    size: int

    @classmethod
    def of_wide(cls, frame: pd.DataFrame, columns: Sequence[str]) -> VoteList:
        """From a table with a column for each annotator, in which votes may be missing."""
        values = frame[list(columns)].to_numpy()
        rows, annotators = np.nonzero(~np.asarray(pd.isna(values)))
        return cls(rows, annotators, values[rows, annotators], len(frame))

    def codes(self, columns: Sequence[str], classes: Sequence[Any]) -> Codes:
        """``[votes]``: the labels by their positions among the classes; an error names the column."""
        try:
            return label_codes(self.labels, classes, "votes", unknown="is not among")
        except P4FError:
            for number, column in enumerate(columns):
                own = self.labels[self.annotators == number]
                label_codes(own, classes, f"column {column!r}", unknown="is not among")
            raise

    def by_kind(self, belief: Annotators, classes: Sequence[Any]) -> Votes:
        """The votes as a sparse table of the belief's kinds of annotators."""
        kinds = np.array([
            number for number, columns in enumerate(belief.annotators.values()) for _ in columns
        ])  # fmt: skip
        codes = self.codes(belief.recorded_columns, classes)
        shape = (self.size, len(belief.annotators))
        return Votes.of(self.rows, kinds[self.annotators], codes, shape, len(classes))


def coded_votes(rows: Rows, column: str) -> Codes:
    """``[rows]``: each vote of an annotator by its position among the classes, 2 where there is none."""
    values = rows.column(column, "votes")
    codes = label_codes(values, rows.classes, f"column {column!r}", missing=True, unknown="is not among")
    return np.where(codes < 0, NO_VOTE, codes)


def votes_of(belief: Annotators, rows: Rows) -> Votes:
    """The votes on rows that have a column for each annotator."""
    for name in belief.recorded_columns:
        rows.column(name, "votes")
    return VoteList.of_wide(rows.frame, belief.recorded_columns).by_kind(belief, rows.classes)


@dataclass(frozen=True, eq=False)
class VoteTable:
    """A table of votes as it was read.

    Attributes
    ----------
    rows
        What is known of each row besides the votes, its fair label among it.
    votes
        The votes.
    given
        ``[votes]``: their annotators.
    index
        What was labelled, in the order of the rows.
    """

    rows: Rows
    votes: Votes
    given: VoteList
    index: pd.Index[Any]


def read_votes(
    belief: Annotators, table: Any, recorded: Any, fair: Any, sensitive_features: Any, favourable: Any
) -> VoteTable:
    """A table of votes, wide or long; the parameters are those of :meth:`Annotators.estimate`."""
    columns = belief.recorded_columns
    if isinstance(recorded, Mapping):
        table, given = _long(to_frame(table), recorded, columns)
        index = table.index
        table = table.reset_index(drop=True)
    else:
        votes = _votes(table if recorded is None else recorded, columns)
        given = VoteList.of_wide(votes, columns)
        index = to_frame(table).index if is_frame(table) else votes.index
        table = None if table is None else to_frame(table).drop(columns=list(columns), errors="ignore")
    true = None if fair is None else audit_column(table, fair, "fair", gaps=True)
    if true is not None and len(true) != given.size:
        raise P4FError(f"there are votes on {given.size} rows and {len(true)} fair values; give one for each row")
    values = pd.unique(given.labels).tolist() + ([] if true is None else true.dropna().unique().tolist())
    labels = list(dict.fromkeys(values))
    if not labels:
        raise P4FError("there is no vote in the table")
    classes = two_classes(labels, belief.favourable_among(labels, favourable))
    frame = audit_frame(table, sensitive_features, belief.sensitive_columns, given.size).reset_index(drop=True)
    codes = None if true is None else value_codes(true, classes, "the fair label", True)
    return VoteTable(Rows(frame, (), classes, None, codes), given.by_kind(belief, classes), given, index)


def _votes(table: Any, columns: Sequence[str]) -> pd.DataFrame:
    if is_frame(table):
        frame = to_frame(table)
        absent = [name for name in columns if name not in frame.columns]
        if absent:
            raise P4FError(f"no column {absent[0]!r} for the votes; {among(absent[0], frame.columns)}")
        return frame[list(columns)].reset_index(drop=True)
    values = np.asarray(table, dtype=object)
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise P4FError(f"the votes must have a column for each of {', '.join(columns)}, not {list(values.shape)}")
    return pd.DataFrame(values, columns=list(columns))


def _long(table: pd.DataFrame, names: Mapping[str, str], columns: Sequence[str]) -> tuple[pd.DataFrame, VoteList]:
    """What is known of each labelled row, by its number, and the votes of a table with a line for each vote."""
    if set(names) != set(LONG):
        raise P4FError(f"recorded={dict(names)!r} names columns of a long table: it must have {', '.join(LONG)}")
    row, annotator, label = (names[name] for name in LONG)
    _check_long(table, row, annotator, label)
    codes, ids = pd.factorize(table[row])
    first = table.drop(columns=[annotator, label]).groupby(codes, sort=False).first().set_index(pd.Index(ids, name=row))
    frame = table[[annotator, label]].assign(row=codes)[table[label].notna() & (codes >= 0)]
    who, people = pd.factorize(frame[annotator].map(str))
    place = {name: number for number, name in enumerate(columns)}
    for name in people:
        if name not in place:
            raise P4FError(f"annotator {name!r} is not named in the belief; it names {len(columns)} others")
    own = np.array([place[name] for name in people], dtype=np.int64)
    return first, VoteList(frame["row"].to_numpy(), own[who], frame[label].to_numpy(), len(ids))


def _check_long(table: pd.DataFrame, row: str, annotator: str, label: str) -> None:
    for name in (row, annotator, label):
        if name not in table.columns:
            raise P4FError(f"no column {name!r} in the table of votes; {among(name, table.columns)}")
    voted = table[table[label].notna()]
    twice = voted[voted.duplicated([row, annotator])]
    if len(twice):
        first = twice.iloc[0]
        raise P4FError(f"{first[annotator]} voted twice on {first[row]}; keep one of these votes")


def wide(table: pd.DataFrame, row: str, annotator: str, label: str) -> pd.DataFrame:
    """See :meth:`Annotators.wide`."""
    frame = to_frame(table)
    _check_long(frame, row, annotator, label)
    found = frame[frame[label].notna()].pivot(index=row, columns=annotator, values=label)
    found.columns = [str(name) for name in found.columns]
    return found


def disagreement(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """See :meth:`Annotators.disagreement`."""
    votes = _votes(table, columns)
    found = pd.DataFrame(index=list(columns), columns=list(columns), dtype=np.float64)
    for one in columns:
        for other in columns:
            both = votes[one].notna() & votes[other].notna()
            found.loc[one, other] = float((votes[one][both] != votes[other][both]).mean()) if both.any() else np.nan
    return found


def check_votes(belief: Annotators, votes: Votes, shares: Floats) -> None:
    """Raise the error that names a kind of annotators, or a group, without votes; ``shares [rows, groups]``."""
    given = np.asarray(votes.counts.T @ shares).reshape(votes.kinds, votes.classes, -1).sum(1)
    for number, kind in enumerate(belief.annotators):
        if not given[number].any():
            raise P4FError(f"{kind} gave no vote; leave them out, or name them with others as one kind")
    for group in np.flatnonzero(~given.any(axis=0)).tolist():
        where = belief.variables[0].group_text(group)
        raise P4FError(f"nobody gave a vote where {where}; leave these rows out, or the sensitive variable")


def one_alone(belief: Annotators, kind: str) -> Belief:
    """What is believed of one kind of annotator, as a bias of the label."""
    own = [parameter for parameter in belief.parameters if parameter.cell and parameter.cell.feature == kind]
    known = {parameter.cell._replace(feature=None): parameter for parameter in own if parameter.cell}
    if belief.variables:
        alone: Belief = LabelBias(belief.variables[0].columns, levels=belief.variables[0].levels)
        cells = [parameter.cell or Cell(0, 0, 0) for parameter in alone.parameters]
    else:
        alone, cells = ProgramBelief(_ALONE), [Cell(0, 1, 0), Cell(0, 0, 1)]
    pairs = zip(alone.parameters, cells, strict=True)
    found = [
        replace(_with_guesses(belief, known[cell]), name=named.name, cell=named.cell, information=None)
        for named, cell in pairs
    ]
    return alone.with_parameters(tuple(found)).with_favourable(belief.favourable)


def _with_guesses(belief: Annotators, parameter: Parameter) -> Parameter:
    """An error of one annotator on all rows, hard ones among them."""
    guessed, answer = belief.guesses
    if not guessed or parameter.cell is None:
        return parameter
    wrong = answer if parameter.cell.recorded else 1 - answer

    def mixed(value: float | None) -> float | None:
        return None if value is None else (1 - guessed) * value + guessed * wrong

    ends = {"low": mixed(parameter.low), "high": mixed(parameter.high)}
    return replace(parameter, value=mixed(parameter.value), low=ends["low"], high=ends["high"])


def log_terms(tables: Sequence[tuple[float, Floats]], votes: Votes) -> Floats:
    """log P(votes | fair class, group), ``[rows, groups, classes]``.

    Parameters
    ----------
    tables
        Weights of kinds of rows, and P(vote | fair, group) ``[kinds, groups, fair, vote]`` on them.
    votes
        The votes.
    """
    found = None
    for weight, table in tables:
        # 0 times log 0 is 0 where nobody voted so.
        impossible = votes.log_likelihood((table == 0).astype(np.float64)) > 0
        likely = votes.log_likelihood(np.log(np.where(table == 0, 1.0, table)))
        with np.errstate(divide="ignore"):
            own = np.where(impossible, -np.inf, likely) + np.log(weight)
        found = own if found is None else np.logaddexp(found, own)
    return np.asarray(found)


class VotesView(View):
    """What tables of annotators say of rows.

    Parameters
    ----------
    tables
        Weights of kinds of rows, and P(vote | fair, group) ``[kinds, groups, fair, vote]`` on them.
    sizes
        ``[kinds]``: how many annotators are of each kind.
    shares
        ``[rows, groups]``.
    votes
        The votes on the rows; None where they are not looked at.
    """

    def __init__(
        self, tables: Sequence[tuple[float, Floats]], sizes: Codes, shares: Floats, votes: Votes | None
    ) -> None:
        self.tables, self.shares, self.votes = tables, shares, votes
        self.codes = torch.from_numpy(np.unique(shares, axis=0, return_inverse=True)[1].reshape(-1))
        # What somebody among the annotators would say.
        anybody = sum(weight * np.average(table, axis=0, weights=sizes) for weight, table in tables)
        self._mean = torch.from_numpy(np.einsum("ng,gfv->nfv", shares, anybody))

    def log_recorded(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`View.log_recorded`: what an annotator, any of them, would say."""
        terms = log_outcomes((1,), logits).unsqueeze(-1) + self._mean[rows].clamp_min(1e-300).log()
        return terms.logsumexp(1)

    def log_fair(self, logits: Tensor, rows: Tensor) -> Tensor:  # noqa: ARG002
        """See :meth:`View.log_fair`."""
        return log_outcomes((1,), logits)

    def observe(self, recorded: Tensor, fair: Tensor | None) -> Observed:  # noqa: ARG002
        """See :meth:`View.observe`: what is recorded are the votes."""
        if self.votes is None:
            raise P4FError("there are no votes on these rows")
        with np.errstate(divide="ignore"):
            terms = np.logaddexp.reduce(log_terms(self.tables, self.votes) + np.log(self.shares)[:, :, None], axis=1)
        # Only their ratio counts; many votes together are so unlikely that it would be lost.
        largest = terms.max(1, keepdims=True)
        ratios = np.exp(np.where(np.isinf(largest), terms, terms - np.maximum(largest, -1e300)))
        distinct, places = np.unique(ratios, axis=0, return_inverse=True)
        base = torch.zeros(len(distinct), dtype=torch.float64)
        codes = torch.from_numpy(places.reshape(-1))
        observed: Observed = AffineObserved((1,), base, torch.from_numpy(distinct), codes)
        return observed if fair is None else observed.known(fair)
