"""The steps of the demo from Python."""

from __future__ import annotations

import pytest

from problog4fairness.app.report.demo import Demo
from problog4fairness.errors import P4FError


def test_somebody_elses_files_are_left_alone(tmp_path):
    (tmp_path / "audit.csv").write_text("my,own,audit\n")
    with pytest.raises(P4FError, match=r"audit\.csv is there already and is not a demo's; choose another folder"):
        Demo(tmp_path, rows=200).make()
    assert (tmp_path / "audit.csv").read_text() == "my,own,audit\n"
    assert [path.name for path in tmp_path.iterdir()] == ["audit.csv"]


def test_an_earlier_demo_is_replaced(tmp_path):
    Demo(tmp_path / "new", seed=1, rows=200).make()
    first = (tmp_path / "new" / "loans.csv").read_bytes()
    Demo(tmp_path / "new", seed=2, rows=200).make()
    second = (tmp_path / "new" / "loans.csv").read_bytes()
    Demo(tmp_path / "new", seed=1, rows=200).make()
    assert first != second
    assert (tmp_path / "new" / "loans.csv").read_bytes() == first
