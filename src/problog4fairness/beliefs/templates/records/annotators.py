"""Several people labelled the same rows, each with errors of their own."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.audit import Audit, AuditTable, design_matrix, frame_of, warn_audit, warn_unweighted
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import labelled, recorded
from problog4fairness.beliefs.describe.words import Label, joined, share
from problog4fairness.beliefs.description import BeliefKind, LabelRecord, Question
from problog4fairness.beliefs.fields import GROUPS, Field
from problog4fairness.beliefs.likelihood.inputs import fair_inputs
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.templates.records.annotator_errors import FORMS, ErrorModel, by_vote
from problog4fairness.beliefs.templates.records.annotator_precision import (
    HARD,
    learned_parameters,
    precision,
    warn_of_votes,
)
from problog4fairness.beliefs.templates.records.votes import (
    VotesView,
    VoteTables,
    check_long,
    check_votes,
    coded_votes,
    fair_given_votes,
    read_votes,
    votes_of,
    wide_votes,
)
from problog4fairness.beliefs.variables import declaration, favourable_comment, goal, sensitive_comment
from problog4fairness.data import Level, Rows, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.program import Diagram, Leaf, atom, comment, predicates
from problog4fairness.statistics import Cell, Parameter

# What was said of an error: one number, or one for each (kind of) annotator, which may be one for each group.
Errors = float | Mapping[Any, Any] | None
NEGATIVE, POSITIVE = (1, 0), (0, 1)
MOST_DRAWN = 6  # kinds of annotators in a picture
_TWICE = "an annotator is named twice; each has a column of their own"
_ABOUT = (
    "Annotators: each says the fair label y_h that the classifier h gives, or errs; J is one of them.",
    "y_ holds where all of them said what they said.",
)
_VOTE = "y_h(X), \\+label_neg_bias(X,J)", "\\+y_h(X), label_pos_bias(X,J)"
_AGREES = (
    "agrees(X,J) :- said(X,J,1), vote(X,J).",
    "agrees(X,J) :- said(X,J,0), \\+vote(X,J).",
    "agrees(X,J) :- said(X,J,missing).",
)


class Annotators(Belief):
    r"""Several people labelled the same rows, and each errs in their own way.

    P(votes) = sum over f of h_f times, for each annotator j who voted, P(j says v_j | fair = f, A)

    ``y`` has a column for each annotator, with gaps where they did not look; :meth:`wide` makes it of a long table.

    What identifies it: that annotators err independently of each other, given the fair label, the group and whether the
    row is hard, and that most are right more often than not. From three on, their agreement tells how often each errs
    (Dawid and Skene 1979); with two, some rows must be audited. It does not hold where they copy from each other:
    :meth:`estimate` warns where votes agree more often than independent errors would give.

    Parameters
    ----------
    annotators
        The columns of their votes; or, where some have the same parameters, the columns of each kind of annotator:
        ``{"crowd": ["w1", "w2", "w3"], "expert": ["dr_lee"]}``.
    sensitive
        The column of the sensitive variable, or several that make a group together; None where errors do not depend
        on it.
    negative, positive
        Probability that an annotator says 0 of a fair 1, and 1 of a fair 0: one number for all, or for each kind of
        annotator a number or one per group; None to be estimated.
    groups
        The groups; with two, the second is the sensitive one.
    favourable
        The label that counts as 1, where it is known already.
    symmetric, hard_rows
        Whether an annotator errs as often for a fair 1 as for a fair 0, and whether some rows are hard for all, who
        often guess there; None to let the votes choose.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Annotators(["ann", "bob", "eve"], negative=0.2, positive=0.1).parameters[0].value
    0.2
    """

    title = "annotators"
    kind = BeliefKind(
        fields=(
            Field("annotators", "values", "The columns of votes, by kind of annotator", suits="labels"),
            Field("sensitive", "sensitive", "Annotators err more often in one group than in another", optional=True),
            GROUPS,
            Field(
                "symmetric", "flag", "Annotators err as often for a fair 1 as for a fair 0; unsaid, the votes choose"
            ),
            Field("hard_rows", "flag", "Some rows are hard for all annotators; unsaid, the votes choose"),
        ),
        identified_by=(
            "that three or more err independently of each other and are mostly right; audited rows where there are "
            "fewer."
        ),
        question=Question(
            "label",
            "Several people gave it",
            "They labelled the same rows and disagree; nobody knows who is right.",
            (("*fair label", "group"), ("Ann says", "Bob says")),
        ),
    )

    def __init__(
        self,
        annotators: Sequence[str] | Mapping[str, Sequence[str]],
        sensitive: str | Sequence[str] | None = None,
        negative: Errors = None,
        positive: Errors = None,
        *,
        groups: Sequence[Level] = (0, 1),
        favourable: Any = None,
        symmetric: bool | None = None,
        hard_rows: bool | None = None,
    ) -> None:
        if not isinstance(annotators, Mapping):
            if len(set(annotators)) < len(annotators):
                raise P4FError(_TWICE)
            annotators = {str(name): (name,) for name in annotators}
        self.annotators = {str(kind): tuple(columns) for kind, columns in annotators.items()}
        levels = None if sensitive is None else groups
        super().__init__(
            self.annotators, sensitive, groups=levels, symmetric=symmetric, hard_rows=hard_rows, favourable=favourable
        )
        if len(self.columns.recorded) < 2:
            raise P4FError("one annotator is a LabelBias; name the columns of two or more")
        if len(set(self.columns.recorded)) < len(self.columns.recorded):
            raise P4FError(_TWICE)
        for name in set(self.columns.recorded) & set(self.columns.sensitive):
            raise P4FError(f"column {name!r} cannot be both a vote and the sensitive variable")
        self.symmetric, self.hard_rows = symmetric, hard_rows
        for name, errors in (("negative", negative), ("positive", positive)):
            for kind in set(errors) - set(self.annotators) if isinstance(errors, Mapping) else ():
                raise P4FError(f"{name} names {kind!r}, which is not among {', '.join(self.annotators)}")
        self._groups = len(self.variables[0].levels) if self.variables else 1
        self.parameters = tuple(
            self._parameter(Cell(level, *change, kind), errors)
            for kind in self.annotators
            for change, errors in ((NEGATIVE, negative), (POSITIVE, positive))
            for level in reversed(range(self._groups))
        )
        self.parameters += tuple(Parameter(name, meaning) for name, meaning in HARD.items() if hard_rows)

    def _parameter(self, cell: Cell, errors: Errors) -> Parameter:
        kind, value = str(cell.feature), errors.get(cell.feature) if isinstance(errors, Mapping) else errors
        group = where = ""
        if self.variables:
            level = self.variables[0].levels[cell.group]
            group, where = f",{atom(level)}", f" where {self.variables[0].group_text(cell.group)}"
            value = value.get(level) if isinstance(value, Mapping) else value
        name = f"{'neg' if cell.fair else 'pos'}({atom(kind)}{group})"
        known = None if value is None else float(value)
        return Parameter(name, f"{kind} says {cell.recorded} of a fair {cell.fair}{where}", known, cell=cell)

    @cached_property
    def _networks(self) -> dict[str, str]:
        """The network of the program that reads each annotator's votes."""
        return dict(zip(predicates(self.columns.recorded, "v", {"a", "h", "x"}), self.columns.recorded, strict=True))

    def _network_columns(self) -> dict[str, str]:
        return super()._network_columns() | self._networks

    def text(self) -> str:
        head = [*_ABOUT, *map(sensitive_comment, self.variables), *favourable_comment(self)]
        names = {column: network for network, column in self._networks.items()}
        votes = [f"nn({names[c]},[X],V,[0,1,missing]) :: said(X,{names[c]},V)." for c in self.columns.recorded]
        kinds = [f"kind({names[c]},{atom(kind)})." for kind, columns in self.annotators.items() for c in columns]
        facts = []
        for parameter in self.parameters:
            if cell := parameter.cell:
                where = f", {goal(self.variables[0], cell.group)}" if self.variables else ""
                error = f"label_{'neg' if cell.fair else 'pos'}_bias(X,J)"
                facts.append(parameter.fact(error, f"kind(J,{atom(str(cell.feature))}){where}"))
        easy = "\\+label_guess(X,J), " if self.hard_rows else ""
        rules = [f"vote(X,J) :- {easy}{cause}." for cause in _VOTE]
        if self.hard_rows:
            hard, guess, answer = (parameter for parameter in self.parameters if parameter.cell is None)
            facts += [
                hard.fact("label_hard(X)"),
                guess.fact("label_guess(X,J)", "kind(J,_), label_hard(X)"),
                answer.fact("label_answer(X,J)", "kind(J,_)"),
            ]
            rules.append("vote(X,J) :- label_guess(X,J), label_answer(X,J).")
        rules += [*_AGREES, f"y_(X) :- {', '.join(f'agrees(X,{names[c]})' for c in self.columns.recorded)}."]
        declared = ["nn(h,X) :: y_h(X).", *map(declaration, self.variables), *votes]
        parts = [comment(*head), *("\n".join(part) for part in (declared, kinds, facts, rules))]
        return "\n\n".join([*parts, "?- y_(x)."]) + "\n"

    @property
    def record(self) -> LabelRecord:
        """See :meth:`Belief.record`: the votes are in their columns, and the query is that they are as they are."""
        return replace(super().record, columns=tuple(name for kind in self.annotators.values() for name in kind))

    def _leaf_value(self, leaf: Leaf, rows: Rows) -> Tensor:
        if leaf.name not in self._networks:
            return super()._leaf_value(leaf, rows)
        return torch.eye(3, dtype=torch.float64)[torch.from_numpy(coded_votes(rows, self._networks[leaf.name]))]

    @property
    def hard_values(self) -> tuple[float, float, float]:
        """The share of hard rows, how often a vote on them is a guess, and how often a guess says 1."""
        if not self.hard_rows:
            return 0.0, 0.0, 0.5
        hard, guess, answer = (float(parameter.value or 0.0) for parameter in self.parameters if parameter.cell is None)
        return hard, guess, answer

    def vote_tables(self) -> VoteTables:
        """P(vote | fair label, group) of each kind of annotators, on easy rows and on hard ones."""
        self._require_known()
        values = {parameter.cell: float(parameter.value or 0.0) for parameter in self.parameters}
        errors = np.array([
            [[values[Cell(level, *change, kind)] for change in (POSITIVE, NEGATIVE)] for level in range(self._groups)]
            for kind in self.annotators
        ])  # fmt: skip
        easy = by_vote(np.stack([errors, 1 - errors], axis=-1))
        if not self.hard_rows:
            return VoteTables(np.ones(1), easy[:, :, None])
        hard, guess, answer = self.hard_values
        difficult = (1 - guess) * easy + guess * np.array([1 - answer, answer])
        return VoteTables(np.array([1 - hard, hard]), np.stack([easy, difficult], axis=2))

    def _check_rows(self, rows: Rows) -> None:
        """See :meth:`Belief._check_rows`; warns of a group on which nobody voted."""
        super()._check_rows(rows)
        voted = rows.frame[list(self.columns.recorded)].notna().any(axis=1).to_numpy()
        for variable in self.variables:
            shares = rows.shares(variable)[voted].sum(axis=0)
            for level in np.flatnonzero(shares == 0).tolist():
                warn_audit(
                    f"no row with {variable.group_text(level)} has a vote; the model learns nothing from these rows"
                )

    def _observation(self, rows: Rows) -> Observation:
        """Through a table for each annotator, not all combinations of votes."""
        if len(rows.classes) != 2:
            raise P4FError("Annotators are for labels of two classes")
        votes = None if rows.recorded is None else votes_of(self, rows)
        sizes = [len(columns) for columns in self.annotators.values()]
        view = VotesView(self.vote_tables(), sizes, self._shares(rows), votes)
        observed = None
        if rows.recorded is not None:
            recorded_codes = torch.from_numpy(rows.recorded)
            observed = view.observe(recorded_codes, None if rows.fair is None else torch.tensor(rows.fair))
        return Observation(fair_inputs(rows), view, observed, rows.outputs)

    def _shares(self, rows: Rows) -> Any:
        return rows.shares(self.variables[0]) if self.variables else np.ones((len(rows), 1))

    def _estimate_table(self, table: AuditTable) -> Self:
        """See :meth:`Belief._estimate_table`; the votes are in columns that the belief names."""
        table.require_no_options("votes")
        rows, roles = table.labelled_with_gaps
        return self.estimate(table.sampled(rows), fair=roles.fair, favourable=roles.favourable)

    def estimate(  # type: ignore[override]
        self,
        audit: pd.DataFrame | Audit,
        *,
        recorded: Mapping[str, str] | None = None,
        fair: str | None = None,
        favourable: Any = None,
        confidence: float = 0.95,
        features: Sequence[str] = (),
    ) -> Self:
        """Estimate how often each annotator errs, from their votes.

        Errors are partially pooled: their prior is estimated from all annotators, so that whoever gave few votes is
        shrunk towards the others.

        Parameters
        ----------
        audit
            A data frame with a column for each annotator; a vote may be missing.
        recorded
            Of a long table, with a line for each vote, the names of its columns: ``{"row": "item", "annotator":
            "worker", "label": "label"}``. What else is known of a row is taken from its first line.
        fair
            The column of the fair label of audited rows, missing elsewhere; not needed from three annotators on.
        favourable, confidence
            As for :meth:`Belief.estimate`.
        features
            Columns that the fair label depends on. They make the estimates sharper, by a linear model.
        """
        warn_unweighted(audit, "votes")
        table = read_votes(self, frame_of(audit), recorded, fair, favourable)
        (rows, votes, voters), shares = table, self._shares(table.rows)
        audited = np.full(len(rows), -1) if rows.fair is None else rows.fair
        if (few := len(self.columns.recorded) < 3) and not (audited >= 0).any():
            raise P4FError("two annotators do not tell which of them errs; audit some rows (fair=...), or ask a third")
        check_votes(self, votes, shares)
        model = ErrorModel(votes, shares, design_matrix(self, rows, features, use_sensitive=True), audited)
        forms = [form for form in FORMS
                 if self.symmetric in (None, form.symmetric)
                 and ((not few and self.hard_rows is None) or form.hard is bool(self.hard_rows))]  # fmt: skip
        fit, rival = model.choose(forms)
        other = copy.copy(self)
        other.symmetric, other.hard_rows = fit.form
        other._field_values = {**self._field_values, "symmetric": fit.form.symmetric, "hard_rows": fit.form.hard}
        errors = [parameter for parameter in self._prepared(None, confidence).parameters if parameter.cell is not None]
        known = precision(model, fit, rival, confidence)
        other.parameters = learned_parameters(errors, list(self.annotators), fit, known, len(rows), confidence)
        warn_of_votes(other.parameters, fit, model.most_dependent(fit, voters), self.columns.recorded)
        return other._with_counted_label(favourable)

    def fair_proba(
        self, table: pd.DataFrame, *, recorded: Mapping[str, str] | None = None, favourable: Any = None
    ) -> Any:
        """P(fair = 1 | votes) of each row, ``[rows]``, without a classifier: by how often it holds in each group.

        Parameters
        ----------
        table, recorded, favourable
            As for :meth:`estimate`. The rows of a long table are in the order in which they first occur.
        """
        read = read_votes(self, frame_of(table), recorded, None, favourable)
        return fair_given_votes(self.vote_tables().log_terms(read.votes), self._shares(read.rows))[:, 1]

    def disagreement(self, table: pd.DataFrame) -> pd.DataFrame:
        """Of the rows that two annotators both voted on, the share on which they differ; NaN where there is none."""
        votes = wide_votes(table, self.columns.recorded)
        voted = votes.notna().astype(np.float64)
        marks = [(votes == label).astype(np.float64) for label in pd.unique(votes.to_numpy()[voted.to_numpy() > 0])]
        return 1 - sum((mark.T @ mark for mark in marks), 0 * voted.T @ voted) / (voted.T @ voted).replace(0, np.nan)

    @staticmethod
    def wide(table: pd.DataFrame, *, row: str, annotator: str, label: str) -> pd.DataFrame:
        """A long table, with a line for each vote, as one with a column for each annotator.

        Parameters
        ----------
        table, row, annotator, label
            The long table, and its columns: what was labelled (the index of the result), by whom, and how.
        """
        frame = to_frame(table)
        check_long(frame, row, annotator, label)
        return frame[frame[label].notna()].pivot(index=row, columns=annotator, values=label).rename(columns=str)

    def words(self, label: Label | None = None) -> list[str]:
        label, sentences = label or Label(), []
        for kind, columns in self.annotators.items():
            many = f", who are {len(columns)}," if len(columns) > 1 else ""
            for level in reversed(range(self._groups)):
                people = f"people with {self.variables[0].group_text(level)}" if self.variables else "people"
                errors = {c.fair: p for p in self.parameters if (c := p.cell) and (c.feature, c.group) == (kind, level)}
                parts = [
                    f"of the {people} who should have {label.column} = {label.values[fair]}, {kind}{many} said "
                    f"{label.values[1 - fair]} of {share(errors[fair])}"
                    for fair in (1, 0)
                ]
                sentences.append(joined(parts, f"the {people} who", "those who"))
        if self.hard_rows:
            hard, guess, answer = (share(parameter) for parameter in self.parameters if parameter.cell is None)
            sentences += [f"Of the rows, {hard} are hard for all of them: there, {guess} of the votes are guesses, of "
                          f"which {answer} say {label.values[1]}."]  # fmt: skip
        first = "Several people labelled the same rows, and each is taken to err independently of the others."
        return [first, *sentences]

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`: a vote of each kind of annotator, or one for all where they are many."""
        fair = (label or Label()).fair
        votes = {kind: [p for p in self.parameters if p.cell and p.cell.feature == kind] for kind in self.annotators}
        if len(votes) > MOST_DRAWN:
            votes = {f"votes of {len(self.columns.recorded)} annotators": []}
        causes = [fair, *self.columns.sensitive]
        return labelled(
            fair, self.variables, *(recorded(kind, causes, parameters) for kind, parameters in votes.items())
        )

    def limitations(self) -> list[str]:
        return ["Annotators who copied from each other look better than they are."]
