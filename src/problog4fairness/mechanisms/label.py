"""Label bias: the people or the process that recorded the label distorted it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from torch import Tensor

from problog4fairness.errors import P4FError
from problog4fairness.mechanisms.base import (
    Mechanism,
    favourable_comment,
    favourable_json,
    label_table,
    level_json,
    levels_from_json,
    plain_label,
    rate_json,
    rates_from_json,
)
from problog4fairness.mechanisms.combinations import Codes, every
from problog4fairness.mechanisms.rates import Rate
from problog4fairness.mechanisms.sensitive import Sensitive
from problog4fairness.mechanisms.text import Level, atom, comment

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.mechanisms.audit import Column

Strength = float | Mapping[Any, float | None] | Literal[False] | None


class LabelBias(Mechanism):
    r"""The recorded label is a distorted copy of the fair one.

    P(recorded = 1) = h (1 - neg_A) + (1 - h) pos_A

    Use it where the features can be trusted but the people who labelled cannot: a loan officer who turns down
    applicants from one neighbourhood.

    Parameters
    ----------
    sensitive
        The column of the sensitive variable, or several columns whose values together make a group.
    negative, positive
        Probability that a fair 1 is recorded as 0, and a fair 0 as 1: one number for all groups, one per group
        (``{1: 0.3, 0: 0.1}``), None to be estimated, or False for "does not happen", which leaves the rules out.
        In the program they are p1 (negative, A = 1), p2 (negative, A = 0), p3 and p4 (positive).
    levels
        The groups; with two, the second is the sensitive one.
    groups
        The groups on which the bias acts; all by default. ``groups=[1]`` assumes that the labels of A = 0 are right.
    noise
        Probability of a mistake that flips anybody's label afterwards: a number, None to be estimated, False for none.
    classes
        The classes of the label where there are more than two; then every transition has a parameter for each group.
    transitions
        With ``classes``: their probabilities by (group, fair, recorded), one number for all, or None to be estimated.
    favourable
        The label that counts as 1, where it is known already; :meth:`estimate` notes it.

    Examples
    --------
    >>> print(LabelBias("poor_area", negative={1: 0.21}, positive=False, groups=[1]))
    % Label bias: the recorded label y_ is a distorted copy of the fair label y_h that the classifier h gives.
    % a is the sensitive variable: poor_area = 1.
    <BLANKLINE>
    nn(h,X) :: y_h(X).
    nn(a,X) :: a(X).
    <BLANKLINE>
    0.21 :: label_neg_bias(X) :- a(X).  % p1, a fair 1 is recorded as 0 where poor_area = 1: stated
    <BLANKLINE>
    y_(X) :- y_h(X), \+label_neg_bias(X).
    <BLANKLINE>
    ?- y_(x).
    <BLANKLINE>
    """

    def __init__(
        self,
        sensitive: str | Sequence[str],
        negative: Strength = None,
        positive: Strength = None,
        *,
        levels: Sequence[Level] = (0, 1),
        groups: Sequence[Level] | None = None,
        noise: float | Literal[False] | None = False,
        classes: Sequence[int | str] | None = None,
        transitions: float | Mapping[Any, float | None] | None = None,
        favourable: Any = None,
    ) -> None:
        variable = Sensitive.of(sensitive, levels, name="a")
        self.variables = (variable,)
        self.groups = _groups(variable, groups)
        self.classes = None if classes is None else tuple(classes)
        self.noise = noise is not False
        self.favourable = plain_label(favourable)
        if self.classes is not None:
            if len(set(self.classes)) < 3:
                raise P4FError("classes is for labels with three or more classes; leave it out for a binary label")
            if negative is not None or positive is not None or noise is not False or favourable is not None:
                raise P4FError("with classes, give transitions instead of negative, positive, noise and favourable")
            self.rates = _transition_rates(self, transitions)
        else:
            rates = _rates(self, "negative", negative) + _rates(self, "positive", positive)
            if self.noise:
                rates.append(Rate("p_noise", "a mistake flips the label of anybody", None if noise is None else noise))
            self.rates = tuple(rates)

    @property
    def variable(self) -> Sensitive:
        """The sensitive variable."""
        return self.variables[0]

    @property
    def class_count(self) -> int:
        """Number of classes of the label."""
        return 2 if self.classes is None else len(self.classes)

    def text(self) -> str:
        """The program as text."""
        head = [
            "Label bias: the recorded label y_ is a distorted copy of the fair label y_h that the classifier h gives.",
            sensitive_comment(self.variable),
            *favourable_comment(self),
        ]
        queries = label_queries(self.classes)
        parts = [comment(*head), classifier(self.classes) + "\n" + self.variable.declaration()]
        return "\n\n".join([*parts, *self.rules("y_h", "y_"), queries]) + "\n"

    def rules(self, fair: str, recorded: str, suffix: str = "") -> list[str]:
        """The clauses that make ``recorded`` from ``fair``, in paragraphs; ``suffix`` keeps several stages apart."""
        if self.classes is not None:
            return _class_rules(self, fair, recorded, suffix)
        before_noise = f"{recorded}noiseless" if self.noise else recorded
        facts, bodies = [], []
        for kind, body in (("neg", f"{fair}(X)"), ("pos", f"\\+{fair}(X)")):
            atom_name = f"label_{kind}_bias{suffix}"
            lines = [
                f"{rate.weight} :: {atom_name}(X) :- {self.variable.goal(level)}.{rate.remark}"
                for (rate_kind, level), rate in self._by_cell().items()
                if rate_kind == kind
            ]
            facts += lines
            if kind == "neg":
                bodies.append(f"{before_noise}(X) :- {body}" + (f", \\+{atom_name}(X)." if lines else "."))
            elif lines:
                bodies.append(f"{before_noise}(X) :- {body}, {atom_name}(X).")
        paragraphs = ["\n".join(facts)] if facts else []
        paragraphs.append("\n".join(bodies))
        if self.noise:
            noise = self.rates[-1]
            paragraphs.append(
                f"{noise.weight} :: label_noise{suffix}(X).{noise.remark}\n"
                f"{recorded}(X) :- {before_noise}(X), \\+label_noise{suffix}(X).\n"
                f"{recorded}(X) :- \\+{before_noise}(X), label_noise{suffix}(X)."
            )
        return paragraphs

    def _by_cell(self) -> dict[tuple[str, int], Rate]:
        """The rate of each (kind, group)."""
        names = {
            _rate_name(self.variable, kind, level): (kind, level)
            for kind in ("neg", "pos")
            for level in range(len(self.variable.levels))
        }
        return {names[_plain(rate.name)]: rate for rate in self.rates if _plain(rate.name) in names}

    def cells(self) -> dict[str, tuple[int, int, int]]:
        """For each parameter the cell that it is about: group, fair class, recorded class (by position)."""
        if self.classes is None:
            flips = {"neg": (1, 0), "pos": (0, 1)}
            return {rate.name: (level, *flips[kind]) for (kind, level), rate in self._by_cell().items()}
        positions = {
            _transition_name(self, level, f, r): (level, f, r)
            for level in range(len(self.variable.levels))
            for f in range(self.class_count)
            for r in range(self.class_count)
        }
        return {rate.name: positions[_plain(rate.name)] for rate in self.rates}

    def label_table(self, groups: Codes | None = None) -> Tensor:
        """See :meth:`Mechanism.label_table`."""
        self.require_rates()
        groups = every(self.variables) if groups is None else groups
        return label_table(self.program(), self.variables, self.class_count, groups)

    def estimate(
        self,
        audit: pd.DataFrame | None = None,
        *,
        recorded: Column,
        fair: Column,
        sensitive_features: Any = None,
        favourable: Any = None,
        confidence: float = 0.95,
    ) -> LabelBias:
        """Estimate the parameters from audited rows, for which the recorded and the fair label are both known.

        Parameters
        ----------
        audit
            A data frame with the columns that are named in the other arguments.
        recorded, fair
            Column names, or the values themselves.
        sensitive_features
            The sensitive columns, where they are not in ``audit``.
        favourable
            The label that counts as 1, where the belief does not know it and labels are not 0 and 1 or false and true.
        confidence
            Of the intervals.
        """
        from problog4fairness.mechanisms.estimation import estimate_labels

        return estimate_labels(self, audit, recorded, fair, sensitive_features, favourable, confidence)

    def with_rates(self, rates: tuple[Rate, ...]) -> LabelBias:
        """See :meth:`Mechanism.with_rates`."""
        copy = LabelBias.__new__(LabelBias)
        copy.__dict__.update(self.__dict__)
        copy.rates = rates
        return copy

    def renamed(self, variable: Sensitive, suffix: str) -> LabelBias:
        """The same bias for a chain: another name of the sensitive variable, a suffix on its parameters."""
        rates = tuple(Rate(_suffixed(r.name, suffix), r.meaning, r.value, r.low, r.high, r.rows) for r in self.rates)
        copy = self.with_rates(rates)
        copy.variables = (variable,)
        return copy

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Mechanism.to_json`."""
        return {
            "kind": "LabelBias",
            "columns": list(self.variable.columns),
            "levels": level_json(self.variable.levels),
            "name": self.variable.name,
            "groups": list(self.groups),
            "noise": self.noise,
            "classes": None if self.classes is None else list(self.classes),
            "rates": rate_json(self.rates),
            **favourable_json(self),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> LabelBias:
        mechanism = cls.__new__(cls)
        variable = Sensitive(tuple(value["columns"]), levels_from_json(value["levels"]), str(value["name"]))
        mechanism.variables = (variable,)
        mechanism.groups = tuple(int(level) for level in value["groups"])
        mechanism.noise = bool(value["noise"])
        mechanism.classes = None if value["classes"] is None else tuple(value["classes"])
        mechanism.rates = rates_from_json(value["rates"])
        mechanism.favourable = value.get("favourable")
        return mechanism


def classifier(classes: Sequence[int | str] | None) -> str:
    """The neural predicate of the classifier."""
    if classes is None:
        return "nn(h,X) :: y_h(X)."
    return f"nn(h,[X],Y,[{','.join(atom(c) for c in classes)}]) :: y_h(X,Y)."


def label_queries(classes: Sequence[int | str] | None) -> str:
    """The queries for the recorded label."""
    if classes is None:
        return "?- y_(x)."
    return "\n".join(f"?- y_(x,{atom(c)})." for c in classes)


def sensitive_comment(variable: Sensitive) -> str:
    """What the sensitive variable is, for the head of a program."""
    if variable.binary:
        return f"{variable.name} is the sensitive variable: {variable.group_text(1)}."
    return f"{variable.name} is the sensitive variable: {', '.join(variable.columns)}."


def _groups(variable: Sensitive, groups: Sequence[Level] | None) -> tuple[int, ...]:
    if groups is None:
        return tuple(range(len(variable.levels)))
    unknown = [group for group in groups if group not in variable.levels]
    if unknown or not groups:
        raise P4FError(f"groups must be some of the levels {list(variable.levels)}, not {list(groups)}")
    return tuple(sorted(variable.levels.index(group) for group in groups))


def _rate_name(variable: Sensitive, kind: str, level: int) -> str:
    if variable.binary:
        return {("neg", 1): "p1", ("neg", 0): "p2", ("pos", 1): "p3", ("pos", 0): "p4"}[kind, level]
    return f"{kind}({atom(variable.levels[level])})"


def _suffixed(name: str, suffix: str) -> str:
    head, bracket, rest = name.partition("(")
    return head + suffix + bracket + rest


def _plain(name: str) -> str:
    """A rate's name without the suffix that a chain gave it."""
    head, bracket, rest = name.partition("(")
    for plain in ("p1", "p2", "p3", "p4", "neg", "pos", "flip"):
        if head == plain or head.startswith(plain + "_"):
            return plain + bracket + rest
    return name


def _rates(mechanism: LabelBias, kind: Literal["negative", "positive"], strength: Strength) -> list[Rate]:
    if strength is False:
        return []
    variable = mechanism.variable
    change = "a fair 1 is recorded as 0" if kind == "negative" else "a fair 0 is recorded as 1"
    if isinstance(strength, Mapping):
        unknown = [group for group in strength if group not in variable.levels]
        if unknown:
            raise P4FError(f"{kind} names the group {unknown[0]!r}, which is not among {list(variable.levels)}")
    rates = []
    # The sensitive group comes first, as in the paper.
    for level in sorted(mechanism.groups, reverse=variable.binary):
        value = strength.get(variable.levels[level]) if isinstance(strength, Mapping) else strength
        name = _rate_name(variable, kind[:3], level)
        rates.append(
            Rate(name, f"{change} where {variable.group_text(level)}", None if value is None else float(value))
        )
    return rates


def _transition_name(mechanism: LabelBias, level: int, fair: int, recorded: int) -> str:
    classes = mechanism.classes or ()
    group = atom(mechanism.variable.levels[level])
    return f"flip({group},{atom(classes[fair])},{atom(classes[recorded])})"


def _transition_rates(mechanism: LabelBias, transitions: float | Mapping[Any, float | None] | None) -> tuple[Rate, ...]:
    classes, variable = mechanism.classes or (), mechanism.variable
    rates = []
    for level in mechanism.groups:
        for f, fair in enumerate(classes):
            for r, recorded in enumerate(classes):
                if f == r:
                    continue
                value = transitions
                if isinstance(transitions, Mapping):
                    value = transitions.get((variable.levels[level], fair, recorded))
                meaning = f"a fair {fair} is recorded as {recorded} where {variable.group_text(level)}"
                name = _transition_name(mechanism, level, f, r)
                rates.append(Rate(name, meaning, None if value is None else float(value)))  # type: ignore[arg-type]
    return tuple(rates)


def _class_rules(mechanism: LabelBias, fair: str, recorded: str, suffix: str) -> list[str]:
    classes = mechanism.classes or ()
    flip, flipped = f"label_flip{suffix}", f"label_flipped{suffix}"
    cells = mechanism.cells()
    heads: dict[tuple[int, int], list[str]] = {(g, f): [] for g in mechanism.groups for f in range(len(classes))}
    for rate in mechanism.rates:
        level, f, r = cells[rate.name]
        heads[level, f].append(f"{rate.weight} :: {flip}(X,{atom(classes[f])},{atom(classes[r])})")
    facts = [
        " ;\n    ".join(outcomes) + f" :- {mechanism.variable.goal(level)}." for (level, _), outcomes in heads.items()
    ]
    rules = [
        f"{flipped}(X,F) :- {flip}(X,F,_).",
        f"{recorded}(X,F) :- {fair}(X,F), \\+{flipped}(X,F).",
        f"{recorded}(X,R) :- {fair}(X,F), {flip}(X,F,R).",
    ]
    return ["\n".join(facts), "\n".join(rules)]
