"""What all beliefs have in common: they write a program, and they observe rows."""

from __future__ import annotations

import copy
import html
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor

from problog4fairness.beliefs.admissible import admissible_values
from problog4fairness.beliefs.favourable import agreed, plain_label
from problog4fairness.beliefs.general import Record, observe_program
from problog4fairness.beliefs.inputs import FairInputs, fair_inputs
from problog4fairness.beliefs.observation import Observation
from problog4fairness.beliefs.picturing import of_program
from problog4fairness.beliefs.priors import Beta, checked_priors
from problog4fairness.beliefs.probabilities import Parameter, bind, check_known, known_values, table
from problog4fairness.beliefs.words import Label, share
from problog4fairness.errors import P4FError, UnknownNameError, among
from problog4fairness.program.program import Program
from problog4fairness.rows.groups import Grouping
from problog4fairness.rows.rows import Rows
from problog4fairness.rows.sensitive import Sensitive
from problog4fairness.rows.types import Floats, Level

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness import Doubts
    from problog4fairness.beliefs.audit import Column
    from problog4fairness.beliefs.audit_table import AuditTable
    from problog4fairness.beliefs.design import Design
    from problog4fairness.beliefs.plan import AuditPlan
    from problog4fairness.beliefs.strata import Drawn
    from problog4fairness.program.data import Leaf
    from problog4fairness.program.diagram import Diagram


