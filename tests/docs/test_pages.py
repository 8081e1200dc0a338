"""The pages of ``docs/``, without Sphinx: links lead somewhere, and what they show runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

import problog4fairness as p4f

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"results", "_generated"} & set(path.parts))
GALLERIES = {"_generated/gallery": DOCS / "gallery", "_generated/contribute": DOCS / "contribute" / "examples"}


def names(pages):
    return [str(page.relative_to(DOCS)) for page in pages]


def source(page: Path, target: str) -> Path:
    """The file behind a link: of a page, of an executed example, or of anything else."""
    place = DOCS / target.lstrip("/") if target.startswith("/") or page == DOCS / "index.md" else page.parent / target
    inside = place.resolve().relative_to(DOCS.resolve()).as_posix()
    for made, own in GALLERIES.items():
        if inside.startswith(made):
            rest = inside.removeprefix(f"{made}/")
            return own / ("GALLERY_HEADER.rst" if rest == "index" else f"{rest}.py")
    if inside.startswith("_generated"):
        return DOCS / "_extensions" / ("pictures.py" if "pictures" in inside else "reference.py")
    return place if place.suffix else place.with_suffix(".md")


def targets(page: Path) -> list[str]:
    """All that a page links to or includes, but for addresses on the web."""
    text = re.sub(r"```\w*\n.*?```", "", page.read_text(), flags=re.DOTALL) if page.suffix == ".md" else ""
    found = re.findall(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`", text)
    found += re.findall(r"\]\(([^)#]+)\)", text)
    found += re.findall(r"```\{(?:image|include)\} (\S+)", page.read_text())
    found += re.findall(r"^:link: (\S+)$", page.read_text(), flags=re.MULTILINE)
    for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), flags=re.DOTALL):
        found += [line for line in block.splitlines() if line and not line.startswith(":")]
    return [target for target in found if not target.startswith("http")]


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_links_lead_somewhere(page):
    for target in targets(page):
        if target.startswith("../../") and "results" not in target:
            assert (page.parent / target).resolve().exists(), target  # a page of the repository's root
        else:
            assert source(page, target).exists(), target


def test_every_page_is_in_the_contents():
    listed = {source(page, target).resolve() for page in PAGES for target in targets(page) if "../" not in target}
    assert [page for page in PAGES if page != DOCS / "index.md" and page.resolve() not in listed] == []


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_the_names_of_the_reference_exist(page):
    for name in re.findall(r"\{(?:func|class|data)\}`~?([\w.]+)`", page.read_text()):
        parts = name.split(".")
        assert parts[0] == "problog4fairness"
        value = p4f
        for part in parts[1:]:
            value = getattr(value, part)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder with the tables that pages read."""
    folder = tmp_path_factory.mktemp("tables")
    data = p4f.datasets.loans(rows=600, audited=300, new=50)
    for name, table in (("loans", data.loans), ("audit", data.audit), ("new", data.new)):
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
@pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
def test_snippets_run(page, tables, monkeypatch):
    monkeypatch.chdir(tables)
    space: dict[str, object] = {}
    for snippet in re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
        exec(compile(snippet, str(page), "exec"), space)


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_commands_are_understood(page, tables, monkeypatch):
    """They are read and not run; the README's, which are the same, are run in test_package.py."""
    from problog4fairness.app.cli import app

    group = get_command(app)
    for name in ("belief.pl", "loans.p4f"):
        (tables / name).touch()
    monkeypatch.chdir(tables)
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
        for line in block.strip().splitlines():
            program, command, *arguments = shlex.split(line)
            assert program == "p4f"
            group.commands[command].make_context(command, arguments)


def test_the_list_of_studies_counts_the_claims_as_their_pages_do():
    listed = (DOCS / "guide" / "paper" / "index.md").read_text()
    for folder in ("bias-sweep", "dependent", "assumption", "student", "student-grade", "student-grouped", "faces"):
        title = (DOCS / "results" / folder / "claims.md").read_text().splitlines()[0]
        assert f"| {title.partition(': ')[2]} |" in listed, folder
