"""The report in a real browser: light, dark, on a phone, and in print."""

from __future__ import annotations

import pytest

from tests.app.report.browser import Browser, installed

pytestmark = pytest.mark.skipif(installed() is None, reason="Chromium is not installed")


@pytest.fixture(scope="module")
def seen(report, tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    file = folder / "report.html"
    report.save(file)
    with Browser(folder / "profile") as browser:
        browser.open(file)
        looks = {
            name: browser.look(width, scheme, folder / f"{name}.png")
            for name, width, scheme in (("light", 1000, "light"), ("dark", 1000, "dark"), ("phone", 360, "light"))
        }
        browser.print(folder / "report.pdf")
        return file, looks, browser.requests(), browser.complaints()


def test_no_request_leaves_the_page(seen):
    file, _, requests, _ = seen
    assert requests == [file.as_uri()]


def test_nothing_complains(seen):
    assert seen[3] == []


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_page_fits_and_shows_its_figures(seen, look):
    file, looks, _, _ = seen
    found = looks[look]
    assert found["wide"] <= found["shown"]
    assert len(found["drawings"]) >= 6
    assert min(found["drawings"]) > 60
    assert (file.parent / f"{look}.png").stat().st_size > 20_000


def test_dark_is_dark_in_text_and_figures(seen):
    looks = seen[1]

    def brightness(colour):
        return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])

    assert brightness(looks["light"]["paper"]) - brightness(looks["light"]["ink"]) > 400
    assert brightness(looks["dark"]["ink"]) - brightness(looks["dark"]["paper"]) > 400
    assert brightness(looks["dark"]["letters"]) > 400 > brightness(looks["light"]["letters"])


def test_prints(seen):
    pdf = (seen[0].parent / "report.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") + pdf.count(b"/Type /Page/") >= 2