class Belief(ABC):
    """An assumption on how the recorded data came from the fair data; it *writes ProbLog* and *observes rows*.

    ``str(belief)`` is the program, with the numbers in it where they are known, and it is that program which is
    compiled. Immutable: :meth:`bind` and ``estimate`` give new ones.

    A new kind of belief says :meth:`text`, its ``variables`` and ``probabilities``, and how it becomes plain data;
    everything else follows from its program, and may be overridden where there is a quicker way or a better word.

    Attributes
    ----------
    title
        What this kind of belief is called: ``label bias``; from the name of the class where nothing else is said.
    command
        The name by which ``p4f estimate --belief`` knows it; None where it has none.
    overlap
        Whether two of its parameters may explain the same errors.
    variables
        The sensitive variables that it depends on, and others such as who decided.
    probabilities
        Its parameters, one by one.
    features
        The recorded features that it changes.
    classes
        The classes of the label where there are more than two.
    favourable
        The label that counts as 1, once it was stated or an audit was read; None while nobody said.
    predicts_from
        Whether new rows have ``"fair"`` features, or ``"biased"`` ones to which the belief is applied first.
    classifier
        The network of its program that is learned.
    missing_labels
        Whether it says when nothing is recorded, so that rows without a label count.
    recorded_columns
        The columns that hold the record, where it is in several of them; the program reads them, and its query is that
        they are as they are.
    withheld
        Columns that it reads and that no learner may: they have to do with the record, not with the fair label.
    design
        What an audit said by stratum that was drawn by recorded label, where the parameters come from one.

    Examples
    --------
    A belief of one's own says its program, its parameters, and how it becomes plain data:

    >>> import problog4fairness as p4f
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, groups=[1])
    >>> isinstance(belief, p4f.Belief), belief.title, belief.sensitive_columns
    (True, 'label bias', ('poor_area',))
    >>> belief.bind({"p1": 0.3}).parameters["value"].tolist()
    [0.3]
    >>> p4f.Belief.from_json(belief.to_json()) == belief
    True
    """

    title: ClassVar[str] = "belief"
    command: ClassVar[str | None] = None
    overlap: bool = False
    variables: tuple[Sensitive, ...] = ()
    probabilities: tuple[Parameter, ...] = ()
    features: tuple[str, ...] = ()
    classes: tuple[int | str, ...] | None = None
    favourable: bool | int | float | str | None = None
    predicts_from: Literal["fair", "biased"] = "fair"
    classifier: str = "h"
    missing_labels: bool = False
    recorded_columns: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    design: Design | None = None
    kinds: ClassVar[dict[str, type[Belief]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Belief.kinds[cls.__name__] = cls
        if "title" not in vars(cls):
            cls.title = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__).lower()

    @abstractmethod
    def text(self) -> str:
        """The program as text."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Plain data from which :meth:`from_json` makes an equal belief."""

    @classmethod
    @abstractmethod
    def _from_json(cls, value: dict[str, Any]) -> Self: ...

    @staticmethod
    def from_json(value: dict[str, Any]) -> Belief:
        """The belief that :meth:`to_json` described."""
        kind = Belief.kinds.get(str(value.get("kind"))) or known_kinds().get(str(value.get("kind")))
        if kind is None:
            raise P4FError(f"there is no belief {value.get('kind')!r}; import the module that defines it first")
        return kind._from_json(value)

    def with_probabilities(self, probabilities: tuple[Parameter, ...]) -> Self:
        """The same assumption with other values; a parameter of the same name is about the same cell."""
        cells = {own.name: own.cell for own in self.probabilities}
        other = copy.copy(self)
        other.probabilities = tuple(replace(given, cell=cells.get(given.name, given.cell)) for given in probabilities)
        return other

    def program(self) -> Program:
        """The program that is compiled."""
        return Program(self.text())

    def bound_program(self) -> Program:
        """The same program with its numbers beside it: it is compiled once, whatever they are."""
        try:
            return Program(self.unknown().text()).bind(known_values(self.probabilities))
        except UnknownNameError:
            # A belief of somebody's own may write its numbers into the text and nothing else.
            return self.program()

    @property
    def parameters(self) -> pd.DataFrame:
        """The parameters as a table: value, interval, rows used, rows still needed to know them within 0.1."""
        return table(self.probabilities)

    @property
    def class_count(self) -> int:
        """Number of classes of the label."""
        return 2 if self.classes is None else len(self.classes)

    def unknown(self) -> Self:
        """The same assumption with all values open."""
        return self.with_probabilities(tuple(own.stated(None) for own in self.probabilities))

    def bind(self, values: Mapping[str, float]) -> Self:
        """A belief with stated values for some parameters."""
        return self.with_probabilities(bind(self.probabilities, values))

    def with_priors(self, prior: Mapping[str, Beta]) -> Self:
        """A belief with what is known of some parameters beside an audit, or without one.

        A parameter that was counted is counted on from its prior; one that was stated, or is unknown, is as its prior
        says, with its interval. For parameters that are estimated together, say ``estimate(..., prior=...)``.

        Parameters
        ----------
        prior
            For names of parameters what is known of them: ``{"p1": p4f.Beta(2, 8)}``.
        """
        known = checked_priors(prior, [own.name for own in self.probabilities])
        return self.with_probabilities(
            tuple(own.with_prior(known[own.name]) if own.name in known else own for own in self.probabilities)
        )

    def _awaiting(self, prior: Mapping[str, Beta] | None) -> Self:
        """The belief whose parameters are estimated with priors."""
        known = checked_priors(prior, [own.name for own in self.probabilities])
        return self.with_probabilities(tuple(replace(own, prior=known.get(own.name)) for own in self.probabilities))

    def draws(self, count: int, random_state: Any = None) -> list[Self]:
        """Beliefs whose parameters are drawn from what the audit leaves open.

        A counted parameter from its Beta posterior (Jeffreys' prior, or the one that was given), those of one cell
        together; parameters that were estimated together from the normal distribution with their information. What was
        stated stays as it is, unless it was given a prior; so do directions that no audit can tell, which change
        nothing of what is learned.

        Parameters
        ----------
        count
            How many.
        random_state
            A seed, or a generator of numpy.

        Examples
        --------
        >>> import problog4fairness as p4f
        >>> belief = p4f.LabelBias("poor_area", groups=[1], positive=False).with_priors({"p1": p4f.Beta(40, 60)})
        >>> [f"{drawn.probabilities[0].value:.2f}" for drawn in belief.draws(3, random_state=0)]
        ['0.38', '0.34', '0.39']
        """
        from problog4fairness.beliefs.draws import drawn

        return [self.with_probabilities(own) for own in drawn(self, count, random_state)]

    def _counted_parts(self) -> list[tuple[Parameter, ...]]:
        """The parameters, in parts that were counted separately."""
        return [self.probabilities]

    def with_favourable(self, label: Any) -> Self:
        """The same assumption about labels of which this one counts as 1."""
        other = copy.copy(self)
        other.favourable = plain_label(label)
        return other

    def favourable_among(self, labels: Collection[Any], said: Any = None) -> Any:
        """Which of these labels counts as 1: what is said now, or what the belief knows; None where neither does.

        A belief that knows another of these labels contradicts what is said, which is an error. A belief that was made
        with labels written in another way does not, but then somebody has to say which one is meant.
        """
        return agreed(self.favourable, labels, said)

    def require_known(self) -> None:
        """Raise the error that names unknown parameters, if there are any."""
        check_known(self.probabilities)

    @property
    def about_label(self) -> bool:
        """Whether the recorded label is a copy of the fair one, right or distorted, so that the two can be compared."""
        return True

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """All sensitive columns, each once."""
        return _columns(variable for variable in self.variables if variable.people)

    @property
    def other_columns(self) -> tuple[str, ...]:
        """The columns of what else the bias depends on, each once."""
        return _columns(variable for variable in self.variables if not variable.people)

    @property
    def read_columns(self) -> tuple[str, ...]:
        """All columns that it reads, besides a single recorded label."""
        every = (*self.sensitive_columns, *self.other_columns, *self.recorded_columns, *self.features)
        return tuple(dict.fromkeys(every))

    @property
    def context_columns(self) -> tuple[str, ...]:
        """What it must read besides the features and the record: groups, who decided, proxies."""
        aside = {*self.recorded_columns, *self.features}
        return tuple(name for name in self.read_columns if name not in aside)

    def record(self, rows: Rows) -> Record:
        """What was recorded in rows, among what its program says can be recorded: the classes, by default."""
        count = 0 if rows.recorded is None else int((rows.recorded < 0).sum())
        if count:
            raise P4FError(
                f"{count} rows have no recorded label, and the belief does not say when that happens; drop them, or "
                "believe in SelectiveLabels"
            )
        return Record(len(rows.classes), rows.recorded)

    def observe(self, rows: Rows) -> Observation:
        """Apply the belief to rows: the likelihood of what was recorded, and what it tells of what was fair.

        In general the program is compiled once and specialised to the groups that occur in the rows. A template may
        have a quicker way; it gives the same numbers.

        Parameters
        ----------
        rows
            What was recorded; without recorded labels, the observation still tells what would be recorded.
        """
        self.require_known()
        self.require_columns(rows)
        inputs = fair_inputs(rows, self._input_values())
        return observe_program(
            self.bound_program(),
            rows,
            inputs,
            self.record(rows),
            classifier=self.classifier,
            value=lambda leaf: self.leaf_value(leaf, rows),
            place=lambda leaf: self._leaf_input(leaf, rows, inputs),
        )

    def _input_values(self) -> dict[str, tuple[Level, ...]]:
        """For each feature of which the program asks for other values than the recorded one, all its values."""
        return {}

    def _leaf_input(self, leaf: Leaf, rows: Rows, inputs: FairInputs) -> Tensor:  # noqa: ARG002
        """``[rows]``: which of the inputs a leaf of the classifier is about."""
        if leaf.arguments != ("x",):
            raise P4FError(f"the program asks for {leaf}; a belief about the label asks the classifier about x only")
        return inputs.index[:, 0]

    def restore(self, rows: Rows) -> Observation:
        """The fair features that recorded ones may stand for, as :meth:`Observation.fair_proba` needs them."""
        return self.observe(rows.without_record())

    def leaf_value(self, leaf: Leaf, rows: Rows) -> Tensor:
        """What rows know of a network of the program other than the classifier, ``[rows]`` or ``[rows, outcomes]``."""
        for variable in self.variables:
            if variable.name == leaf.name:
                shares = torch.from_numpy(rows.shares(variable))
                return shares[:, 1] if variable.binary else shares
        raise P4FError(f"the program reads the network {leaf.name}, and no sensitive variable has that name")

    def network_columns(self) -> dict[str, str]:
        """The column that each network of its program reads, where it is one."""
        return {v.name: v.columns[0] for v in self.variables if len(v.columns) == 1}

    def require_columns(self, rows: Rows) -> None:
        """Raise the error that names a column which the belief reads and the rows do not have."""
        for column in self.read_columns:
            unrecorded = rows.recorded is None and column in self.recorded_columns
            if column not in rows.frame.columns and not unrecorded:
                there = among(column, rows.frame.columns)
                raise P4FError(f"the belief needs the column {column!r}; {there}, or pass sensitive_features")

    def check_rows(self, rows: Rows) -> None:
        """Raise the error that says why these rows cannot be learned from: every group must occur."""
        self.require_columns(rows)
        for variable in self.variables:
            present = rows.shares(variable).sum(axis=0)
            for level in range(len(variable.levels)):
                if present[level] == 0:
                    raise P4FError(
                        f"no row has {variable.group_text(level)}; leave that group out of the belief's levels"
                    )

    def known_groups(self) -> dict[str, tuple[Any, ...]]:
        """For each sensitive column that alone says the group, its groups; of two, the sensitive one is the second."""
        return {v.columns[0]: v.levels for v in self.variables if len(v.columns) == 1 and v.people}

    def groupings(self, rows: Rows) -> list[Grouping]:
        """The ways to divide rows into groups: one for each sensitive variable of which the rows have the columns."""
        return [
            Grouping.of(variable, rows)
            for variable in self.variables
            if variable.people and set(variable.columns) <= set(rows.frame.columns)
        ]

    def feature_distortion(self, rows: Rows) -> dict[str, Floats]:  # noqa: ARG002
        """For each changed feature and row the probability that its fair value is not the recorded one."""
        return {}

    def estimate(
        self,
        audit: pd.DataFrame | None = None,
        *,
        recorded: Column,
        fair: Column,
        sensitive_features: Any = None,
        favourable: Any = None,
        confidence: float = 0.95,
        prior: Mapping[str, Beta] | None = None,
        sequential: bool = False,
        drawn_from: Any = None,
    ) -> Self:
        """Estimate the parameters from audited rows, for which the recorded and the fair label are both known.

        Rows that :meth:`plan_audit` drew say how, in columns of their own. Those drawn by recorded label tell
        P(fair | recorded, group), which is turned round with the shares of the whole table; what is then estimated is
        the parameters of that table. Rows that do not say how they were drawn are taken as drawn at random.

        Where each parameter has a cell of its own, it is counted. Otherwise all are found at once, as those that make
        the audited labels most likely through the belief's own program. That likelihood is penalised: a whole unit of
        bias costs as much as a factor e, so that of equally likely explanations the one with the least bias is taken.
        The ``source`` of such a parameter says so.

        Parameters
        ----------
        audit
            A data frame with the columns that are named in the other arguments; a column ``p4f_count`` says how many
            equal rows each row stands for.
        recorded, fair
            Column names, or the values themselves.
        sensitive_features
            The sensitive columns, where they are not in ``audit``.
        favourable
            The label that counts as 1, where the belief does not know it and labels are not 0 and 1 or false and true.
        confidence
            Of the intervals.
        prior
            What is known of some parameters beforehand, ``{"p1": p4f.Beta(2, 8)}``: estimates are drawn to it where
            rows are few.
        sequential
            Whether the intervals hold however often one looks at the rows and decides whether to go on. They are wider.
        drawn_from
            The whole table, for rows that were drawn from it by group and recorded label and do not say so.
        """
        from problog4fairness.beliefs.designed import anytime, audited_rows
        from problog4fairness.beliefs.estimation import warn_few, warn_signal

        start = self._awaiting(prior)
        rows, design = audited_rows(start, audit, recorded, fair, sensitive_features, favourable, drawn_from)
        if design is not None and prior:
            raise P4FError("prior=... is for audits drawn at random; this one was drawn by what was recorded")
        if design is not None and start._counted:
            estimated = design.estimated(start.probabilities, confidence, sequential)
        else:
            estimated, design = start._estimated(rows, confidence), None
            estimated = anytime(estimated, confidence) if sequential else estimated
        found = self._noted(start.with_probabilities(estimated), favourable)
        found.design = design
        warn_few(found.probabilities)
        warn_signal(found, rows)
        return found

    def _estimated(self, rows: Rows, confidence: float) -> tuple[Parameter, ...]:
        """The parameters, estimated from rows whose recorded and fair labels are both known."""
        from problog4fairness.beliefs.estimation import most_likely

        return most_likely(self, self.unknown().program(), self.probabilities, rows, confidence)

    def _noted(self, estimated: Self, favourable: Any) -> Self:
        """The belief with the label that was counted as 1: what was said, what it knew already, or 1 itself."""
        if self.classes is not None:
            return estimated
        known = self.favourable if favourable is None else favourable
        return estimated.with_favourable(1 if known is None else known)

    def plan_audit(
        self,
        table: Any,
        *,
        recorded: Column | None = None,
        fair: str | Sequence[str] | Mapping[str, str] = "fair",
        error: float = 0.1,
        confidence: float = 0.95,
        pilot: Any = None,
        guesses: Mapping[str, float] | None = None,
        design: Literal["neyman", "hoeffding", "random"] = "neyman",
        sequential: bool = False,
        sensitive_features: Any = None,
        favourable: Any = None,
    ) -> AuditPlan:
        """Plan an audit for this belief: which rows to check by hand until its parameters are known well enough.

        Rows are drawn by group and recorded label, most where they tell most (Neyman), and in rounds: draw, fill in,
        ask again. Parameters that the belief rules out get a few rows only, which test that. A fifth of the rows that
        the paper's plan asks for, or fewer, are enough (``docs/results/audit-design``).

        Parameters
        ----------
        table
            The table to draw from: a data frame, or :class:`Rows`.
        recorded
            The column of the recorded label; not needed for a belief about features.
        fair
            The name of the column to fill in; for features one for each.
        error, confidence
            Half the width of the interval of every parameter, and its confidence.
        pilot
            What :meth:`AuditPlan.draw` gave, as far as it is filled in. Rows of another audit are a guess.
        guesses
            Values of parameters by name, with which no pilot is needed; those that the belief states are guesses too.
        design
            ``"hoeffding"`` is the paper's plan: from each group, whatever was recorded; ``"random"`` is from everybody.
        sequential
            Whether intervals hold however often one looks, as in :meth:`estimate`.
        sensitive_features
            The sensitive columns, where they are not in the table.
        favourable
            The label that counts as 1, where it is not 1.

        Examples
        --------
        >>> import problog4fairness as p4f
        >>> loans = p4f.datasets.loans().loans
        >>> belief = p4f.LabelBias("poor_area", positive=False, groups=[1])
        >>> plan = belief.plan_audit(loans, recorded="granted", fair="repaid")
        >>> plan.to_draw, plan.in_all, plan.hoeffding.asked
        (45, 100, 1707)
        """
        from problog4fairness.beliefs.planning import plan_audit

        return plan_audit(
            self,
            table,
            recorded=recorded,
            fair=fair,
            error=error,
            confidence=confidence,
            pilot=pilot,
            guesses=guesses,
            design=design,
            sequential=sequential,
            sensitive_features=sensitive_features,
            favourable=favourable,
        )

    def _audit_strata(self, table: Any, recorded: Column | None, sensitive_features: Any, favourable: Any) -> Drawn:
        """The kinds of rows that an audit is drawn from: by group and recorded label."""
        from problog4fairness.beliefs.strata import NoStrataError, label_strata

        if self.missing_labels or self.recorded_columns:
            raise NoStrataError("the record is not one label that every row has")
        return label_strata(self, table, recorded, sensitive_features, favourable)

    @property
    def _counted(self) -> bool:
        """Whether every parameter is counted in a cell of its own."""
        cells = [own.cell for own in self.probabilities]
        return bool(cells) and not self.overlap and len(self.variables) == 1 and None not in cells

    def _ruled_out(self, shape: tuple[int, ...]) -> list[int]:
        """Of strata ``[groups, recorded labels]`` those in which, by the belief, what was recorded is fair."""
        if not self._counted or self.features or len(shape) != 2:
            return []
        wrong = {
            (own.cell.group, own.cell.recorded)
            for own in self.probabilities
            if own.cell is not None and not (own.value == 0 and own.rows is None)
        }
        return [place for place, stratum in enumerate(np.ndindex(shape)) if stratum not in wrong]

    @classmethod
    def from_table(cls, table: AuditTable) -> Self:
        """The belief, with unknown parameters, that suits a table and what was said about it on the command line.

        By default a constructor is called that takes the sensitive column and ``levels=``.
        """
        make: Any = cls
        belief: Self = make(table.sensitive, levels=table.levels)
        return belief

    def estimate_table(self, table: AuditTable) -> Self:
        """:meth:`estimate` from an audited table as it was read."""
        rows, roles = table.labelled
        fair, favourable = roles.fair or "", roles.favourable
        return self.estimate(rows, recorded=roles.recorded, fair=fair, favourable=favourable, **table.options)

    def check(self, table: Any, **options: Any) -> Doubts:
        """Test whether the data contradict the belief; :func:`problog4fairness.check` says the options.

        Parameters
        ----------
        table
            Recorded data, a data frame or :class:`~problog4fairness.Rows`.
        options
            ``recorded``, the column of the recorded label; ``audit`` and ``fair``, where rows were audited; and others.
        """
        import problog4fairness  # its front door: tests need learners, which no belief depends on

        return problog4fairness.check(self, table, **options)

    def words(self, label: Label | None = None) -> list[str]:  # noqa: ARG002
        """What it says, a sentence or two at a time, for people who do not read programs.

        Parameters
        ----------
        label
            How the label is called.
        """
        columns = ", ".join(self.read_columns)
        first = (
            f"The belief is called {self.title}. Its program says how the recorded data come from the fair ones"
            f"{f'; it reads {columns}' if columns else ''}."
        )
        return [first, *(f"The probability that {own.meaning}: {share(own)}." for own in self.probabilities)]

    def picture(self, label: Label | None = None) -> Diagram:  # noqa: ARG002
        """Its causal picture: what is on record, what would be fair, and which parameters lie between.

        Without a picture of its own, it is that of the program, one node for each predicate.

        Parameters
        ----------
        label
            How the label is called.
        """
        columns = {variable.name: ", ".join(variable.columns) for variable in self.variables}
        return of_program(self.unknown().program().diagram(self.classifier), columns)

    def caveats(self) -> list[str]:
        """What a reader of a report must know because of this kind of belief."""
        return []

    def admissible(self, parameter: Parameter, rows: Rows) -> tuple[float, float]:
        """Between which values a parameter makes sense in these rows, all others fixed.

        Recorded labels stay informative: each class is recorded more often where it is the fair one than where another
        is. Probabilities sum to 1 at most.

        Parameters
        ----------
        parameter
            One of ``probabilities``, with a value.
        rows
            Their groups, recorded features and classes count.
        """
        return admissible_values(self, parameter, self._kinds_of(rows))

    def _kinds_of(self, rows: Rows) -> Rows:
        """One row of each kind that the belief can tell apart."""
        columns = [name for name in self.read_columns if name in rows.frame.columns]
        if not columns:
            return rows.take(np.arange(min(1, len(rows))))
        return rows.take(np.flatnonzero(~rows.frame[columns].duplicated().to_numpy()))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """In a notebook: its picture, what it says, and its parameters."""
        said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.words())
        try:
            drawn = self.picture()._repr_svg_()
        except P4FError:
            drawn = ""
        shown = self.parameters.to_html(float_format="%.4g") if self.probabilities else ""
        return f"<div>{drawn[drawn.find('<svg') :] if drawn else ''}{said}{shown}</div>"

    def __repr__(self) -> str:
        known = ", ".join(
            f"{own.name}={'?' if own.value is None else format(own.value, '.3g')}" for own in self.probabilities
        )
        return f"{type(self).__name__}({', '.join(self.sensitive_columns)}: {known or 'no parameters'})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.text())


def _columns(variables: Iterable[Sensitive]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for variable in variables for column in variable.columns))


def known_kinds() -> dict[str, type[Belief]]:
    """All kinds of beliefs by the name of their class; those of other packages by their entry points."""
    for point in entry_points(group="problog4fairness.beliefs"):
        point.load()
    return Belief.kinds
