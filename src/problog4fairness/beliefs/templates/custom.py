"""A program of one's own as a belief."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import of_program
from problog4fairness.beliefs.describe.words import Label, program_words
from problog4fairness.beliefs.description import BeliefKind, Columns, LabelRecord
from problog4fairness.beliefs.fields import Field
from problog4fairness.beliefs.likelihood.inputs import FairInputs, fair_inputs, own_inputs
from problog4fairness.data import Grouping, Rows, Sensitive, label_codes, plain
from problog4fairness.errors import NetworkError, P4FError, among
from problog4fairness.program import Diagram, Ground, Leaf, Program, Structure, ground_text, unquoted
from problog4fairness.statistics import UNSAID, Parameter, known_values

if TYPE_CHECKING:
    from problog4fairness.audit import Stratified


# The outcome of a network that reads a column in which some values are missing.
MISSING = "missing"


class ProgramBelief(Belief):
    r"""A ProbLog program that says how the recorded label came about.

    The network ``h`` is the classifier. Every other network is bound by name to a column of the data, or to a function.
    The query is "the recorded label is 1"; with several queries, one for each class, in the order of the classes, and
    perhaps one more, last, for rows in which no label was recorded.
    The constant ``x`` is the row; ``x_(b1,...,bn)`` is the row with feature i flipped where bi = 1.

    Parameters
    ----------
    program
        The program, or its text.
    classifier
        The network that is trained.
    columns
        The column of each other network, where it does not have the network's own name.
    features
        The columns that ``x_(b1,...,bn)`` flips, in order, for programs that use it.
    values
        The two values of a network's column where they are not 0 and 1: ``{"a": ("no", "yes")}``; the second counts
        as 1.
    recorded
        The columns of the record, where it is in several of them: the votes of annotators. The program reads them as
        networks with outcomes, of which ``missing`` is a vote that was not given, and its one query is that they are as
        recorded.
    replaced
        For constants other than ``x``, what they stand for: the row with some features replaced by other columns of the
        data, which no learner reads: ``{"x_(1,2)": {"income": "income at the second point"}}``.
    functions
        Functions or modules for networks that are not columns: each gets the data frame and returns a probability per
        row. They are not saved with a model.
    favourable
        The label that counts as 1, where it is known already; :meth:`estimate` notes it.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> text = r"nn(h,X) :: y(X). nn(a,X) :: a(X). p1 :: lost(X) :- a(X). z(X) :- y(X), \+lost(X). ?- z(x)."
    >>> belief = p4f.ProgramBelief(text)
    >>> belief.columns.sensitive, [own.name for own in belief.parameters]
    (('a',), ['p1'])
    """

    title = "program"
    kind = BeliefKind(
        fields=(
            Field("program", "text", "The program"),
            Field("classifier", "text", "The network that is trained", "h"),
            Field("columns", "mapping", "The column that each other network reads"),
            Field("features", "columns", "The columns that x_(b1,...,bn) flips", ()),
            Field("values", "values", "The two values of a network's column, where they are not 0 and 1"),
            Field("recorded", "columns", "The columns of the record, where it is in several", ()),
            Field("replaced", "mapping", "What constants other than x stand for", ()),
        ),
    )

    def __init__(
        self,
        program: Program | str,
        *,
        classifier: str = "h",
        columns: Mapping[str, str] | None = None,
        features: Sequence[str] = (),
        values: Mapping[str, Sequence[Any]] | None = None,
        recorded: Sequence[str] = (),
        replaced: Mapping[str, Mapping[str, str]] | None = None,
        functions: Mapping[str, Callable[[Any], Any]] | None = None,
        favourable: Any = None,
    ) -> None:
        self._program = program if isinstance(program, Program) else Program(program)
        self._classifier = classifier
        self.variables = ()
        self.features = tuple(features)
        self.recorded = tuple(recorded)
        self.replaced = {name.replace(" ", ""): dict(replacement) for name, replacement in (replaced or {}).items()}
        if self.replaced and self.features:
            raise P4FError("features=... is for programs that flip features, replaced=... for those that replace them")
        self.functions = dict(functions or {})
        networks = {network.name: network for network in self._program.networks}
        if classifier not in networks:
            raise NetworkError(
                f"the program has no network {classifier} for the classifier; {among(classifier, networks, 'it has')}"
            )
        self.values = {name: tuple(pair) for name, pair in (values or {}).items()}
        for name in {**(columns or {}), **self.values, **self.functions}:
            if name not in networks:
                raise P4FError(f"the program has no network {name!r}; {among(name, networks, 'it has')}")
        self.network_columns = {
            name: (columns or {}).get(name, name)
            for name in networks
            if name != classifier and name not in self.functions
        }
        for name, pair in self.values.items():
            if len(set(pair)) != 2 or networks[name].outcomes is not None:
                raise P4FError(f"values of network {name} must be two, and it must have two outcomes; not {list(pair)}")
        unread = [name for name in self.recorded if name not in self.network_columns.values()]
        if unread:
            raise P4FError(f"no network of the program reads the recorded column {unread[0]!r}; bind it by columns=...")
        known = {"features": self.features, "values": self.values, "recorded": recorded, "replaced": self.replaced}
        super().__init__(self._program.text, classifier, self.network_columns, favourable=favourable, **known)
        bound = self._program.bound
        self.parameters = tuple(
            Parameter(str(leaf), UNSAID, bound.get(str(leaf), bound.get(leaf.name)))
            for leaf in self._program.compiled().leaves
            if leaf.kind == "parameter"
        )

    @property
    def columns(self) -> Columns:
        """See :meth:`Belief.columns`: those that its networks read, and those that replace features."""
        # A network of two inputs reads the numbered features, not a column of its own.
        networks = {network.name: network for network in self._program.networks if network.inputs == 1}
        aside = {*self.features, *self.recorded}
        read = {n: c for n, c in self.network_columns.items() if c not in aside and n in networks}
        replacing = tuple(dict.fromkeys(name for columns in self.replaced.values() for name in columns.values()))
        return Columns(
            sensitive=tuple(dict.fromkeys(read.values())),
            others=replacing,
            recorded=self.recorded,
            features=self.features,
            withheld=replacing,
            groups={c: self.values.get(n, (0, 1)) for n, c in read.items() if networks[n].outcomes is None},
            anything=bool(self.functions),
        )

    @property
    def record(self) -> LabelRecord:
        """See :meth:`Belief.record`: a query more than there are classes is for rows without a label."""
        outcomes = next(network.outcomes for network in self._program.networks if network.name == self._classifier)
        gaps = len(self._program.queries) == (2 if outcomes is None else len(outcomes)) + 1
        # Its queries are for the classes in order.
        return replace(super().record, columns=self.recorded, gaps=gaps, ordered=True)

    def text(self) -> str:
        return self._program.text

    def program(self) -> Program:
        """The program with the values that are known."""
        return self._program.bind(known_values(self.parameters))

    def _bound_program(self) -> Program:
        """See :meth:`Belief._bound_program`; its numbers are beside it already."""
        return self.program()

    def column(self, network: str, frame: pd.DataFrame, name: str | None = None) -> pd.Series[Any]:
        """The column behind a network, or another one by name."""
        name = name or self.network_columns[network]
        if name in self.recorded and name not in frame.columns:
            return pd.Series(np.nan, index=frame.index, name=name)  # rows to predict have no record
        if name not in frame.columns:
            known = ", ".join(map(str, frame.columns))
            raise P4FError(f"network {network} has no column {name!r}; there are {known}; bind it by columns={{...}}")
        return frame[name]

    def column_values(
        self, network: str, frame: pd.DataFrame, name: str | None = None
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The same as numbers: 0 and 1, or probabilities."""
        column = self.column(network, frame, name)
        if name is None and network in self.values:
            return label_codes(column, self.values[network], f"column {column.name!r}").astype(np.float64)
        try:
            return np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            raise P4FError(f"column {column.name!r} of network {network} must hold 0 and 1, or probabilities") from None

    def _inputs(self, rows: Rows) -> FairInputs:
        if not self.replaced:
            return fair_inputs(rows, dict.fromkeys(self.features, (0, 1)))
        columns = [self.replaced.get(constant, {}) for constant in self._asked]
        features = dict.fromkeys(name for replaced in columns for name in replaced)
        read = {
            feature: np.stack([np.asarray(rows.frame[replaced.get(feature, feature)]) for replaced in columns], axis=1)
            for feature in features
        }
        return own_inputs(rows, read)

    @property
    def _asked(self) -> list[str]:
        """The constants that the classifier is asked about."""
        leaves = [leaf for leaf in self._program.compiled().leaves if leaf.name == self._classifier and leaf.arguments]
        constants = list(dict.fromkeys(ground_text(leaf.arguments[0]) for leaf in leaves))
        unknown = [name for name in constants if name != "x" and name not in self.replaced]
        if unknown:
            raise NetworkError(f"the program asks about {unknown[0]}; replaced names {', '.join(self.replaced)}")
        return constants

    def _leaf_input(self, leaf: Leaf, rows: Rows, inputs: FairInputs) -> Tensor:
        if self.replaced:
            return inputs.index[:, self._asked.index(ground_text(leaf.arguments[0]))]
        flips = self._flips(leaf.arguments[0]) if leaf.arguments else ()
        index = inputs.needed()
        return index[:, 0] if index.shape[1] == 1 else index.gather(1, self._variant(flips, rows)).squeeze(1)

    def _variant(self, flips: Sequence[int], rows: Rows) -> Tensor:
        """``[rows, 1]``: which variant of a row it is itself, or with some features flipped."""
        place = np.zeros(len(rows), dtype=np.int64)
        for position, feature in enumerate(self.features):
            value = np.asarray(rows.frame[feature], dtype=np.int64)
            place = 2 * place + (1 - value if flips and flips[position] else value)
        return torch.from_numpy(place).unsqueeze(1)

    def _flips(self, vector: Ground) -> tuple[int, ...]:
        """The bits of ``x_(b1,...,bn)``; none for any other term."""
        if not isinstance(vector, Structure):
            return ()
        bits = tuple(bit for bit in vector.arguments if bit in (0, 1))
        if len(bits) != len(self.features) or len(bits) != len(vector.arguments):
            raise NetworkError(f"the program flips {ground_text(vector)}, but there are {len(self.features)} features")
        return tuple(int(bit) for bit in bits)

    def _leaf_value(self, leaf: Leaf, rows: Rows) -> Tensor:
        """See :meth:`Belief._leaf_value`: the column, or the function, behind a network."""
        if leaf.name in self.functions:
            return torch.as_tensor(np.asarray(self.functions[leaf.name](rows.frame)), dtype=torch.float64)
        name, flipped = None, False
        if len(leaf.arguments) == 2 and isinstance(leaf.arguments[1], int) and self.features:
            number = leaf.arguments[1]
            if not 1 <= number <= len(self.features):
                raise NetworkError(
                    f"the program reads feature {number}, but features names {len(self.features)} columns"
                )
            name = self.features[number - 1]
            flips = self._flips(leaf.arguments[0])
            flipped = bool(flips and flips[number - 1])
        if leaf.outcomes is not None:
            return self._outcomes(leaf, rows.frame)
        values = torch.tensor(self.column_values(leaf.name, rows.frame, name))
        return 1 - values if flipped else values

    def _outcomes(self, leaf: Leaf, frame: pd.DataFrame) -> Tensor:
        column = self.column(leaf.name, frame)
        names = [ground_text(outcome) for outcome in leaf.outcomes or ()]
        place = {unquoted(name): i for i, name in enumerate(names)}
        known = [MISSING if value is None or value != value else str(plain(value)) for value in column.tolist()]  # noqa: PLR0124
        codes = pd.Series([place.get(value, -1) for value in known], dtype=np.int64)
        if (codes < 0).any():
            raise P4FError(f"column {column.name!r} has values that are not among the outcomes {', '.join(names)}")
        return torch.eye(len(names), dtype=torch.float64)[torch.tensor(codes.to_numpy())]

    def groupings(self, rows: Rows) -> list[Grouping]:
        """See :meth:`Belief.groupings`: by the columns that its networks read and that are known of everybody."""
        known = {column: self.values.get(network) for network, column in self.network_columns.items()}
        frame = rows.frame
        columns = [name for name in self.columns.sensitive if name in frame.columns and frame[name].notna().all()]
        return [Grouping.of(_groups_of(column, known.get(column), rows.frame), rows) for column in columns]

    def _estimated(
        self,
        rows: Rows,
        confidence: float,
        strata: Stratified | None = None,
    ) -> tuple[Parameter, ...]:
        """Numbers that are in the program stay as they are; the others are estimated."""
        from problog4fairness.audit import most_likely

        unknown = tuple(parameter for parameter in self.parameters if parameter.value is None)
        if not unknown:
            raise P4FError("the program has no unknown parameter to estimate; write p1 :: ... for a number")
        likeliest = most_likely(self, self._leaf_value, self.program(), unknown, rows, confidence)
        estimates = {parameter.name: parameter for parameter in likeliest}
        return tuple(estimates.get(parameter.name, parameter) for parameter in self.parameters)

    def words(self, label: Label | None = None) -> list[str]:
        return program_words(self.network_columns.values(), self.parameters)

    def picture(self, label: Label | None = None) -> Diagram:
        return of_program(self._program.diagram(self._classifier), self.network_columns)

    def to_json(self) -> dict[str, Any]:
        if self.functions:
            raise P4FError(
                f"the functions of {', '.join(self.functions)} cannot be saved; make them columns of the data"
            )
        return super().to_json()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ProgramBelief) and self.program() == other.program() and self._bound() == other._bound()
        )

    def _bound(self) -> tuple[Any, ...]:
        """What a program is bound to."""
        bound = (self._classifier, self.network_columns, self.features, self.values, self.functions)
        return (*bound, self.recorded, self.replaced, self.favourable)

    __hash__ = Belief.__hash__


def _groups_of(column: str, pair: tuple[Any, ...] | None, frame: pd.DataFrame) -> Sensitive:
    """The groups of a column that a program reads: those that it names, 0 and 1, or all that occur."""
    if pair is not None:
        return Sensitive((column,), tuple(pair))
    values = frame[column].unique().tolist()
    if all(isinstance(value, int | float) and 0 <= value <= 1 for value in values):
        return Sensitive((column,))
    return Sensitive((column,), tuple(sorted(values, key=str)))
