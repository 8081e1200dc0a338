"""The form of a belief: what a person ticks, and the template that it stands for."""

from __future__ import annotations

from dataclasses import dataclass, field

from problog4fairness.beliefs import Belief, HistoricalBias, LabelBias, MeasurementBias
from problog4fairness.errors import P4FError
from problog4fairness.rows import Roles
from problog4fairness.rows.values import values_of
from problog4fairness.studio.project import Project

KINDS = {
    "label": ("The label was recorded unfairly", "Officers turned people down who should have been accepted."),
    "measurement": ("A feature was measured unfairly", "What was counted under-counts one group."),
    "historical": ("History made a group worse off", "The feature is measured rightly, but an unfair past shaped it."),
    "program": ("Something else", "Write the program yourself: rules, several biases, anything that ProbLog says."),
}


@dataclass
class Form:
    """What is filled in.

    Attributes
    ----------
    kind
        One of ``KINDS``.
    lost, given
        Whether what is favourable is lost, and whether it is given without reason.
    only_group
        Whether only the sensitive group's data are distorted.
    features
        The distorted features.
    values
        Stated parameters by name; None where an audit is to find them.
    """

    kind: str = "label"
    lost: bool = True
    given: bool = True
    only_group: bool = False
    features: list[str] = field(default_factory=list)
    values: dict[str, float | None] = field(default_factory=dict)

    @classmethod
    def of(cls, belief: Belief) -> Form:
        """The form that describes a belief; any other than the templates is a program."""
        kind = belief.command if belief.command is not None and belief.command in KINDS else "program"
        fair = {own.cell.fair for own in belief.probabilities if own.cell is not None}
        return cls(
            kind,
            lost=1 in fair or not fair,
            given=0 in fair or not fair,
            features=list(belief.features),
            values={own.name: own.value for own in belief.probabilities},
        )

    def belief(self, project: Project, roles: Roles) -> Belief:
        """The template that the form describes, with the numbers that were stated."""
        if not (self.lost or self.given):
            raise P4FError("without any bias there is nothing to believe; tick one of the two")
        made = self._template(project, roles)
        stated = {own.name: value for own in made.probabilities if (value := self.values.get(own.name)) is not None}
        return made.bind(stated).with_favourable(roles.favourable)

    def _template(self, project: Project, roles: Roles) -> Belief:
        negative, positive = (None if self.lost else False), (None if self.given else False)
        groups = [roles.levels[-1]] if self.only_group and roles.binary else None
        if self.kind == "label":
            return LabelBias(roles.sensitive, negative, positive, levels=roles.levels, groups=groups)
        if not self.features:
            raise P4FError("choose the features that are distorted")
        known = {name: sorted(values_of(project.frame[name].dropna()), key=str) for name in self.features}
        values = {name: found for name, found in known.items() if set(found) != {0, 1}}
        template = MeasurementBias if self.kind == "measurement" else HistoricalBias
        return template(
            self.features,
            roles.sensitive,
            negative,
            positive,
            levels=roles.levels,
            groups=groups,
            values=values or None,
        )
