"""Learners by name; ``"auto"`` is the one that suits the data, by the recorded rows alone."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.errors import P4FError, TrainingError, UnknownNameError, among
from problog4fairness.learners.base import Learner, Task
from problog4fairness.learners.boosted import Boosted
from problog4fairness.learners.em import Reweighted
from problog4fairness.learners.fitted import SPEEDUP, Fitted, FittedAround
from problog4fairness.learners.linear import Linear
from problog4fairness.learners.networks.network import Network
from problog4fairness.learners.splits import kinds_of, learning_rows, random_parts
from problog4fairness.learners.trees import light
from problog4fairness.learners.validation import Number, check_seed, option, require

CANDIDATES: dict[str, type[Learner]] = {"linear": Linear, "boosted": Boosted, "network": Network}
# Held-out parts; all of them where rows are few, otherwise the first.
PARTS, FEW = 5, 5_000
COLUMNS = ("loss", "margin", "error")
ROWS = Number(f"whole number of at least {2 * PARTS}", lambda value: value >= 2 * PARTS)


@dataclass(eq=False, repr=False)
class Auto(Learner):
    """Linear, boosted or network: the one under which held-out *recorded* rows are most likely through the belief.

    No fair label is needed for that. Below 5,000 rows every row is held out once, in 5 parts; above, one part of 5. The
    one that is chosen is then fitted on all rows.

    Parameters
    ----------
    compare_rows
        Rows that are compared on, at most; drawn at random from more.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> fitted = p4f.learners.Auto().fit(belief, rows)
    >>> fitted.chosen in ("linear", "boosted", "network")
    True
    """

    compare_rows: int = option(50_000, ROWS)

    def fit_many(self, tasks: Sequence[Task], progress: bool | None = None) -> list[FittedChoice]:
        """See :meth:`Learner.fit_many`; each candidate shows its progress."""
        self.check_options()
        return [self._fit(task, progress) for task in tasks]

    def _fit(self, task: Task, progress: bool | None) -> FittedChoice:
        check_seed(task.seed)
        learners = _available()
        losses = self._losses(task, learners, progress)
        best = min(losses, key=lambda name: float(losses[name].mean()))
        (fitted,) = learners[best].fit_many([task], progress)
        compared = {name: _compared(by_row, losses[best]) for name, by_row in losses.items()}
        return FittedChoice(fitted, best, compared)

    def _losses(self, task: Task, learners: Mapping[str, Learner], progress: bool | None) -> dict[str, Tensor]:
        """For each learner the loss of every row that was held out, times its weight."""
        rows = learning_rows(task)
        order = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(int(task.seed)))]
        parts = random_parts(order[: self.compare_rows], kinds_of(task.observation), PARTS)
        if len(parts) < 2:
            raise TrainingError("1 row is too few to compare learners on; name one of them")
        count = len(parts) if len(rows) < FEW else 1
        folds = [
            replace(task, train_rows=torch.cat([part for part in parts if part is not held]), validation_rows=None)
            for held in parts[:count]
        ]
        losses = {}
        for name, learner in learners.items():
            fits = learner.fit_many(folds, progress)
            losses[name] = torch.cat([row_losses(task, fit, held) for fit, held in zip(fits, parts, strict=False)])
        return losses


def _available() -> dict[str, Learner]:
    """The learners to compare, without one whose package cannot be imported."""
    names = dict(CANDIDATES)
    try:
        light()
    except P4FError as error:
        warnings.warn(f"{error}; they are not compared", UserWarning, stacklevel=2)
        del names["boosted"]
    return {name: kind() for name, kind in names.items()}


def row_losses(task: Task, fitted: Fitted, rows: Tensor) -> Tensor:
    """The loss of each of these rows through the belief, as a share of their mean weight."""
    observation = task.observation
    inputs, places = observation.needs(rows).unique(return_inverse=True)
    logits = observation.logits(fitted.log_proba(observation.table.iloc[inputs.numpy()]))
    losses = -observation(logits[places], rows)
    if task.weights is None:
        return losses
    weights = task.weights[rows].double()
    return losses * weights / weights.mean()


def _compared(losses: Tensor, best: Tensor) -> dict[str, float]:
    """Mean loss, how far it is above the best, and the standard error of that."""
    difference = losses - best
    error = float(difference.std()) / math.sqrt(len(losses)) if len(losses) > 1 else 0.0
    return {"loss": float(losses.mean()), "margin": float(difference.mean()), "error": error}


class FittedChoice(FittedAround):
    """The learner that was chosen, fitted, and how the others did.

    Parameters
    ----------
    fitted, chosen
        What the chosen learner learned, and its name.
    compared
        By learner, its loss on held-out recorded rows, and what else was measured.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=1)
    >>> rows = p4f.data.Rows(data.loans, ("income", "savings"), recorded=data.loans["granted"].to_numpy())
    >>> fitted = p4f.learners.Auto().fit(p4f.NoBias(), rows)
    >>> fitted.choice.index[0] == fitted.chosen
    True
    """

    kind = "auto"
    plain_names = ("chosen", "compared")

    def __init__(self, fitted: Fitted, chosen: str, compared: Mapping[str, Mapping[str, float]]) -> None:
        super().__init__(fitted)
        self.chosen, self.compared = chosen, compared

    @property
    def choice(self) -> pd.DataFrame:
        """The learners, the chosen one first.

        ``loss`` is the mean of -log P(recorded label) over held-out rows, ``margin`` how far it is above the chosen
        one's, ``error`` the standard error of the margin: a margin within two of them may be chance.
        """
        table = pd.DataFrame.from_dict(dict(self.compared), orient="index")[list(COLUMNS)]
        return table.sort_values("loss", kind="stable").rename_axis("learner")

    def refit(
        self, learner: Learner, tasks: Sequence[Task], progress: bool | None = None, speedup: int = SPEEDUP
    ) -> Sequence[Fitted]:
        """See :meth:`Fitted.refit`; by the learner that was chosen."""
        return self.fitted.refit(CANDIDATES[self.chosen](), tasks, progress, speedup)

    @classmethod
    def check_plain(cls, plain: Mapping[str, Any], classes: int) -> None:
        compared = plain["compared"]
        require(isinstance(compared, dict) and plain["chosen"] in compared, "its choice is another one")
        require(set(compared) <= set(CANDIDATES), "its choice was between other learners")
        for values in compared.values():
            fit = (
                isinstance(values, dict) and tuple(values) == COLUMNS and all(type(v) is float for v in values.values())
            )
            require(fit and bool(np.isfinite(list(values.values())).all()), "its choice is not in numbers")


LEARNERS: dict[str, type[Learner]] = {"auto": Auto, **CANDIDATES}


def named_learner(name: object) -> Learner:
    """The learner with this name, with its default options; a learner as it is; one around a scikit-learn classifier.

    Parameters
    ----------
    name
        A name of ``LEARNERS``, a learner, or a scikit-learn classifier.

    Examples
    --------
    >>> from problog4fairness.learners import named_learner
    >>> named_learner("linear")
    Linear()
    """
    if isinstance(name, Learner):
        return name
    if isinstance(name, str):
        if name not in LEARNERS:
            raise UnknownNameError(f"there is no learner {name!r}; {among(name, LEARNERS)}")
        return LEARNERS[name]()
    if not hasattr(name, "fit"):
        raise P4FError(
            f"a learner is a name ({', '.join(LEARNERS)}), one of p4f.learners or a scikit-learn classifier, "
            f"not {type(name).__name__}"
        )
    learner = Reweighted(name)
    learner.check_options()
    return learner


def learner_json(learner: Learner | str) -> Any:
    """A learner as plain data: its name, or its name and options."""
    if isinstance(learner, str):
        return learner
    names = {kind: name for name, kind in LEARNERS.items()}
    if type(learner) not in names:
        raise P4FError(
            f"a model with the learner {type(learner).__name__} cannot be saved; it is not one of p4f.learners"
        )
    return {"name": names[type(learner)], **learner.get_params(deep=False)}


def learner_of_json(value: Any) -> Learner | str:
    """The inverse of :func:`learner_json`; ``ValueError`` for what a stranger made up."""
    if isinstance(value, str):
        require(value in LEARNERS, "its learner is unknown")
        return value
    require(isinstance(value, dict) and value.get("name") in LEARNERS, "its learner is unknown")
    kind = LEARNERS[value["name"]]
    options = {name: tuple(each) if isinstance(each, list) else each for name, each in value.items() if name != "name"}
    require(set(options) == set(kind().get_params(deep=False)), "the options of its learner are others")
    learner = kind(**options)
    learner.check_options()
    return learner
