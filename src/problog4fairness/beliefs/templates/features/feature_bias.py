"""What measurement biases have in common: recorded features are distorted copies of the fair ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import OTHERS
from problog4fairness.beliefs.describe.words import Label
from problog4fairness.beliefs.likelihood.combinations import Combinations, occurring
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.reading import Columns
from problog4fairness.beliefs.variables import Strength
from problog4fairness.data import Codes, Rows, Sensitive
from problog4fairness.errors import P4FError
from problog4fairness.program import Diagram, Node


class FeatureBias(Belief):
    """Some recorded features are distorted copies of the fair ones, alone or before biases of the label in a chain."""

    what = "features"

    def _take_features(self, features: str | Sequence[str]) -> None:
        self.features = (features,) if isinstance(features, str) else tuple(features)
        if not self.features:
            raise P4FError("name one or more different features")
        for name in set(self.features) & set(self.variable.columns):
            raise P4FError(f"column {name!r} cannot be both a distorted feature and the sensitive variable")

    @property
    def columns(self) -> Columns:
        """See :meth:`Belief.columns`: an audit finds out fair features."""
        return replace(super().columns, audited=self.features)

    @property
    def variable(self) -> Sensitive:
        """The sensitive variable."""
        return self.variables[0]

    @property
    @abstractmethod
    def names(self) -> dict[str, str]:
        """The name of each feature in the program."""

    @abstractmethod
    def before_label(self) -> tuple[list[str], list[str]]:
        """For a chain: what the head of its program says of the features, and their clauses, in paragraphs."""

    @abstractmethod
    def observed(
        self, rows: Rows, groups: Combinations, place: int, labels: Tensor | None, record: Codes | None
    ) -> Observation:
        """Observe rows whose label is distorted besides.

        Parameters
        ----------
        rows
            What was recorded.
        groups, place
            The combinations of groups that occur in them, and which of their variables is that of this belief.
        labels
            ``[combinations, fair, recorded]``; None where the recorded label is the fair one.
        record
            ``[rows]``: what was recorded, by its position in ``labels``.
        """

    @abstractmethod
    def feature_sentences(self) -> list[str]:
        """What it says of each feature and group on which it acts."""

    @abstractmethod
    def drawn(self) -> list[Node]:
        """The nodes of its picture, without the label."""

    def _of_feature(self, strength: Strength, feature: str) -> Strength:
        """What is stated of one feature, where features are told apart."""
        if not isinstance(strength, Mapping) or not set(strength) & set(self.features):
            return strength
        stated: Strength = strength.get(feature)
        return stated

    def observe(self, rows: Rows) -> Observation:
        """See :meth:`Belief.observe`: through each feature by itself, not all combinations of them."""
        self.require_known()
        self._require_columns(rows)
        return self.observed(rows, occurring(self.variables, rows), 0, None, self.record.outcomes(rows).codes)

    def words(self, label: Label | None = None) -> list[str]:
        first = (
            f"The recorded labels are taken as fair, but some recorded {self.what} are taken as distorted copies of "
            "the fair ones, and the label depends on the fair ones."
        )
        return [first, *self.sentences()]

    def sentences(self, **options: Any) -> list[str]:
        """What it says of each feature and group."""
        levels = range(len(self.variable.levels))
        untouched = [self.variable.group_text(level) for level in levels if level not in self.affected]
        last = [f"Where {group}, recorded {self.what} are taken as right." for group in untouched]
        return [*self.feature_sentences(**options), *last]

    def picture(self, label: Label | None = None) -> Diagram:
        """See :meth:`Belief.picture`; the label on record is the fair one."""
        name = "label" if label is None else label.column
        return Diagram((*self.drawn(), Node(name, self.fair_features(), observed=True, classifier=True)))

    def fair_features(self, fair: str = "fair") -> tuple[str, ...]:
        """The nodes of its picture that the label depends on."""
        return (OTHERS, *(f"{name} ({fair})" for name in self.names))
