"""The progress bar of a comparison."""

from __future__ import annotations

import io
import re
import sys

import problog4fairness as p4f
from problog4fairness.evaluation import progress as bar
from problog4fairness.learners import listening
from tests.evaluation.data import BELIEF, loans


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def compared(monkeypatch, names, **options):
    monkeypatch.setattr(bar, "PAUSE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    people, recorded, _ = loans(120)
    p4f.compare(people, recorded, names, "linear", methods=["recorded_only", "massaging"], seeds=1, folds=2, **options)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())


def test_a_line_for_each_method_and_one_for_all(monkeypatch):
    text = compared(monkeypatch, BELIEF)
    last = text[text.rindex("this model") :]
    for method in ("this model", "trained on recorded labels", "massaging"):
        assert re.search(rf"{method} +━+ 2/2", last)
    assert re.search(r"all +━+ 6/6 cells, 0:00:00 left", last)
    counts = [int(found) for found in re.findall(r"(\d+)/6 cells, [-:\d]+ left", text)]
    assert counts == sorted(counts)
    assert len(set(counts)) > 2  # it moves


def test_long_names_fit_80_columns(monkeypatch):
    text = compared(monkeypatch, {"[bold]" * 20: BELIEF})
    assert "[bold][bold]" in text
    assert max(map(len, re.split(r"[\r\n]+", text))) <= 80


def test_somebody_who_listens_hears_of_all_fits_instead(monkeypatch):
    heard = []
    with listening(lambda *told: heard.append(told[-1])):
        assert compared(monkeypatch, BELIEF) == ""
    assert heard.count(1.0) >= 1
