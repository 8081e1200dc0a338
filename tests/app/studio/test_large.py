"""A million rows, dropped on the page as Parquet: it stays quick to use, and the server small."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.app.report.browser import installed
from tests.app.studio.driver import Page, Server

pytest.importorskip("nicegui", reason="the extra studio is not installed")
pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
pytestmark = pytest.mark.skipif(installed() is None, reason="no Chromium; `make browser` installs it on Debian")

ROWS = 1_000_000
GIBIBYTE = 2**30


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    numbers = {f"x{number}": rng.normal(size=ROWS).round(3) for number in range(8)}
    labels = {name: rng.integers(0, 2, ROWS) for name in ("group", "granted")}
    file = tmp_path_factory.mktemp("data") / "people.parquet"
    pd.DataFrame({**numbers, **labels, "job": rng.choice(["clerk", "nurse"], ROWS)}).to_parquet(file)
    return file


def test_a_million_rows_stay_usable_in_less_than_two_gibibytes(tmp_path, table):
    first = "document.querySelector('.rows tbody td').innerText"
    with Server("-o", str(tmp_path / "project")) as server, Page(tmp_path / "tab") as page:
        page.open(server.address)
        page.give(table)
        page.says("table.parquet: 1,000,000 rows, 11 columns")
        page.choose("Which column is the recorded label?", "granted")
        page.choose("Which column is sensitive?", "group")
        page.says("granted = 1 is favourable")
        page.until("document.querySelectorAll('[data-column]').length === 11")
        page.fill("Go to row", "1000000")
        page.press("Enter")
        page.until(f"{first} === '999,976'")
        assert page.ask("document.querySelectorAll('.rows tbody tr').length") == 25
        page.click("State a belief")
        page.until("!!document.querySelector('[data-part=picture] svg')")
        page.click("Keep it and plan the audit")
        page.says("rows in this round")
        page.click("Draw these rows")
        page.review("ana")
        page.press("1")
        page.says("1 of ")
        assert server.most_memory() < 2 * GIBIBYTE
        assert page.browser.complaints() == []
