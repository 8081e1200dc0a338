"""What all beliefs have in common: they write a program, and they observe rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor

from problog4fairness.beliefs.admissible import admissible_values
from problog4fairness.beliefs.description import Stated
from problog4fairness.beliefs.favourable import favourable_json, plain_label
from problog4fairness.beliefs.fields import Field, FieldTable, Question, arguments_of, check_room, read_parameters
from problog4fairness.beliefs.likelihood.general import Record, observe_program
from problog4fairness.beliefs.likelihood.inputs import FairInputs, fair_inputs
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.variables import acting_groups
from problog4fairness.data import Floats, Grouping, Rows, Sensitive
from problog4fairness.errors import P4FError, among
from problog4fairness.statistics import Beta, Parameter, parameters_json

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Audit, AuditPlan, AuditTable, Drawn, Stratified
    from problog4fairness.checks import CheckResult
    from problog4fairness.program import Leaf


class Belief(Stated):
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
    identified_by
        What tells its parameters, in a few words that :meth:`check` repeats.
    overlap
        Whether two of its parameters may explain the same errors.
    variables
        The sensitive variables that it depends on, and others such as who decided.
    parameters
        Its parameters, one by one.
    features
        The recorded features that it changes.
    numbers
        Those of them that are numbers, recorded as a line of the fair ones with normal noise.
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
    when
        The column with the day of each row, where the bias depends on it.
    design
        What an audit said by stratum that was drawn by recorded label, where the parameters come from one.

    Examples
    --------
    A belief of one's own declares its fields, and says its parameters and its program:

    >>> import problog4fairness as p4f
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> isinstance(belief, p4f.Belief), belief.title, belief.sensitive_columns
    (True, 'label bias', ('poor_area',))
    >>> belief.bind({"p1": 0.3}).parameter_table()["value"].tolist()
    [0.3]
    >>> p4f.Belief.from_json(belief.to_json()) == belief
    True
    """

    kinds: ClassVar[dict[str, type[Belief]]] = {}
    fields: ClassVar[tuple[Field, ...]] = ()
    question: ClassVar[Question | None] = None
    affected: tuple[int, ...] = ()
    _field_values: Mapping[str, Any] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Belief.kinds[cls.__name__] = cls
        if "title" not in vars(cls):
            cls.title = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__).lower()

    def __init__(self, *positional: Any, **named: Any) -> None:
        """Check arguments as the fields declare them, keep them, and set the sensitive variable."""
        given = arguments_of(type(self), self.fields, positional, named)
        values = {f.name: f.plain(given[f.name]) if f.name in given else f.default for f in self.fields}
        places = {field.kind: field.name for field in self.fields}
        columns = values[places["sensitive"]] if "sensitive" in places else None
        groups, affected = (places.get(kind, "") for kind in ("groups", "affected"))
        if columns is not None:
            variable = Sensitive.of(columns, given.get(groups), name="a", affected=given.get(affected))
            check_room(self.fields, values, len(variable.levels))
            self.variables, self.affected = (variable,), acting_groups(variable, given.get(affected))
            everybody = len(self.affected) == len(variable.levels)
            plain = [list(own) if isinstance(own, tuple) else own for own in variable.levels]
            values |= {groups: plain} if groups else {}
            values |= {affected: None if everybody else [plain[place] for place in self.affected]} if affected else {}
        self._field_values = values

    def field_values(self) -> dict[str, Any]:
        """The plain value of each field: the answers that lead to this belief, its parameters aside."""
        return dict(self._field_values)

    @classmethod
    def from_fields(cls, values: Mapping[str, Any], table: FieldTable | None = None) -> Belief:
        """The belief, with unknown parameters, of the answers to its fields.

        Parameters
        ----------
        values
            Plain values by field name, as :meth:`field_values` gives them; see :mod:`problog4fairness.beliefs.fields`.
        table
            Answers what is left out: groups, classes and values.

        Examples
        --------
        >>> import problog4fairness as p4f
        >>> belief = p4f.LabelBias.from_fields({"sensitive": "poor_area", "positive": False})
        >>> [own.name for own in belief.parameters]
        ['p1', 'p2']
        """
        unknown = [name for name in values if name not in {field.name for field in cls.fields}]
        if unknown:
            raise P4FError(
                f"{cls.__name__} has no field {unknown[0]!r}; {among(unknown[0], [f.name for f in cls.fields])}"
            )
        happens = [values.get(f.name, f.default) for f in cls.fields if f.kind in ("probability", "depends_on")]
        if table is not None and happens and not any(own is not False for own in happens):
            raise P4FError(f"{cls.__name__} without any bias leaves nothing to estimate; leave one of its biases in")
        arguments = {field.name: field.argument(values[field.name]) for field in cls.fields if field.name in values}
        if table is not None:
            left = (field for field in cls.fields if field.name not in arguments)
            answers = {field.name: _answered(field, arguments, table) for field in left if field.kind in _ANSWERED}
            arguments |= answers
        return cls(**arguments)

    def to_json(self) -> dict[str, Any]:
        """Plain data from which :meth:`from_json` makes an equal belief: its fields, and its parameters."""
        values = self.field_values()
        return {
            "kind": type(self).__name__,
            **{field.name: values[field.name] for field in self.fields if values[field.name] != field.default},
            "parameters": parameters_json(self.parameters),
            **favourable_json(self),
            **({} if self.design is None else {"design": self.design.to_json()}),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Belief:
        """The inverse of :meth:`to_json`; without parameters, they are unknown."""
        names = {field.name for field in cls.fields}
        belief = cls.from_fields({name: own for name, own in value.items() if name in names})
        if "parameters" in value:
            parameters = read_parameters(value["parameters"], belief.parameters)
            if [(own.name, own.cell) for own in parameters] != [(own.name, own.cell) for own in belief.parameters]:
                raise ValueError("its parameters are not those of its fields")
            belief = belief.with_parameters(parameters)
        if "favourable" in value:
            belief = belief.with_favourable(value["favourable"])
        if "design" in value:
            from problog4fairness.audit import design_of

            belief.design = design_of(value, belief._strata_shape)
        return belief

    @property
    def _strata_shape(self) -> tuple[int, ...]:
        """How many groups and recorded values the strata of an audit design have."""
        return len(self.variables[0].levels), self.class_count

    @staticmethod
    def from_json(value: Any) -> Belief:
        """The belief that :meth:`to_json` described.

        Raises
        ------
        P4FError
            The value describes no belief; the message says in one line what is wrong with it.
        """
        name = value.get("kind") if isinstance(value, dict) else None
        kind = Belief.kinds.get(str(name)) or known_kinds().get(str(name))
        if kind is None:
            raise P4FError(f"there is no belief {name!r}; import the module that defines it first")
        try:
            return kind._from_json(value)
        except P4FError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise P4FError(f"this describes no {kind.__name__}: {type(error).__name__}, {error}") from None

    def record(self, rows: Rows) -> Record:
        """What was recorded in rows, among what its program says can be recorded: the classes, by default."""
        count = 0 if rows.recorded is None else int((rows.recorded < 0).sum())
        if count:
            raise P4FError(
                f"{count} rows have no recorded label, and the belief does not say when that happens; drop them, or "
                "believe in SelectiveLabels"
            )
        return Record(len(rows.classes), rows.recorded)

    def with_values(self, values: Mapping[str, float]) -> Self:
        """The same belief with other values of some parameters, and the intervals that they had."""
        # Somebody asks what follows from these values: they are no estimates, also where they are 0 or 1.
        changed = (
            replace(own, value=values[own.name], rows=None) if own.name in values else own for own in self.parameters
        )
        return self.with_parameters(tuple(changed))

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
        inputs = self._inputs(rows)
        return observe_program(
            self.bound_program(),
            rows,
            inputs,
            self.record(rows),
            classifier=self.classifier,
            value=lambda leaf: self.leaf_value(leaf, rows),
            place=lambda leaf: self._leaf_input(leaf, rows, inputs),
        )

    def _inputs(self, rows: Rows) -> FairInputs:
        """What the program may ask the classifier about: the row itself, where it says nothing else."""
        return fair_inputs(rows)

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
            absent = [variable.group_text(i) for i, rate in enumerate(rows.shares(variable).sum(axis=0)) if rate == 0]
            if absent:
                raise P4FError(f"no row has {absent[0]}; leave that group out of the belief's groups")

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
        audit: pd.DataFrame | Audit,
        *,
        recorded: str,
        fair: str,
        favourable: Any = None,
        confidence: float = 0.95,
        prior: Mapping[str, Beta] | None = None,
        drawn_from: Any = None,
    ) -> Self:
        """Estimate the parameters from audited rows, for which the recorded and the fair label are both known.

        Rows that :meth:`plan_audit` sampled carry their design in columns of their own. Those sampled by recorded label
        tell P(fair | recorded, group), which is inverted by Bayes' rule with the recorded shares of the whole table. An
        :class:`Audit` states how other rows were sampled, and whom several belong to: they are weighted, and intervals
        are cluster-robust. Where nothing is stated, rows are taken as a random sample, with an :class:`AuditWarning`.

        Where each parameter has a cell of its own, it is counted. Otherwise all are those that make the audited labels
        most likely through the belief's program. That likelihood is penalised: a whole unit of bias costs as much as a
        factor e, so that of equally likely explanations the one with the least bias is taken; the ``source`` says so.

        Parameters
        ----------
        audit
            An :class:`Audit`, or a data frame; a column ``p4f_count`` says how many equal rows each row stands for.
            Rows without a fair value are left out.
        recorded, fair
            Its columns of the recorded and the fair label.
        favourable
            The label that counts as 1, where the belief does not know it and labels are not 0 and 1 or false and true.
        confidence
            Of the intervals.
        prior
            What is known of parameters, ``{"p1": p4f.statistics.Beta(2, 8)}``: estimates are shrunk towards it where
            rows are few.
        drawn_from
            The whole table, for rows that were sampled from it by group and recorded label and do not say so.
        """
        from problog4fairness.audit import LITTLE_SIGNAL, audited_rows, planned_error, warn_few, warn_signal

        for name in (recorded, fair):
            if name in self.context_columns:
                raise P4FError(f"column {name!r} is a label of the audit; the bias cannot depend on it")
        start = self._awaiting(prior)
        rows, strata = audited_rows(start, audit, recorded, fair, favourable, drawn_from)
        if strata is not None and prior:
            raise P4FError("prior=... is for audits drawn at random; this one was drawn by what was recorded")
        start = start._fitted_to(rows)
        design = strata.design if strata is not None and start._counted else None
        if design is not None:
            estimated = design.estimated(start.parameters, confidence)
        else:
            estimated = start._estimated(rows, confidence, strata)
        belief = self._noted(start.with_parameters(estimated), plain_label(rows.classes[-1]))
        belief.design = design
        warn_few(belief.parameters, rows.classes, planned_error(audit))
        if len(rows.classes) == 2 and all(own.value is not None for own in belief.parameters):
            kinds = belief.kinds_of(rows).without_record()
            warn_signal(belief, belief.observe(kinds), kinds, LITTLE_SIGNAL)
        return belief

    def _fitted_to(self, rows: Rows) -> Self:  # noqa: ARG002
        """The belief with what it takes from audited rows before its parameters are estimated: cells, dates."""
        return self

    def _estimated(
        self,
        rows: Rows,
        confidence: float,
        strata: Stratified | None = None,  # noqa: ARG002
    ) -> tuple[Parameter, ...]:
        """The parameters, estimated from rows whose recorded and fair labels are both known.

        Where rows were drawn by stratum, their weights make a likelihood right; ``strata`` are for who counts.
        """
        from problog4fairness.audit import most_likely

        return most_likely(self, self.unknown().program(), self.parameters, rows, confidence)

    def plan_audit(
        self,
        table: Any,
        *,
        recorded: str | None = None,
        fair: str | Sequence[str] | Mapping[str, str] = "fair",
        error: float = 0.1,
        confidence: float = 0.95,
        pilot: Any = None,
        design: Literal["neyman", "hoeffding", "random"] = "neyman",
        favourable: Any = None,
    ) -> AuditPlan:
        """Plan an audit for this belief: which rows to check by hand until its parameters are known well enough.

        Rows are sampled by group and recorded label, most where they tell most (Neyman), and in rounds: draw, fill in,
        ask again. Parameters that the belief rules out get a few rows only, which test that. A fifth of the rows that
        the paper's plan asks for, or fewer, are enough (``docs/results/audit-design``). Values that the belief states
        are guesses, with which no pilot round is needed.

        Parameters
        ----------
        table
            The table to sample from.
        recorded
            The column of the recorded label; not needed for a belief about features.
        fair
            The name of the column to fill in; for features one for each.
        error, confidence
            Half the width of the interval of every parameter, and its confidence.
        pilot
            What :meth:`AuditPlan.draw` gave, as far as it is filled in. Rows of another audit are a guess.
        design
            ``"hoeffding"`` is the paper's plan: from each group, whatever was recorded; ``"random"`` is from everybody.
        favourable
            The label that counts as 1, where it is not 1.

        Examples
        --------
        >>> import problog4fairness as p4f
        >>> loans = p4f.datasets.loans().loans
        >>> belief = p4f.LabelBias("poor_area", positive=False, affected=[1])
        >>> plan = belief.plan_audit(loans, recorded="granted", fair="repaid")
        >>> plan.to_draw, plan.in_all, plan.hoeffding.asked
        (45, 100, 1707)
        """
        from problog4fairness.audit import plan_audit

        return plan_audit(
            self,
            table,
            recorded=recorded,
            fair=fair,
            error=error,
            confidence=confidence,
            pilot=pilot,
            design=design,
            favourable=favourable,
        )

    def _audit_strata(self, table: Any, recorded: str | None, favourable: Any) -> Drawn:
        """The kinds of rows that an audit is sampled from: by group and recorded label."""
        from problog4fairness.audit import NoStrataError, label_strata

        if self.missing_labels or self.recorded_columns:
            raise NoStrataError("the record is not one label that every row has")
        return label_strata(self, table, recorded, favourable)

    @property
    def _audit_variables(self) -> tuple[Sensitive, ...]:
        """The variables by which rows are divided when an audit is drawn: all that are known before it."""
        return self.variables

    @property
    def _parts_found(self) -> int:
        """Into how many parts audited rows are divided by what is found in them: periods around an unknown day."""
        return 1

    @classmethod
    def from_table(cls, table: AuditTable) -> Belief:
        """The belief, with unknown parameters, that suits a table and what the command line says of it."""
        if not cls.fields:
            make: Callable[..., Belief] = cls
            return make(table.sensitive, groups=table.levels)
        columns, numbers = list(table.answer("by", ())), list(table.answer("model", ()))
        answers: dict[str, Any] = {"when": table.answer("when"), "changed": list(table.answer("changed", ())) or None}
        answers |= {name: table.answer(name, True) for name in ("negative", "positive")}
        answers["noise"] = table.answer("noise", False)
        depends = {"columns": columns, "model": numbers} if columns or numbers else True
        for field in cls.fields:
            if field.kind == "sensitive":
                answers[field.name] = table.sensitive
            elif field.kind == "affected":
                answers[field.name] = table.acting
            elif field.kind == "depends_on":
                answers[field.name] = depends if answers[field.name] else False
            elif field.name == "features":
                answers[field.name] = [recorded for recorded, _ in table.feature_pairs]
        return cls.from_fields(
            {field.name: answers[field.name] for field in cls.fields if field.name in answers}, table
        )

    def estimate_table(self, table: AuditTable) -> Self:
        """:meth:`estimate` from an audited table as it was read."""
        rows, roles = table.labelled
        fair, favourable = roles.fair or "", roles.favourable
        audit = table.sampled(rows, fair)
        return self.estimate(
            audit, recorded=roles.recorded, fair=fair, favourable=favourable, drawn_from=table.drawn_from
        )

    def check(self, table: Any, **options: Any) -> CheckResult:
        """Test whether the data contradict the belief; :func:`problog4fairness.check` says the options.

        Parameters
        ----------
        table
            Recorded data, a data frame or :class:`~problog4fairness.data.Rows`.
        options
            ``recorded``, the column of the recorded label; ``audit`` and ``fair``, where rows were audited; and others.
        """
        import problog4fairness  # its front door: tests need learners, which no belief depends on

        return problog4fairness.check(self, table, **options)

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
        return admissible_values(self, parameter, self.kinds_of(rows))

    def kinds_of(self, rows: Rows) -> Rows:
        """One row of each kind that the belief can tell apart."""
        columns = [name for name in self.read_columns if name in rows.frame.columns]
        if not columns:
            return rows.take(np.arange(min(1, len(rows))))
        return rows.take(np.flatnonzero(~rows.frame[columns].duplicated().to_numpy()))


# The kinds of fields that a table answers.
_ANSWERED = ("groups", "classes", "values")


def _answered(field: Field, arguments: Mapping[str, Any], table: FieldTable) -> Any:
    """What a table answers to a field that nobody was asked about."""
    if field.kind == "groups":
        return table.levels
    if field.kind == "classes":
        return table.labels
    features = arguments.get("features") or ()
    return {name: table.values(name) for name in ([features] if isinstance(features, str) else features)}


def belief_types() -> dict[str, type[Belief]]:
    """The beliefs that a command line or a form can offer, by their command; those of other packages among them."""
    return {kind.command: kind for kind in known_kinds().values() if kind.command is not None}


def known_kinds() -> dict[str, type[Belief]]:
    """All kinds of beliefs by the name of their class; those of other packages by their entry points."""
    from problog4fairness import beliefs

    for name in beliefs.__all__:
        getattr(beliefs, name)  # a class is known once its module was imported
    for point in entry_points(group="problog4fairness.beliefs"):
        point.load()
    return Belief.kinds
