"""What is read from strangers: for each kind of file some valid ones, ways to change them, and the function that reads.

A target names public functions only. What a reader does with a changed file is one of two things: it succeeds, or it
raises one of the library's own errors, which reads as one line.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd

from tests.fuzz.mutations import mutated

ROOT = Path(__file__).parents[2]
ROWS = pd.DataFrame(
    {
        "area": ["north", "south", "east"] * 14,
        "income": [1.5, 2.0, None, 7.25, 3.0, 2.5] * 7,
        "poor": [0, 1] * 21,
        "granted": [1, 0, 0, 1, 1, 0, 1] * 6,
    }
)


@dataclass(frozen=True)
class Target:
    """A kind of file.

    Attributes
    ----------
    files
        Valid ones.
    change
        From a valid file and the others to a changed one.
    read
        Reads a file, as a user of the library would.
    seconds
        How long that may take. A program may use up its own limit of time.
    """

    files: Callable[[], Sequence[bytes]]
    read: Callable[[Path], object]
    change: Callable[[bytes, Sequence[bytes], Random], bytes] = mutated
    seconds: float = 10.0


# Programs.


@cache
def _programs() -> Sequence[bytes]:
    return [file.read_bytes() for file in sorted((ROOT / "examples").glob("*.pl"))]


def _read_program(path: Path) -> object:
    from problog4fairness import Program
    from problog4fairness.program import Limits

    program = Program.from_file(path, limits=Limits(seconds=5, memory=1 << 30))
    program.lint()
    return program.compile()


# Beliefs.


@cache
def _beliefs() -> Sequence[bytes]:
    import problog4fairness as p4f
    from problog4fairness.beliefs import belief_text

    own = "nn(h,X)::y(X). nn(area,X)::a(X). p1::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x)."
    audit = p4f.datasets.loans(rows=10, audited=500, new=10).audit
    beliefs = (
        p4f.LabelBias("poor_area").estimate(audit, recorded="granted", fair="repaid"),
        p4f.LabelBias("city", 0.1, 0.2, groups=("New York", "rome", 3)),
        p4f.ClassBias("area", ["low", "mid", "high"], 0.1),
        p4f.chain(p4f.MeasurementBias(["days off"], "area", 0.2), p4f.LabelBias("b", 0.3)),
        p4f.HistoricalBias(["q0"], "area", 0.2, False),
        p4f.ProgramBelief(own, values={"area": ("no", "yes")}).bind({"p1": 0.3}),
    )
    return [belief_text(belief).encode() for belief in beliefs]


def _read_belief(path: Path) -> object:
    from problog4fairness.beliefs import read_belief

    return str(read_belief(path))


# What the line for the machine says of each kind of belief.


@cache
def _descriptions() -> Sequence[bytes]:
    import problog4fairness as p4f

    own = "nn(h,X)::y(X). nn(area,X)::a(X). p1::n(X) :- a(X). r(X) :- y(X), \\+n(X). ?- r(x)."
    beliefs = (
        p4f.NoBias(),
        p4f.LabelBias("poor_area", {1: 0.3}, 0.1, affected=[1]),
        p4f.LabelBias(("sex", "area"), 0.1, noise=0.2, groups=((0, "a"), (1, "a"), (0, "b"))),
        p4f.ClassBias("area", ["low", "mid", "high"], 0.1),
        p4f.MeasurementBias(["days off", "q1"], "area", values={"q1": ("lo", "mid", "hi")}),
        p4f.chain(p4f.MeasurementBias(["q0"], "area", 0.2), p4f.LabelBias("area", 0.2, 0.1), p4f.LabelBias("b", 0.3)),
        p4f.chain(p4f.NumericMeasurementBias("income", "area"), p4f.LabelBias("area", 0.2)),
        p4f.NumericMeasurementBias("income", "area", 0.8, 0.5, 2.0, mean=3.0, spread=1.0),
        p4f.HistoricalBias(["q0"], "area", 0.2, False, label=p4f.LabelBias("area", 0.1)),
        p4f.ProgramBelief(own, values={"area": ("no", "yes")}).bind({"p1": 0.3}),
        p4f.RowBias("area", p4f.depends_on({"officer": ("a", "b", "c")}), p4f.depends_on(model="income")),
        p4f.ChangedBias("area", "day", "2020-03-01", affected=[1]),
        p4f.SelectiveLabels("area", decided_by={"officer": ("a", "b")}),
        p4f.PositiveUnlabelled("area", by={"hospital": ("north", "south", "west")}),
        p4f.Annotators(["ann", "bob", "cy"], "area"),
        p4f.Annotators(["ann", "bob", "cy"], hard_rows=True, symmetric=True),
        p4f.UnknownGroup("poor", {"postcode": ("1", "2", "3")}, belief=p4f.LabelBias("poor")),
    )
    return [json.dumps(belief.to_json()).encode() for belief in beliefs]


_ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 10**30, -(2**63), 0.5, -0.25, 1e308, 1e-320, "", "a", "X", "1", "p(x)", "a\0b",
    "\ud800", "é" * 300, [], [[]], [0], [None], ["a", "a"], {}, {"a": 1}, {"kind": "LabelBias"}, [1] * 2000,
)  # fmt: skip


def _change_description(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Parts are left out, doubled, nested, or of another type; or stand where those of another belief should."""
    value, other = json.loads(content), json.loads(rng.choice(others))
    for _ in range(rng.choice((1, 1, 2, 4))):
        _change_part(value, other, rng)
    return json.dumps(value).encode()


