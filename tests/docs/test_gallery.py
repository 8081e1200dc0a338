"""The examples of the gallery in their short form: each runs, without a warning."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path
from unittest.mock import patch

import matplotlib as mpl
import pytest

from problog4fairness.metrics import METRICS

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted([*(ROOT / "docs" / "gallery").rglob("*.py"), *(ROOT / "docs" / "contribute").rglob("*.py")])
LISTINGS = {
    "example_1_loan": "loan",
    "example_4_loan_with_noise": "loan_noise",
    "listing_1_label": "label",
    "listing_2_measurement": "measurement",
    "listing_3_three_attributes": "three_attributes",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_the_example_runs(path, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("P4F_SHORT", "1")
    monkeypatch.chdir(tmp_path)
    # An example may add a metric; one that stops half way takes it out of no other test.
    with mpl.rc_context(), patch.dict(METRICS):
        mpl.use("agg")
        runpy.run_path(str(path))
        mpl.pyplot.close("all") if hasattr(mpl, "pyplot") else None
    assert capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_the_example_reads_as_a_page(path):
    module = ast.parse(path.read_text())
    title, underline, blank, *rest = (ast.get_docstring(module) or "").splitlines()
    assert re.fullmatch("=+", underline)
    assert len(underline) >= len(title)
    assert not blank
    assert rest


@pytest.mark.parametrize(("example", "listing"), LISTINGS.items())
def test_the_papers_programs_are_as_printed(example, listing):
    text = (ROOT / "docs" / "gallery" / "paper" / f"{example}.py").read_text()
    (program,) = re.findall(r'p4f\.Program\(r"""\n(.*?)"""\)', text, flags=re.DOTALL)
    printed = (ROOT / "examples" / f"{listing}.pl").read_text()
    without_remarks = re.sub(r"^%.*\n+", "", printed, flags=re.MULTILINE)
    assert program.strip() == without_remarks.strip()
