"""Several people labelled the same rows, each with errors of their own."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.audit import Audit, frame_of, warn_audit, warn_unweighted
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import labelled, recorded
from problog4fairness.beliefs.describe.words import Label, joined, share
from problog4fairness.beliefs.favourable import favourable_comment, favourable_json, plain_label
from problog4fairness.beliefs.likelihood.general import Record
from problog4fairness.beliefs.likelihood.inputs import fair_inputs
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.templates.records.annotator_errors import FORMS, ErrorModel, by_vote
from problog4fairness.beliefs.templates.records.votes import (
    VotesView,
    VoteTables,
    check_long,
    coded_votes,
    fair_given_votes,
    one_alone,
    read_votes,
    votes_of,
    wide_votes,
)
from problog4fairness.beliefs.variables import (
    declaration,
    goal,
    sensitive_comment,
    sensitive_from_json,
    sensitive_json,
)
from problog4fairness.data import Codes, Floats, Level, Rows, Sensitive, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.program import atom, comment, predicates
from problog4fairness.statistics import Cell, Parameter, parameters_from_json, parameters_json

if TYPE_CHECKING:
    from problog4fairness.audit import AuditTable
    from problog4fairness.beliefs.templates.records.annotator_errors import Fit, Votes
    from problog4fairness.beliefs.templates.records.annotator_precision import Precision
    from problog4fairness.program import Diagram, Leaf

# What was said of an error: one number, or one for each (kind of) annotator, which may be one for each group.
Errors = float | Mapping[Any, Any] | None
NEGATIVE, POSITIVE = (1, 0), (0, 1)
MOST_DRAWN = 6  # kinds of annotators in a picture
# Parameters whose covariance is stored; of more, each is as sure as it is alone.
MOST_JOINT = 200
# A parameter whose interval is wider is named in a warning.
WIDE = 0.5
# Names and meanings of the parameters of hard rows.
HARD = {
    "hard": "a row is hard for all annotators",
    "guess": "a vote on a hard row is a guess",
    "answer": "a guess says 1",
}
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

    What identifies it: that annotators err independently of each other, given the fair label, the group and whether the
    row is hard, and that most are right more often than not. From three annotators on, their agreement tells how often
    each errs (Dawid and Skene 1979), and no audit is needed; with two, some rows must be audited. It does not hold
    where they copy from each other; :meth:`estimate` warns where votes agree more often than independent errors would
    give. Somebody who always says the same is recognised and has no say.

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
    groups
        The groups; with two, the second is the sensitive one.
    favourable
        The label that counts as 1, where it is known already; :meth:`estimate` notes it.
    symmetric
        Whether an annotator errs as often for a fair 1 as for a fair 0; None to let the votes choose.
    hard_rows
        Whether some rows are hard for all annotators, who guess there more often than they see; None to let the votes
        choose.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.Annotators(["ann", "bob", "eve"], negative=0.2, positive=0.1)
    >>> belief.recorded_columns
    ('ann', 'bob', 'eve')
    >>> belief.parameters[0].value
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
        groups: Sequence[Level] = (0, 1),
        favourable: Any = None,
        symmetric: bool | None = None,
        hard_rows: bool | None = None,
    ) -> None:
        if not isinstance(annotators, Mapping) and len(set(annotators)) < len(annotators):
            raise P4FError(_TWICE)
        kinds = annotators if isinstance(annotators, Mapping) else {str(name): (name,) for name in annotators}
        self.annotators = {str(kind): tuple(names) for kind, names in kinds.items()}
        self._take_columns()
        self.variables = () if sensitive is None else (Sensitive.of(sensitive, groups, name="a"),)
        for name in set(self.recorded_columns) & set(self.sensitive_columns):
            raise P4FError(f"column {name!r} cannot be both a vote and the sensitive variable")
        self.favourable = plain_label(favourable)
        self.symmetric, self.hard_rows = symmetric, hard_rows
        for name, errors in (("negative", negative), ("positive", positive)):
            for kind in set(errors) - set(self.annotators) if isinstance(errors, Mapping) else ():
                raise P4FError(f"{name} names {kind!r}, which is not among {', '.join(self.annotators)}")
        self.parameters = (
            tuple(
                self._parameter(Cell(level, *change, kind), self._stated(errors, kind, level))
                for kind in self.annotators
                for change, errors in ((NEGATIVE, negative), (POSITIVE, positive))
                for level in reversed(range(self._groups))
            )
            + self._hard_parameters()
        )

    def _hard_parameters(self) -> tuple[Parameter, ...]:
        return tuple(Parameter(name, meaning) for name, meaning in HARD.items()) if self.hard_rows else ()

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
        stated = errors.get(kind) if isinstance(errors, Mapping) else errors
        stated = (
            stated.get(self.variables[0].levels[level]) if isinstance(stated, Mapping) and self.variables else stated
        )
        return None if stated is None else float(stated)

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

    def _network_columns(self) -> dict[str, str]:
        """See :meth:`Belief._network_columns`."""
        return super()._network_columns() | self._networks

    def text(self) -> str:
        """The program as text."""
        head = [*_ABOUT, *map(sensitive_comment, self.variables), *favourable_comment(self)]
        names = {column: network for network, column in self._networks.items()}
        votes = [f"nn({names[c]},[X],V,[0,1,missing]) :: said(X,{names[c]},V)." for c in self.recorded_columns]
        kinds = [f"kind({names[c]},{atom(kind)})." for kind, columns in self.annotators.items() for c in columns]
        facts = []
        for own in self.parameters:
            if cell := own.cell:
                where = f", {goal(self.variables[0], cell.group)}" if self.variables else ""
                error = f"label_{'neg' if cell.fair else 'pos'}_bias(X,J)"
                facts.append(f"{own.weight} :: {error} :- kind(J,{atom(str(cell.feature))}){where}.{own.remark}")
        rules = [
            "vote(X,J) :- y_h(X), \\+label_neg_bias(X,J).",
            "vote(X,J) :- \\+y_h(X), label_pos_bias(X,J).",
        ]
        if self.hard_rows:
            hard, guess, answer = (own for own in self.parameters if own.cell is None)
            facts += [
                f"{hard.weight} :: label_hard(X).{hard.remark}",
                f"{guess.weight} :: label_guess(X,J) :- kind(J,_), label_hard(X).{guess.remark}",
                f"{answer.weight} :: label_answer(X,J) :- kind(J,_).{answer.remark}",
            ]
            rules = [rule.replace(" :- ", " :- \\+label_guess(X,J), ") for rule in rules]
            rules.append("vote(X,J) :- label_guess(X,J), label_answer(X,J).")
        rules += [
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

    def _leaf_value(self, leaf: Leaf, rows: Rows) -> Tensor:
        """See :meth:`Belief._leaf_value`."""
        if leaf.name not in self._networks:
            return super()._leaf_value(leaf, rows)
        return torch.eye(3, dtype=torch.float64)[torch.from_numpy(coded_votes(rows, self._networks[leaf.name]))]

    @property
    def hard_values(self) -> tuple[float, float, float]:
        """The share of hard rows, how often a vote on them is a guess, and how often a guess says 1."""
        if not self.hard_rows:
            return 0.0, 0.0, 0.5
        hard, guess, answer = (float(own.value or 0.0) for own in self.parameters if own.cell is None)
        return hard, guess, answer

    def vote_tables(self) -> VoteTables:
        """P(vote | fair label, group) of each kind of annotators, on easy rows and on hard ones."""
        self.require_known()
        values = {own.cell: float(own.value or 0.0) for own in self.parameters}
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

    def check_rows(self, rows: Rows) -> None:
        """See :meth:`Belief.check_rows`; warns of a group on which nobody voted."""
        super().check_rows(rows)
        voted = rows.frame[list(self.recorded_columns)].notna().any(axis=1).to_numpy()
        for variable in self.variables:
            shares = rows.shares(variable)[voted].sum(axis=0)
            for level in np.flatnonzero(shares == 0).tolist():
                warn_audit(
                    f"no row with {variable.group_text(level)} has a vote; the model learns nothing from these rows"
                )

    def observe(self, rows: Rows) -> Observation:
        """See :meth:`Belief.observe`: through a table for each annotator, not all combinations of votes."""
        if len(rows.classes) != 2:
            raise P4FError("Annotators are for labels of two classes")
        self._require_columns(rows)
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

    def estimate_table(self, table: AuditTable) -> Self:
        """See :meth:`Belief.estimate_table`; the votes are in columns that the belief names."""
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

        Errors of annotators are partially pooled: their prior is estimated from all of them, so that whoever gave few
        votes is shrunk towards the others. Whether errors are symmetric, and whether some rows are hard for all, is
        chosen by the evidence of the votes where the belief does not state it.

        Parameters
        ----------
        audit
            A data frame with a column for each annotator; a vote may be missing.
        recorded
            Of a long table, with a line for each vote, the names of its columns: ``{"row": "item", "annotator":
            "worker", "label": "label"}``. What else is known of a row is taken from its first line.
        fair
            The column of the fair label of rows that were audited, missing elsewhere. Not needed from three annotators
            on.
        favourable, confidence
            As for :meth:`Belief.estimate`.
        features
            Columns that the fair label depends on. They make the estimates sharper, by a linear model.
        """
        from problog4fairness.beliefs.templates.records.annotator_precision import precision
        from problog4fairness.beliefs.templates.records.learning import design

        warn_unweighted(audit, "votes")
        table = read_votes(self, frame_of(audit), recorded, fair, favourable)
        rows, votes, shares = table.rows, table.votes, self._shares(table.rows)
        audited = np.full(len(rows), -1) if rows.fair is None else rows.fair
        few = len(self.recorded_columns) < 3
        if few and not (audited >= 0).any():
            raise P4FError("two annotators do not tell which of them errs; audit some rows (fair=...), or ask a third")
        self._check_votes(votes, shares)
        model = ErrorModel(votes, shares, design(self, rows, features, use_sensitive=True), audited)
        forms = [form for form in FORMS
                 if self.symmetric in (None, form.symmetric)
                 and ((not few and self.hard_rows is None) or form.hard is bool(self.hard_rows))]  # fmt: skip
        fit, rival = model.choose(forms)
        estimated = self._learned(fit, precision(model, fit, rival, confidence), len(rows), confidence)
        estimated._warn(fit, model, table.annotators)
        return self._noted(estimated, favourable)

    def _check_votes(self, votes: Votes, shares: Floats) -> None:
        """Raise the error that names a kind of annotators, or a group, without votes; ``shares [rows, groups]``."""
        given = votes.expected(shares).sum(-1)
        for kind, count in zip(self.annotators, given, strict=True):
            if not count.any():
                raise P4FError(f"{kind} gave no vote; leave them out, or name them with others as one kind")
        for group in np.flatnonzero(~given.any(axis=0)).tolist():
            where = self.variables[0].group_text(group)
            raise P4FError(f"nobody gave a vote where {where}; leave these rows out, or the sensitive variable")

    def _learned(self, fit: Fit, precision: Precision, rows: int, confidence: float) -> Self:
        """The belief with what was learned of the errors, and of hard rows."""
        other = copy.copy(self)
        other.symmetric, other.hard_rows = fit.form
        kinds = {kind: number for number, kind in enumerate(self.annotators)}
        # The place of each error among ``[kinds, groups, fair]``.
        errors = {own.name: (own, (kinds[str(own.cell.feature)], own.cell.group, own.cell.fair))
                  for own in self.parameters if own.cell}  # fmt: skip
        flat = {int(np.ravel_multi_index(place, fit.errors.shape)): name for name, (_, place) in errors.items()}
        matrix = precision.information(joint=len(errors) <= MOST_JOINT)
        source = f"{'symmetric, ' if fit.form.symmetric else ''}from votes, pooled across annotators"
        learned = []
        for own, place in errors.values():
            row = matrix[[int(np.ravel_multi_index(place, fit.errors.shape))]].tocoo()
            learned.append(
                replace(
                    own,
                    value=float(fit.errors[place]),
                    low=float(precision.low[place]),
                    high=float(precision.high[place]),
                    rows=rows,
                    source=source,
                    information=tuple((flat[n], v) for n, v in zip(row.col.tolist(), row.data.tolist(), strict=True)),
                )
            )
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        values = (fit.hard, fit.guess, fit.answer) if fit.form.hard else ()
        for own, value, (low, high) in zip(other._hard_parameters(), values, precision.hard.tolist(), strict=True):
            information = ((own.name, (2 * z / max(high - low, 1e-6)) ** 2),)
            learned.append(
                replace(own, value=value, low=low, high=high, rows=rows, source="from votes", information=information)
            )
        other.parameters = tuple(learned)
        return other

    def _warn(self, fit: Fit, model: ErrorModel, annotators: Codes) -> None:
        """Warn of what the votes do not tell, and of errors that are not independent: one warning each."""
        wide = [own for own in self.parameters if (own.high or 0) - (own.low or 0) > WIDE]
        if wide:
            first = max(wide, key=lambda own: (own.high or 0) - (own.low or 0))
            many = f"{len(wide)} of {len(self.parameters)} parameters" if len(wide) > 1 else first.said
            example = f", such as {first.said}," if len(wide) > 1 else ""
            warn_audit(
                f"the votes hardly tell {many}{example} between {first.low:.2f} and {first.high:.2f}; "
                "audit some rows, or name annotators with few votes as one kind"
            )
        if fit.form.hard and fit.hard * fit.guess > 0.01:
            warn_audit(
                f"annotators err on the same rows: about {fit.hard:.0%} of the rows are hard for all of them, and "
                f"{fit.guess:.0%} of votes on these are guesses; audit some of the rows on which they disagree"
            )
        pair = model.most_dependent(fit, annotators)
        if pair is not None:
            one, other = (self.recorded_columns[number] for number in pair.annotators)
            warn_audit(
                f"annotators do not err independently: {one} and {other} agree on {pair.agreement:.0%} of {pair.rows} "
                f"shared rows, and independent errors would give {pair.expected:.0%} ({pair.pairs} such pairs); some "
                "may copy, or err on the same rows: look at belief.disagreement(votes), and audit some rows"
            )

    def fair_proba(
        self, table: pd.DataFrame, *, recorded: Mapping[str, str] | None = None, favourable: Any = None
    ) -> Any:
        """P(fair = 1 | votes) of each row, ``[rows]``, without a classifier: by how often it holds in each group.

        Parameters
        ----------
        table, recorded, favourable
            As for :meth:`estimate`; the parameters are those that are known. Of a long table, the rows are in the order
            in which they first occur.
        """
        read = read_votes(self, frame_of(table), recorded, None, favourable)
        return fair_given_votes(self.vote_tables().log_terms(read.votes), self._shares(read.rows))[:, 1]

    def by_column(self) -> dict[str, Belief]:
        """See :meth:`Belief.by_column`: each annotator alone is a bias of the label."""
        return {column: one_alone(self, kind) for kind, columns in self.annotators.items() for column in columns}

    def disagreement(self, table: pd.DataFrame) -> pd.DataFrame:
        """Of the rows that two annotators both voted on, the share on which they differ; NaN where there is none."""
        votes = wide_votes(table, self.recorded_columns)
        voted = votes.notna().astype(np.float64)
        marks = [(votes == label).astype(np.float64) for label in pd.unique(votes.to_numpy()[voted.to_numpy() > 0])]
        return 1 - sum((mark.T @ mark for mark in marks), 0 * voted.T @ voted) / (voted.T @ voted).replace(0, np.nan)

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
        frame = to_frame(table)
        check_long(frame, row, annotator, label)
        return frame[frame[label].notna()].pivot(index=row, columns=annotator, values=label).rename(columns=str)

    def words(self, label: Label | None = None) -> list[str]:
        """See :meth:`Belief.words`."""
        label, found = label or Label(), []
        for kind, columns in self.annotators.items():
            many = f", who are {len(columns)}," if len(columns) > 1 else ""
            for level in reversed(range(self._groups)):
                people = f"people with {self.variables[0].group_text(level)}" if self.variables else "people"
                own = {c.fair: p for p in self.parameters if (c := p.cell) and (c.feature, c.group) == (kind, level)}
                parts = [
                    f"of the {people} who should have {label.column} = {label.values[fair]}, {kind}{many} said "
                    f"{label.values[1 - fair]} of {share(own[fair])}"
                    for fair in (1, 0)
                ]
                found.append(joined(parts, f"the {people} who", "those who"))
        if self.hard_rows:
            hard, guess, answer = (share(own) for own in self.parameters if own.cell is None)
            found.append(
                f"Of the rows, {hard} are hard for all of them: there, {guess} of the votes are guesses, of which "
                f"{answer} say {label.values[1]}."
            )
        return ["Several people labelled the same rows, and each is taken to err independently of the others.", *found]

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`: a vote of each kind of annotator, or one for all where they are many."""
        fair = (label or Label()).fair
        votes = {kind: [own for own in self.parameters if own.cell and own.cell.feature == kind]
                 for kind in self.annotators}  # fmt: skip
        if len(votes) > MOST_DRAWN:
            votes = {f"votes of {len(self.recorded_columns)} annotators": []}
        causes = [fair, *self.sensitive_columns]
        return labelled(fair, self.variables, *(recorded(kind, causes, own) for kind, own in votes.items()))

    def caveats(self) -> list[str]:
        """See :meth:`Belief.caveats`."""
        return ["Annotators who copied from each other look better than they are."]

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Belief.to_json`."""
        return {
            "kind": "Annotators",
            "annotators": [[kind, list(columns)] for kind, columns in self.annotators.items()],
            "variables": [sensitive_json(variable) for variable in self.variables],
            "probabilities": parameters_json(self.parameters),
            "symmetric": self.symmetric,
            "hard_rows": self.hard_rows,
            **favourable_json(self),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Self:
        belief = cls.__new__(cls)
        belief.annotators = {str(kind): tuple(map(str, columns)) for kind, columns in value["annotators"]}
        belief._take_columns()
        belief.variables = tuple(map(sensitive_from_json, value["variables"]))[:1]
        belief.favourable = value.get("favourable")
        belief.symmetric, belief.hard_rows = value["symmetric"], value["hard_rows"]
        belief.parameters = parameters_from_json(value["probabilities"])
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
        errors = [own for own in self.parameters if own.cell is not None]
        hard = [own.name for own in self.parameters if own.cell is None]
        fits = {own.cell for own in errors} == wanted and len(errors) == len(wanted)
        if hard != [own.name for own in self._hard_parameters()]:
            raise ValueError("its parameters of hard rows are not those that it has")
        if not fits or any(own.cell is None or own.name != self._name(own.cell) for own in errors):
            raise ValueError("a parameter is not about its cell")
