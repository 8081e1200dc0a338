"""A trained classifier as one file that holds numbers and names only: the belief, a JSON manifest, safetensors weights.

Nothing in it is an object of another library, so reading a file from a stranger runs nothing and opens nothing. What is
read is checked in :mod:`~problog4fairness.estimators.model_manifest`; a changed, truncated or foreign file is refused.

The file is a zip of its parts with their checksums. Nothing in it is packed, so that what is read is never more than
the file itself. ``unzip`` shows the parts to a person, and ``sha256sum -c SHA256SUMS`` checks them.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
import safetensors
import safetensors.torch
from sklearn.utils.validation import check_is_fitted

from problog4fairness.beliefs import belief_of
from problog4fairness.data import parse_json, read_file, write_atomically
from problog4fairness.errors import P4FError
from problog4fairness.estimators import model_manifest as checked
from problog4fairness.estimators.calibration import OutOfFold
from problog4fairness.estimators.fitting import note_fit
from problog4fairness.estimators.group_use import GroupUse
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
FORMAT = 4
MAX_SIZE = 1 << 28
# How many values the manifest may hold: each takes some tens of bytes once it is read.
MAX_VALUES, MAX_DEPTH = 250_000, 200
SUMS, MANIFEST, PROGRAM, WEIGHTS = "SHA256SUMS", "manifest.json", "program.pl", "weights.safetensors"
# How many bytes each part may have.
BOUNDS = {SUMS: 1 << 10, MANIFEST: 1 << 23, PROGRAM: 1 << 23, WEIGHTS: MAX_SIZE}
# The end of a zip: signature, two numbers of disks, entries here and in all, length and start of their list, comment.
_END = struct.Struct("<4s4H2LH")
_END_OF_LARGE_ZIP = struct.Struct("<4sLQL")


class ModelFileError(P4FError):
    """A file that is not a model, or was changed."""


def packed(manifest: Mapping[str, Any], program: str, weights: bytes) -> bytes:
    """A model file of names and single numbers, the program for people, and all other numbers.

    Equal parts give equal bytes.
    """
    text = json.dumps(manifest, indent=1, allow_nan=False, default=_plain).encode()
    parts = {MANIFEST: text, PROGRAM: program.encode(), WEIGHTS: weights}
    parts = {SUMS: "".join(_sum(name, content) for name, content in parts.items()).encode(), **parts}
    for name, content in parts.items():
        if len(content) > BOUNDS[name]:
            raise ModelFileError(f"the model cannot be saved: {name} would have more than {BOUNDS[name]} bytes")
    if sum(text.count(sign) for sign in (b",", b"[", b"{")) > MAX_VALUES:
        raise ModelFileError(f"the model cannot be saved: it has more than {MAX_VALUES} names and categories")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)  # without the time
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # the same on all systems
            archive.writestr(entry, content)
    return buffer.getvalue()


def unpacked(path: Path) -> tuple[dict[str, Any], str, bytes]:
    """Manifest, program and weights; or the error of a file that is no model, is too large or was changed."""
    with io.BytesIO(read_file(path, MAX_SIZE)) as stream:
        _check_end(stream)
        with zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
            if min((entry.header_offset for entry in archive.infolist()), default=1):
                raise ModelFileError("not a model file: something stands before its parts")
            if MANIFEST not in names:
                raise ModelFileError("not a model file")
            manifest = _parsed_manifest(_part(archive, MANIFEST))
            if sorted(names) != sorted(BOUNDS):
                raise ModelFileError("not a model file: it has other parts")
            parts = {name: _part(archive, name) for name in BOUNDS}
    sums = parts.pop(SUMS).decode("ascii").splitlines(keepends=True)
    expected = {name: _sum(name, content) for name, content in parts.items()}
    if len(sums) != len(parts):
        raise ModelFileError(f"{SUMS} was changed after the model was saved")
    for line, (name, checksum) in zip(sums, expected.items(), strict=True):
        if line != checksum:
            raise ModelFileError(f"{name} was changed after the model was saved")
    return manifest, parts[PROGRAM].decode(), parts[WEIGHTS]


def _check_end(stream: IO[bytes]) -> None:
    """Whether the list of parts at the end is short, before all of it is read."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - _END.size - _END_OF_LARGE_ZIP.size))
    tail = stream.read()
    if len(tail) < _END.size + _END_OF_LARGE_ZIP.size or tail.startswith(b"PK\x06\x07"):
        raise ModelFileError("not a model file, or damaged")
    signature, *_, entries, length, _, comment = _END.unpack(tail[-_END.size :])
    if signature != b"PK\x05\x06" or entries > 2 * len(BOUNDS) or length > 1 << 12 or comment:
        raise ModelFileError("not a model file, or damaged")


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    entry = archive.getinfo(name)
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise ModelFileError(f"{name} is packed, which no part of a model file is")
    if entry.file_size > BOUNDS[name]:
        raise ModelFileError(f"{name} has more than {BOUNDS[name]} bytes")
    return archive.read(entry)


def _parsed_manifest(text: bytes) -> dict[str, Any]:
    text.decode("ascii")
    manifest: dict[str, Any] = parse_json(text, MAX_VALUES, MAX_DEPTH)
    if manifest["format"] != FORMAT:
        raise ModelFileError(
            f"the file has format {manifest['format']}, this version of problog4fairness reads {FORMAT}; "
            "train and save the model again"
        )
    return manifest


def _plain(value: Any) -> Any:
    """numpy numbers and arrays as JSON."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")


def _sum(name: str, content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()}  {name}\n"


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
    write_atomically(path, content)


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
        "training_warnings": model.training_warnings_[: checked.MOST_WARNINGS],
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
    if belief.record.classes is not None and len(belief.record.classes) != len(classes):
        raise ValueError(f"its belief is for {len(belief.record.classes)} classes, it has {len(classes)}")
    if program != belief.text():
        raise ValueError("its program is not that of its belief")
    options = checked.options_of(manifest["options"])
    model = kind(belief, learner_of_json(manifest["learner"]), **options)
    model.belief_, model.classes_ = belief, classes
    model.names_, model.columns_, model.n_features_in_ = names, columns, len(names)
    if manifest["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.group_use_ = GroupUse.from_json(manifest["group_use"])
    model.recorded_ = checked.recorded_of(manifest["recorded"])
    model.seed_, model.audited_ = checked.whole(manifest["seed"]), checked.whole(manifest["audited"])
    model.training_warnings_ = checked.warnings_of(manifest["training_warnings"])
    model.draws_, model.uncertainty_ = None, checked.uncertainty_read(manifest.get("uncertainty"))
    plain = dict(manifest["fitted"])
    fitted = Fitted.kinds[plain.pop("kind")]
    shapes, judged = fitted.shapes(plain, columns, len(classes)), checked.whole(manifest["out_of_fold"])
    if judged:
        shapes = {**shapes, **OutOfFold.shapes(judged, len(classes))}
    tensors = checked.tensors_of(weights, shapes)
    model.out_of_fold_ = OutOfFold.from_tensors(tensors) if judged else None
    note_fit(model, fitted.from_state(tensors, plain))
    return model
