"""Who can be let in, and what is said where it cannot be."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from problog4fairness.app.studio.server import serve
from problog4fairness.errors import P4FError
from tests.app.cli.running import fails, p4f

pytest.importorskip("nicegui", reason="the extra studio is not installed")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"host": "192.0.2.7"}, "lets others reach this page; choose a password for them: --password WORD"),
        ({"host": "192.0.2.7", "password": "short"}, "a password has at least 8 letters"),
        ({"host": "0.0.0.0", "password": "long enough"}, "is every address; name the one that others will type"),
    ],
)
def test_letting_others_in_needs_a_password_and_an_address(tmp_path, options, said):
    with pytest.raises(P4FError, match=said):
        serve(tmp_path, browser=False, **options)


def test_a_port_that_is_taken_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(P4FError, match=f"--port {port}: .*leave --port out to take a free one"):
            serve(tmp_path, port=port, browser=False)


def test_a_table_that_is_not_there_leaves_nothing_behind(tmp_path):
    said = fails(p4f("studio", "--no-browser", tmp_path / "loans.csv"))
    assert said == f"{tmp_path / 'loans.csv'}: there is no such file or folder"
    assert list(tmp_path.iterdir()) == []


def test_the_first_screen_waits_for_nothing_that_takes_seconds_to_load():
    slow = ("torch", "scipy", "sklearn", "matplotlib", "problog")
    script = f"from problog4fairness.app.studio.screens import data; import sys; print(*set({slow}) & set(sys.modules))"
    script = f"from problog4fairness.app.studio import shell; import sys; print(*set({slow}) & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
