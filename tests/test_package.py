"""The package as a whole: quick to import, and its documentation runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import problog4fairness as p4f
from tests.app.cli import running

ROOT = Path(__file__).parents[1]


def test_importing_the_package_does_not_import_torch_or_problog():
    heavy = ("torch", "problog", "matplotlib", "numpy")
    code = f"import sys, problog4fairness; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_problog_never_runs_in_the_callers_process():
    code = (
        "import sys, problog4fairness as p4f; p4f.Program('0.5 :: a. query(a).').probability();"
        "print('problog' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_every_public_name_exists():
    assert set(p4f.__all__) <= set(dir(p4f))
    for name in p4f.__all__:
        assert getattr(p4f, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        p4f.nonsense  # noqa: B018


def module_names() -> list[str]:
    """All modules of the library, and of the studies beside it."""
    found = [
        *pkgutil.walk_packages(p4f.__path__, "problog4fairness."),
        *pkgutil.walk_packages([str(ROOT / "studies")], "studies."),
    ]
    return [module.name for module in found if not module.name.endswith("__main__")]


@pytest.mark.parametrize("name", ["problog4fairness", *module_names()])
def test_docstring_examples_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_readme_snippets_run(tmp_path, monkeypatch):
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert snippets
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), names)
    (printed,) = re.findall(r"```prolog\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert printed == str(names["belief"]).strip()
    assert {path.name for path in tmp_path.iterdir()} == {"loans.p4f", "report.html"}


def test_readme_commands_run(tmp_path):
    (block,) = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    data = p4f.datasets.loans(rows=600, audited=200, new=50)
    for name, table in (("loans", data.loans), ("audit", data.audit), ("new", data.new)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    for line in block.strip().splitlines():
        command, *arguments = shlex.split(line)
        assert command == "p4f"
        run = running.p4f(*arguments, folder=tmp_path)
        assert run.returncode == 0, run.stderr
        assert (tmp_path / arguments[-1]).exists()
    assert "fair_probability" in (tmp_path / "scored.csv").read_text().splitlines()[0]


def test_readme_is_short_and_its_pictures_and_links_exist():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if not t.startswith("http")]
    assert targets
    for target in targets:
        assert (ROOT / target).exists(), target


def test_a_name_that_is_nearly_one_is_asked_after():
    belief = p4f.LabelBias("area", 0.2, 0.1)
    with pytest.raises(p4f.errors.UnknownNameError, match=r"no parameter 'p_1'; did you mean 'p1'\? it has p1, p2"):
        belief.bind({"p_1": 0.3})
    with pytest.raises(p4f.errors.P4FError, match="no column 'grantd' for the recorded values; did you mean 'granted'"):
        belief.plan_audit(p4f.datasets.loans(rows=20, audited=1, new=1).loans.assign(area=0), recorded="grantd")
    with pytest.raises(AttributeError) as error:
        p4f.LabelBais  # noqa: B018
    # By these Python itself asks "Did you mean: 'LabelBias'?"
    assert (error.value.name, error.value.obj) == ("LabelBais", p4f)
