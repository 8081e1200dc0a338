"""What a fitted classifier says of rows, also as columns: the fair label, what would be recorded, who was distorted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from problog4fairness.beliefs import Belief, Observation, fair_inputs, restore
from problog4fairness.data import Floats, RestartReading, Rows, listed, plain, plain_column, warn
from problog4fairness.errors import CellError, P4FError
from problog4fairness.learners import MISSING, Fitted, Task, row_losses
from problog4fairness.metrics import decide

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier


FAIR, RECORDED, DISTORTED = "fair_probability", "recorded_probability", "distorted_probability"
COLUMNS = (FAIR, "fair_label", RECORDED, DISTORTED)
# The favourable of two labels is decided for from this probability on.
DECIDED = 0.5


class UnusableLabelError(P4FError):
    """Recorded labels from which it cannot be told who was distorted."""


# What a column of yes and no with gaps is read as; in another file it may be without gaps, or be spelt otherwise.
_FLAGS = {"True", "False", MISSING}


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
        return _restored_proba(belief, fitted, rows)
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
    columns = restore(model.belief_, rows).feature_distortion()
    if not columns:
        raise P4FError("the belief does not distort features")
    return pd.DataFrame(columns)


def mean_log_likelihood(model: DebiasedClassifier, rows: Rows, sample_weight: Any = None) -> float:
    """The mean of log P(recorded) over rows, through the belief; see :meth:`DebiasedClassifier.score`."""
    losses = row_losses(Task(model.belief_.observe(rows)), model.fitted_, torch.arange(len(rows)))
    return float(-np.average(losses.detach().numpy(), weights=sample_weight))


def predicts_from(model: DebiasedClassifier) -> str:
    """Whether the features of new rows are fair or biased."""
    return model.test_features or model.belief_.kind.predicts_from


def _restored_proba(belief: Belief, fitted: Fitted, rows: Rows) -> Floats:
    missing = [c for c in belief.columns.sensitive if belief.features and c not in rows.frame.columns]
    if missing:
        raise P4FError(f"predicting from biased features needs the column {missing[0]!r} in X")
    observation = restore(belief, rows)
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


def text_columns(model: DebiasedClassifier, recorded: str | None = None) -> list[str]:
    """The columns of a table that are texts to a model, whatever a file has in them.

    ``recorded`` is the column of the recorded label; the name that training saw by default.
    """
    texts = [name for name, values in model.fitted_.categories.items() if not _FLAGS.issuperset(values)]
    groups = model.belief_.columns.groups.items()
    texts += [name for name, levels in groups if any(isinstance(level, str) for level in levels)]
    label = model.recorded_ if recorded is None else recorded
    if label is not None and all(isinstance(value, str) for value in model.classes_.tolist()):
        texts.append(label)
    return list(dict.fromkeys(texts))


def feature_frame(model: DebiasedClassifier, frame: pd.DataFrame) -> pd.DataFrame:
    """The features of a table, in the order of training; the error names those that are missing in one line."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise P4FError("the model was trained on an array without names; the columns of a table cannot be told apart")
    missing = [str(name) for name in names if name not in frame.columns]
    if missing:
        plural = "s" if len(missing) > 1 else ""
        raise P4FError(f"the table lacks the column{plural} {listed(missing)} that the model was trained on")
    return frame[list(names)]


def score_rows(
    model: DebiasedClassifier, frame: pd.DataFrame, *, recorded: str | None = None, threshold: float = 0.5
) -> pd.DataFrame:
    """The table with what a model says of each row.

    Parameters
    ----------
    model
        A trained model, with named features.
    frame
        Rows to score. Columns that the model does not know are kept.
    recorded
        The column of the recorded label, where the table has one; the name that training saw by default.
    threshold
        The fair label is the favourable one of two where its probability is at least this.

    Returns
    -------
    pandas.DataFrame
        The table and the columns ``fair_probability`` (that the fair label is the favourable one), ``fair_label``
        (with more than two classes the likeliest, and ``fair_probability_A`` for each class A);
        ``recorded_probability`` (that it is recorded so) where the sensitive columns are there; and
        ``distorted_probability`` (that the recorded label is not the fair one) where the label is there too. They are
        missing in rows without a group or without a label.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> from problog4fairness.estimators import score_rows
    >>> data = p4f.datasets.loans(rows=200, audited=1, new=5)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    >>> X, poor = data.loans[["income", "savings"]], data.loans["poor_area"]
    >>> model = model.fit(X, data.loans["granted"], sensitive_features=poor)
    >>> list(score_rows(model, data.loans).columns[-4:])
    ['fair_probability', 'fair_label', 'recorded_probability', 'distorted_probability']
    """
    scorer = Scorer(model, recorded=recorded, threshold=threshold)
    while True:
        with suppress(RestartReading):
            (scored,) = scorer.through([frame])
            return scored


