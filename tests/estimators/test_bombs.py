"""Model files that would fill the memory or take for ever are refused at once, in a process that measures itself."""

from __future__ import annotations

import bz2
import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.estimators.model_file import BOUNDS, MAX_SIZE
from problog4fairness.learners.encoder import Encoder
from tests.estimators.data import loans, quick
from tests.estimators.files import in_manifest, rewritten

ZEROS = 100_000_000
WIDE = [["job", False, [f"{number:x}" for number in range(200_000)]]]
MEASURE = """
import json, pathlib, resource, sys, time
import problog4fairness as p4f
from problog4fairness.estimators.model_file import ModelFileError

p4f.DebiasedClassifier.load(sys.argv[1])
used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
for path in sys.argv[2:]:
    start = time.process_time()
    try:
        p4f.DebiasedClassifier.load(path)
        line = "loaded"
    except ModelFileError as error:
        line = str(error)
    except MemoryError:
        line = "took too much memory"
    print(json.dumps([path, line, time.process_time() - start]))
"""


@pytest.fixture(scope="module")
def model():
    frame, _, _, recorded = loans(200)
    return p4f.DebiasedClassifier(**quick(max_epochs=1)).fit(frame, recorded)


def zipped(path, name, method):
    """The parts of a file, one of which is zeros, packed."""
    with zipfile.ZipFile(path) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in parts.items():
            zeros = each == name
            archive.writestr(each, bytes(ZEROS) if zeros else content, method if zeros else zipfile.ZIP_STORED)


def lying(path, name, method, packed):
    """A part that says it is as short as what it is packed to."""
    crc, size = zlib.crc32(packed), len(packed)
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, method, 0, 0, crc, size, size, len(name), 0) + name.encode()
    listed = struct.pack(
        "<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, method, 0, 0, crc, size, size, len(name), 0, 0, 0, 0, 0, 0
    )
    start = len(local) + size
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(listed) + len(name), start, 0)
    path.write_bytes(local + packed + listed + name.encode() + end)


def many_parts(path):
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number}", b"")


def hidden_list(path):
    """The list of very many parts, behind an end that says that there are few."""
    many_parts(path)
    content = path.read_bytes()
    *_, length, start, _ = struct.unpack("<4s4H2LH", content[-22:])
    large = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 20_000, 20_000, length, start)
    place = struct.pack("<4sLQL", b"PK\6\7", 0, len(content) - 22, 1)
    few = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 4, 4, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path.write_bytes(content[:-22] + large + place + few)


def replaced(name, content, sealed=True):
    return lambda path: rewritten(path, lambda parts: parts.update({name: content}), sealed)


def sparse(path):
    with path.open("r+b") as file:
        file.truncate(MAX_SIZE + 1)


BOMBS = {
    "deflate": lambda path: zipped(path, "weights.safetensors", zipfile.ZIP_DEFLATED),
    "bz2": lambda path: zipped(path, "manifest.json", zipfile.ZIP_BZIP2),
    "lying": lambda path: lying(path, "manifest.json", 12, bz2.compress(bytes(ZEROS))),
    "layers": lambda path: in_manifest(path, lambda m: m["fitted"].update(sizes=[7, 30_000, 30_000, 1])),
    "deep": lambda path: in_manifest(path, lambda m: m["fitted"].update(sizes=[7, *[1] * 200_000, 1])),
    "wide": lambda path: in_manifest(path, lambda m: m["fitted"]["encoder"].update(categories=WIDE)),
    "label": lambda path: in_manifest(path, {"classes_dtype": "<U400000000"}),
    "lists": replaced("manifest.json", b'{"format": 3, "classes": [' + b"[]," * 2_600_000 + b"1]}"),
    "objects": replaced("manifest.json", b'{"format": 3, "classes": [' + b'{"a":{}},' * 80_000 + b"1]}"),
    "names": replaced(
        "manifest.json", json.dumps({"format": 3, **{f"{n:x}": n + 0.5 for n in range(200_000)}}, indent=0).encode()
    ),
    "nested": replaced("manifest.json", b"[" * 200_000),
    "digits": replaced("manifest.json", b'{"format": ' + b"9" * 8_000_000 + b"}"),
    "header": replaced("weights.safetensors", struct.pack("<Q", 1 << 60) + bytes(30_000)),
    "long": replaced("SHA256SUMS", bytes(BOUNDS["SHA256SUMS"] + 1), sealed=False),
    "parts": many_parts,
    "hidden": hidden_list,
    "sparse": sparse,
}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is bounded and measured as on Linux")
def test_bombs_are_refused_at_once(model, tmp_path):
    for name, make in BOMBS.items():
        model.save(tmp_path / f"{name}.p4f")
        make(tmp_path / f"{name}.p4f")
    os.mkfifo(tmp_path / "pipe.p4f")
    model.save(tmp_path / "fine.p4f")
    paths = [str(tmp_path / f"{name}.p4f") for name in ("fine", *BOMBS, "pipe")] + ["/dev/zero"]
    run = subprocess.run([sys.executable, "-c", MEASURE, *paths], capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert [path for path, *_ in found] == paths[1:]
    for path, line, seconds in found:
        assert line.startswith(f"{path}: "), (path, line)
        assert seconds < 0.8, (path, line, seconds)


def test_predicting_holds_few_numbers_at_a_time_however_wide_the_model(model, monkeypatch):
    frame, *_ = loans(200)
    expected, shapes = model.predict_proba(frame), []

    transform = Encoder.transform

    def watched(encoder, part):
        shapes.append((len(part), encoder.width))
        return transform(encoder, part)

    monkeypatch.setattr("problog4fairness.learners.networks.network.NUMBERS", 70)
    monkeypatch.setattr(Encoder, "transform", watched)
    np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-12)
    assert {rows * width for rows, width in shapes} == {70}
    assert model.predict_proba(frame[:0]).shape == (0, 2)
