"""No bias: the record as it is."""

from __future__ import annotations

from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.diagrams import FEATURES
from problog4fairness.beliefs.describe.words import Label
from problog4fairness.beliefs.likelihood.combinations import occurring
from problog4fairness.beliefs.likelihood.observation import Observation
from problog4fairness.beliefs.likelihood.tables import observe_tables
from problog4fairness.data import Rows
from problog4fairness.program import Diagram, Node


class NoBias(Belief):
    """The recorded data are the fair data: a classifier learns the recorded label.

    It is what ``belief=None`` means, and what other beliefs are compared with.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> print(p4f.NoBias().words()[0])
    There is no belief: the recorded labels are taken as fair, and the model repeats them.
    """

    def text(self) -> str:
        return "% No bias: the recorded label is the fair one.\n\nnn(h,X) :: y(X).\n\n?- y(x).\n"

    def _observation(self, rows: Rows) -> Observation:
        """Of any number of classes."""
        return observe_tables(rows, occurring((), rows), None, {}, (), self.record.outcomes(rows).codes)

    def words(self, label: Label | None = None) -> list[str]:
        return ["There is no belief: the recorded labels are taken as fair, and the model repeats them."]

    def picture(self, label: Label | None = None) -> Diagram:
        name = "label" if label is None else label.column
        return Diagram((Node(FEATURES, observed=True), Node(name, (FEATURES,), observed=True, classifier=True)))
