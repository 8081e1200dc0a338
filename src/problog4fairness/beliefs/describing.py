"""What a belief keeps of its fields, and how it says what it is: as plain data, in words, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from problog4fairness.beliefs.describe.diagrams import MOST_NAMES, of_program
from problog4fairness.beliefs.describe.words import Label, html_of, share
from problog4fairness.beliefs.fields import constructed, plain_label
from problog4fairness.beliefs.observing import Observing
from problog4fairness.statistics import parameters_json

if TYPE_CHECKING:
    from problog4fairness.program import Diagram


class Describing(Observing):
    """The part of a :class:`Belief` that keeps its fields and says what it is."""

    title: ClassVar[str] = "belief"
    _field_values: Mapping[str, Any] = {}

    def __init__(self, *positional: Any, **named: Any) -> None:
        """Check arguments as the fields declare them, keep them, and set the sensitive variable."""
        self.favourable = plain_label(named.pop("favourable", None))
        self._field_values, variable, self.affected = constructed(self.kind.fields, positional, named)
        self.variables = () if variable is None else (variable,)

    def field_values(self) -> dict[str, Any]:
        """The plain value of each field: the answers that lead to this belief, but for what audited rows added."""
        return dict(self._field_values)

    def to_json(self) -> dict[str, Any]:
        """Plain data from which :meth:`from_json` makes an equal belief: its fields, and its parameters."""
        values = self._field_values
        return {
            "kind": type(self).__name__,
            **{field.name: values[field.name] for field in self.kind.fields if values[field.name] != field.default},
            "parameters": parameters_json(self.parameters),
            **({} if self.favourable is None else {"favourable": self.favourable}),
            **({} if self._design is None else {"design": self._design.to_json()}),
        }

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

    def limitations(self) -> list[str]:
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
