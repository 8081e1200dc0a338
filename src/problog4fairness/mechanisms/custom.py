"""A program of one's own as a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.errors import NetworkError, P4FError
from problog4fairness.mechanisms.base import Mechanism, favourable_json, plain_label, rate_json, rates_from_json
from problog4fairness.mechanisms.rates import Rate
from problog4fairness.mechanisms.text import Level
from problog4fairness.program.program import Program

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.mechanisms.audit import Column


class ProgramMechanism(Mechanism):
    """A ProbLog program that says how the recorded label came about.

    The network ``h`` is the classifier. Every other network is bound by name to a column of the data, or to a function.
    The query is "the recorded label is 1"; with several queries, one for each class, in the order of the classes.
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
    functions
        Functions or modules for networks that are not columns: each gets the data frame and returns a probability per
        row. They are not saved with a model.
    favourable
        The label that counts as 1, where it is known already; :meth:`estimate` notes it.
    """

    def __init__(
        self,
        program: Program | str,
        *,
        classifier: str = "h",
        columns: Mapping[str, str] | None = None,
        features: Sequence[str] = (),
        values: Mapping[str, Sequence[Any]] | None = None,
        functions: Mapping[str, Callable[[Any], Any]] | None = None,
        favourable: Any = None,
    ) -> None:
        self._program = program if isinstance(program, Program) else Program(program)
        self.classifier = classifier
        self.variables = ()
        self.favourable = plain_label(favourable)
        self.features = tuple(features)
        self.functions = dict(functions or {})
        networks = {network.name: network for network in self._program.networks}
        if classifier not in networks:
            raise NetworkError(
                f"the program has no network {classifier} for the classifier; it has {', '.join(networks)}"
            )
        self.values = {name: tuple(pair) for name, pair in (values or {}).items()}
        for name in {**(columns or {}), **self.values, **self.functions}:
            if name not in networks:
                raise P4FError(f"the program has no network {name!r}; it has {', '.join(networks)}")
        self.columns = {
            name: (columns or {}).get(name, name)
            for name in networks
            if name != classifier and name not in self.functions
        }
        for name, pair in self.values.items():
            if len(set(pair)) != 2 or networks[name].outcomes is not None:
                raise P4FError(f"values of network {name} must be two, and it must have two outcomes; not {list(pair)}")
        bound = self._program.bound
        self.rates = tuple(
            Rate(str(leaf), "as named in the program", bound.get(str(leaf), bound.get(leaf.name)))
            for leaf in self._program.compiled().leaves
            if leaf.kind == "parameter"
        )

    @property
    def sensitive_columns(self) -> tuple[str, ...]:
        """The columns that its networks read."""
        # A network of two inputs reads the numbered features, not a column of its own.
        reading = {network.name for network in self._program.networks if network.inputs == 1}
        features = set(self.features)
        return tuple(dict.fromkeys(c for name, c in self.columns.items() if c not in features and name in reading))

    @property
    def about_the_row(self) -> bool:
        """Whether all networks are columns or the classifier, of two outcomes, and are asked about ``x`` itself."""
        networks = [leaf for leaf in self._program.compiled().leaves if leaf.kind == "network"]
        return not self.functions and all(not leaf.outcomes and leaf.arguments == ("x",) for leaf in networks)

    def text(self) -> str:
        """The program as text."""
        return self._program.text

    def program(self) -> Program:
        """The program with the values that are known."""
        return self._program.bind({rate.name: rate.value for rate in self.rates if rate.value is not None})

    def column(self, network: str, frame: pd.DataFrame, name: str | None = None) -> pd.Series[Any]:
        """The column behind a network, or another one by name."""
        name = name or self.columns[network]
        if name not in frame.columns:
            there = ", ".join(map(str, frame.columns))
            raise P4FError(f"network {network} has no column {name!r}; there are {there}; bind it by columns={{...}}")
        return frame[name]

    def column_values(
        self, network: str, frame: pd.DataFrame, name: str | None = None
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The same as numbers: 0 and 1, or probabilities."""
        column = self.column(network, frame, name)
        if name is None and network in self.values:
            return self._coded(column, self.values[network])
        try:
            return np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            raise P4FError(f"column {column.name!r} of network {network} must hold 0 and 1, or probabilities") from None

    def _coded(self, column: pd.Series[Any], pair: tuple[Any, ...]) -> np.ndarray[Any, np.dtype[np.float64]]:
        unknown = [value for value in column.unique().tolist() if value not in pair]
        if unknown:
            raise P4FError(
                f"column {column.name!r} has the value {unknown[0]!r}, which is not {pair[0]!r} or {pair[1]!r}"
            )
        return np.asarray(column == pair[1], dtype=np.float64)

    def estimate(
        self,
        audit: pd.DataFrame | None = None,
        *,
        recorded: Column,
        fair: Column,
        sensitive_features: Any = None,
        favourable: Any = None,
        confidence: float = 0.95,
    ) -> ProgramMechanism:
        """Estimate the unknown parameters from audited rows, by maximum likelihood through the program's own circuit.

        For programs about a binary label that ask the classifier about the row itself, ``nn(h,X) :: ...`` with the
        query at ``x``. The arguments are those of :meth:`LabelBias.estimate`.
        """
        from problog4fairness.mechanisms.estimation import estimate_program

        if not self.about_the_row:
            raise P4FError(
                "only programs about a binary label of the row x, with columns as networks, can be estimated"
            )
        return estimate_program(self, audit, recorded, fair, sensitive_features, favourable, confidence)

    def feature_values(self) -> dict[str, tuple[Level, ...]]:
        """See :meth:`Mechanism.feature_values`."""
        return dict.fromkeys(self.features, (0, 1))

    def with_rates(self, rates: tuple[Rate, ...]) -> ProgramMechanism:
        """See :meth:`Mechanism.with_rates`."""
        copy = ProgramMechanism.__new__(ProgramMechanism)
        copy.__dict__.update(self.__dict__)
        copy.rates = rates
        return copy

    def to_json(self) -> dict[str, Any]:
        """See :meth:`Mechanism.to_json`."""
        if self.functions:
            raise P4FError(
                f"the functions of {', '.join(self.functions)} cannot be saved; make them columns of the data"
            )
        return {
            "kind": "ProgramMechanism",
            "text": self._program.text,
            "classifier": self.classifier,
            "columns": self.columns,
            "features": list(self.features),
            "values": {name: list(pair) for name, pair in self.values.items()},
            "rates": rate_json(self.rates),
            **favourable_json(self),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> ProgramMechanism:
        mechanism = cls(
            str(value["text"]),
            classifier=value["classifier"],
            columns=value["columns"],
            features=value["features"],
            values=value.get("values"),
            favourable=value.get("favourable"),
        )
        return mechanism.with_rates(rates_from_json(value["rates"]))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ProgramMechanism)
            and self.program() == other.program()
            and (self.classifier, self.columns, self.features, self.values, self.functions, self.favourable)
            == (other.classifier, other.columns, other.features, other.values, other.functions, other.favourable)
        )

    __hash__ = Mechanism.__hash__
