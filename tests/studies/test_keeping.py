"""What was computed is not lost: not in a folder that cannot be written to, nor on a disk that is full."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from pathlib import Path

import pandas as pd
import pytest
import safetensors.torch
from typer.testing import CliRunner

from problog4fairness.data import FileWarning, TableError
from studies.commands import app
from studies.engine.report import write_report
from studies.engine.run import Outcome, run
from tests.studies.face_studies import tiny_faces
from tests.studies.stacks import Homeless, Sum, Sums

EMPTY = Outcome(pd.DataFrame())
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Disk:
    """A disk that has room for so many more of the files that are called so, and no byte more."""

    def __init__(self, monkeypatch) -> None:
        self.room, self.called = 10**9, ""
        replace = Path.replace

        def limited(path, target):
            if re.search(self.called, str(target)):
                self.room -= 1
                if self.room < 0:
                    raise FULL
            return replace(path, target)

        monkeypatch.setattr(Path, "replace", limited)


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


@pytest.fixture
def spare(tmp_path, monkeypatch):
    """Where temporary folders are made."""
    folder = tmp_path / "spare"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def study(stack=None):
    return Sums(stack or Sum())


class Never(Sums):
    def stacks(self):
        raise AssertionError("nothing was to be computed")


@pytest.mark.parametrize("start", [lambda folder: run(Never(), folder), lambda f: write_report(study(), EMPTY, f)])
def test_a_folder_that_cannot_be_written_to_is_told_before_the_work(tmp_path, monkeypatch, start):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "stacks"):
        with pytest.raises(TableError, match=rf"{folder}: nothing can be written there \(.*\); choose another folder"):
            start(folder)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(TableError, match="No space left on device"):
        start(tmp_path / "new")


def full(*_, **__):
    raise FULL


@pytest.mark.parametrize("room", [0, 2])
def test_a_disk_that_becomes_full(tmp_path, disk, spare, room):
    expected, folder = run(study(), tmp_path / "whole"), tmp_path / "full"
    disk.room, disk.called = room, r"/(full|spare)/.*\.json$"
    with pytest.warns(FileWarning) as warned:
        run(study(), folder)  # the spare folder is on the same disk
    assert len(warned) == len(study().stacks()) - room
    assert re.match(rf"{folder}/\w+\.json: No space left on device; ", str(warned[0].message))
    assert "stored nowhere" in str(warned[0].message)
    assert sorted(file.suffix for file in folder.iterdir()) == [".json"] * room
    disk.room = 10**9
    again = run(study(), folder)
    assert again.read == room
    pd.testing.assert_frame_equal(again.results, expected.results)


def test_what_cannot_be_stored_is_kept_elsewhere(tmp_path, spare):
    """The folder is gone, and a file is in its place: neither workers nor the study itself can store anything."""
    folder, expected = tmp_path / "stacks", run(study(), tmp_path / "whole").results.assign(method="Homeless")
    with pytest.warns(FileWarning) as warned:
        found = run(study(Homeless(folder=str(folder))), folder, jobs=2)
    (told,) = (str(warning.message) for warning in warned)
    assert not found.failures
    pd.testing.assert_frame_equal(found.results, expected)
    (place,) = (item for item in spare.iterdir() if item.name.startswith("p4f-"))
    assert f"what was computed is kept in {place}: make room, move its files to {folder} and run again" in told
    folder.unlink()
    shutil.copytree(place, folder)
    again = run(study(Homeless(folder=str(folder))), folder)
    assert (again.read, again.computed) == (len(study().stacks()), 0)
    pd.testing.assert_frame_equal(again.results, expected)


@pytest.mark.parametrize("room", range(6))
def test_a_report_on_a_full_disk_has_whole_files_or_none(tmp_path, disk, room):
    outcome = run(study(), tmp_path / "stacks")
    write_report(study(), outcome, tmp_path / "whole")
    disk.room = room
    with pytest.raises(OSError, match="No space left") as caught:
        write_report(study(), outcome, tmp_path / "full")
    written = {file.name for file in (tmp_path / "full").iterdir()}
    assert len(written) == room
    assert Path(caught.value.filename).parent == tmp_path / "full"
    assert Path(caught.value.filename).name not in written
    for name in written:
        assert (tmp_path / "full" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_the_command_says_where_results_are_that_it_cannot_report(tmp_path, disk, monkeypatch):
    monkeypatch.setattr("studies.synthetic.STUDIES", {"dependent": lambda **_: study()})
    disk.room, disk.called = 0, r"\.csv$"
    result = CliRunner().invoke(app, ["dependent", "--jobs", "1", "-o", str(tmp_path)])
    folder = tmp_path / "sums"
    assert str(result.exception) == (
        f"{folder}/results.csv: No space left on device; what was computed is kept in {folder}/stacks: "
        "run again to write the report"
    )
    assert len(list((folder / "stacks").glob("*.json"))) == len(study().stacks())


@pytest.mark.parametrize("content", [b"", b"\0" * 1000, safetensors.torch.save({}, metadata={"a": "b"})])
def test_a_damaged_checkpoint_is_not_the_end_of_a_run(tmp_path, content):
    small = tiny_faces(methods=tiny_faces().methods[:1])
    expected = run(small, tmp_path / "whole", jobs=1)
    (file,) = (tmp_path / "whole").glob("*.json")
    checkpoint = tmp_path / "damaged" / f"{file.stem}.safetensors"
    checkpoint.parent.mkdir()
    checkpoint.write_bytes(content)
    with pytest.warns(FileWarning, match=f"{checkpoint.name}: damaged; lower, seed 0 was computed from its beginning"):
        found = run(small, checkpoint.parent, jobs=1)
    assert not found.failures
    pd.testing.assert_frame_equal(found.results, expected.results)
    assert not checkpoint.exists()
