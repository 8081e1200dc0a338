"""A trained classifier as one file that holds numbers and names only: the belief, a JSON manifest, safetensors weights.

Nothing in it is an object of another library, so reading a file from a stranger runs nothing and opens nothing. What is
read is checked in :mod:`~problog4fairness.classifier.manifest`; a changed, truncated or foreign file is refused.
"""

from __future__ import annotations

import struct
import zipfile
from dataclasses import replace
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import safetensors
import safetensors.torch
import torch
from sklearn.utils.validation import check_is_fitted

from problog4fairness.beliefs.belief_json import belief_of
from problog4fairness.classifier import manifest as checked
from problog4fairness.classifier.encoder import Encoder
from problog4fairness.classifier.parts import FORMAT, ModelFileError, packed, unpacked
from problog4fairness.errors import P4FError
from problog4fairness.learners import MLP
from problog4fairness.rows import write_whole

if TYPE_CHECKING:
    from problog4fairness.classifier.estimator import DebiasedClassifier

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
    encoder = model.encoder_
    if not isinstance(encoder, Encoder) or not isinstance(model.network_, MLP):
        raise P4FError("the model cannot be saved: its encoder or its network is not one of problog4fairness")
    program = "" if model.belief_ is None else model.belief_.text()
    tensors = {name: value.contiguous() for name, value in model.network_.state_dict().items()}
    tensors |= {name: torch.from_numpy(np.array(getattr(encoder, name))) for name in checked.ENCODER}
    try:
        content = packed(_manifest(model, encoder), program, safetensors.torch.save(tensors))
    except P4FError:
        raise
    except (TypeError, ValueError) as error:
        raise P4FError(f"the model cannot be saved: {error}") from None
    write_whole(path, content)


def _manifest(model: DebiasedClassifier, encoder: Encoder) -> dict[str, Any]:
    place = {name: number for number, name in enumerate(model.names_)}
    belief = model.belief_
    return {
        "format": FORMAT,
        "versions": {name: version(name) for name in PACKAGES},
        "belief": None if belief is None else belief.to_json(),
        "options": checked.options_json(model.get_params(deep=False)),
        "classes": model.classes_,
        "classes_dtype": checked.label_type(model.classes_),
        "features": len(model.names_),
        "feature_names": model.names_,
        "named": hasattr(model, "feature_names_in_"),
        "columns": [place[name] for name in model.columns_],
        "encoder": {
            "numbers": [place[name] for name in encoder.numbers],
            "marked": [place[name] for name in encoder.marked],
            "categories": [[place[name], name in encoder.rare, values] for name, values in encoder.categories.items()],
        },
        "recorded": model.recorded_,
        "seed": model.seed_,
        "epochs": model.n_iter_,
        "history": model.history_,
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
    encoder = checked.encoder_of(manifest["encoder"], names, columns)
    belief = None if manifest["belief"] is None else belief_of(manifest["belief"])
    expected = getattr(belief, "class_count", None)
    if expected not in (None, len(classes)):
        raise ValueError(f"its belief is for {expected} classes, it has {len(classes)}")
    if program != ("" if belief is None else belief.text()):
        raise ValueError("its program is not that of its belief")
    model = kind(belief, **checked.options_of(manifest["options"], set(kind().get_params(deep=False))))
    settings = model._settings()
    model.belief_, model.classes_ = belief, classes
    model.names_, model.columns_, model.n_features_in_ = names, columns, len(names)
    if manifest["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.recorded_ = checked.recorded_of(manifest["recorded"])
    model.seed_, model.n_iter_ = checked.whole(manifest["seed"]), checked.whole(manifest["epochs"])
    model.history_ = checked.history_of(manifest["history"])
    sizes = (encoder.width, *settings.hidden, 1 if len(classes) == 2 else len(classes))
    tensors = checked.tensors_of(weights, encoder, sizes)
    fills, means, scales = (tensors.pop(name).numpy() for name in checked.ENCODER)
    model.encoder_ = replace(encoder, fills=fills, means=means, scales=scales)
    with torch.device("meta"):  # no numbers are drawn, so nobody else's random numbers change
        network = MLP(sizes[0], sizes[1:-1], sizes[-1], settings.dropout)
    network.load_state_dict(tensors, assign=True)
    model.network_ = network.eval().requires_grad_()
    return model
