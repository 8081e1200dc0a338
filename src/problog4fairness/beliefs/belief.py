"""What all beliefs have in common: they write a program, and they observe rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from problog4fairness.beliefs.describe.diagrams import MOST_NAMES, of_program
from problog4fairness.beliefs.describe.plain_data import declared_belief, from_plain, plain_of
from problog4fairness.beliefs.describe.words import Label, html_of, share
from problog4fairness.beliefs.fields import (
    FieldTable,
    answered,
    constructed,
    plain_label,
    table_answers,
)
from problog4fairness.beliefs.observing import Observing
from problog4fairness.data import Floats, Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Beta, Parameter

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Audit, AuditPlan, AuditTable, Design, SamplingFrame, Stratified
    from problog4fairness.checks import CheckResult
    from problog4fairness.program import Diagram


# All kinds of beliefs by the name of their class.
KINDS: dict[str, type[Belief]] = {}


class Belief(Observing):
    """An assumption on how the recorded data came from the fair data; it *writes ProbLog* and *observes rows*.

    ``str(belief)`` is the program, with the numbers in it where they are known, and it is that program which is
    compiled. Immutable: :meth:`bind` and ``estimate`` give new ones.

    A new kind of belief declares its ``kind``, with the fields that it asks for, and says its ``parameters`` and its
    :meth:`text`; everything else follows, and may be overridden where there is a quicker way or a better word.

    Attributes
    ----------
    title, kind
        What it is called, and what is said of all beliefs of its kind.
    columns, record
        The columns that it reads, and how the label is on record.
    variables
        The sensitive variables that it depends on, and others such as who decided.
    parameters
        Its parameters.
    features
        The recorded features that it changes.
    classes, favourable
        The classes of the label where there are more than two; the label that counts as 1, None while nobody said.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> isinstance(belief, p4f.Belief), belief.title, belief.columns.sensitive
    (True, 'label bias', ('poor_area',))
    >>> belief.bind({"p1": 0.3}).parameter_table()["value"].tolist()
    [0.3]
    >>> p4f.Belief.from_json(belief.to_json()) == belief
    True
    """

    title: ClassVar[str] = "belief"
    _design: Design | None = None
    _field_values: Mapping[str, Any] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        KINDS[cls.__name__] = cls
        if "title" not in vars(cls):
            cls.title = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__).lower()

    def __init__(self, *positional: Any, **named: Any) -> None:
        """Check arguments as the fields declare them, keep them, and set the sensitive variable."""
        self.favourable = plain_label(named.pop("favourable", None))
        self._field_values, variable, self.affected = constructed(self.kind.fields, positional, named)
        self.variables = () if variable is None else (variable,)

    def field_values(self) -> dict[str, Any]:
        """The plain value of each field: the answers that lead to this belief, but for what audited rows added."""
        return dict(self._field_values)

    @classmethod
    def from_fields(cls, values: Mapping[str, Any], table: FieldTable | None = None) -> Belief:
        """The belief, with unknown parameters, of the answers to its fields.

        ``values`` are plain values by field name, as :meth:`field_values` gives them; a table answers what is left out.

        Examples
        --------
        >>> import problog4fairness as p4f
        >>> belief = p4f.LabelBias.from_fields({"sensitive": "poor_area", "positive": False})
        >>> [own.name for own in belief.parameters]
        ['p1', 'p2']
        """
        return cls(**answered(cls.kind.fields, values, table))

    @classmethod
    def _from_table(cls, table: AuditTable) -> Belief:
        """The belief, with unknown parameters, that suits a table and what the command line says of it."""
        return cls.from_fields(table_answers(cls.kind.fields, table), table)

    def to_json(self) -> dict[str, Any]:
        """Plain data from which :meth:`from_json` makes an equal belief: its fields, and its parameters."""
        return plain_of(self)

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Belief:
        return declared_belief(cls, value)

    @staticmethod
    def from_json(value: Any) -> Belief:
        """The belief that :meth:`to_json` described; a :class:`P4FError` where the value describes none."""
        return from_plain(value)

    def draws(self, count: int, random_state: Any = None) -> list[Self]:
        """Beliefs whose parameters are drawn from what the audit leaves open.

        A counted parameter from its Beta posterior (Jeffreys' prior, or the one that was given), those of one cell
        together; parameters that were estimated together from the normal distribution with their information. What was
        stated stays as it is, unless it was given a prior; so do directions that no audit can tell, which change
        nothing of what is learned.

        Examples
        --------
        >>> import problog4fairness as p4f
        >>> prior = p4f.statistics.Beta(40, 60)
        >>> belief = p4f.LabelBias("poor_area", affected=[1], positive=False).with_priors({"p1": prior})
        >>> [f"{drawn.parameters[0].value:.2f}" for drawn in belief.draws(3, random_state=0)]
        ['0.38', '0.34', '0.39']
        """
        from problog4fairness.audit import posterior_draws

        return [self._with_parameters(drawn) for drawn in posterior_draws(self, self._design, count, random_state)]

    def _drawn_apart(self, count: int, rng: np.random.Generator) -> dict[str, Floats]:  # noqa: ARG002
        """``[count]`` posterior draws, by name, of parameters that are no probabilities."""
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
            if name in self.columns.context:
                raise P4FError(f"column {name!r} is a label of the audit; the bias cannot depend on it")
        start = self._awaiting(prior, confidence)
        rows, strata = audited_rows(start, audit, recorded, fair, favourable, drawn_from)
        if strata is not None and prior:
            raise P4FError("prior=... is for audits drawn at random; this one was drawn by what was recorded")
        start = start._fitted_to(rows)
        design = strata.design if strata is not None and start._counted else None
        if design is not None:
            estimated = design.estimated(start.parameters, confidence)
        else:
            estimated = start._estimated(rows, confidence, strata)
        belief = self._noted(start._with_parameters(estimated), plain_label(rows.classes[-1]))
        belief._design = design
        warn_few(belief.parameters, rows.classes, planned_error(audit))
        if len(rows.classes) == 2 and all(parameter.value is not None for parameter in belief.parameters):
            kinds = belief.columns.distinct(rows).without_record()
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

        return most_likely(self, self.bind(None).program(), self.parameters, rows, confidence)

    def _estimate_table(self, table: AuditTable) -> Self:
        """:meth:`estimate` from an audited table as it was read."""
        rows, roles = table.labelled
        fair, favourable = roles.fair or "", roles.favourable
        audit = table.sampled(rows, fair)
        return self.estimate(
            audit, recorded=roles.recorded, fair=fair, favourable=favourable, drawn_from=table.drawn_from
        )

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

    def _audit_strata(self, table: Any, recorded: str | None, favourable: Any) -> SamplingFrame:
        """The kinds of rows that an audit is sampled from: by group and recorded label."""
        from problog4fairness.audit import NoStrataError, label_strata

        if self.record.gaps or self.columns.recorded:
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

    @property
    def _strata_shape(self) -> tuple[int, ...]:
        """How many groups and recorded values the strata of an audit design have."""
        return len(self.variables[0].levels), self._class_count

    def check(self, table: Any, **options: Any) -> CheckResult:
        """Test whether the data contradict the belief; :func:`problog4fairness.check` says the options.

        ``table`` is recorded data, a data frame or :class:`~problog4fairness.data.Rows`.
        """
        import problog4fairness  # its front door: tests need learners, which no belief depends on

        return problog4fairness.check(self, table, **options)

    def words(self, label: Label | None = None) -> list[str]:  # noqa: ARG002
        """What it says, a sentence or two at a time, for people who do not read programs.

        ``label`` says how the label is called.
        """
        columns = ", ".join(self.columns.all)
        first = (
            f"The belief is called {self.title}. Its program says how the recorded data come from the fair ones"
            f"{f'; it reads {columns}' if columns else ''}."
        )
        return [
            first,
            *(f"The probability that {parameter.meaning}: {share(parameter)}." for parameter in self.parameters),
        ]

    def picture(self, label: Label | None = None) -> Diagram:  # noqa: ARG002
        """Its causal diagram: recorded and fair things, and the parameters between them; by default, of the program."""
        columns = {variable.name: ", ".join(variable.columns) for variable in self.variables}
        return of_program(self.bind(None).program().diagram(self._classifier), columns)

    def caveats(self) -> list[str]:
        """What a reader of a report must know because of this kind of belief."""
        return []

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return html_of(self)

    def __repr__(self) -> str:
        known = ", ".join(
            f"{parameter.name}={'?' if parameter.value is None else format(parameter.value, '.3g')}"
            for parameter in self.parameters
        )
        if len(self.parameters) > MOST_NAMES:
            known = f"{len(self.parameters)} parameters"
        return f"{type(self).__name__}({', '.join(self.columns.sensitive)}: {known or 'no parameters'})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.text())
