"""Label bias: the people or the process that recorded the label distorted it, of two classes or of more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any, Literal, Self

from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.words import Label, Stage, share
from problog4fairness.beliefs.description import BeliefKind, Question
from problog4fairness.beliefs.fields import (
    AFFECTED,
    GIVEN,
    GROUPS,
    LOST,
    SENSITIVE,
    Field,
    FieldTable,
    plain_label,
)
from problog4fairness.beliefs.templates.labels.stage import LabelStage
from problog4fairness.beliefs.variables import Strength, flip_rules, goal, parameter_name, strengths
from problog4fairness.data import Level
from problog4fairness.errors import P4FError
from problog4fairness.program import atom
from problog4fairness.statistics import Cell, Parameter


class ClassBias(LabelStage):
    """The recorded class is a distorted copy of the fair one, of three or more classes.

    P(recorded = r) = sum over classes f of h_f flip(A, f, r)

    :class:`LabelBias` for labels with more than two classes: every transition from a fair class to another one that is
    recorded has a parameter for each group.

    Parameters
    ----------
    sensitive, groups, affected
        As for :class:`LabelBias`.
    classes
        The classes of the label; the last one is the favourable one, of which groups get unequal shares.
    transitions
        Probabilities by (group, fair class, recorded class), one number for all, or None to be estimated.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> belief = p4f.ClassBias("a", ["low", "middle", "high"], 0.0, affected=[1]).bind({"flip(1,high,middle)": 0.3})
    >>> [(own.name, own.value) for own in belief.parameters if own.value]
    [('flip(1,high,middle)', 0.3)]
    >>> belief.parameters[-1].meaning
    'a fair high is recorded as middle where a = 1'
    """

    kind = BeliefKind(
        fields=(
            SENSITIVE,
            Field("classes", "classes", "The classes of the label, the favourable one last"),
            Field("transitions", "probability", "Any class may be recorded as any other", True),
            GROUPS,
            AFFECTED,
        ),
        identified_by="audited rows of every group and fair class; the record alone tells little.",
    )
    names_classes = True
    classes: tuple[int | str, ...]

    def __init__(
        self,
        sensitive: str | Sequence[str],
        classes: Sequence[int | str],
        transitions: float | Mapping[Any, float | None] | None = None,
        *,
        groups: Sequence[Level] | None = None,
        affected: Sequence[Level] | str | None = None,
    ) -> None:
        super().__init__(sensitive, classes, transitions, groups=groups, affected=affected)
        self.classes = tuple(classes)
        if len(set(self.classes)) < 3:
            raise P4FError("ClassBias is for labels with three or more classes; use LabelBias for a binary label")
        self.favourable = plain_label(self.classes[-1])
        pairs = list(permutations(range(len(self.classes)), 2))
        cells = [Cell(level, *change) for level in self.affected for change in pairs]
        stated = transitions if isinstance(transitions, Mapping) else dict.fromkeys(map(self._key, cells), transitions)
        self.parameters = tuple(self._parameter(cell, stated.get(self._key(cell))) for cell in cells)

    def _key(self, cell: Cell) -> tuple[Any, ...]:
        """Its group, fair class and recorded class."""
        return self.variable.levels[cell.group], self.classes[cell.fair], self.classes[cell.recorded]

    def parameter_name(self, cell: Cell | None) -> str:
        if cell is None:
            raise P4FError("every parameter of a ClassBias is about a group and two classes")
        return f"flip{self.suffix}({','.join(map(atom, self._key(cell)))})"

    def rules(self, fair: str, recorded: str) -> list[str]:
        chances = {(cell.group, *cell.change): parameter for cell, parameter in self.by_cell().items()}
        facts, rules = flip_rules(
            self.variable, self.classes, chances, before=fair, after=recorded, name="label", suffix=self.suffix
        )
        return ["\n".join(facts), "\n".join(rules)]

    def _with_favourable(self, label: Any) -> Self:
        """See :meth:`Belief._with_favourable`: it is the last class."""
        self.record.favourable_among(self.classes, plain_label(label))
        return self


# Fair and recorded class of the two biases, with what a user calls them and what they are called in a program.
NEGATIVE, POSITIVE = (1, 0), (0, 1)


class LabelBias(LabelStage):
    r"""The recorded label is a distorted copy of the fair one.

    P(recorded = 1) = h (1 - neg_A) + (1 - h) pos_A

    Use it where the features can be trusted but the people who labelled cannot: a loan officer who turns down
    applicants from one neighbourhood. For three or more classes there is :class:`ClassBias`.

    Parameters
    ----------
    sensitive
        The column of the sensitive variable, or several columns whose values together make a group.
    negative, positive
        Probability that a fair 1 is recorded as 0, and a fair 0 as 1: one number for all groups, one per group
        (``{1: 0.3, 0: 0.1}``), None to be estimated, or False for "does not happen", which leaves the rules out.
        In the program they are p1 (negative, A = 1), p2 (negative, A = 0), p3 and p4 (positive).
    groups
        The groups; with two, the second is the sensitive one. Where they are not stated they are 0 and 1; or those
        named by ``affected`` and everybody else, such as ``not female`` and ``female``.
    affected
        The groups on which the bias acts; all by default. ``affected=[1]`` assumes that the labels of A = 0 are right,
        ``affected="female"`` that those of everybody else are.
    noise
        Probability of a mistake that flips anybody's label afterwards: a number, None to be estimated, False for none.
    favourable
        The label that counts as 1, where it is known already; :meth:`estimate` notes it.

    Examples
    --------
    >>> print(LabelBias("poor_area", negative={1: 0.21}, positive=False, affected=[1]))
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
    >>> for sentence in LabelBias("poor_area", {1: 0.41}, False, affected=[1]).words(Label("granted")):
    ...     print(sentence)
    The features are taken as they are. The recorded label is taken as a distorted copy of the fair one.
    Of the people with poor_area = 1 who should have granted = 1, 41% were recorded with granted = 0.
    Where poor_area = 0, recorded labels are taken as right.
    """

    kind = BeliefKind(
        fields=(
            SENSITIVE,
            LOST,
            GIVEN,
            GROUPS,
            AFFECTED,
            Field("noise", "probability", "Anybody's label may be wrong by mistake, too", False),
        ),
        command="label",
        identified_by="audited rows of every group and fair label; the record alone tells little.",
        question=Question(
            "label",
            "Somebody recorded it unfairly",
            "Officers turned down people who should have been accepted.",
            (("*fair label", "group"), ("recorded label",)),
        ),
    )

    def __init__(
        self,
        sensitive: str | Sequence[str],
        negative: Strength = None,
        positive: Strength = None,
        *,
        groups: Sequence[Level] | None = None,
        affected: Sequence[Level] | str | None = None,
        noise: float | Literal[False] | None = False,
        favourable: Any = None,
    ) -> None:
        super().__init__(
            sensitive, negative, positive, groups=groups, affected=affected, noise=noise, favourable=favourable
        )
        probabilities = [
            self._parameter(Cell(level, *change), value)
            for change, strength, name in ((NEGATIVE, negative, "negative"), (POSITIVE, positive, "positive"))
            for level, value in strengths(strength, self.variable, self.affected, name).items()
        ]
        if noise is not False:
            probabilities.append(Parameter(self.parameter_name(None), "a mistake flips the label of anybody", noise))
        self.parameters = tuple(probabilities)

    @property
    def noise(self) -> Parameter | None:
        """The parameter of mistakes that flip anybody's label, where there is one."""
        return next((parameter for parameter in self.parameters if parameter.cell is None), None)

    def parameter_name(self, cell: Cell | None) -> str:
        if cell is None:
            return f"p_noise{self.suffix}"
        return parameter_name(self.variable, cell.group, cell.fair == 1, suffix=self.suffix)

    def rules(self, fair: str, recorded: str) -> list[str]:
        before_noise = f"{recorded}noiseless" if self.noise else recorded
        facts = {
            change: [
                parameter.fact(f"label_{kind}_bias{self.suffix}(X)", goal(self.variable, cell.group))
                for cell, parameter in self.by_cell().items()
                if cell.change == change
            ]
            for change, kind in ((NEGATIVE, "neg"), (POSITIVE, "pos"))
        }
        kept = f", \\+label_neg_bias{self.suffix}(X)" if facts[NEGATIVE] else ""
        bodies = [f"{before_noise}(X) :- {fair}(X){kept}."]
        if facts[POSITIVE]:
            bodies.append(f"{before_noise}(X) :- \\+{fair}(X), label_pos_bias{self.suffix}(X).")
        lines = [*facts[NEGATIVE], *facts[POSITIVE]]
        paragraphs = ["\n".join(lines), "\n".join(bodies)] if lines else ["\n".join(bodies)]
        if self.noise:
            paragraphs.append(
                f"{self.noise.fact(f'label_noise{self.suffix}(X)')}\n"
                f"{recorded}(X) :- {before_noise}(X), \\+label_noise{self.suffix}(X).\n"
                f"{recorded}(X) :- \\+{before_noise}(X), label_noise{self.suffix}(X)."
            )
        return paragraphs

    def sentences(self, label: Label, stage: Stage | None = None) -> list[str]:
        lines = super().sentences(label, stage)
        if self.noise:
            lines.append(f"Besides, a mistake turned the label of {share(self.noise)} of all people around.")
        return lines

    @classmethod
    def from_fields(cls, values: Mapping[str, Any], table: FieldTable | None = None) -> Belief:
        """See :meth:`Belief.from_fields`; of three or more classes it is a :class:`ClassBias`."""
        if table is None or len(table.labels) <= 2:
            return super().from_fields(values, table)
        if values.get("noise") or not (values.get("negative", True) and values.get("positive", True)):
            raise P4FError(
                "negative, positive and noise are about two labels; of more classes any may become any other"
            )
        known = {field.name for field in ClassBias.kind.fields}
        return ClassBias.from_fields({name: value for name, value in values.items() if name in known}, table)
