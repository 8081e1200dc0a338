"""A classifier of the fair label, trained on recorded data through a mechanism."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state, compute_class_weight
from sklearn.utils.validation import _check_sample_weight
from torch import Tensor

from problog4fairness.classifier.columns import CHUNK, NUMBERS, encode, make_encoder, prepared, sensitive_frame
from problog4fairness.classifier.reading import codes_among, label_codes, read_new, read_training
from problog4fairness.classifier.view import Inputs, check_groups, feature_codes, groups_of, inputs_of
from problog4fairness.errors import P4FError
from problog4fairness.learners import MLP, Fit, Job, Likelihood, Settings, fit_many
from problog4fairness.learners.mixture import Kinds, Mixture, fair_log_probability, row_kinds
from problog4fairness.learners.through_program import ProgramView
from problog4fairness.mechanisms import HistoricalBias, Mechanism
from problog4fairness.mechanisms.custom import ProgramMechanism
from problog4fairness.mechanisms.signal import warn_opposite
from problog4fairness.program.program import Program

if TYPE_CHECKING:
    from problog4fairness.classifier.sensitivity import Sensitivity

Array = np.ndarray[Any, np.dtype[Any]]


class DebiasedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the *fair* label, after training on recorded data that a mechanism distorted.

    Parameters
    ----------
    mechanism
        How the recorded data came from the fair data: a template such as :class:`~problog4fairness.LabelBias`, a
        :class:`~problog4fairness.Program` or its text; None for an ordinary network.
    sensitive
        Names of sensitive columns of X, where they are not passed as ``sensitive_features``. Those that the mechanism
        names are found in X without this.
    independent
        Whether the fair label is independent of the sensitive variable, the paper's default. Then sensitive columns
        are left out of the network's input; otherwise they are kept.
    test_features
        Whether the features at prediction time are ``"fair"``, so that the mechanism is dropped, or ``"biased"`` like
        the recorded ones, so that it is applied; None for fair, and biased under historical bias.
    favourable
        The label that counts as 1; by default the one that the mechanism knows, otherwise the larger of the two.
    hidden, dropout, learning_rate, weight_decay, batch_size, max_epochs, patience, validation, loss, gamma
        The network and its training; see :class:`~problog4fairness.learners.Settings`.
    class_weight
        None, ``"balanced"``, or a dictionary from label to weight.
    random_state
        Seed.
    verbose
        Whether to show a progress bar; only on a terminal.

    Attributes
    ----------
    classes_
        The labels.
    network_
        The trained network: logits of the fair label from encoded features.
    encoder_
        From columns to the network's input.
    history_
        Training and validation loss of every epoch.
    recorded_
        The name of the recorded label, where y had one.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"sensitive_features": True}

    def __init__(
        self,
        mechanism: Mechanism | Program | str | None = None,
        *,
        sensitive: str | list[str] | None = None,
        independent: bool = True,
        test_features: Literal["fair", "biased"] | None = None,
        favourable: Any = None,
        hidden: tuple[int, ...] = (32, 32, 32),
        dropout: float = 0.0,
        learning_rate: float = 3e-4,
        weight_decay: float = 0.01,
        batch_size: int = 64,
        max_epochs: int = 200,
        patience: int = 20,
        validation: float = 0.1,
        loss: Literal["cross_entropy", "focal"] = "cross_entropy",
        gamma: float = 2.0,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.mechanism = mechanism
        self.sensitive = sensitive
        self.independent = independent
        self.test_features = test_features
        self.favourable = favourable
        self.hidden = hidden
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation = validation
        self.loss = loss
        self.gamma = gamma
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Train on recorded data.

        Parameters
        ----------
        X
            Recorded features: an array or a data frame, with numbers and categories.
        y
            Recorded labels.
        sensitive_features
            The sensitive variable: an array, a series or a frame; not needed where X has the columns.
        sample_weight
            A weight for each row.
        """
        settings = self._settings()
        if self.test_features not in (None, "fair", "biased"):
            raise P4FError(f"test_features must be 'fair', 'biased' or None, not {self.test_features!r}")
        name = getattr(y, "name", None)
        self.recorded_ = str(name) if name is not None and name != "" else None
        job = self._job(X, y, sensitive_features, sample_weight)
        self._take(fit_many([job], settings, progress=None if self.verbose else False)[0])
        return self

    def _job(self, X: Any, y: Any, sensitive_features: Any = None, sample_weight: Any = None) -> Job:
        """The first half of a fit: everything but the network."""
        frame, y = read_training(self, X, y)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, frame, dtype=np.float64)
        self.mechanism_ = _as_mechanism(self.mechanism)
        self.classes_, recorded = label_codes(y, self._favourable(y))
        expected = getattr(self.mechanism_, "class_count", None)
        if expected not in (None, len(self.classes_)):
            raise P4FError(
                f"the mechanism is for {expected} classes, y has {len(self.classes_)}: {list(self.classes_)}"
            )
        known = self._with_sensitive(frame, sensitive_features)
        acting = self._training_mechanism()
        if acting is not None:
            warn_opposite(acting, known, stacklevel=3)
        self.columns_ = self._network_columns(frame)
        self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        inputs = inputs_of(acting, known, self.columns_)
        self.encoder_, matrix = self._encoded(inputs.frame)
        return Job(
            inputs=matrix,
            likelihood=self._likelihood(known, recorded, inputs),
            seed=self.seed_,
            weights=self._row_weights(recorded, weights),
        )

    def _favourable(self, y: Array) -> Any:
        """The label that counts as 1, where somebody said so."""
        if self.mechanism_ is None or self.mechanism_.favourable is None:
            return self.favourable
        return self.mechanism_.favourable_among(np.unique(y).tolist(), self.favourable)

    def _encoded(self, frame: pd.DataFrame) -> tuple[Any, Tensor]:
        """An encoder fitted on the network's inputs, and these inputs."""
        encoder = make_encoder(prepared(frame))
        return encoder, torch.from_numpy(encode(encoder, frame))

    def _take(self, fit: Fit[MLP]) -> None:
        """The second half of a fit: the network."""
        self.network_ = fit.network
        self.n_iter_ = fit.epochs
        self.history_ = {"training": list(fit.train_loss), "validation": list(fit.validation_loss)}

    def predict_proba(self, X: Any) -> Array:
        """P(fair label), ``[rows, classes]``; under biased test features, the mechanism is applied to them."""
        return np.exp(self._fair_logs(self._known(X)))

    def predict(self, X: Any) -> Array:
        """The more likely fair label."""
        best = self._fair_logs(self._known(X)).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_recorded_proba(self, X: Any, *, sensitive_features: Any = None) -> Array:
        """P(recorded label), ``[rows, classes]``: what the biased process would record for these rows."""
        known = self._known(X, sensitive_features)
        if isinstance(self.mechanism_, ProgramMechanism):
            return np.exp(self._program_logs(self.mechanism_, known))
        fair = np.exp(self._fair_logs(known, apply=self._training_mechanism() is not None))
        return np.asarray(np.einsum("nf,nfr->nr", fair, self._row_tables(known)))

    def distortion_proba(self, X: Any, y: Any, *, sensitive_features: Any = None) -> Array:
        """For each row the probability that its recorded label was distorted: that the fair label is another one.

        P(fair != recorded | recorded, x, A) = 1 - T_A[y, y] h_y(x) / P(recorded = y | x, A)

        A program of one's own must ask the classifier about the row itself and nothing else, ``h(x)``, and have a
        binary label and no evidence.
        """
        known = self._known(X, sensitive_features)
        recorded = codes_among(self.classes_, y, len(known))
        if isinstance(self.mechanism_, ProgramMechanism):
            return self._program_distortion(self.mechanism_, known, recorded)
        fair = np.exp(self._fair_logs(known, apply=self._training_mechanism() is not None))
        table = self._row_tables(known)
        rows = np.arange(len(known))
        seen = np.einsum("nf,nf->n", fair, table[rows, :, recorded])
        kept = table[rows, recorded, recorded] * fair[rows, recorded]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(seen > 0, np.clip(1 - kept / seen, 0, 1), np.nan)

    def feature_distortion_proba(self, X: Any, *, sensitive_features: Any = None) -> pd.DataFrame:
        """For each row and distorted feature the probability that the fair value differs from the recorded one."""
        known = self._known(X, sensitive_features)
        mechanism = self.mechanism_
        if mechanism is None or not mechanism.feature_values():
            raise P4FError("the mechanism does not distort features")
        groups = groups_of(mechanism, known)
        codes = feature_codes(mechanism, known)
        rows = np.arange(len(known))
        tables = mechanism.feature_tables(groups.levels).items()
        return pd.DataFrame(
            {name: 1 - groups.mean(table.numpy())[rows, codes[name], codes[name]] for name, table in tables}
        )

    def sensitivity(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        audit: tuple[Any, ...] | None = None,
        values: int = 7,
        beyond: float = 0.15,
        seeds: int = 1,
        parameters: Sequence[str] | None = None,
        progress: bool | None = None,
    ) -> Sensitivity:
        """What if a parameter of the mechanism is wrong: how accuracy, disparity and decisions move with each of them.

        Each parameter is varied over its interval and beyond while the others keep their values, and the classifier is
        fitted again for every value: all fits in one stack, ``1 + parameters × (values - 1)`` networks for each seed,
        400 at most. For 5,000 rows and four parameters that takes about twice as long as :meth:`fit`. Programs of
        one's own are fitted one after another. Historical bias without a label part acts on predictions only, so
        nothing is fitted.

        Parameters
        ----------
        X, y, sensitive_features
            Recorded data to train with, and to predict for: those of :meth:`fit`.
        audit
            Rows whose fair label is known, ``(X, fair labels)`` or ``(X, fair labels, sensitive features)``, to measure
            accuracy with.
        values
            For each parameter: its own value, the ends of its interval, and the rest beyond on both sides.
        beyond
            How far beyond the interval, or beyond a value that was stated. Values stay between 0 and 1, and where
            recorded labels still say something about fair ones (1 - negative - positive of at least 0.05); where that
            cuts an interval, ``notes`` of the result says so.
        seeds
            Networks for each value.
        parameters
            Names of those to vary; all by default.
        progress
            Whether to show a progress bar; by default only where standard error is a terminal.

        Returns
        -------
        Sensitivity
            ``.frame``, ``.base``, ``.spans`` and ``.plot()``. The metrics are ``disparity`` of the fair probabilities
            that are predicted for X (for several sensitive variables, one each), ``accuracy`` on audited rows, and
            ``changed``, the share of decisions for X that differ from those at the parameters' own values.
        """
        from problog4fairness.classifier.sensitivity import sensitivity

        return sensitivity(
            self,
            X,
            y,
            sensitive_features=sensitive_features,
            audit=audit,
            values=values,
            beyond=beyond,
            seeds=seeds,
            parameters=parameters,
            progress=progress,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file of numbers and names: the program, a JSON manifest, weights as safetensors.

        Equal trainings give equal bytes: with the same data, options and integer ``random_state``, on the same kind of
        machine, with the same versions of the packages and the same number of threads (``torch.get_num_threads()``).
        With another number of threads sums are taken in another order, and weights may differ in their last digits.
        """
        from problog4fairness.classifier.saving import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote; a changed or foreign file gets an error.

        A model file holds numbers and names only. Reading one from a stranger runs nothing of theirs, opens no other
        file, and takes little more memory than the file has bytes.
        """
        from problog4fairness.classifier.saving import load

        return load(cls, path)

    def to_onnx(self, path: str | PathLike[str]) -> None:
        """Write the network as ONNX: fair probabilities from what ``encoder_`` gives. Needs the extra ``onnx``."""
        from problog4fairness.classifier.onnx_file import to_onnx

        to_onnx(self, path)

    def _settings(self) -> Settings:
        names = ("dropout", "learning_rate", "weight_decay", "batch_size", "max_epochs", "patience", "validation")
        return Settings(
            hidden=self.hidden, loss=self.loss, gamma=self.gamma, **{name: getattr(self, name) for name in names}
        )

    def _known(self, X: Any, sensitive_features: Any = None) -> pd.DataFrame:
        frame = read_new(self, X)
        self.encoder_.check(frame)
        return self._join(frame, sensitive_features)

    def _with_sensitive(self, frame: pd.DataFrame, sensitive_features: Any) -> pd.DataFrame:
        known = self._join(frame, sensitive_features)
        if self.mechanism_ is not None:
            self.mechanism_.require_rates()
            for column in (*self.mechanism_.sensitive_columns, *self.mechanism_.features):
                if column not in known.columns:
                    there = ", ".join(map(str, known.columns))
                    raise P4FError(
                        f"the mechanism needs the column {column!r}; there are {there}, or pass sensitive_features"
                    )
            check_groups(self.mechanism_, known)
        return known

    def _join(self, frame: pd.DataFrame, sensitive_features: Any) -> pd.DataFrame:
        if sensitive_features is None or self.mechanism_ is None:
            return frame
        beside = sensitive_frame(sensitive_features, self.mechanism_.sensitive_columns, len(frame))
        return pd.concat([frame.drop(columns=[c for c in beside.columns if c in frame.columns]), beside], axis=1)

    def _network_columns(self, frame: pd.DataFrame) -> list[str]:
        named = _names(self.sensitive)
        sensitive = {*named, *(self.mechanism_.sensitive_columns if self.mechanism_ else ())}
        unknown = [name for name in named if name not in frame.columns]
        if unknown:
            raise P4FError(f"no column {unknown[0]!r} for sensitive; there are {', '.join(map(str, frame.columns))}")
        columns = [name for name in frame.columns if not (self.independent and name in sensitive)]
        if not columns:
            raise P4FError("no column is left for the network; with independent=True sensitive columns are left out")
        return columns

    def _training_mechanism(self) -> Mechanism | None:
        """The mechanism that acts while training: under historical bias without a label part, none."""
        mechanism = self.mechanism_
        if isinstance(mechanism, HistoricalBias) and mechanism.label is None:
            return None
        return mechanism

    def _label_table(self, groups: Array) -> Array:
        """P(recorded label | fair label) in some combinations of groups; the identity where labels are as they were."""
        mechanism = self._training_mechanism()
        table = None if mechanism is None else mechanism.label_table(groups)
        if table is None:
            size = len(self.classes_)
            return np.broadcast_to(np.eye(size), (len(groups), size, size))
        return table.numpy()

    def _row_tables(self, known: pd.DataFrame) -> Array:
        """The same for each row, ``[rows, fair, recorded]``."""
        groups = groups_of(self.mechanism_, known)
        return groups.mean(self._label_table(groups.levels))

    def _likelihood(self, known: pd.DataFrame, recorded: Array, inputs: Inputs) -> Likelihood:
        mechanism = self._training_mechanism()
        outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        if isinstance(mechanism, ProgramMechanism):
            return ProgramView(mechanism, known, inputs.needed()).likelihood(recorded, outputs)
        kinds, codes = self._kinds(mechanism, known, recorded)
        return Mixture(kinds, codes, inputs.index, outputs)

    def _kinds(self, mechanism: Mechanism | None, known: pd.DataFrame, recorded: Array | None) -> tuple[Kinds, Tensor]:
        features, label = [], None
        groups = groups_of(mechanism, known)
        if mechanism is not None:
            values = feature_codes(mechanism, known)
            features = [(values[name], table) for name, table in mechanism.feature_tables(groups.levels).items()]
            label = mechanism.label_table(groups.levels) if recorded is not None else None
        if label is None and recorded is not None:
            size = len(self.classes_)
            label = torch.eye(size).double().expand(len(groups.levels), size, size)
        return row_kinds(groups.rows, recorded, label, features)

    def _fair_logs(self, known: pd.DataFrame, apply: bool | None = None) -> Array:
        """log P(fair label); ``apply`` says whether the mechanism takes recorded features to fair ones first."""
        if apply is None:
            biased = self.test_features or ("biased" if isinstance(self.mechanism_, HistoricalBias) else "fair")
            apply = biased == "biased"
            if apply and isinstance(self.mechanism_, ProgramMechanism):
                return self._program_logs(self.mechanism_, known)
        mechanism = (
            self.mechanism_ if apply and self.mechanism_ is not None and self.mechanism_.feature_values() else None
        )
        if mechanism is not None:
            missing = [c for c in mechanism.sensitive_columns if c not in known.columns]
            if missing:
                raise P4FError(f"predicting from biased features needs the column {missing[0]!r} in X")
        inputs = inputs_of(mechanism, known, self.columns_)
        with torch.no_grad():
            logits = self._logits(inputs.frame)
            kinds, codes = self._kinds(mechanism, known, None)
            parts = []
            for start in range(0, len(known), 4096):
                rows = slice(start, start + 4096)
                parts.append(fair_log_probability(kinds, codes[rows], logits[inputs.needed(rows)]))
        return torch.cat(parts).numpy() if parts else np.zeros((0, len(self.classes_)))

    def _logits(self, frame: pd.DataFrame) -> Tensor:
        """The network's logits, in float64 so that they do not depend on which rows come with a row."""
        network = copy.deepcopy(self.network_).double()
        step = min(CHUNK, max(1, NUMBERS // max(1, self.encoder_.width)))
        parts = (frame.iloc[start : start + step] for start in range(0, max(1, len(frame)), step))
        return torch.cat([network(torch.from_numpy(encode(self.encoder_, part)).double()) for part in parts])

    def _program_logs(self, mechanism: ProgramMechanism, known: pd.DataFrame) -> Array:
        """log P(query) under a program of the user's own."""
        inputs = inputs_of(mechanism, known, self.columns_)
        view = ProgramView(mechanism, known, inputs.needed())
        with torch.no_grad():
            logits = self._logits(inputs.frame)
            return view.log_probability(logits[view.index]).numpy()

    def _program_distortion(self, mechanism: ProgramMechanism, known: pd.DataFrame, recorded: Array) -> Array:
        """P(h != recorded | recorded) under a program, from P(recorded | h = 0) and P(recorded | h = 1)."""
        inputs = inputs_of(mechanism, known, self.columns_)
        view = ProgramView(mechanism, known, inputs.needed())
        program, leaves = mechanism.program(), view.specialised.free
        alone = len(leaves) == 1 and leaves[0].arguments == ("x",) and leaves[0].outcomes is None
        if not alone or len(view.specialised.queries) != 1 or program.evidence:
            raise P4FError(
                "only a program that asks the classifier about the row itself, with a binary label and no evidence, "
                "says which label was distorted"
            )
        rows = np.arange(len(known))
        fair = np.exp(self._fair_logs(known, apply=False))
        # A network as sure as this is certain in float64, and its logarithms are still finite.
        certain = torch.full((len(known), 1, 1), 1e4, dtype=torch.float64)
        given = [np.exp(view.log_probability(sign * certain).numpy())[rows, recorded] for sign in (-1, 1)]
        seen = fair[:, 0] * given[0] + fair[:, 1] * given[1]
        kept = fair[rows, recorded] * np.where(recorded == 1, given[1], given[0])
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(seen > 0, np.clip(1 - kept / seen, 0, 1), np.nan)

    def _row_weights(self, recorded: Array, weights: Array | None) -> Tensor | None:
        if self.class_weight is None and weights is None:
            return None
        total = np.ones(len(recorded)) if weights is None else weights
        if self.class_weight is not None:
            per_class = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[recorded])
            total = total * per_class[recorded]
        return torch.from_numpy(total.astype(np.float32))


def _as_mechanism(mechanism: Mechanism | Program | str | None) -> Mechanism | None:
    if mechanism is None or isinstance(mechanism, Mechanism):
        return mechanism
    if isinstance(mechanism, Program | str):
        return ProgramMechanism(mechanism)
    raise P4FError(f"a mechanism is a template, a Program or its text, not {type(mechanism).__name__}")


def _names(sensitive: object) -> tuple[str, ...]:
    """The names of columns that a user wrote."""
    names = () if sensitive is None else (sensitive,) if isinstance(sensitive, str) else sensitive
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise P4FError(f"sensitive={sensitive!r} is not the name of a column of X, nor a list of names")
    return tuple(names)
