"""What a fitted classifier says of rows: their fair label, what would be recorded, and who was distorted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.beliefs import Belief, Observation, fair_inputs
from problog4fairness.data import Floats, Rows
from problog4fairness.errors import P4FError
from problog4fairness.learners import Fitted, Task, row_losses

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a classifier says of rows.

    Attributes
    ----------
    fair
        P(fair label), ``[rows, classes]``.
    recorded
        P(recorded label), ``[rows, classes]``.
    distorted
        ``[rows]``: the probability that the recorded label is not the fair one, NaN where none was recorded; None
        where no label was passed.
    """

    fair: Floats
    recorded: Floats
    distorted: Floats | None


def _log_proba(fitted: Fitted, table: pd.DataFrame) -> Tensor:
    """What a learner says of each input, if it is a probability: numbers of a model from a stranger may overflow."""
    logs = fitted.log_proba(table)
    wrong = int(logs.isnan().any(1).sum())
    if wrong:
        raise P4FError(f"the model gives no probability for {wrong:,} of {len(logs):,} rows: its numbers overflow")
    return logs


def fair_proba(model: DebiasedClassifier, rows: Rows) -> Floats:
    """P(fair label), ``[rows, classes]``."""
    return predicted(model.belief_, model.fitted_, rows, predicts_from(model))


def predicted(belief: Belief, fitted: Fitted, rows: Rows, source: str) -> Floats:
    """P(fair label), ``[rows, classes]``, of new rows whose features are ``"fair"`` or ``"biased"``."""
    if source == "biased":
        return _restored(belief, fitted, rows)
    inputs = fair_inputs(rows)
    return _numpy(_log_proba(fitted, inputs.table).exp()[inputs.index[:, 0]])


def recorded_proba(model: DebiasedClassifier, rows: Rows) -> Floats:
    """P(recorded label), ``[rows, classes]``."""
    observation = model.belief_.observe(rows.without_record())
    return _numpy(observation.recorded_proba(_log_proba(model.fitted_, observation.table)))


def distortion_proba(model: DebiasedClassifier, rows: Rows) -> Floats:
    """P(fair != recorded | what was recorded), ``[rows]``."""
    observation = model.belief_.observe(rows)
    return distortion_of(observation, _log_proba(model.fitted_, observation.table), rows)


def explain(model: DebiasedClassifier, rows: Rows) -> Explanation:
    """All of the above; the learner is asked once where the features are not distorted."""
    observation = model.belief_.observe(rows)
    log_proba = _log_proba(model.fitted_, observation.table)
    if predicts_from(model) == "fair" and not model.belief_.features:
        fair = _numpy(log_proba.exp()[observation.inputs[:, 0]])
    else:
        fair = fair_proba(model, rows)
    distorted = None if rows.recorded is None else distortion_of(observation, log_proba, rows)
    return Explanation(fair, _numpy(observation.recorded_proba(log_proba)), distorted)


def feature_distortion_proba(model: DebiasedClassifier, rows: Rows) -> pd.DataFrame:
    """For each row and distorted feature P(fair value != recorded value)."""
    columns = model.belief_.feature_distortion(rows)
    if not columns:
        raise P4FError("the belief does not distort features")
    return pd.DataFrame(columns)


def mean_log_likelihood(model: DebiasedClassifier, rows: Rows, sample_weight: Any = None) -> float:
    """The mean of log P(recorded) over rows, through the belief; see :meth:`DebiasedClassifier.score`."""
    losses = row_losses(Task(model.belief_.observe(rows)), model.fitted_, torch.arange(len(rows)))
    return float(-np.average(losses.detach().numpy(), weights=sample_weight))


def predicts_from(model: DebiasedClassifier) -> str:
    """Whether the features of new rows are fair or biased."""
    return model.test_features or model.belief_.predicts_from


def _restored(belief: Belief, fitted: Fitted, rows: Rows) -> Floats:
    missing = [c for c in belief.sensitive_columns if belief.features and c not in rows.frame.columns]
    if missing:
        raise P4FError(f"predicting from biased features needs the column {missing[0]!r} in X")
    observation = belief.restore(rows.without_record())
    return _numpy(observation.fair_proba(_log_proba(fitted, observation.table)))


def distortion_of(observation: Observation, log_proba: Tensor, rows: Rows) -> Floats:
    """P(fair != recorded | what was recorded), ``[rows]``, for log-probabilities of the observation's inputs."""
    if rows.recorded is None:
        raise P4FError("recorded labels are needed to tell which of them were distorted; pass y")
    posterior = _numpy(observation.posterior(log_proba).fair)
    distorted: Floats = np.clip(1 - posterior[np.arange(len(rows)), rows.recorded], 0, 1)
    return np.where(rows.recorded < 0, np.nan, distorted)


def _numpy(values: Tensor) -> Floats:
    array: Floats = values.detach().numpy()
    return array
