"""What a belief states, whatever the rows: its program, its parameters, its columns, its words and its picture."""

from __future__ import annotations

import copy
import html
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from problog4fairness.beliefs.describe.diagrams import MOST_NAMES, of_program
from problog4fairness.beliefs.describe.words import Label, share
from problog4fairness.beliefs.favourable import agreed, plain_label
from problog4fairness.data import Sensitive
from problog4fairness.errors import P4FError, UnknownNameError
from problog4fairness.program import Program
from problog4fairness.statistics import (
    Beta,
    Parameter,
    bind,
    check_known,
    checked_priors,
    known_values,
    readable,
    table,
)

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.audit import Design
    from problog4fairness.beliefs.belief import Belief
    from problog4fairness.data import Floats, Rows
    from problog4fairness.program import Diagram


class Stated(ABC):
    """The part of a :class:`Belief` that needs no rows; the attributes are told of there."""

    title: ClassVar[str] = "belief"
    command: ClassVar[str | None] = None
    identified_by: ClassVar[str] = ""
    overlap: bool = False
    variables: tuple[Sensitive, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    features: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    classes: tuple[int | str, ...] | None = None
    favourable: bool | int | float | str | None = None
    predicts_from: Literal["fair", "biased"] = "fair"
    classifier: str = "h"
    missing_labels: bool = False
    recorded_columns: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    when: str | None = None
    design: Design | None = None

    @abstractmethod
    def text(self) -> str:
        """The program as text."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """See :meth:`Belief.to_json`."""

    @property
    def probabilities(self) -> tuple[Parameter, ...]:
        """Those of its parameters that are probabilities: all but those of recorded numbers."""
        return tuple(own for own in self.parameters if own.is_probability)

    def with_parameters(self, probabilities: tuple[Parameter, ...]) -> Self:
        """The same assumption with other values; a parameter of the same name is about the same cell."""
        cells = {own.name: own.cell for own in self.parameters}
        other = copy.copy(self)
        other.parameters = tuple(replace(given, cell=cells.get(given.name, given.cell)) for given in probabilities)
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

    def parameter_table(self) -> pd.DataFrame:
        """The parameters as a table: value, interval, rows used, rows still needed to know them within 0.1."""
        return table(self.parameters)

    @property
    def class_count(self) -> int:
        """Number of classes of the label."""
        return 2 if self.classes is None else len(self.classes)

    def unknown(self) -> Self:
        """The same assumption with all values open."""
        return self.with_parameters(tuple(own.stated(None) for own in self.parameters))

    def bind(self, values: Mapping[str, float]) -> Self:
        """A belief with stated values for some parameters."""
        return self.with_parameters(bind(self.parameters, values))

    def with_priors(self, prior: Mapping[str, Beta]) -> Self:
        """A belief with what is known of some parameters beside an audit, or without one.

        A parameter that was counted is counted on from its prior; one that was stated, or is unknown, is as its prior
        says, with its interval. For parameters that are estimated together, say ``estimate(..., prior=...)``.

        Parameters
        ----------
        prior
            For names of parameters what is known of them: ``{"p1": p4f.statistics.Beta(2, 8)}``.
        """
        known = checked_priors(prior, [own.name for own in self.parameters])
        return self.with_parameters(
            tuple(own.with_prior(known[own.name]) if own.name in known else own for own in self.parameters)
        )

    def pooled(self) -> Self:
        """The same belief, in which parameters that no audited row tells of are taken from the other groups.

        They are as the other groups let expect, more uncertain the less these are alike; their ``source`` says so.

        Examples
        --------
        >>> import warnings
        >>> import pandas as pd
        >>> import problog4fairness as p4f
        >>> audit = pd.DataFrame({"region": ["north"] * 40, "recorded": [0] * 10 + [1] * 30, "fair": [1] * 40})
        >>> belief = p4f.LabelBias("region", positive=False, groups=["east", "north"])
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     found = belief.estimate(audit, recorded="recorded", fair="fair")
        >>> [own.value is None for own in found.parameters], [f"{o.value:.2f}" for o in found.pooled().parameters]
        ([False, True], ['0.25', '0.34'])
        """
        from problog4fairness.statistics import pooled

        return self.with_parameters(pooled(self.parameters))

    def _awaiting(self, prior: Mapping[str, Beta] | None) -> Self:
        """The belief whose parameters are estimated with priors."""
        known = checked_priors(prior, [own.name for own in self.parameters])
        return self.with_parameters(tuple(replace(own, prior=known.get(own.name)) for own in self.parameters))

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
        >>> prior = p4f.statistics.Beta(40, 60)
        >>> belief = p4f.LabelBias("poor_area", affected=[1], positive=False).with_priors({"p1": prior})
        >>> [f"{drawn.parameters[0].value:.2f}" for drawn in belief.draws(3, random_state=0)]
        ['0.38', '0.34', '0.39']
        """
        from problog4fairness.audit import drawn

        return [self.with_parameters(own) for own in drawn(self, count, random_state)]

    def _drawn_apart(self, count: int, rng: np.random.Generator) -> dict[str, Floats]:  # noqa: ARG002
        """``[count]`` posterior draws, by name, of parameters that are no probabilities."""
        return {}

    def _counted_parts(self) -> list[tuple[Parameter, ...]]:
        """The parameters, in parts that were counted separately."""
        return [self.parameters]

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

    def _noted(self, estimated: Self, favourable: Any) -> Self:
        """The belief with the label that was counted as 1: what was said, what it knew already, or 1 itself."""
        if self.classes is not None:
            return estimated
        known = self.favourable if favourable is None else favourable
        return estimated.with_favourable(1 if known is None else known)

    def require_known(self) -> None:
        """Raise the error that names unknown parameters, if there are any."""
        check_known(self.parameters)

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

    def network_columns(self) -> dict[str, str]:
        """The column that each network of its program reads, where it is one."""
        return {v.name: v.columns[0] for v in self.variables if len(v.columns) == 1}

    def known_groups(self) -> dict[str, tuple[Any, ...]]:
        """For each sensitive column that alone says the group, its groups; of two, the sensitive one is the second."""
        return {v.columns[0]: v.levels for v in self.variables if len(v.columns) == 1 and v.people}

    @property
    def _counted(self) -> bool:
        """Whether every parameter is counted in a cell of its own."""
        cells = [own.cell for own in self.parameters]
        return bool(cells) and not self.overlap and len(self.variables) == 1 and None not in cells

    def _ruled_out(self, shape: tuple[int, ...]) -> list[int]:
        """Of strata ``[groups, recorded labels]`` those in which, by the belief, what was recorded is fair."""
        if not self._counted or self.features or len(shape) != 2:
            return []
        wrong = {
            (own.cell.group, own.cell.recorded)
            for own in self.parameters
            if own.cell is not None and not (own.value == 0 and own.rows is None)
        }
        return [place for place, stratum in enumerate(np.ndindex(shape)) if stratum not in wrong]

    def _acts(self, group: int, fair: int, recorded: int) -> bool:  # noqa: ARG002
        """Whether the belief may record a fair label otherwise in a group of :attr:`_audit_variables`, by position."""
        return True

    def _occurring(self, parameters: Iterable[Parameter], rows: Rows) -> list[Parameter]:  # noqa: ARG002
        """Those of the parameters that are about some of these rows."""
        return list(parameters)

    def by_column(self) -> dict[str, Belief]:
        """For a record in several columns, what it says of each column alone; of others nothing."""
        return {}

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
        return [first, *(f"The probability that {own.meaning}: {share(own)}." for own in self.parameters)]

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

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """In a notebook: its picture, what it says, and its parameters."""
        said = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.words())
        try:
            drawn = self.picture()._repr_svg_()
        except P4FError:
            drawn = ""
        shown = ""
        if self.parameters:
            table = readable(self.parameter_table()).rename(columns=lambda name: name.replace("_", " "))
            shown = table.to_html(float_format="%.4g", na_rep="–")
        return f"<div>{drawn[drawn.find('<svg') :] if drawn else ''}{said}{shown}</div>"

    def __repr__(self) -> str:
        known = ", ".join(
            f"{own.name}={'?' if own.value is None else format(own.value, '.3g')}" for own in self.parameters
        )
        if len(self.parameters) > MOST_NAMES:
            known = f"{len(self.parameters)} parameters"
        return f"{type(self).__name__}({', '.join(self.sensitive_columns)}: {known or 'no parameters'})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.text())


def _columns(variables: Iterable[Sensitive]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for variable in variables for column in variable.columns))