def _change_part(value: Any, other: Any, rng: Random) -> None:
    """One place in nested lists and objects."""
    places = [(part, key) for part in _parts(value) for key in _keys_of(part)]
    if not places:
        return
    part, key = rng.choice(places)
    ways = rng.randrange(6)
    if ways == 0:
        del part[key]
    elif ways == 1:
        part[key] = [part[key]] * rng.choice((1, 2, 50))
    elif ways == 2:
        part[key] = {"a": part[key]}
    elif ways == 3:
        whole = rng.choice([own for own in _parts(other) if _keys_of(own)])
        part[key] = copy.deepcopy(whole[rng.choice(_keys_of(whole))])
    else:
        part[key] = copy.deepcopy(rng.choice(_ODD_VALUES))


def _parts(value: Any) -> list[Any]:
    """All lists and objects in a value, itself among them."""
    if not isinstance(value, dict | list):
        return []
    return [value, *(part for own in (value.values() if isinstance(value, dict) else value) for part in _parts(own))]


def _keys_of(part: Any) -> list[Any]:
    return list(part) if isinstance(part, dict) else list(range(len(part)))


def _read_description(path: Path) -> object:
    """As plain data, and as the line of a file: first beside no program, then beside the one that it describes."""
    from problog4fairness import Belief
    from problog4fairness.beliefs import belief_text, read_belief
    from problog4fairness.errors import NoQueryError, P4FError

    value, belief = json.loads(path.read_text()), None
    try:
        belief = Belief.from_json(value)
    except P4FError as error:
        if len(str(error).splitlines()) != 1:
            raise AssertionError(f"not one line: {error}") from error
    line = json.dumps({"format": 3, **value} if isinstance(value, dict) else value)
    try:
        return read_belief(f"a.\n% p4f: {line}\n")
    except NoQueryError:
        return str(read_belief(belief_text(belief)))


# Models.


_SUMS = "SHA256SUMS"


@cache
def _models() -> Sequence[bytes]:
    import tempfile

    from problog4fairness import DebiasedClassifier, LabelBias
    from problog4fairness.learners import Network

    belief = LabelBias("poor", 0.3, 0.05)
    found = []
    network = Network(hidden=(3,), max_epochs=1, networks=1)
    for features, learner in (
        (["area", "income", "poor"], network),
        (["income", "poor"], network),
        (["area"], "linear"),
    ):
        model = DebiasedClassifier(belief, learner, random_state=0)
        model.fit(ROWS[features].fillna(0), ROWS["granted"], sensitive_features=ROWS["poor"])
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model.p4f")
            found.append((Path(folder) / "model.p4f").read_bytes())
    return found


def _read_model(path: Path) -> object:
    from problog4fairness import DebiasedClassifier

    model = DebiasedClassifier.load(path)
    rows = ROWS.fillna(0)
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    return model.predict_proba(pd.DataFrame({name: rows.get(name, rows["income"]) for name in names}))


