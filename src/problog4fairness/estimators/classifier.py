"""A classifier of the fair label, trained on recorded data through a belief."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from problog4fairness.beliefs import Belief
from problog4fairness.errors import P4FError
from problog4fairness.estimators import fitting
from problog4fairness.estimators import prediction as explaining
from problog4fairness.estimators.calibration import OutOfFold, fit_calibrated
from problog4fairness.estimators.diagnostics import training_warnings, warn_of
from problog4fairness.estimators.distributed import by_partition, fit_spread, is_spread
from problog4fairness.estimators.group_use import UseSensitive, tell_group_use
from problog4fairness.estimators.prediction import Explanation
from problog4fairness.estimators.refits import draw, draws_of
from problog4fairness.learners import Learner, named_learner
from problog4fairness.metrics import decide
from problog4fairness.program import Program

if TYPE_CHECKING:
    from problog4fairness.robustness import Bounds, Uncertainty

Array = np.ndarray[Any, np.dtype[Any]]


class DebiasedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the *fair* label, after training on recorded data that are biased.

    Parameters
    ----------
    belief
        How the recorded data came from the fair data: a template such as :class:`~problog4fairness.LabelBias`, a
        :class:`~problog4fairness.Program` or its text; None for an ordinary classifier of the recorded label.
    learner
        What learns the fair label: ``"network"``, ``"linear"``, ``"boosted"``, a learner with options such as
        ``p4f.learners.Network(hidden=(64, 64))``, or any scikit-learn classifier with ``predict_proba``. ``"auto"``
        takes the one that held-out recorded rows suit best, each time that it is fitted, and costs about five times as
        much as a network.
    sensitive
        Names of sensitive columns of X, where they are neither passed as ``sensitive_features`` nor named by the
        belief.
    use_sensitive
        Whether the learner sees the sensitive columns of X: False for a group-free model, the paper's setting, in which
        people with the same other features have the same fair label; True for one that uses the group. ``"auto"``
        lets 50 or more audited rows choose by the held-out likelihood of their fair labels, and is group-free without
        them; a note says which.
    test_features
        Whether the features at prediction time are ``"fair"``, so that the belief is dropped, or ``"biased"`` like
        the recorded ones, so that it is applied; None for what the belief says: biased under historical bias.
    favourable
        The label that counts as 1, where the belief does not state it. Labels 0 and 1, false and true speak for
        themselves, unless the name of y says that 1 is bad, as ``default`` does; any others have to be stated. Without
        a belief no label is favourable, and they are sorted as in scikit-learn.
    class_weight
        None, ``"balanced"``, or a dictionary from label to weight.
    random_state, verbose
        Seed, and whether to show a progress bar on a terminal.

    Attributes
    ----------
    classes_, belief_, columns_
        The labels, the belief as an object, and the columns that the learner reads.
    fitted_, history_
        What the learner learned, a :class:`~problog4fairness.learners.Fitted`, and its losses in training.
    group_use_
        Whether sensitive columns are among those read, and what decided; ``str(model.group_use_)`` is one sentence.
    recorded_, audited_
        The name of the recorded label, where y had one, and how many rows had a fair label to learn from.
    out_of_fold_
        What classifiers that were fitted without them predict of audited rows; reports judge the model by them.
    draws_, uncertainty_
        The fits through posterior draws of the belief, where ``fit`` was asked for them, and what came of them for the
        training rows: :attr:`Uncertainty.table`, which is saved with the model.
    training_warnings_
        What speaks against the model, a sentence each: it stopped too early, it says the same of every row, audited
        rows disagree. Each is a :class:`~problog4fairness.errors.LearningWarning`, too.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=400, audited=50, new=5)
    >>> features = list(data.features)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    >>> model = model.fit(data.loans[features], data.loans["granted"], sensitive_features=data.loans["poor_area"])
    >>> model.predict_proba(data.new[features]).shape  # P(fair label)
    (5, 2)
    >>> chance = model.distortion_proba(
    ...     data.loans[features], data.loans["granted"], sensitive_features=data.loans["poor_area"]
    ... )
    >>> bool((chance[data.loans["granted"] == 1] == 0).all())  # under this belief nobody was granted a loan wrongly
    True
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True, "fair": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    def __init__(
        self,
        belief: Belief | Program | str | None = None,
        learner: Learner | str = "auto",
        *,
        sensitive: str | list[str] | None = None,
        use_sensitive: UseSensitive = "auto",
        test_features: Literal["fair", "biased"] | None = None,
        favourable: Any = None,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.belief = belief
        self.learner = learner
        self.sensitive = sensitive
        self.use_sensitive = use_sensitive
        self.test_features = test_features
        self.favourable = favourable
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        fair: Any = None,
        sample_weight: Any = None,
        draws: int | None = None,
    ) -> Self:
        """Train on recorded data.

        Parameters
        ----------
        X
            Recorded features: an array or a data frame, with numbers and categories; a Dask data frame, whose rows
            may be spread over a cluster, for ``learner="boosted"``.
        y
            Recorded labels. Under :class:`~problog4fairness.SelectiveLabels` they may be missing; under
            :class:`~problog4fairness.Annotators` there is a column for each annotator.
        sensitive_features
            The sensitive variable: an array, a series or a frame; not needed where X has the columns. A frame may also
            have what else the belief reads, such as who decided.
        fair
            The fair label of rows that were audited, missing (None or NaN) elsewhere. They are learned from, they
            choose the penalty of a linear model, and 50 or more of them calibrate the fair probabilities where that
            helps out of fold (the learner is fitted five times more for it; quickly, from 2,000 rows on).
        sample_weight
            A weight for each row.
        draws
            Fit this many times more, through posterior draws of the belief, for :meth:`uncertainty` of anybody; 50 is
            usual. None for one fit only.
        """
        self.draws_, self.uncertainty_, self.out_of_fold_ = None, None, None
        if is_spread(X):
            if draws is not None:
                raise P4FError("draws are not made on a cluster; fit without, then ask uncertainty(X, y) of some rows")
            return self._fit_spread(X, y, sensitive_features, fair, sample_weight)
        learner = named_learner(self.learner)
        rows = fitting.rows_to_fit(self, X, y, sensitive_features, fair, sample_weight)
        rows = fitting.with_group_use(self, rows, learner, None if self.verbose else False)
        tell_group_use(self.group_use_, stacklevel=2)
        task = fitting.task(self, rows)
        calibrated = fit_calibrated(self.belief_, rows, task, learner, None if self.verbose else False)
        fitting.note_fit(self, calibrated.fitted)
        self.audited_ = int((rows.fair >= 0).sum()) if rows.fair is not None else 0
        self.out_of_fold_ = OutOfFold.of(rows, calibrated.held_out)
        self.training_warnings_ = training_warnings(self, rows, task.observation, calibrated.held_out)
        if draws is not None:
            self.draws_ = draw(self, rows, draws, self.seed_, None if self.verbose else False)
            from problog4fairness.robustness import not_learned, uncertainty_of

            self.uncertainty_ = uncertainty_of(self, not_learned(self, rows), self.draws_, refitted=True).table
        warn_of(self.training_warnings_, stacklevel=2)
        return self

    def _fit_spread(self, X: Any, y: Any, sensitive_features: Any, fair: Any, sample_weight: Any) -> Self:
        fitted, rows = fit_spread(self, X, y, sensitive_features, fair, sample_weight)
        fitting.note_fit(self, fitted)
        self.training_warnings_ = training_warnings(self, rows, self.belief_.observe(rows))
        warn_of(self.training_warnings_, stacklevel=3)
        return self

    def predict_proba(self, X: Any) -> Array:
        """P(fair label), ``[rows, classes]``; under biased test features, the belief is applied to them.

        A Dask array where X is a Dask data frame.
        """
        if is_spread(X):
            return by_partition(self.predict_proba, X, np.zeros((1, len(self.classes_))))
        return explaining.fair_proba(self, fitting.new_rows(self, X))

    def predict(self, X: Any) -> Array:
        """The more likely fair label."""
        if is_spread(X):
            return by_partition(self.predict, X, self.classes_)
        decisions = decide(self.predict_proba(X))
        return np.asarray(self.classes_[decisions])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> float:
        """The mean log-likelihood of *recorded* labels through the belief; more is better, and 0 is the most.

        It compares models, learners and parameters of a belief without rewarding those that repeat the bias, as
        accuracy on recorded labels does. :func:`~problog4fairness.metrics.make_fair_scorer` scores on audited fair
        labels. Without a belief it is minus the log loss.

        Parameters
        ----------
        X, y, sensitive_features
            Recorded data, as for :meth:`fit`; the likelihood of a recorded label depends on the group.
        sample_weight
            A weight for each row.
        """
        return explaining.mean_log_likelihood(self, fitting.new_rows(self, X, sensitive_features, y), sample_weight)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """As in scikit-learn; ``deep``, also the belief's parameters, ``belief__p1``, which may be searched."""
        params: dict[str, Any] = super().get_params(deep)
        if deep and isinstance(self.belief, Belief):
            params |= {f"belief__{parameter.name}": parameter.value for parameter in self.belief.parameters}
        return params

    def set_params(self, **params: Any) -> Self:
        """As in scikit-learn; ``belief__p1=0.3`` gives the belief that value of its parameter p1."""
        values = {name.partition("__")[2]: params.pop(name) for name in list(params) if name.startswith("belief__")}
        super().set_params(**params)
        if values:
            if not isinstance(self.belief, Belief):
                raise P4FError(f"belief__{next(iter(values))} is a parameter of a belief; there is none")
            self.belief = self.belief.bind(values)
        return self

    def predict_recorded_proba(self, X: Any, *, sensitive_features: Any = None) -> Array:
        """P(recorded label), ``[rows, classes]``: what the biased process would record for these rows."""
        return explaining.recorded_proba(self, fitting.new_rows(self, X, sensitive_features))

    def distortion_proba(self, X: Any, y: Any, *, sensitive_features: Any = None) -> Array:
        """For each row the probability that its recorded label was distorted: that the fair label is another one.

        P(fair != recorded | recorded, x, A) = 1 - P(fair = recorded | recorded, x, A), from the belief's posterior.
        NaN where what was recorded has probability 0.
        """
        return explaining.distortion_proba(self, fitting.new_rows(self, X, sensitive_features, y))

    def explain(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Explanation:
        """All of the above at once, with the learner asked once: fair, recorded and distortion probabilities."""
        return explaining.explain(self, fitting.new_rows(self, X, sensitive_features, y))

    def uncertainty(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        fair: Any = None,
        draws: int = 50,
        threshold: float = 0.5,
        confidence: float = 0.95,
        random_state: Any = 0,
        progress: bool | None = None,
    ) -> Uncertainty:
        """Posterior intervals of what the model says: of every person, of the disparity and of the rates.

        Each draw takes the parameters from their posterior given the audit (:meth:`Belief.draws`) and the weights of
        the rows from the Bayesian bootstrap, and fits the learner again (quickly: see
        :mod:`problog4fairness.learners.refit`). Intervals are quantiles over the draws. Those of disparity, rates and
        accuracy are about the people that these rows are drawn from, not about these rows alone. That the belief
        itself is right is taken for granted, and so are the form of the learner and a calibration by audited rows.

        Parameters
        ----------
        X, sensitive_features
            The people; without the sensitive variable there are no groups.
        y
            Recorded labels to fit again on, such as those of training; not needed after ``fit(..., draws=50)``.
        fair
            Fair labels, missing where nobody looked, for the accuracy. With ``y``, they are learned from as well where
            the model has learned from some; its accuracy on them is then too good.
        draws, random_state
            How many draws, where ``y`` is passed, and their seed.
        threshold
            A fair label is favourable from this probability on. A decision is *stable* where the person's interval is
            on one side of it and a learner of another form, fitted once, decides alike; otherwise *uncertain*.
        confidence, progress
            Of the intervals; and whether to show a progress bar, by default where standard error is a terminal.
        """
        check_is_fitted(self)
        if y is not None:
            # What the model did not learn from is not learned from now.
            rows = fitting.recorded_rows(self, X, y, sensitive_features, fair if self.audited_ else None)
            refits = draw(self, rows, draws, random_state, progress)
        else:
            rows, refits = fitting.new_rows(self, X, sensitive_features), draws_of(self)
        from problog4fairness.robustness import not_learned, uncertainty_of

        rows = not_learned(self, fitting.with_known(rows, fair))
        options = {"threshold": threshold, "confidence": confidence, "random_state": random_state}
        return uncertainty_of(self, rows, refits, refitted=y is not None, index=getattr(X, "index", None), **options)

    def bounds(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        fair: Any = None,
        box: Mapping[str, tuple[float, float]] | None = None,
        beliefs: Sequence[Belief] | None = None,
        by: str | None = None,
        progress: bool | None = None,
    ) -> Bounds:
        """The disparity over *all* beliefs in a set, and for each parameter the value at which the gap would close.

        The disparity is the difference of selection rates. The learner is fitted again for each belief that is looked
        at. A box is searched from several starts, at its ends and inside; beliefs in it by which recorded labels say
        almost nothing about fair ones are left out.

        Parameters
        ----------
        X, y, sensitive_features, fair
            Recorded data, such as those that it was trained on, with fair labels where it has learned from some.
        box
            Between which values parameters may be, ``{"p1": (0.2, 0.6)}``; those not named stay as they are. By default
            the interval of each parameter that has one.
        beliefs
            Several beliefs instead of a box.
        by
            The sensitive column, where there are several.
        progress
            Whether to show a progress bar; by default only where standard error is a terminal.
        """
        from problog4fairness.robustness import bounds_of

        check_is_fitted(self)
        rows = fitting.recorded_rows(self, X, y, sensitive_features, fair if self.audited_ else None)
        return bounds_of(self, rows, box=box, beliefs=beliefs, by=by, progress=progress)

    def feature_distortion_proba(self, X: Any, *, sensitive_features: Any = None) -> pd.DataFrame:
        """For each row and distorted feature the probability that the fair value differs from the recorded one."""
        return explaining.feature_distortion_proba(self, fitting.new_rows(self, X, sensitive_features))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file of numbers and names: the program, a JSON manifest, weights as safetensors.

        Equal trainings give equal bytes: with the same data, options and integer ``random_state``, on the same kind of
        machine, with the same versions of the packages and the same number of threads (``torch.get_num_threads()``).
        With another number of threads sums are taken in another order, and weights may differ in their last digits.
        """
        from problog4fairness.estimators.model_file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote; a changed or foreign file gets an error.

        A model file holds numbers and names only. Reading one from a stranger runs nothing of theirs, opens no other
        file, and takes little more memory than the file has bytes.
        """
        from problog4fairness.estimators.model_file import load

        return load(cls, path)

    def to_onnx(self, path: str | PathLike[str]) -> None:
        """Write the classifier as ONNX: fair probabilities from encoded columns. Needs the extra ``onnx``."""
        from problog4fairness.estimators.onnx_export import to_onnx

        to_onnx(self, path)
