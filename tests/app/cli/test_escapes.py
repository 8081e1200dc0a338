"""A name, an atom or a cell cannot steer the terminal: what it would obey is shown escaped."""

from __future__ import annotations

import pytest

from problog4fairness.errors import P4FError, printable
from tests.app.cli.running import p4f

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
PROGRAM = f"0.5::'a{ESCAPE}b'. p('x{ESCAPE}')::c. d :- 'a{ESCAPE}b', c. query('a{ESCAPE}b'). query(d)."


def quiet(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ä 漢", "plain ä 漢"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\tb\nc\r", "a\\tb\\nc\\r"),
        ("\u202eabc", "\\u202eabc"),
        ("\x9b2J", "\\x9b2J"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_printable(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown
    assert quiet(str(P4FError(text)))


@pytest.mark.parametrize(
    "arguments", [("lint",), ("query",), ("query", "--set", f"q{ESCAPE}=1"), ("draw", "-o", f"a{ESCAPE}.svg")]
)
def test_programs(arguments, tmp_path):
    file = tmp_path / f"a{ESCAPE}.pl"
    for text in (PROGRAM, PROGRAM + " 1.5::a.", PROGRAM.replace("query(d)", f"query('n{ESCAPE}')")):
        file.write_text(text)
        run = p4f(arguments[0], file, *arguments[1:], folder=tmp_path)
        assert quiet(run.stdout + run.stderr), (run.stdout, run.stderr)
        assert "\\x1b" in run.stdout + run.stderr


def test_tables(tmp_path):
    """Columns and cells, in the commands that read a table."""
    rows = "".join(
        f"{i % 7},{'x' if i % 2 else 'y' + ESCAPE},{'yes' + ESCAPE if i % 3 else 'no'}\n" for i in range(200)
    )
    (tmp_path / "t.csv").write_text(f"size{ESCAPE},group{ESCAPE},label{ESCAPE}\n" + rows)
    roles = ("--label", f"label{ESCAPE}", "--sensitive", f"group{ESCAPE}")
    for command in (("plan", "t.csv", *roles), ("compare", "t.csv", *roles), ("estimate", "t.csv", *roles)):
        run = p4f(*command, folder=tmp_path)
        assert quiet(run.stdout + run.stderr), (command, run.stdout, run.stderr)
