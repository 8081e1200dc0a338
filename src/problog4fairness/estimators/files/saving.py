"""A trained classifier as one file that holds numbers and names only: the belief, a JSON manifest, safetensors weights.

Nothing in it is an object of another library, so reading a file from a stranger runs nothing and opens nothing. What is
read is checked in :mod:`~problog4fairness.estimators.files.manifest`; a changed, truncated or foreign file is refused.
"""

from __future__ import annotations

import struct
import zipfile
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import safetensors
import safetensors.torch
from sklearn.utils.validation import check_is_fitted

from problog4fairness.beliefs import belief_of
from problog4fairness.data import write_whole
from problog4fairness.errors import P4FError
from problog4fairness.estimators.files import manifest as checked
from problog4fairness.estimators.files.archive import FORMAT, ModelFileError, packed, unpacked
from problog4fairness.estimators.fitting import take
from problog4fairness.estimators.group_use import GroupUse
from problog4fairness.estimators.out_of_fold import OutOfFold
from problog4fairness.learners import Fitted, learner_json, learner_of_json

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier

Model = TypeVar("Model", bound="DebiasedClassifier")

PACKAGES = ("problog4fairness", "problog", "PySDD", "torch", "scikit-learn", "numpy", "pandas")
# What reading a damaged or hostile file can raise.
_WRONG = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,  # with it NotImplementedError and RecursionError
    TypeError,
    ValueError,
    safetensors.SafetensorError,
    struct.error,
    zipfile.BadZipFile,
)


def save(model: DebiasedClassifier, path: str | PathLike[str]) -> None:
    """See :meth:`DebiasedClassifier.save`."""
    check_is_fitted(model)
    try:
        tensors, plain = model.fitted_.state()
        if model.out_of_fold_ is not None:
            tensors = {**tensors, **model.out_of_fold_.tensors}
        content = packed(_manifest(model, plain), model.belief_.text(), safetensors.torch.save(tensors))
    except P4FError:
        raise
    except (AttributeError, TypeError, ValueError) as error:
        raise P4FError(f"the model cannot be saved: {error}") from None
    write_whole(path, content)


def _manifest(model: DebiasedClassifier, plain: dict[str, Any]) -> dict[str, Any]:
    place = {name: number for number, name in enumerate(model.names_)}
    return {
        "format": FORMAT,
        "versions": {name: version(name) for name in PACKAGES},
        "belief": model.belief_.to_json(),
        "options": checked.options_json(model.get_params(deep=False)),
        "learner": learner_json(model.learner),
        "classes": model.classes_,
        "classes_dtype": checked.label_type(model.classes_),
        "features": len(model.names_),
        "feature_names": model.names_,
        "named": hasattr(model, "feature_names_in_"),
        "columns": [place[name] for name in model.columns_],
        "fitted": {"kind": model.fitted_.kind, **plain},
        "recorded": model.recorded_,
        "group_use": model.group_use_.to_json(),
        "seed": model.seed_,
        "audited": model.audited_,
        "out_of_fold": 0 if model.out_of_fold_ is None else len(model.out_of_fold_.keys),
        "concerns": model.concerns_[: checked.MOST_CONCERNS],
        **checked.uncertainty_json(getattr(model, "uncertainty_", None)),
    }


def load(kind: type[Model], path: str | PathLike[str]) -> Model:
    """See :meth:`DebiasedClassifier.load`."""
    try:
        parts = unpacked(Path(path))
    except OSError as error:
        raise ModelFileError(f"{path}: {error.strerror or error}") from None
    except P4FError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except _WRONG:
        raise ModelFileError(f"{path}: not a model file, or damaged") from None
    try:
        return _model(kind, *parts)
    except _WRONG as error:
        raise ModelFileError(f"{path}: not a model of this version of problog4fairness ({error})") from None


def _model(kind: type[Model], manifest: dict[str, Any], program: str, weights: bytes) -> Model:
    """The model that the parts of a file describe: first what is small, then shapes, then arrays."""
    classes = checked.classes_of(manifest["classes"], manifest["classes_dtype"])
    names = checked.names_of(manifest["features"], manifest["feature_names"])
    columns = checked.columns_of(manifest["columns"], names)
    belief = belief_of(manifest["belief"])
    if belief.classes is not None and len(belief.classes) != len(classes):
        raise ValueError(f"its belief is for {len(belief.classes)} classes, it has {len(classes)}")
    if program != belief.text():
        raise ValueError("its program is not that of its belief")
    options = checked.options_of(manifest["options"], set(kind().get_params(deep=False)))
    model = kind(belief, learner_of_json(manifest["learner"]), **options)
    model.belief_, model.classes_ = belief, classes
    model.names_, model.columns_, model.n_features_in_ = names, columns, len(names)
    if manifest["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.group_use_ = GroupUse.from_json(manifest["group_use"])
    model.recorded_ = checked.recorded_of(manifest["recorded"])
    model.seed_, model.audited_ = checked.whole(manifest["seed"]), checked.whole(manifest["audited"])
    model.concerns_ = checked.concerns_of(manifest["concerns"])
    model.draws_, model.uncertainty_ = None, checked.uncertainty_read(manifest.get("uncertainty"))
    plain = dict(manifest["fitted"])
    fitted = Fitted.kinds[plain.pop("kind")]
    shapes, judged = fitted.shapes(plain, columns, len(classes)), checked.whole(manifest["out_of_fold"])
    if judged:
        shapes = {**shapes, **OutOfFold.shapes(judged, len(classes))}
    tensors = checked.tensors_of(weights, shapes)
    model.out_of_fold_ = OutOfFold.from_tensors(tensors) if judged else None
    take(model, fitted.from_state(tensors, plain))
    return model
