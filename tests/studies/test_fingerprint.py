"""Which code a stored result depends on: found by following imports, not by a list."""

from __future__ import annotations

import sys

import pytest

from studies.engine.fingerprint import fingerprint, meaning, reached

STACKS = ["studies.synthetic_cells", "studies.student_cells", "studies.face_runs"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, to be changed; call it for the fingerprint of the first one."""
    folder = tmp_path / "somebodys"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "one.py").write_text("from somebodys.two import f\n")
    (folder / "two.py").write_text('"""Two."""\ndef f(x):\n    """Add."""\n    return x + 1  # one more\n')
    (folder / "three.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    def now() -> str:
        from studies.engine import fingerprint as module

        fingerprint.cache_clear()
        module._file.cache_clear()
        return fingerprint("somebodys.one")

    yield folder, now
    now_file = sys.modules["studies.engine.fingerprint"]
    now_file._file.cache_clear()
    fingerprint.cache_clear()


@pytest.mark.parametrize("module", STACKS)
def test_everything_that_computes_is_reached(module):
    found = set(reached(module))
    assert {
        "problog4fairness.audit.estimation.counting",
        "problog4fairness.beliefs.likelihood.observation",
        "problog4fairness.learners.networks.fit",
        "problog4fairness.metrics",
        "problog4fairness.program.circuit.grounding",
        "problog4fairness.program.sandbox.worker",  # only ever run in a process of its own
        "problog4fairness.data.rows",
        "studies.engine.stack",
        module,
    } <= found
    assert ("problog4fairness.evaluation.methods.massaging" in found) == (module != "studies.face_runs")
    assert ("problog4fairness.datasets.synthetic_data" in found) == (module == "studies.synthetic_cells")
    assert ("studies.data.drawn_faces" in found) >= (module == "studies.face_runs")


@pytest.mark.parametrize("module", STACKS)
def test_what_only_shows_results_does_not_throw_them_away(module):
    shown = ("problog4fairness.app.cli", "problog4fairness.app.report", "studies.commands", "studies.engine.claims")
    shown += ("studies.engine.report", "studies.panels", "studies.synthetic_figure")
    assert not [name for name in reached(module) if name.startswith(shown)]


def test_a_changed_comment_or_docstring_is_the_same_code(package):
    folder, now = package
    before = now()
    (folder / "two.py").write_text('"""Zwei."""\n\n\ndef f(\n    x,\n):\n    # now\n    return x + 1\n')
    assert now() == before
    (folder / "three.py").write_text("g = 1\n")  # nobody imports it
    assert now() == before


def test_changed_code_is_not(package):
    folder, now = package
    before = now()
    (folder / "two.py").write_text("def f(x):\n    return x + 2\n")
    assert now() != before
    (folder / "two.py").write_text("def f(x):\n    from somebodys import three\n    return x + 1\n")
    with_three = now()
    (folder / "three.py").write_text("g = 1\n")
    assert now() != with_three


def test_the_version_of_a_package_counts(package, monkeypatch):
    _, now = package
    before = now()
    monkeypatch.setattr("studies.engine.fingerprint.version", lambda name: "9.9" if name == "torch" else "1")
    assert now() != before


def test_a_text_that_is_no_docstring_counts():
    assert meaning("def f():\n    'about'\n    return 'a'\n") == meaning("def f():\n    return 'a'\n")
    assert meaning("def f():\n    return 'a'\n") != meaning("def f():\n    return 'b'\n")


def test_the_front_door_of_the_library_stands_for_all_rooms(package):
    folder, now = package
    now()
    (folder / "one.py").write_text("import problog4fairness as p4f\n")
    now()
    assert "problog4fairness.app.report.build" in reached("somebodys.one")