def _change_model(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Mostly a part of the zip, with the checksums that an attacker would put right."""
    if rng.random() < 0.1:
        return mutated(content, others, rng)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(("manifest.json", "manifest.json", "weights.safetensors", *parts))
    if name == "manifest.json" and rng.random() < 0.8:
        parts[name] = _change_description(parts[name], [parts[name]], rng)
    else:
        parts[name] = mutated(parts[name], list(parts.values()), rng)
    sealed = [other for other in parts if other != _SUMS]
    if name != _SUMS:
        lines = [f"{hashlib.sha256(parts[other]).hexdigest()}  {other}\n" for other in sealed]
        parts[_SUMS] = "".join(lines).encode()
    packed = io.BytesIO()
    kind = rng.choice((*[zipfile.ZIP_STORED] * 18, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(packed, "w", kind) as archive:
        for other, part in parts.items():
            archive.writestr(other, part)
    return packed.getvalue()


# Fits at other values of the parameters.


@cache
def _moves() -> Sequence[bytes]:
    import tempfile

    from problog4fairness import DebiasedClassifier, LabelBias
    from problog4fairness.robustness import what_if

    data = ROWS[["area", "income"]].fillna(0), (ROWS["area"] != "north").astype(int)
    found = []
    for belief in (LabelBias("poor", 0.3, 0.05), LabelBias("poor", {1: 0.2}, False, affected=[1])):
        model = DebiasedClassifier(belief, "linear", random_state=0).fit(*data, sensitive_features=ROWS["poor"])
        moves = what_if(model, *data, sensitive_features=ROWS["poor"], progress=False)
        with tempfile.TemporaryDirectory() as folder:
            moves.save(Path(folder) / "moves")
            found.append((Path(folder) / "moves").read_bytes())
    return found


def _read_moves(path: Path) -> object:
    from problog4fairness.robustness import WhatIf

    moves = WhatIf.load(path)
    found = [moves.along(name, steps=3) for name in moves.names]
    return moves.at(dict.fromkeys(moves.names, 0.4)), moves.words(), found


# Tables.


@cache
def _tables() -> Sequence[bytes]:
    text = ROWS.to_csv(index=False)
    parquet = io.BytesIO()
    ROWS.to_parquet(parquet, index=False)
    german = ROWS.to_csv(index=False, sep=";", decimal=",")
    quoted = ROWS.assign(note='a "quoted"\nline, or two').to_csv(index=False)
    return [
        text.encode(), german.encode("utf-16"), german.encode("cp1252"), quoted.encode(),
        text.replace(",", "\t").encode("utf-8-sig"), gzip.compress(text.encode(), mtime=0), parquet.getvalue(),
    ]  # fmt: skip


def _read_table(path: Path) -> object:
    from problog4fairness.data import read_table

    return read_table(path)


def _change_table(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """What is packed is mostly changed inside."""
    if content.startswith(b"\x1f\x8b") and rng.random() < 0.7:
        return gzip.compress(mutated(gzip.decompress(content), others, rng), mtime=0)
    return mutated(content, others, rng)


# Stores: tables of finished work, and checkpoints of unfinished work.

_IDENTITY = {"method": "ours", "seeds": [0, 1], "training": {"hidden": [4]}}
_KEYS = [("label", 0.1, "ours", seed, metric) for seed in (0, 1) for metric in ("accuracy", "f1")]


@cache
def _stores() -> Sequence[bytes]:
    import tempfile

    from studies.engine.archive import Archive

    with tempfile.TemporaryDirectory() as folder:
        Archive(Path(folder)).save(_IDENTITY, [[*key, 0.1 + number / 7] for number, key in enumerate(_KEYS)])
        (file,) = Path(folder).iterdir()
        _fit(Path(folder) / "checkpoint", 2)
        return [file.read_bytes(), (Path(folder) / "checkpoint").read_bytes()]


def _fit(checkpoint: Path, epochs: int) -> object:
    import numpy as np
    import torch

    from problog4fairness.beliefs import NoBias
    from problog4fairness.data import Rows
    from problog4fairness.learners import Settings, fit_module

    inputs = torch.linspace(-1, 1, 40).view(20, 2)
    rows = Rows(pd.DataFrame({"number": range(20)}), ("number",), (0, 1), np.arange(20) % 2)
    torch.manual_seed(0)
    settings = Settings(max_epochs=epochs, batch_size=8, learning_rate=0.01)
    options = {"settings": settings, "checkpoint": checkpoint, "progress": False}
    return fit_module(torch.nn.Linear(2, 1), inputs, NoBias(), rows, **options)


def _read_store(path: Path) -> object:
    """Both ways: a file does not say of what kind it is."""
    from studies.engine.archive import Archive, name_of

    folder = path.parent / "archive"
    folder.mkdir(exist_ok=True)
    (folder / f"{name_of(_IDENTITY)}.json").write_bytes(path.read_bytes())
    table = Archive(folder).load(_IDENTITY, _KEYS)
    if table is not None and [tuple(key) for *key, _ in table] != _KEYS:
        raise AssertionError(f"rows of another shape: {table}")
    return table if table is not None else _fit(path, 3)


def _change_store(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Mostly what is inside, with the checksum that an attacker would put right."""
    from studies.engine.archive import digest_of

    if not content.startswith(b"{") or rng.random() < 0.3:
        return mutated(content, others, rng)
    whole = json.loads(content)
    try:
        table = json.loads(mutated(json.dumps(whole["table"]).encode(), others, rng))
        return json.dumps({**whole, "table": table, "checksum": digest_of(table)}).encode()
    except (ValueError, RecursionError):
        return mutated(content, others, rng)


# Folders, as one file that holds their files.


def packed_folder(folder: Path) -> bytes:
    """All files of a folder as one."""
    return _zipped({str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.*"))})


def _zipped(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part)
    return buffer.getvalue()


def unpacked_folder(path: Path) -> Path:
    """The inverse of :func:`packed_folder`, beside the file."""
    folder = path.parent / "folder"
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


def _change_folder(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """One file of it is changed, is missing, or is a copy of another; the hashes of a bundle are mostly put right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    # Pictures are not taken apart by anybody.
    name, kind = rng.choice([name for name in parts if not name.endswith((".png", ".pdf"))]), rng.random()
    before = parts[name]
    if kind < 0.05:
        del parts[name]
    elif kind < 0.1:
        parts[name] = parts[rng.choice(list(parts))]
    else:
        parts[name] = mutated(before, list(parts.values()), rng)
    if name in parts and rng.random() < 0.7:
        old, new = (hashlib.sha256(part).hexdigest().encode() for part in (before, parts[name]))
        parts = {other: part.replace(old, new) for other, part in parts.items()}
    return _zipped(parts)


@cache
def _evidence() -> tuple[bytes, bytes, bytes]:
    """A bundle, the table that it was made from, and a comparison."""
    import tempfile

    import problog4fairness as p4f
    from problog4fairness.app.report import Inputs, save_comparison, write_bundle

    data = p4f.datasets.loans(rows=120, audited=40, new=1)
    belief = p4f.LabelBias("poor_area", {0: 0.0, 1: 0.4}, 0.0)
    features, audit = [*data.features, "poor_area"], data.audit
    model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    model.fit(data.loans[features], data.loans["granted"])
    options = {"methods": ["massaging"], "seeds": 1, "folds": 2}
    plain = p4f.DebiasedClassifier(belief, "linear")
    compared = p4f.compare(audit, plain, recorded="granted", fair="repaid", **options)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data.loans.to_csv(folder / "loans.csv", index=False)
        audit.to_csv(folder / "audit.csv", index=False)
        model.save(folder / "loans.p4f")
        save_comparison(compared, folder / "compared", belief)
        options = {"fair": "repaid", "date": "2026-01-02", "seed": 0}
        inputs = Inputs(
            folder / "loans.p4f", str(folder / "loans.csv"), folder / "audit.csv", options, {}, folder / "compared",
            False,
        )  # fmt: skip
        write_bundle(inputs.report(), inputs, folder / "evidence")
        bundle = packed_folder(folder / "evidence")
        return bundle, (folder / "loans.csv").read_bytes(), packed_folder(folder / "compared")


def _read_bundle(path: Path) -> object:
    from problog4fairness.app.report import verify

    table = path.parent / "loans.csv"
    table.write_bytes(_evidence()[1])
    return verify(unpacked_folder(path), str(table))


def _read_comparison(path: Path) -> object:
    from problog4fairness.app.report import read_comparison

    found = read_comparison(unpacked_folder(path))
    return found.verdict, found.to_dict()


# Projects of studio.


@cache
def _projects() -> Sequence[bytes]:
    import tempfile

    import problog4fairness as p4f
    from problog4fairness.app.studio.auditing import Audit, draw, plan
    from problog4fairness.app.studio.project import Project

    with tempfile.TemporaryDirectory() as folder:
        project = Project.open(Path(folder))
        p4f.datasets.loans(rows=120, audited=1, new=1).loans.to_csv(project.path("loans.csv"), index=False)
        project.begin(project.path("loans.csv"))
        project.choose(recorded="granted", favourable="1", sensitive="poor_area", group="1", fair="repaid")
        project.keep_belief(p4f.LabelBias("poor_area"))
        draw(project, plan(project, 0.3))
        audit = Audit(project)
        for number, (row, label) in enumerate(zip(audit.numbers[:12], "101101011011", strict=False)):
            audit.reviews.answer(row, "Ann" if number % 2 else "Ben", label, "seen")
        return [packed_folder(Path(folder))]


def _read_project(path: Path) -> object:
    from problog4fairness.app.studio.auditing import Audit
    from problog4fairness.app.studio.project import Project

    project = Project.open(unpacked_folder(path))
    columns = [own.name for own in project.columns()]
    project.command("train", *project.learning())
    audit = Audit(project)
    found = audit.reviews.agreements(), audit.reviews.agreed(), audit.answers()
    return columns, found, audit.numbers, audit.write()


# Audits: drawn rows with their design, and rows as they are.


@cache
def _audits() -> Sequence[bytes]:
    import problog4fairness as p4f

    data = p4f.datasets.loans(rows=400, audited=60, new=1)
    drawn = p4f.LabelBias("poor_area").plan_audit(data.loans, recorded="granted", error=0.2).draw(random_state=0)
    drawn = drawn.assign(repaid=[int(number % 3 > 0) for number in range(len(drawn))])
    return [frame.to_csv(index=False).encode() for frame in (drawn, data.audit)]


def _read_audit(path: Path) -> object:
    import problog4fairness as p4f
    from problog4fairness.data import read_table

    return str(p4f.LabelBias("poor_area").estimate(read_table(path), recorded="granted", fair="repaid"))


# The arrays of boosted trees.


@cache
def _trees() -> Sequence[bytes]:
    import numpy as np
    import safetensors.torch

    from problog4fairness.beliefs import NoBias
    from problog4fairness.data import Rows
    from problog4fairness.learners import Boosted

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"area": rng.choice(["north", "south", "east"], 300), "income": rng.normal(size=300)})
    recorded = ((frame["area"] == "north") ^ (frame["income"] > 0)).to_numpy().astype(int)
    fitted = Boosted(max_trees=3, leaves=4, min_rows=5).fit(
        NoBias(), Rows(frame, ("area", "income"), recorded=recorded)
    )
    tensors, plain = fitted.state()
    return [safetensors.torch.save(tensors, {"plain": json.dumps(plain)})]


def _read_trees(path: Path) -> object:
    """As a model file is read: shapes first, then arrays, then LightGBM."""
    import safetensors
    import safetensors.torch

    from problog4fairness.errors import P4FError
    from problog4fairness.estimators.model_manifest import tensors_of
    from problog4fairness.learners import FittedBoosted

    content = path.read_bytes()
    wrong = (ValueError, LookupError, TypeError, AttributeError, RuntimeError, OverflowError)
    try:
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        plain = json.loads(header["__metadata__"]["plain"])
        weights = safetensors.torch.save(safetensors.torch.load(content))
        shapes = FittedBoosted.shapes(plain, ["area", "income"], 2)
        fitted = FittedBoosted.from_state(tensors_of(weights, shapes), plain)
    except (*wrong, safetensors.SafetensorError) as error:
        raise P4FError(f"{type(error).__name__}: {error}") from None
    return fitted.log_proba(ROWS[["area", "income"]])


def _change_trees(content: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Mostly whole numbers of the arrays, set to what counts and positions cannot be."""
    if rng.random() < 0.3:
        return mutated(content, others, rng)
    changed, start = bytearray(content), 8 + int.from_bytes(content[:8], "little")
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = start + 8 * rng.randrange((len(content) - start) // 8)
        value = rng.choice((0, 1, 2, 3, -1, -2, 31, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63), rng.randint(-50, 50)))
        changed[place : place + 8] = value.to_bytes(8, "little", signed=True)
    return bytes(changed)


TARGETS = {
    "program": Target(_programs, _read_program, seconds=30),
    "belief": Target(_beliefs, _read_belief, seconds=75),
    "description": Target(_descriptions, _read_description, _change_description, seconds=30),
    "model": Target(_models, _read_model, _change_model, seconds=75),
    "moves": Target(_moves, _read_moves),
    "table": Target(_tables, _read_table, _change_table),
    "store": Target(_stores, _read_store, _change_store),
    "bundle": Target(lambda: [_evidence()[0]], _read_bundle, _change_folder, seconds=75),
    "comparison": Target(lambda: [_evidence()[2]], _read_comparison, _change_folder),
    "project": Target(_projects, _read_project, _change_folder),
    "audit": Target(_audits, _read_audit, seconds=30),
    "trees": Target(_trees, _read_trees, _change_trees),
}
