"""Long work in another process."""

from __future__ import annotations

import time
import warnings

from problog4fairness.app.studio import process as work
from problog4fairness.data import FileWarning
from problog4fairness.errors import P4FError


def counts(tell, until):
    for number in range(until):
        tell({"number": number})
    warnings.warn("the table is odd", FileWarning, stacklevel=1)
    return until


def fails(_, message):
    raise P4FError(message)


def breaks(_):
    raise ZeroDivisionError("1/0")


def never_ends(tell):
    tell({"begun": True})
    time.sleep(600)


def test_it_tells_and_gives_its_result():
    job = work.start("counting", counts, 3)
    job.wait(120)
    assert (job.state, job.result, job.progress) == ("done", 3, [{"number": number} for number in range(3)])
    assert job.remarks == ["the table is odd"]
    assert job.seconds > 0


def test_a_named_error_is_one_line():
    job = work.start("failing", fails, "no such\ncolumn")
    job.wait(120)
    assert (job.state, job.problem) == ("failed", "no such column")


def test_any_other_error_says_what_it_was(capfd):
    job = work.start("breaking", breaks)
    job.wait(120)
    assert job.state == "failed"
    assert "ZeroDivisionError: 1/0" in job.problem
    assert "Traceback" in capfd.readouterr().err


def test_stop_ends_the_process():
    job = work.start("sleeping", never_ends)
    until = time.monotonic() + 120
    while not job.progress and time.monotonic() < until:
        time.sleep(0.02)
    job.stop()
    job.wait(60)
    assert job.state == "stopped"
    assert job.ended is not None
