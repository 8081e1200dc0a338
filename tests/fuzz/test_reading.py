"""A short run over each kind of file, and a look at whether the harness notices what it should."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from problog4fairness.data import TableError
from problog4fairness.errors import P4FError
from tests.fuzz import reading
from tests.fuzz.targets import TARGETS, Target

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("what", TARGETS)
def test_changed_files_are_read_or_refused(what):
    tries = 5 if what == "bundle" else 60  # a bundle that can be read is made again
    assert reading.run(what, tries, 0).startswith(f"{tries} changed files of the kind {what} are read or refused")


@pytest.mark.parametrize("what", TARGETS)
def test_unchanged_files_are_read(what):
    target = TARGETS[what]
    assert [reading.outcome(target, content) for content in target.files()] == ["read"] * len(target.files())


@pytest.mark.parametrize("what", TARGETS)
def test_the_same_number_is_the_same_file(what):
    target = TARGETS[what]
    files = [reading.changed(target, seed) for seed in range(30)]
    assert files == [reading.changed(target, seed) for seed in range(30)]
    assert len(set(files)) > 20


def fails(path):
    raise ValueError("of another library")


def says_too_much(path):
    class Long(P4FError):
        def __str__(self):
            return "two\nlines"

    raise Long


def is_slow(path):
    try:
        time.sleep(20)
    except Exception:
        return


def is_greedy(path):
    bytearray(4 * reading.MEMORY)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (fails, "ValueError: of another library"),
        (says_too_much, "not one line"),
        (is_slow, r"not done after 0\.2 s"),
        pytest.param(
            is_greedy, "MemoryError", marks=pytest.mark.skipif(sys.platform != "linux", reason="no limit of memory")
        ),
    ],
)
def test_the_harness_notices(read, message):
    with pytest.raises(reading.ReadingError, match=message):
        reading.outcome(Target(lambda: [b"x"], read, seconds=0.2), b"x")


def test_the_harness_lets_named_errors_pass():
    def refuses(path):
        raise TableError("no table")

    assert reading.outcome(Target(lambda: [b"x"], refuses), b"x") == "TableError"


def test_what_is_wrong_is_named_and_kept(tmp_path, monkeypatch):
    monkeypatch.setitem(TARGETS, "bad", Target(lambda: [b"abc"], fails))
    with pytest.raises(reading.ReadingError, match=r"bad 7: builtins\.ValueError"):
        reading.run("bad", 3, 7, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == reading.changed(TARGETS["bad"], 7)


def test_command_line():
    command = [sys.executable, "-m", "tests.fuzz", "--what", "table", "3"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("3 changed files of the kind table")
