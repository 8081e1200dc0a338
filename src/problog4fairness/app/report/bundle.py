"""The evidence behind a report as a folder, and whether it still gives the same report."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import Any

from problog4fairness.app.report.build import Report, report_tables
from problog4fairness.app.report.evidence import learner_name
from problog4fairness.app.report.names import Names
from problog4fairness.app.report.record import Record, Source, sha256
from problog4fairness.app.report.stored import COMPARISON_FILES, read_comparison, save_comparison
from problog4fairness.data import MEBIBYTE, inside, parse_json, read_file, read_table, write_atomically
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, stated_audit

MANIFEST, PAGE, QUEUE, BELIEF, COMPARISON = "bundle.json", "report.html", "suspects.csv", "belief.pl", "comparison"
# Bytes of a file of a bundle.
MOST_BYTES = 256 * MEBIBYTE
# Options of a report that are not files: those of reading tables, for the record, and all.
READING = ("delimiter", "encoding", "decimal")
RECORD = ("title", "author", "purpose", "date", "reviewed_by", "approved_by")
OPTIONS = ("fair", "sampling", "cluster", "recorded", "favourable", "seed", *RECORD, *READING)


@dataclass(frozen=True)
class Inputs:
    """What a report is made from, and how.

    ``model``, ``data`` and ``audit`` are files; ``options`` have the names of :data:`OPTIONS`, those that were given;
    ``names`` are display names by ``column = value``; ``comparison`` is the folder of one, or whether to make one.
    """

    model: Path
    data: str
    audit: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    comparison: Path | bool = True
    sensitivity: bool = True

    def report(self) -> Report:
        """The report."""
        model = DebiasedClassifier.load(self.model)
        reading: dict[str, Any] = {name: self.options.get(name) for name in READING}
        frame = read_table(self.data, **reading)
        sources = [Source.file(self.data, "data", len(frame))]
        audited: Any = None
        if self.audit is not None:
            audited = read_table(self.audit, **reading)
            sources.append(Source.file(self.audit, "audit", len(audited)))
        if {"sampling", "cluster"} & set(self.options):
            audited = stated_audit(
                audited, frame, *(self.options.get(name) for name in ("fair", "sampling", "cluster"))
            )
        compared: Any = self.comparison
        if isinstance(compared, Path):
            compared = read_comparison(compared, model.belief_, learner_name(model))
        made = {name: self.options[name] for name in RECORD if name in self.options}
        return report_tables(
            model,
            frame,
            audit=audited,
            comparison=compared,
            sensitivity=self.sensitivity,
            names=Names(self.names),
            record=Record(**made, sources=[*sources, Source.file(self.model, "model")]),
            **{name: self.options[name] for name in ("fair", "recorded", "favourable", "seed") if name in self.options},
        )

    def command(self, output: str | Path = PAGE) -> str:
        """The command that makes the report."""
        words = ["p4f", "report", str(self.model), "--data", str(self.data)]
        words += [] if self.audit is None else ["--audit", str(self.audit)]
        for name, value in self.options.items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        for key, words_for in self.names.items():
            column, _, value = key.partition(" = ")
            words += ["--names", f"{column}={value}:{words_for}"]
        if not isinstance(self.comparison, bool):
            words += ["--comparison", str(self.comparison)]
        words += [] if self.comparison else ["--no-comparison"]
        words += [] if self.sensitivity else ["--no-sensitivity"]
        return " ".join(map(quote, [*words, "-o", str(output)]))

    def inside(self, folder: Path, compared: bool) -> Inputs:
        """The same, of the files in a folder; ``compared`` is whether it holds a comparison."""
        audit = None if self.audit is None else folder / self.audit.name
        comparison = folder / COMPARISON if compared else False
        return replace(self, model=folder / self.model.name, audit=audit, comparison=comparison)


def write_bundle(made: Report, inputs: Inputs, folder: Path, design: Path | None = None) -> list[Path]:
    """Write the evidence folder; gives the paths of its files.

    It holds the page, the model, the belief, the audit, the design of the audit, the comparison and the rows for
    review, the hashes of all of them and of the data, and the command that makes the page again. The data themselves
    stay where they are. ``design`` is the file that says how the audit was drawn.
    """
    if inputs.data == "-":
        raise P4FError("a bundle names the file of the data; standard input has none")
    folder.mkdir(parents=True, exist_ok=True)
    for path in (inputs.model, inputs.audit, design):
        if path is not None and path.resolve() != (folder / path.name).resolve():
            write_atomically(folder / path.name, path.read_bytes())
    model = DebiasedClassifier.load(inputs.model)
    write_atomically(folder / BELIEF, model.belief_.text())
    made.save(folder / PAGE)
    made.save_queue(folder / QUEUE)
    if made.comparison is not None:
        save_comparison(made.comparison, folder / COMPARISON, model.belief_)
    about: dict[str, Any] = {
        "made_with": f"problog4fairness {version('problog4fairness')}",
        "command": _command(inputs, made.comparison is not None, Path(inputs.data).name),
        "model": inputs.model.name,
        "audit": None if inputs.audit is None else inputs.audit.name,
        "data": {"file": Path(inputs.data).name, "sha256": sha256(inputs.data)},
        "options": dict(inputs.options),
        "names": dict(inputs.names),
        "comparison": made.comparison is not None,
        "sensitivity": inputs.sensitivity,
    }
    files = sorted([*_expected_files(about), *([] if design is None else [design.name])])
    about["files"] = {name: sha256(folder / name) for name in files}
    write_atomically(folder / MANIFEST, json.dumps(about, indent=1) + "\n")
    return [folder / name for name in (*files, MANIFEST)]


def verify(folder: Path, data: str) -> list[str]:
    """What differs between a bundle and what is made of it now, a line each; none where nothing does."""
    folder = Path(folder)
    about, inputs = _read_manifest(folder, data)
    files, expected = about["files"], _expected_files(about)
    differing = []
    if sha256(data) != about["data"]["sha256"]:
        differing.append(f"{Path(data).name}: these are not the data of the report")
    for name, was in files.items():
        path = _plain(folder, name)
        if not path.exists():
            differing.append(f"{name}: missing")
        elif sha256(path, MOST_BYTES) != was:
            differing.append(f"{name}: changed after the bundle was made")
    differing += [f"{name}: {MANIFEST} does not list it" for name in expected if name not in files]
    if not all(_plain(folder, name).is_file() for name in expected):
        return differing
    if about["command"] != _command(inputs, about["comparison"], about["data"]["file"]):
        differing.append(f"{MANIFEST}: the command is not the one that its options give")
    try:
        return differing + _remade(folder, inputs, about["comparison"])
    except (P4FError, OSError) as error:
        if not differing:
            raise
        return [*differing, f"{PAGE}: cannot be made again from these files: {error}"]


def _command(inputs: Inputs, compared: bool, data: str) -> str:
    """The command that makes the page again in the folder, beside the data."""
    return replace(inputs.inside(Path(), compared), data=data).command()


def _plain(folder: Path, name: str) -> Path:
    """A file of a bundle, which is in its folder and no link."""
    path = inside(folder, name)
    if any((folder / Path(*Path(name).parts[:number])).is_symlink() for number in range(1, len(Path(name).parts) + 1)):
        raise P4FError(f"{path} is a link; a bundle holds the files themselves")
    return path


def _read_manifest(folder: Path, data: str) -> tuple[dict[str, Any], Inputs]:
    """What the manifest says, where its parts are of their types, and the inputs of the report."""
    try:
        about = parse_json(read_file(_plain(folder, MANIFEST), MEBIBYTE), 10_000)
        options, source = about["options"], about["data"]
        _require_texts(
            about["names"], about["files"], source, {name: options[name] for name in set(options) - {"seed"}}
        )
        _require_texts({name: about[name] for name in ("command", "model")}, {"audit": about["audit"] or ""})
        flags = type(about["comparison"]) is bool and type(about["sensitivity"]) is bool
        if not flags or not set(options) <= set(OPTIONS) or type(options.get("seed", 0)) is not int:
            raise ValueError("its options are others")
        inputs = Inputs(
            model=_plain(folder, about["model"]),
            data=data,
            audit=None if about["audit"] is None else _plain(folder, about["audit"]),
            options=options,
            names=about["names"],
            sensitivity=about["sensitivity"],
        ).inside(folder, about["comparison"])
        _ = source["file"], source["sha256"]
    except FileNotFoundError:
        raise P4FError(f"{folder} is no bundle: {MANIFEST} is missing; p4f report --bundle makes one") from None
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise P4FError(f"{folder / MANIFEST} cannot be read ({error}); it was changed by hand") from None
    return about, inputs


def _require_texts(*parts: Any) -> None:
    for part in parts:
        if not isinstance(part, dict) or not all(isinstance(value, str) for value in part.values()):
            raise TypeError("its parts are no texts")


def _expected_files(about: Mapping[str, Any]) -> list[str]:
    """The files that a bundle has, besides a design."""
    compared = [f"{COMPARISON}/{name}" for name in COMPARISON_FILES] if about["comparison"] else []
    return [BELIEF, PAGE, QUEUE, about["model"], *([about["audit"]] if about["audit"] is not None else []), *compared]


def _remade(folder: Path, inputs: Inputs, compared: bool) -> list[str]:
    """What differs now, of all that is made from the model, the audit, the data and the single folds."""
    made, belief = inputs.report(), DebiasedClassifier.load(inputs.model).belief_
    differences = _page_differences(read_file(folder / PAGE, MOST_BYTES).decode("utf-8", errors="replace"), made.html)
    with tempfile.TemporaryDirectory() as place:
        remade, names = Path(place), [BELIEF, QUEUE]
        write_atomically(remade / BELIEF, belief.text())
        made.save_queue(remade / QUEUE)
        if compared and made.comparison is not None:
            saved = save_comparison(made.comparison, remade / COMPARISON, belief)
            names += [f"{COMPARISON}/{path.name}" for path in saved]
        for name in names:
            if read_file(folder / name, MOST_BYTES) != (remade / name).read_bytes():
                differences.append(f"{name}: differs")
    return differences


def _page_differences(then: str, now: str) -> list[str]:
    """Which sections of a page differ now."""
    if then == now:
        return []
    old, new = _sections(then), _sections(now)
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return [f"{PAGE}: {f'the section {name!r} ' if name else ''}differs" for name in names or [""]]


def _sections(page: str) -> dict[str, str]:
    """The sections of a page by name, in one pass."""
    sections = {}
    for part in page.split('<section id="')[1:]:
        name, _, rest = part.partition('"')
        sections[name[:60]] = rest.partition("</section>")[0]
    return sections
