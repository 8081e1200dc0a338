from __future__ import annotations

import io
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from problog4fairness.beliefs import NoBias
from problog4fairness.data import Rows
from problog4fairness.learners import progress as progress_module
from problog4fairness.learners.base import Task
from problog4fairness.learners.boosted import Boosted
from problog4fairness.learners.em import Reweighted
from problog4fairness.learners.progress import each, listening, progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(progress: bool | None) -> None:
    with progress_bar(100, 20, progress) as bar:
        bar.begin("105/250 networks")
        for epoch in range(10):
            bar.show(epoch + 1, 0.5 / (epoch + 1), 5)


@pytest.mark.parametrize("progress", [None, False])
def test_pipelines_stay_clean(capfd, progress):
    run(progress)
    assert capfd.readouterr() == ("", "")


def test_on_a_terminal_it_says_epoch_loss_rate_and_time_left(monkeypatch):
    monkeypatch.setattr(progress_module, "_PAUSE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(None)
    text = terminal.getvalue()
    for part in ("105/250 networks", "epoch 10/20, loss 0.0500, ", " left"):
        assert part in text
    terminal.truncate(0)
    run(False)
    assert terminal.getvalue().strip("\0") == ""


@pytest.mark.parametrize("closed", [True, False])
def test_no_standard_error_is_no_error(monkeypatch, closed):
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream if closed else None)
    run(None)


def test_the_bar_goes_away_when_a_fit_fails(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(RuntimeError, match="stop"), progress_bar(20, 20, None):
        raise RuntimeError("stop")


ROWS = Rows(pd.DataFrame({"x": np.linspace(-1, 1, 60)}), ("x",), (0, 1), np.arange(60) % 3 // 2)


@pytest.mark.parametrize("learner", [Boosted(max_trees=3), Reweighted(GaussianNB())])
def test_fits_within_fits_are_not_drawn(monkeypatch, learner):
    task = Task(NoBias().observe(ROWS), 0)
    fitted = learner.fit_many([task], progress=False)[0]
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress_module, "_PAUSE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    fitted.refit(learner, [task, task], progress=False)
    learner.fit_many([task], progress=False)
    assert terminal.getvalue() == ""
    fitted.refit(learner, [task, task])
    assert "2/2 fits" in terminal.getvalue()
    assert "loss" not in terminal.getvalue()


def test_nobody_listens_after_a_fit_that_failed():
    heard = []

    def fails(item):
        with progress_bar(1, 1, None) as bar:
            bar.show(1, 0.5, 1)
        if item:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"), listening(lambda *told: heard.append(told[0])):
        each(fails, [0, 1], None)
    assert heard == ["1/2 fits"]
    run(None)
