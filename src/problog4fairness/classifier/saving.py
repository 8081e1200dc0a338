"""A trained classifier as one file: a zip of the program, a JSON manifest, safetensors weights and a skops encoder.

Nothing in it is pickled, so reading a file from a stranger runs nothing. The manifest holds a checksum of every part;
a changed, truncated or foreign file is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import safetensors
import safetensors.torch
import skops.io
from sklearn.utils.validation import check_is_fitted

from problog4fairness.errors import P4FError
from problog4fairness.files import write_whole
from problog4fairness.learners import MLP
from problog4fairness.mechanisms.belief_json import mechanism_of

if TYPE_CHECKING:
    from problog4fairness.classifier.estimator import DebiasedClassifier

Model = TypeVar("Model", bound="DebiasedClassifier")

FORMAT = 1
MAX_SIZE = 1 << 28
# What the encoder holds besides the types that skops itself trusts.
TRUSTED = {"numpy.dtype"}
PACKAGES = ("problog4fairness", "problog", "PySDD", "torch", "scikit-learn", "numpy", "pandas", "skops")
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
    zipfile.BadZipFile,
    zlib.error,
)


class ModelFileError(P4FError):
    """A file that is not a model, or was changed."""


def save(model: DebiasedClassifier, path: str | PathLike[str]) -> None:
    """See :meth:`DebiasedClassifier.save`."""
    check_is_fitted(model)
    mechanism = model.mechanism_
    parts = {
        "weights.safetensors": safetensors.torch.save(
            {name: value.contiguous() for name, value in model.network_.state_dict().items()}
        ),
        "encoder.skops": skops.io.dumps(model.encoder_),
        "program.pl": b"" if mechanism is None else mechanism.text().encode(),
    }
    options = {name: value for name, value in model.get_params(deep=False).items() if name != "mechanism"}
    options["random_state"] = model.random_state if isinstance(model.random_state, int) else None
    manifest = {
        "format": FORMAT,
        "versions": {name: version(name) for name in PACKAGES},
        "mechanism": None if mechanism is None else mechanism.to_json(),
        "options": options,
        "classes": model.classes_.tolist(),
        "classes_dtype": model.classes_.dtype.str,
        "columns": list(model.columns_),
        "features": int(model.n_features_in_),
        "feature_names": [str(n) for n in model.feature_names_in_] if hasattr(model, "feature_names_in_") else None,
        "recorded": model.recorded_,
        "seed": model.seed_,
        "epochs": model.n_iter_,
        "history": model.history_,
        "inputs": int(model.network_.sizes[0]),
        "digests": {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()},
    }
    try:
        text = json.dumps(manifest, indent=1, default=_plain)
    except TypeError as error:
        raise P4FError(f"the model cannot be saved: {error}") from None
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", text)
        for name, content in parts.items():
            archive.writestr(name, content)
    write_whole(path, buffer.getvalue())


def load(kind: type[Model], path: str | PathLike[str]) -> Model:
    """See :meth:`DebiasedClassifier.load`."""
    manifest, parts = _read(Path(path))
    try:
        mechanism = None if manifest["mechanism"] is None else mechanism_of(manifest["mechanism"])
        options = {**manifest["options"], "hidden": tuple(manifest["options"]["hidden"])}
        model = kind(mechanism, **options)
        model.mechanism_ = mechanism
        model.classes_ = np.array(manifest["classes"], dtype=np.dtype(str(manifest["classes_dtype"])))
        model.columns_ = [str(name) for name in manifest["columns"]]
        model.n_features_in_ = int(manifest["features"])
        names = manifest["feature_names"]
        if names is not None:
            if not isinstance(names, list) or len(names) != model.n_features_in_:
                raise ValueError("the names of its features do not fit their number")
            model.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
        recorded = manifest.get("recorded")
        model.recorded_ = None if recorded is None else str(recorded)
        model.seed_, model.n_iter_, model.history_ = manifest["seed"], manifest["epochs"], manifest["history"]
        outputs = 1 if len(model.classes_) == 2 else len(model.classes_)
        network = MLP(int(manifest["inputs"]), options["hidden"], outputs, options["dropout"])
        network.load_state_dict(safetensors.torch.load(parts["weights.safetensors"]))
        model.network_ = network.eval()
        untrusted = set(skops.io.get_untrusted_types(data=parts["encoder.skops"])) - TRUSTED
        if untrusted:
            raise ModelFileError(f"{path}: the encoder holds types that are not trusted: {', '.join(untrusted)}")
        model.encoder_ = skops.io.loads(parts["encoder.skops"], trusted=sorted(TRUSTED))
    except P4FError:
        raise
    except _WRONG as error:
        raise ModelFileError(f"{path}: not a model of this version of problog4fairness ({error})") from None
    return model


def _read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    names = ("weights.safetensors", "encoder.skops", "program.pl")
    try:
        with zipfile.ZipFile(path) as archive:
            if sorted(archive.namelist()) != sorted(("manifest.json", *names)):
                raise ModelFileError(f"{path}: not a model file")
            if sum(part.file_size for part in archive.infolist()) > MAX_SIZE:
                raise ModelFileError(f"{path}: the file holds more than {MAX_SIZE} bytes")
            manifest = json.loads(archive.read("manifest.json"))
            parts = {name: archive.read(name) for name in names}
        if manifest["format"] != FORMAT:
            raise ModelFileError(f"{path}: the file has format {manifest['format']}, this version reads {FORMAT}")
        digests = dict(manifest["digests"])
    except OSError as error:
        raise ModelFileError(f"{path}: {error.strerror or error}") from None
    except P4FError:
        raise
    except _WRONG:
        raise ModelFileError(f"{path}: not a model file, or damaged") from None
    for name, content in parts.items():
        if hashlib.sha256(content).hexdigest() != digests.get(name):
            raise ModelFileError(f"{path}: {name} was changed after the model was saved")
    return manifest, parts


def _plain(value: Any) -> Any:
    """numpy numbers and arrays as JSON."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")
