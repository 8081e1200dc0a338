"""A model's learner, fitted again through other beliefs: the engine of bounds, sensitivity and what-if."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from problog4fairness.beliefs import Belief, Observation, admissible_values
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.estimators import AuditedFolds, possible, predicted, predicts_from, refit_learner, task_of
from problog4fairness.learners import Boosted, Calibrated, Fitted, Task, fit_tasks
from problog4fairness.statistics import Parameter, named_parameters

if TYPE_CHECKING:
    from problog4fairness.estimators import DebiasedClassifier

Range = tuple[float, float]


class Refits:
    """Fits of a model's learner through other beliefs, on the same rows and from the model's seed.

    Parameters
    ----------
    model
        Fitted.
    rows
        Recorded rows, such as those that it was fitted on.
    progress
        As for :meth:`Learner.fit_many`.
    """

    def __init__(self, model: DebiasedClassifier, rows: Rows, progress: bool | None) -> None:
        self.model, self.rows, self._progress = model, rows, progress
        self._learner = refit_learner(model)
        self.boosted = type(self._learner) is Boosted
        self.count = 0

    def _tasks(self, observations: Sequence[Observation]) -> list[Task]:
        self.count += len(observations)
        return [task_of(observation, self.rows, self.model.seed_) for observation in observations]

    def near(self, observations: Sequence[Observation], whole_trees: bool = False) -> list[Fitted]:
        """Quick fits near the model's own, calibrated as it is.

        Parameters
        ----------
        observations
            One for each fit.
        whole_trees
            Whether boosted trees are fitted as the model's were, which takes several times as long.
        """
        tasks, fitted = self._tasks(observations), self.model.fitted_
        if not whole_trees or not self.boosted:
            return list(fitted.refit(self._learner, tasks, self._progress))
        fits = self._learner.fit_many(tasks, self._progress)
        if not isinstance(fitted, Calibrated):
            return list(fits)
        return [Calibrated(fit, fitted.slope, fitted.shifts, fitted.gain, fitted.error) for fit in fits]

    def whole(self, beliefs: Sequence[Belief], observations: Sequence[Observation]) -> list[Fitted]:
        """Fits from scratch, each calibrated anew where the model is."""
        tasks = self._tasks(observations)
        first = self._learner.fit_many(tasks, self._progress)
        if not isinstance(self.model.fitted_, Calibrated):
            return list(first)
        folds = [AuditedFolds.of(belief, self.rows, task) for belief, task in zip(beliefs, tasks, strict=True)]
        held_out = [task for part, fit in zip(folds, first, strict=True) for task in part.tasks(fit)]
        fits = iter(fit_tasks(self._learner, held_out, self._progress))
        return [
            part.calibrate(fit, [next(fits) for _ in part.held]).fitted for part, fit in zip(folds, first, strict=True)
        ]

    def fair_proba(self, belief: Belief, fitted: Fitted, rows: Rows | None = None) -> Floats:
        """P(fair label), ``[rows, classes]``, of these rows or of others."""
        return predicted(belief, fitted, self.rows if rows is None else rows, predicts_from(self.model))


def interval_of(parameter: Parameter) -> Range:
    """The interval of a parameter that has a value; the value alone where it was stated."""
    value = 0.0 if parameter.value is None else parameter.value
    if parameter.low is None or parameter.high is None:
        return value, value
    return min(parameter.low, value), max(parameter.high, value)


def range_of(belief: Belief, parameter: Parameter, rows: Rows, wanted: Range) -> Range:
    """The part of a wanted range in which recorded labels stay informative, and fair ones that are known possible."""
    floor, ceiling = admissible_values(belief, parameter, rows)
    return possible(max(wanted[0], floor), min(wanted[1], ceiling), rows)


def checked_box(belief: Belief, box: Mapping[str, Range] | None) -> dict[str, Range]:
    """Between which values each parameter may be; by default the intervals of those that have one."""
    if box is None:
        known = [
            probability
            for probability in belief.probabilities
            if probability.low is not None and probability.high is not None
        ]
        if not known:
            raise P4FError(
                "the belief's numbers were stated, without intervals; say what may be: box={'p1': (0.2, 0.6)}"
            )
        return {parameter.name: interval_of(parameter) for parameter in known}
    if not hasattr(box, "items") or not box:
        raise P4FError("box must be a mapping such as {'p1': (0.2, 0.6)}")
    named_parameters(belief.probabilities, box)
    for name, ends in box.items():
        if not _is_range(ends):
            raise P4FError(f"the box of {name} is {ends!r}; give two numbers between 0 and 1, the smaller one first")
    return {name: (float(ends[0]), float(ends[1])) for name, ends in box.items()}


def _is_range(ends: Any) -> bool:
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        return False
    return 0 <= low <= high <= 1
