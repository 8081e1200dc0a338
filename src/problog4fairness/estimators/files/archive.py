"""The parts of a model file: a zip of files as they are, with their checksums, read within bounds from the first byte.

Nothing in it is packed, so that what is read is never more than the file itself. ``unzip`` shows the parts to a person,
and ``sha256sum -c SHA256SUMS`` checks them.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from problog4fairness.data import parse_json, read_file
from problog4fairness.errors import P4FError

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
            manifest = _manifest(_part(archive, MANIFEST))
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


def _manifest(text: bytes) -> dict[str, Any]:
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