class Scorer:
    """:func:`score_rows` for a table that comes piece by piece.

    Parameters
    ----------
    model, recorded, threshold
        As for :func:`score_rows`.
    digits
        Decimals of the probabilities, for a table that people read; None for all. Labels follow from all of them.

    Attributes
    ----------
    rows, favourable
        How many rows were scored, and how many of them have the favourable fair label.
    added
        The columns that were added.
    """

    def __init__(
        self,
        model: DebiasedClassifier,
        *,
        recorded: str | None = None,
        threshold: float = 0.5,
        digits: int | None = None,
    ) -> None:
        if len(model.classes_) != 2 and threshold != DECIDED:
            raise P4FError(
                f"threshold={threshold:g} is for two labels; of {len(model.classes_)} the likeliest is taken"
            )
        self._model, self._threshold, self._digits = model, threshold, digits
        self._recorded = model.recorded_ if recorded is None else recorded
        self.rows = self.favourable = 0
        self.added: list[str] = []

    def through(self, frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """The pieces with what the model says of each row.

        Where a piece shows that the recorded labels of the table cannot be used, :class:`RestartReading` asks for all
        pieces from the beginning; then all are scored without them.
        """
        self.rows = self.favourable = 0
        useful = False
        for frame in frames:
            scores = self._scores(frame)
            self.added = list(scores)
            useful |= DISTORTED in scores and bool(np.isfinite(scores[DISTORTED]).any())
            self.rows += len(frame)
            self.favourable += int((scores["fair_label"] == self._model.classes_[-1]).sum())
            # In one piece: a wide table with column after column added is slow to work with.
            yield pd.concat([frame, pd.DataFrame(scores, index=frame.index)], axis=1)
        if DISTORTED in self.added and not useful:
            self._recorded = None
            raise RestartReading

    def _scores(self, frame: pd.DataFrame) -> dict[str, Any]:
        features = feature_frame(self._model, frame)
        # By the columns that are there, so that all pieces of a table get the same ones.
        names = [name for name in COLUMNS if self._can_add(name, frame)]
        columns = {each: np.full(len(frame), np.nan) for name in names for each in _column_names(self._model, name)}
        taken = [name for name in columns if name in frame.columns]
        if taken:
            raise P4FError(f"the table already has the column {taken[0]!r}; drop or rename it")
        for rows, with_groups, with_label in self._by_knowledge(frame, names):
            try:
                part = (features, frame) if rows.all() else (features[rows], frame[rows])
                label = part[1][self._recorded] if with_label else None
                scores = _scores(self._model, *part, label, with_groups=with_groups)
            except CellError as error:
                raise error.at(self.rows + int(np.flatnonzero(rows)[error.row])) from None
            except UnusableLabelError as error:
                warn(f"no {DISTORTED}: {error}")
                self._recorded = None
                raise RestartReading from None
            for name, values in scores.items():
                columns[name][rows] = values
        chances = [columns[name] for name in _column_names(self._model, FAIR)]
        chosen = decide(np.column_stack(chances) if len(chances) > 1 else chances[0], self._threshold)
        if self._digits is not None:
            columns = {name: values.round(self._digits) for name, values in columns.items()}
        return columns | {"fair_label": np.asarray(self._model.classes_)[chosen]}

    def _can_add(self, name: str, frame: pd.DataFrame) -> bool:
        """Whether a column can be added to a table."""
        belief = self._model.belief_
        needed = (*belief.columns.context, *belief.features) if name.startswith(("recorded", "distorted")) else ()
        present = all(column in frame.columns for column in needed)
        return present and (name != DISTORTED or (belief.record.copied and self._recorded in frame.columns))

    def _by_knowledge(self, frame: pd.DataFrame, names: Sequence[str]) -> Iterator[tuple[Any, bool, bool]]:
        """Rows that are scored together, whether their groups are known, and whether their labels are."""
        known, labelled = (np.zeros(len(frame), dtype=bool) for _ in range(2))
        if RECORDED in names:
            known = frame[list(self._model.belief_.columns.context)].notna().all(axis=1).to_numpy()
        if DISTORTED in names:
            labelled = known & frame[self._recorded].notna().to_numpy()
        for rows, *what in ((labelled, True, True), (known & ~labelled, True, False), (~known, False, False)):
            if rows.any():
                yield rows, what[0], what[1]


def _scores(
    model: DebiasedClassifier, features: pd.DataFrame, frame: pd.DataFrame, label: Any, *, with_groups: bool
) -> dict[str, Any]:
    """What a model says of some rows, for which all or none of group and label are known."""
    if not with_groups:
        return _by_class(model, FAIR, model.predict_proba(features))
    # With whole numbers as such: missing values make them floats.
    columns = {name: plain_column(frame[name]) for name in model.belief_.columns.context}
    groups = pd.DataFrame(columns).infer_objects() if columns else None
    values = None if label is None else plain_column(label).infer_objects().to_numpy()
    try:
        explanation = model.explain(features, values, sensitive_features=groups)
    except CellError:
        raise
    except P4FError as error:
        if values is None:
            raise
        # Where it is not the labels, the error comes again without them.
        raise UnusableLabelError(str(error)) from None
    scores = _by_class(model, FAIR, explanation.fair) | _by_class(model, RECORDED, explanation.recorded)
    return scores if explanation.distorted is None else scores | {DISTORTED: explanation.distorted}


def _column_names(model: DebiasedClassifier, name: str) -> list[str]:
    """The columns that are written for one of :data:`COLUMNS`: probabilities of many classes have one each."""
    if len(model.classes_) == 2 or name not in (FAIR, RECORDED):
        return [name]
    return [f"{name}_{plain(value)}" for value in model.classes_.tolist()]


def _by_class(model: DebiasedClassifier, name: str, chances: Floats) -> dict[str, Floats]:
    """Probabilities ``[rows, classes]`` as columns: that of the favourable label, or of many classes all."""
    names = _column_names(model, name)
    return dict(zip(names, chances.T[-len(names) :], strict=True))
