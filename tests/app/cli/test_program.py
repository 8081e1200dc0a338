"""The commands on programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.cli.running import p4f

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_query_prints_probabilities():
    run = p4f("query", EXAMPLES / "loan.pl")
    assert run.stdout.split() == ["gets_loan(mary)", "0.9", "gets_loan(john)", "1"]
    assert run.returncode == 0
    assert run.stderr == ""


def test_query_takes_networks_and_parameters_and_prints_json():
    rates = [f"--set=p{i}={value}" for i, value in enumerate((0.3, 0.1, 0.05, 0.2), start=1)]
    run = p4f("query", EXAMPLES / "label.pl", "--nn", "h=0.7", "--nn", "a(x)=1", *rates, "--json")
    assert json.loads(run.stdout) == {"y_(x)": pytest.approx(0.7 * 0.7 + 0.3 * 0.05, abs=1e-12)}


def test_query_takes_several_outcomes(tmp_path):
    file = tmp_path / "classes.pl"
    file.write_text("nn(g,[X],Y,[a,b]) :: y(X,Y). query(y(x,b)).")
    assert json.loads(p4f("query", file, "--nn", "g=0.25,0.75", "--json").stdout) == {"y(x,b)": 0.75}


def test_check_tells_what_it_found():
    run = p4f("lint", EXAMPLES / "measurement.pl")
    assert "h, n/2, a" in run.stdout
    assert "p1, p2, p3, p4" in run.stdout
    assert "y(x_(0,0,0,0))" in run.stdout
    found = json.loads(p4f("lint", EXAMPLES / "measurement.pl", "--json").stdout)
    assert found["nodes"] > 100
    assert found["warnings"] == []


def test_check_warns(tmp_path):
    file = tmp_path / "unused.pl"
    file.write_text("p1 :: used. p2 :: unused. query(used).")
    assert "warning: parameter p2 does not matter for any query" in p4f("lint", file).stdout


@pytest.mark.parametrize("suffix", ["svg", "png", "mmd"])
def test_draw_writes_the_picture(tmp_path, suffix):
    output = tmp_path / f"label.{suffix}"
    run = p4f("draw", EXAMPLES / "label.pl", "-o", output)
    assert run.returncode == 0, run.stderr
    start = {"svg": b"<?xml", "png": b"\x89PNG", "mmd": b"flowchart"}[suffix]
    assert output.read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "nowhere.pl"], "nowhere.pl: the file does not exist"),
        (["query", EXAMPLES / "label.pl"], "network h(x) has no value; give one to h, or h(x) alone"),
        (["query", EXAMPLES / "label.pl", "--nn", "h"], "--nn h: write NAME=P, such as h=0.7"),
        (["query", EXAMPLES / "label.pl", "--set", "p1=0.1,0.2"], "--set p1=0.1,0.2: a parameter has one value"),
        (
            ["query", EXAMPLES / "label.pl", "--set", "p9=0.1"],
            "the program has no parameter 'p9'; it has p1, p2, p3, p4",
        ),
        (
            ["query", EXAMPLES / "loan_noise.pl", "--nn", "h=1.5"],
            "probability 1.5 of network h(x) is not between 0 and 1",
        ),
        (
            ["draw", EXAMPLES / "label.pl"],
            "Missing option '-o' / '--output': A file ending in .svg, .png, .pdf or .mmd (Mermaid).",
        ),
        (["nonsense"], "No such command 'nonsense'."),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, message):
    run = p4f(*arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr == message + "\n"


def test_errors_name_file_line_and_column(tmp_path):
    file = tmp_path / "loans.pl"
    file.write_text("can_pay(mary).\n1.3 :: neg_bias(X) :- can_pay(X).\nquery(neg_bias(mary)).\n")
    run = p4f("lint", file)
    assert run.returncode == 2
    assert run.stderr == f"{file}:2:1: probability 1.3 of neg_bias(X) is not between 0 and 1\n"


def test_limits_can_be_set(tmp_path):
    file = tmp_path / "endless.pl"
    file.write_text("p(X) :- p(s(X)). query(p(0)).")
    run = p4f("lint", file, "--seconds", "1")
    assert run.returncode == 2
    assert "time limit of 1 s" in run.stderr


def test_draw_does_not_overwrite_the_program(tmp_path):
    file = tmp_path / "label.svg"
    file.write_text((EXAMPLES / "label.pl").read_text())
    run = p4f("draw", file, "-o", file)
    assert run.returncode == 2
    assert file.read_text() == (EXAMPLES / "label.pl").read_text()


def test_an_output_that_cannot_be_written_is_one_line(tmp_path):
    run = p4f("draw", EXAMPLES / "label.pl", "-o", tmp_path / "nowhere" / "label.svg")
    assert run.returncode == 2
    assert run.stderr.endswith(f"there is no folder {tmp_path / 'nowhere'}\n")
    assert len(run.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["lint", "query", "draw"])
def test_help_has_an_example(command):
    run = p4f(command, "--help")
    assert run.returncode == 0
    assert f"p4f {command} examples/" in run.stdout
