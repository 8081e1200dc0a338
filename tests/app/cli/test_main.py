"""The command as a whole."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import warnings
from importlib.metadata import version

import pytest

from problog4fairness.app.cli import main
from problog4fairness.app.cli.app import app
from problog4fairness.app.cli.output import _parts
from problog4fairness.data import FileNote


@pytest.mark.parametrize(
    ("words", "position", "found"),
    [("p4f repr", "1", "reproduce"), ("p4f reproduce b", "2", "bias-sweep")],
)
def test_the_shell_completes_commands(words, position, found):
    environment = {**os.environ, "_P4F_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": position}
    code = "import sys; sys.argv[0] = 'p4f'; from problog4fairness.app.cli.main import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=240)
    assert found in run.stdout.split()


def test_version(inside):
    assert inside("--version").stdout == f"p4f {version('problog4fairness')}\n"


def test_threads_do_not_wait_by_spinning(inside, monkeypatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    inside("--version")
    assert (os.environ["OMP_WAIT_POLICY"], os.environ["OPENBLAS_NUM_THREADS"]) == ("PASSIVE", "3")


def all_commands(app, before=()):
    yield before
    for own in app.registered_commands:
        yield (*before, own.name or own.callback.__name__)
    for group in app.registered_groups:
        yield from all_commands(group.typer_instance, (*before, group.name))


@pytest.mark.parametrize("words", list(all_commands(app)), ids=" ".join)
def test_help_fits_80_columns_and_leaves_room_for_words(words, inside, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    told = inside(*words, "--help").stdout
    lines = told.splitlines()
    assert max(map(len, lines)) <= 80
    # No types of Python, no ranges, no sentence that breaks off, no default on two lines.
    assert not re.search(r"<\w|\bx[<>]|│|\w\.\.\.$|\[default:$|\xa0", told, re.MULTILINE)
    # Names of options leave at least 47 columns to what they are for.
    assert all(re.match(r" {0,33}\S|$", line) for line in lines)


def test_help_is_broken_between_words(inside, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    told = " ".join(inside("estimate", "--help").stdout.split())
    assert "the bias differs by its values; repeat for more." in told


def test_it_is_on_the_screen_before_anything_large_is_imported():
    large = "{'matplotlib', 'numpy', 'pandas', 'problog', 'rich', 'sklearn', 'torch', 'typer'}"
    code = f"import sys; from problog4fairness.app.cli.main import main; print(*({large} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert (run.stdout, run.stderr) == ("\n", "")


def test_commands_and_their_help_need_nothing_large():
    large = "{'matplotlib', 'numpy', 'pandas', 'problog', 'sklearn', 'torch'}"
    code = f"import sys; import problog4fairness.app.cli.app; print(*({large} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert (run.stdout, run.stderr) == ("\n", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_sign_of_life_goes_away_before_anything_else_is_written(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)

    def status(*words: str) -> object:
        monkeypatch.setattr(sys, "argv", ["p4f", *words])
        with pytest.raises(SystemExit) as left:
            main.main()
        return left.value.code

    assert status("predict", "nowhere.p4f", "nowhere.csv") == 2
    sign, blank, error = terminal.getvalue().split("\r")
    assert sign == "p4f predict: starting ..."
    assert blank == " " * len(sign)
    assert error.startswith("nowhere.p4f: ")
    terminal.truncate(terminal.seek(0))
    assert status("lint", "nowhere.pl") == 2
    assert "starting" not in terminal.getvalue()
    assert status("train", "--help") == 0
    assert "starting" not in terminal.getvalue()


def test_no_sign_of_life_where_nobody_looks(inside):
    run = inside("predict", "nowhere.p4f", "nowhere.csv")
    assert run.stderr.startswith("nowhere.p4f: ")


def test_a_wide_table_comes_in_parts_and_no_cell_is_split():
    texts = {"method": ["trained on recorded labels"], **{f"metric {i}": ["0.788 ± 0.016"] for i in range(6)}}
    parts = list(_parts(texts, 80))
    assert [name for part in parts for name in part if name != "method"] == list(texts)[1:]
    assert all(part[0] == "method" for part in parts)
    assert len(parts) == 2


def test_a_line_is_said_once(capsys, monkeypatch):
    """The same holds for the data and for the audit, and both are read."""
    monkeypatch.setattr(main, "_TOLD", set())
    for message in ("two labels", "two labels", "three labels"):
        main._show_warning(FileNote(message), FileNote, "reading.py", 1)
    assert capsys.readouterr().err == "note: two labels\nnote: three labels\n"
