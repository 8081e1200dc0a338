from __future__ import annotations

import io
import sys

import pytest

from problog4fairness.learners import progress as progress_module
from problog4fairness.learners.progress import Bar, progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(progress: bool | None) -> type[Bar]:
    with progress_bar(100, 20, progress) as bar:
        bar.begin("105/250 networks")
        for epoch in range(10):
            bar.show(epoch + 1, 0.5 / (epoch + 1), 5)
        return type(bar)


@pytest.mark.parametrize("progress", [None, False])
def test_pipelines_stay_clean(capfd, progress):
    assert run(progress) is Bar
    assert capfd.readouterr() == ("", "")


def test_on_a_terminal_it_says_epoch_loss_rate_and_time_left(monkeypatch):
    monkeypatch.setattr(progress_module, "_PAUSE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert run(None) is not Bar
    text = terminal.getvalue()
    for part in ("105/250 networks", "epoch 10/20, loss 0.0500, ", " epochs/s, ", " left"):
        assert part in text
    terminal.truncate(0)
    assert run(False) is Bar
    assert terminal.getvalue().strip("\0") == ""


@pytest.mark.parametrize("closed", [True, False])
def test_no_standard_error_is_no_error(monkeypatch, closed):
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream if closed else None)
    assert run(None) is Bar


def test_the_bar_goes_away_when_a_fit_fails(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(RuntimeError, match="stop"), progress_bar(20, 20, None):
        raise RuntimeError("stop")
