"""One of six groups against all others, on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.app.cli.running import fails, p4f

ROWS = 1500
SHARES = {"African-American": 0.45, "Caucasian": 0.35, "Hispanic": 0.1, "Other": 0.07, "Asian": 0.02, "Native": 0.01}
LABELS = ("--recorded", "released", "--sensitive", "race", "--favourable", "1")
GROUP = ("--group", "African-American")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path, rng = tmp_path_factory.mktemp("races"), np.random.default_rng(0)
    race = rng.choice(list(SHARES), ROWS, p=list(SHARES.values()))
    x = rng.normal(size=ROWS).round(3)
    fair = (rng.random(ROWS) < 1 / (1 + np.exp(-1.5 * x - 0.5))).astype(int)
    lost = (race == "African-American") & (rng.random(ROWS) < 0.4)
    table = pd.DataFrame({"x": x, "race": race, "released": np.where(lost, 0, fair)})
    table.to_csv(path / "t.csv", index=False)
    table.assign(fair=fair).sample(300, random_state=0).to_csv(path / "a.csv", index=False)
    return path


def run(folder, *arguments):
    done = p4f(*arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_every_command_compares_the_group_with_all_others(folder):
    audited = ("--audit", "a.csv", "--fair", "fair")
    believed = ("--belief", "b.pl", *LABELS, *GROUP, *audited)
    shown = run(folder, "plan", "--data", "t.csv", *LABELS, *GROUP, "--only-group")
    assert "race other than African-American" in shown
    assert "Caucasian" not in shown
    run(folder, "estimate", "a.csv", *LABELS, *GROUP, "--only-group", "--fair", "fair", "-o", "b.pl")
    assert '"groups":["not African-American","African-American"]' in (folder / "b.pl").read_text()
    run(folder, "train", "t.csv", *believed, "--learner", "linear", "-o", "m.p4f")
    run(folder, "predict", "m.p4f", "t.csv", "-o", "p.csv")
    assert len(pd.read_csv(folder / "p.csv")) == ROWS
    assert "disparity" in run(folder, "compare", "t.csv", *believed, "--learner", "linear", "--seeds", "1")
    assert "African-American" in run(folder, "check", "t.csv", *believed)


def test_a_group_that_is_not_there_is_an_error_with_those_that_are(folder):
    message = fails(
        p4f("estimate", "a.csv", *LABELS, "--group", "Martian", "--fair", "fair", "-o", "c.pl", folder=folder)
    )
    assert "Martian" in message
    assert "Hispanic" in message
