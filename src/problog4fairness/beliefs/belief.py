"""What all beliefs have in common: they write a program, observe rows, and are estimated from audits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from problog4fairness.beliefs.describe.plain_data import from_plain, read_parameters
from problog4fairness.beliefs.describing import Describing
from problog4fairness.beliefs.fields import FieldTable, answered, plain_label, table_answers
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Beta, Parameter, checked_priors

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Audit, AuditPlan, AuditRules, AuditTable, Stratified
    from problog4fairness.checks import CheckResult


# All kinds of beliefs by the name of their class.
KINDS: dict[str, type[Belief]] = {}


class Belief(Describing):
    """An assumption on how the recorded data came from the fair data; it *writes ProbLog* and *observes rows*.

    ``str(belief)`` is the program, with the numbers in it where they are known, and it is that program which is
    compiled. Immutable: :meth:`bind` and ``estimate`` give new ones.

    A new kind of belief declares its ``kind``, with the fields that it asks for, and says its ``parameters`` and its
    :meth:`text`; everything else follows, and may be overridden where there is a quicker way or a better word.

    Attributes
    ----------
    title, kind
        What it is called, and what is said of all beliefs of its kind.
    columns, record, audit_rules
        The columns that it reads, how the label is on record, and what an audit must know.
    variables
        The sensitive variables that it depends on, and others such as who decided.
    parameters
        Its parameters.
    features
        The recorded features that it changes.
    favourable
        The label that counts as 1; None while nobody said.

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

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        KINDS[cls.__name__] = cls
        if "title" not in vars(cls):
            cls.title = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__).lower()

    @classmethod
    def from_fields(cls, values: Mapping[str, Any], table: FieldTable | None = None) -> Belief:
        """The belief, with unknown parameters, of the answers to its fields.

        ``values`` are plain values by field name, as :meth:`field_values` gives them; a table answers what is left out.

        Examples
        --------
        >>> import problog4fairness as p4f
        >>> belief = p4f.LabelBias.from_fields({"sensitive": "poor_area", "positive": False})
        >>> [parameter.name for parameter in belief.parameters]
        ['p1', 'p2']
        """
        return cls(**answered(cls.kind.fields, values, table))

    @classmethod
    def _from_table(cls, table: AuditTable) -> Belief:
        """The belief, with unknown parameters, that suits a table and what the command line says of it."""
        return cls.from_fields(table_answers(cls.kind.fields, table), table)

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> Belief:
        """The inverse of :meth:`to_json`; without parameters, they are unknown."""
        names = {field.name for field in cls.kind.fields}
        belief = cls.from_fields({name: plain for name, plain in value.items() if name in names})
        if "parameters" in value:
            belief = belief._with_parameters(read_parameters(value["parameters"], belief.parameters))
        if "favourable" in value:
            belief = belief._with_favourable(value["favourable"])
        if "design" in value:
            from problog4fairness.audit import design_of

            features, groups = belief.audit_rules.features, belief.variables[0].levels
            shape = (len(groups), belief._class_count) if features is None else features.shape
            belief._design = design_of(value, shape)
        return belief

    @staticmethod
    def from_json(value: Any) -> Belief:
        """The belief that :meth:`to_json` described; a :class:`P4FError` where the value describes none."""
        return from_plain(value)

    @property
    def audit_rules(self) -> AuditRules:
        """What an audit of it must know: how rows are sampled, and what is counted in them."""
        from problog4fairness.audit import AuditRules

        cells = [parameter.cell for parameter in self.parameters]
        counted = bool(cells) and not self.kind.overlap and len(self.variables) == 1 and None not in cells
        return AuditRules(self.variables, counted)

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
        start = self._prepared(prior, confidence)
        rows, strata = audited_rows(start, audit, recorded, fair, favourable, drawn_from)
        if strata is not None and prior:
            raise P4FError("prior=... is for audits drawn at random; this one was drawn by what was recorded")
        start = start._fitted_to(rows)
        design = strata.design if strata is not None and start.audit_rules.counted else None
        if design is not None:
            estimated = design.estimated(start.parameters, confidence)
        else:
            estimated = start._estimated(rows, confidence, strata)
        belief = start._with_parameters(estimated)._with_counted_label(plain_label(rows.classes[-1]))
        belief._design = design
        warn_few(belief.parameters, rows.classes, planned_error(audit))
        if len(rows.classes) == 2 and all(parameter.value is not None for parameter in belief.parameters):
            kinds = belief.columns.distinct(rows).without_record()
            warn_signal(belief, belief.observe(kinds), kinds, LITTLE_SIGNAL)
        return belief

    def check(self, table: Any, **options: Any) -> CheckResult:
        """Test whether the data contradict the belief; :func:`problog4fairness.check` says the options.

        ``table`` is recorded data, a data frame or :class:`~problog4fairness.data.Rows`.
        """
        import problog4fairness  # its front door: tests need learners, which no belief depends on

        return problog4fairness.check(self, table, **options)

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

        drawn = posterior_draws(self._counted_parts(), self._design, self._number_draws, count, random_state)
        return [self.bind(parameters) for parameters in drawn]

    def _prepared(self, prior: Mapping[str, Beta] | None, confidence: float) -> Self:
        """The belief whose parameters are estimated with priors and intervals of this confidence."""
        known = checked_priors(prior, self.parameters)
        return self._with_parameters(
            tuple(
                replace(parameter, prior=known.get(parameter.name), confidence=confidence)
                for parameter in self.parameters
            )
        )

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

        return most_likely(self, self._leaf_value, self.bind(None).program(), self.parameters, rows, confidence)

    def _estimate_table(self, table: AuditTable) -> Self:
        """:meth:`estimate` from an audited table as it was read."""
        rows, roles = table.labelled
        fair, favourable = roles.fair or "", roles.favourable
        audit = table.sampled(rows, fair)
        return self.estimate(
            audit, recorded=roles.recorded, fair=fair, favourable=favourable, drawn_from=table.drawn_from
        )

    def _with_counted_label(self, favourable: Any) -> Self:
        """The belief with the label that was counted as 1: what was said, what it knew already, or 1 itself."""
        if self.record.classes is not None:
            return self
        known = self.favourable if favourable is None else favourable
        return self._with_favourable(1 if known is None else known)

    def _number_draws(self, count: int, rng: np.random.Generator) -> dict[str, Floats]:  # noqa: ARG002
        """``[count]`` posterior draws, by name, of parameters that are no probabilities."""
        return {}
