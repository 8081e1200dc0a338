"""``p4f reproduce`` finds the studies beside the library."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from problog4fairness.app.cli.app import add_studies
from problog4fairness.errors import P4FError


def test_studies_of_a_checkout_are_run(inside, tmp_path, monkeypatch):
    pytest.importorskip("studies.synthetic")
    from tests.studies.stacks import Failing, Sum, Sums

    for stack, status in ((Sum(), 0), (Failing(), 1)):
        monkeypatch.setattr("studies.synthetic.STUDIES", {"dependent": lambda stack=stack, **_: Sums(stack)})
        done = inside("reproduce", "dependent", "--quick", "--jobs", "1", "-o", tmp_path)
        assert done.returncode == status, done.stderr
        assert str(tmp_path / "sums") in done.stdout
    assert "failed: failing at 2: ValueError: no such thing" in done.stderr


def test_without_a_study_they_are_listed(inside):
    done = inside("reproduce", "--help")
    assert done.returncode == 0
    assert "p4f reproduce" in done.stdout
    assert "bias-sweep" in done.stdout


def test_wrong_words_are_one_line(inside):
    for words in (["everything"], ["faces", "--seeds", "0"], ["dependent", "--nonsense"]):
        done = inside("reproduce", *words)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


def test_an_installed_library_says_where_the_studies_are(tmp_path):
    app = typer.Typer()
    app.callback()(lambda: None)
    add_studies(app, tmp_path)
    for words in (["reproduce"], ["reproduce", "dependent", "--quick"]):
        error = CliRunner().invoke(app, words).exception
        assert isinstance(error, P4FError)
        assert "the folder studies/ of problog4fairness' source repository" in str(error)
