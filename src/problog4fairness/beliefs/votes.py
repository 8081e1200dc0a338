"""Votes of several annotators on the same rows: reading, coding, and what they tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.beliefs.audit import audit_column, audit_frame, two_classes, value_codes
from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.custom import ProgramBelief
from problog4fairness.beliefs.label import LabelBias
from problog4fairness.beliefs.observation import View
from problog4fairness.beliefs.probabilities import Cell
from problog4fairness.errors import P4FError, among
from problog4fairness.program.observed import AffineObserved, Observed, log_outcomes
from problog4fairness.rows.columns import is_frame, to_frame
from problog4fairness.rows.labels import label_codes, majority
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.types import Codes, Floats

if TYPE_CHECKING:
    from problog4fairness.beliefs.annotators import Annotators
    from problog4fairness.beliefs.likelihood import Terms

# The code of a vote that was not given.
NO_VOTE = 2
# Rounds in which the share of fair 1s of each group settles.
_ROUNDS = 500
# One of them where errors do not depend on a group.
_ALONE = """nn(h,X) :: y_h(X).
neg :: label_neg_bias(X).
pos :: label_pos_bias(X).
y_(X) :- y_h(X), \\+label_neg_bias(X).
y_(X) :- \\+y_h(X), label_pos_bias(X).
?- y_(x).
"""


def coded_votes(rows: Rows, columns: Sequence[str]) -> Codes:
    """``[rows, annotators]``: each vote by its position among the classes, 2 where there is none."""
    codes = [
        label_codes(rows.column(name, "votes"), rows.classes, f"column {name!r}", missing=True, unknown="is not among")
        for name in columns
    ]
    found = np.stack(codes, axis=1)
    return np.where(found < 0, NO_VOTE, found)


def read_votes(
    belief: Annotators, table: Any, recorded: Any, fair: Any, sensitive_features: Any, favourable: Any
) -> Rows:
    """The rows of a table of votes, their labels coded; the parameters are those of :meth:`Annotators.estimate`."""
    columns = belief.recorded_columns
    votes = _votes(table if recorded is None else recorded, columns)
    true = None if fair is None else audit_column(table, fair, "fair", gaps=True)
    if true is not None and len(true) != len(votes):
        raise P4FError(f"there are votes on {len(votes)} rows and {len(true)} fair values; give one for each row")
    values = votes.to_numpy(dtype=object).reshape(-1).tolist() + ([] if true is None else true.tolist())
    labels = list(dict.fromkeys(value for value in values if not pd.isna(value)))
    if not labels:
        raise P4FError("there is no vote in the table")
    classes = two_classes(labels, belief.favourable_among(labels, favourable))
    frame = audit_frame(table, sensitive_features, belief.sensitive_columns, len(votes))
    frame = pd.concat([frame.drop(columns=list(columns), errors="ignore").reset_index(drop=True), votes], axis=1)
    rows = Rows(frame, (), classes, None, None if true is None else value_codes(true, classes, "the fair label", True))
    codes = coded_votes(rows, columns)
    return Rows(frame, (), classes, majority(np.where(codes == NO_VOTE, -1, codes), 2), rows.fair)


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


def wide(table: pd.DataFrame, row: str, annotator: str, label: str) -> pd.DataFrame:
    """See :meth:`Annotators.wide`."""
    frame = to_frame(table)
    for name in (row, annotator, label):
        if name not in frame.columns:
            raise P4FError(f"no column {name!r} in the table of votes; {among(name, frame.columns)}")
    frame = frame[frame[label].notna()]
    twice = frame[frame.duplicated([row, annotator])]
    if len(twice):
        first = twice.iloc[0]
        raise P4FError(f"{first[annotator]} voted twice on {first[row]}; keep one of these votes")
    found = frame.pivot(index=row, columns=annotator, values=label)
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


def check_votes(belief: Annotators, rows: Rows, shares: Floats) -> None:
    """Raise the error that names who did not vote in a group, ``shares [rows, groups]``."""
    given = coded_votes(rows, belief.recorded_columns) < NO_VOTE
    for kind, columns in belief.annotators.items():
        own = [belief.recorded_columns.index(column) for column in columns]
        votes = given[:, own].sum(axis=1) @ shares
        if (votes == 0).any():
            where = f" where {belief.variables[0].group_text(int(votes.argmin()))}" if belief.variables else ""
            raise P4FError(f"{kind} gave no vote{where}; leave them out, or name them with others as one kind")


def one_alone(belief: Annotators, kind: str) -> Belief:
    """What is believed of one kind of annotator, as a bias of the label."""
    own = [parameter for parameter in belief.probabilities if parameter.cell and parameter.cell.feature == kind]
    known = {parameter.cell._replace(feature=None): parameter for parameter in own if parameter.cell}
    if belief.variables:
        alone: Belief = LabelBias(belief.variables[0].columns, levels=belief.variables[0].levels)
        cells = [parameter.cell or Cell(0, 0, 0) for parameter in alone.probabilities]
    else:
        alone, cells = ProgramBelief(_ALONE), [Cell(0, 1, 0), Cell(0, 0, 1)]
    pairs = zip(alone.probabilities, cells, strict=True)
    found = [replace(known[cell], name=named.name, cell=named.cell, information=None) for named, cell in pairs]
    return alone.with_probabilities(tuple(found)).with_favourable(belief.favourable)


def vote_terms(tables: Callable[[Tensor], Tensor], votes: Tensor, shares: Tensor) -> Terms:
    """log P(votes | fair class), ``[rows, classes]``, as a function of the parameters.

    Parameters
    ----------
    tables
        From the parameters to P(vote | fair, group), ``[annotators, groups, fair, vote]``.
    votes
        ``[rows, annotators]``, 2 where there is none.
    shares
        ``[rows, groups]``.
    """
    # Rows with the same votes and groups share what is computed.
    kinds, place = torch.unique(torch.cat([votes.double(), shares], dim=1), dim=0, return_inverse=True)
    own, weights = kinds[:, : votes.shape[1]].long(), kinds[:, votes.shape[1] :]

    def terms(values: Tensor) -> Tensor:
        return _log_terms(tables(values), own, weights)[place]

    return terms


def _log_terms(table: Tensor, votes: Tensor, shares: Tensor) -> Tensor:
    logs = torch.cat([table.clamp_min(1e-300).log(), torch.zeros_like(table[..., :1])], dim=-1)
    annotators = torch.arange(votes.shape[1])
    by_group = logs[annotators, ..., votes].sum(1)  # [rows, groups, fair]
    return (by_group + shares.clamp_min(1e-300).log().unsqueeze(-1)).logsumexp(1)


def posterior(terms: Floats, shares: Floats) -> Floats:
    """P(fair = 1 | votes), where the share of fair 1s in each group is what makes the votes most likely."""
    prior = np.full(shares.shape[1], 0.5)
    ratio = np.exp(np.clip(terms[:, 1] - terms[:, 0], -500, 500))
    for _ in range(_ROUNDS):
        chance = shares @ prior
        found = chance * ratio / (chance * ratio + 1 - chance)
        settled = (found @ shares) / np.maximum(shares.sum(axis=0), 1e-300)
        if np.abs(settled - prior).max() < 1e-10:
            break
        prior = np.clip(settled, 1e-12, 1 - 1e-12)
    return np.asarray(found)


class VotesView(View):
    """What tables of annotators say of rows.

    Parameters
    ----------
    tables
        P(vote | fair, group), ``[annotators, groups, fair, vote]``.
    shares
        ``[rows, groups]``.
    """

    def __init__(self, tables: Tensor, shares: Tensor) -> None:
        self.tables, self.shares = tables, shares
        self.codes = torch.unique(shares, dim=0, return_inverse=True)[1]
        # What somebody among the annotators would say.
        self._mean = torch.einsum("ng,gfv->nfv", shares, tables.mean(0))

    def log_recorded(self, logits: Tensor, rows: Tensor) -> Tensor:
        """See :meth:`View.log_recorded`: what an annotator, any of them, would say."""
        terms = log_outcomes((1,), logits).unsqueeze(-1) + self._mean[rows].clamp_min(1e-300).log()
        return terms.logsumexp(1)

    def log_fair(self, logits: Tensor, rows: Tensor) -> Tensor:  # noqa: ARG002
        """See :meth:`View.log_fair`."""
        return log_outcomes((1,), logits)

    def observe(self, recorded: Tensor, fair: Tensor | None) -> Observed:
        """See :meth:`View.observe`; ``recorded [rows, annotators]`` are votes, 2 where there is none."""
        kinds, codes = torch.unique(torch.cat([recorded.double(), self.shares], dim=1), dim=0, return_inverse=True)
        votes, shares = kinds[:, : recorded.shape[1]].long(), kinds[:, recorded.shape[1] :]
        terms = _exact_terms(self.tables, votes, shares)
        # Only their ratio counts; many votes together are so unlikely that it would be lost.
        largest = terms.max(1, keepdim=True).values
        coefficients = torch.where(largest == -torch.inf, terms, terms - largest.clamp_min(-1e30)).exp()
        observed = AffineObserved((1,), torch.zeros(len(kinds), dtype=torch.float64), coefficients, codes)
        return observed if fair is None else observed.known(fair)


def _exact_terms(table: Tensor, votes: Tensor, shares: Tensor) -> Tensor:
    """As :func:`_log_terms`, with -inf for what is impossible."""
    logs = torch.cat([table.log(), torch.zeros_like(table[..., :1])], dim=-1)
    by_group = logs[torch.arange(votes.shape[1]), ..., votes].sum(1)
    return (by_group + shares.log().unsqueeze(-1)).logsumexp(1)
