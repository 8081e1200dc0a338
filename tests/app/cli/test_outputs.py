"""What the commands print and write: nothing that a terminal or a spreadsheet runs, and no work is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.app.cli.output import save, say, show
from problog4fairness.beliefs import belief_text
from problog4fairness.data import write_atomically
from problog4fairness.errors import P4FError

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")

HOSTILE = ["\x1b[2J\x1b[31mred", "[bold]b[/bold]", ":warning:", "\r\n\u202etxt.exe", "\x9b31m"]


@pytest.mark.parametrize("text", HOSTILE)
def test_cells_columns_and_titles_are_shown_as_they_are(text, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    show(pd.DataFrame({text: [text, "x"], "n": [1, 2]}), title=text)
    say(text)
    shown = capsys.readouterr().out
    written = text.encode("unicode_escape").decode()
    assert shown.count(written) == 4
    assert not any(c in shown for c in "\r\u202e\x9b")
    # What is left are the styles of the heading.
    assert "\x1b[2J" not in shown


def test_groups_are_shown_escaped(tmp_path, inside):
    rows = pd.DataFrame({"g": ["\x1b[31mred", "[red]"] * 30, "y": [0, 1, 1, 0] * 15, "x": ["x" * 80] * 60})
    rows.to_csv(tmp_path / "t.csv", index=False)
    run = inside("plan", "--data", tmp_path / "t.csv", "--sensitive", "g", "--recorded", "y", "--group", "[red]")
    assert run.returncode == 0, run.stderr
    assert "\x1b" not in run.stdout + run.stderr
    assert "\\x1b[31mred" in run.stdout
    assert "[red]" in run.stdout


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of loans, its data with a stranger's cell, and its belief."""
    folder = tmp_path_factory.mktemp("model")
    data = p4f.datasets.loans(rows=200, audited=1, new=1)
    belief = p4f.LabelBias("poor_area", negative={1: 0.4, 0: 0.0}, positive=0.0)
    (folder / "belief.pl").write_text(belief_text(belief))
    rows = data.loans.assign(note="=cmd|' /C calc'!A0")
    rows.to_csv(folder / "loans.csv", index=False)
    trained = p4f.DebiasedClassifier(belief, learner=p4f.learners.Network(max_epochs=2), random_state=0)
    trained.fit(rows[[*data.features]], rows["granted"], sensitive_features=rows["poor_area"]).save(folder / "m.p4f")
    return folder


def test_formulas_are_written_as_they_came_or_defused(model, tmp_path, inside):
    for more, cell in (([], "=cmd|' /C calc'!A0"), (["--for-spreadsheet"], "'=cmd|' /C calc'!A0")):
        run = inside("predict", model / "m.p4f", model / "loans.csv", "-o", tmp_path / "s.csv", *more)
        assert run.returncode == 0, run.stderr
        assert set(pd.read_csv(tmp_path / "s.csv")["note"]) == {cell}
    run = inside("plan", "--data", model / "loans.csv", "--sensitive", "poor_area", "--recorded", "granted",
                 "--draw", tmp_path / "d.csv", "--for-spreadsheet")  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert set(pd.read_csv(tmp_path / "d.csv")["note"]) == {"'=cmd|' /C calc'!A0"}


COMMANDS = {
    "train": ["none.csv", "--belief", "none.pl", "--recorded", "y"],
    "predict": ["none.p4f", "none.csv"],
    "report": ["none.p4f", "--data", "none.csv"],
    "compare": ["none.csv", "--belief", "none.pl", "--recorded", "y"],
    "estimate": ["none.csv", "--sensitive", "a"],
    "draw": ["none.pl"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_cannot_be_written_is_told_before_anything_is_read(command, tmp_path, inside, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: not (Path(path) == tmp_path and mode == os.W_OK))
    run = inside(command, *COMMANDS[command], "-o", tmp_path / "out.svg")
    assert run.returncode == 2
    assert f"nothing can be written to the folder {tmp_path}" in run.stderr
    (tmp_path / "file").write_text("")
    run = inside(command, *COMMANDS[command], "-o", tmp_path / "file" / "out.svg")
    assert run.returncode == 2
    assert str(tmp_path / "file") in run.stderr
    assert "none" not in run.stderr


def full_disk(monkeypatch, folder):
    """No file can be written in a folder, or below."""
    real = os.fsync

    def fsync(handle):
        if Path(f"/proc/self/fd/{handle}").readlink().is_relative_to(folder):
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="finds the name of an open file in /proc")
@pytest.mark.parametrize("command", ["train", "predict", "report", "compare", "uncertainty", "check"])
def test_what_was_computed_is_kept_where_the_disk_is_full(command, model, tmp_path, inside, monkeypatch):
    target, spare = tmp_path / "full", tmp_path / "spare"
    target.mkdir()
    spare.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    full_disk(monkeypatch, target)
    table = [model / "loans.csv", "--belief", model / "belief.pl", "--recorded", "granted", "--sensitive", "poor_area"]
    words = {
        "train": [*table, "--favourable", "1", "--learner", "network", "--epochs", "2", "--drop", "note"],
        "predict": [model / "m.p4f", model / "loans.csv"],
        "report": [model / "m.p4f", "--data", model / "loans.csv", "--no-comparison", "--no-sensitivity"],
        "compare": [*table, "--favourable", "1", "--seeds", "1", "--folds", "2"],
        "uncertainty": [model / "m.p4f", model / "loans.csv", "--recorded", "granted", "--draws", "10"],
        "check": [*table, "--favourable", "1", "--drop", "note"],
    }
    flag, name = ("--figure", "out.png") if command == "check" else ("-o", "out")
    run = inside(command, *words[command], flag, target / name)
    assert run.returncode == 2
    line = run.stderr.splitlines()[-1]
    assert str(target / name) in line
    assert "No space left on device; the result was kept as " in line
    kept = Path(line.rpartition(" ")[2])
    assert kept.name == name
    files = [*kept.iterdir()] if kept.is_dir() else [kept]
    assert len(files) == (5 if command == "compare" else 1)
    assert all(file.stat().st_size for file in files)
    assert not [file for file in target.rglob("*") if file.is_file()]


def test_where_nothing_can_be_written_the_error_says_so(tmp_path, monkeypatch):
    def fails(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(P4FError, match=r"out: No space left on device; the result is lost"):
        save(lambda path: write_atomically(path, "x"), tmp_path / "out")
