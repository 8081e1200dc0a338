"""The progress bar of a comparison."""

from __future__ import annotations

import io
import re
import sys

import problog4fairness as p4f
from problog4fairness.learners import listening
from tests.evaluation.data import BELIEF, loans


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def compared(monkeypatch):
    monkeypatch.setattr("problog4fairness.learners.progress._PAUSE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    people, recorded, _ = loans(120)
    model = p4f.DebiasedClassifier(BELIEF, "linear")
    methods = ["recorded_only", "massaging"]
    p4f.compare(people.assign(granted=recorded), model, recorded="granted", methods=methods, seeds=1, folds=2)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())


def test_it_counts_splits(monkeypatch):
    text = compared(monkeypatch)
    counts = [int(count) for count in re.findall(r"compare +━+ split (\d+)/2", text)]
    assert counts == sorted(counts)
    assert counts[-1] == 2
    assert len(set(counts)) > 1


def test_somebody_who_listens_hears_how_far_all_of_it_is(monkeypatch):
    heard = []
    with listening(lambda *told: heard.append(told[-1])):
        assert compared(monkeypatch) == ""
    assert heard == sorted(heard)
    assert heard[-1] == 1.0
