from __future__ import annotations

import json

import pytest

from problog4fairness.data import FileWarning
from studies.engine.archive import Archive, digest_of, name_of

IDENTITY = {"settings": {"method": "ours", "seeds": [0, 1]}, "code": "abc"}
KEYS = [("label", 0.1, "ours", seed, metric) for seed in (0, 1) for metric in ("accuracy", "f1")]


@pytest.fixture
def table():
    return [[*key, 0.1234 + number / 7] for number, key in enumerate(KEYS)]


def test_what_was_saved_is_loaded(tmp_path, table):
    archive = Archive(tmp_path / "new" / "folder")
    assert archive.load(IDENTITY, KEYS) is None
    archive.save(IDENTITY, table)
    archive.save(IDENTITY, table)
    assert archive.load(IDENTITY, KEYS) == table
    assert [file.suffix for file in archive.folder.iterdir()] == [".json"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: text.replace("0.1234", "0.9234"),
        lambda text: "[" * 100_000,
        lambda text: '{"table": ' + "[" * 100_000,
        lambda text: "[]",
        lambda text: "{}",
        lambda text: "\0" * len(text),
    ],
)
def test_a_damaged_file_counts_as_missing(tmp_path, table, damage):
    archive = Archive(tmp_path)
    archive.save(IDENTITY, table)
    (file,) = tmp_path.iterdir()
    file.write_text(damage(file.read_text()))
    assert archive.find(IDENTITY, KEYS) is None
    with pytest.warns(FileWarning, match=rf"{file.name}: damaged, or not the results .*; computed again"):
        assert archive.load(IDENTITY, KEYS) is None
    archive.save(IDENTITY, table)
    assert archive.load(IDENTITY, KEYS) == table


def test_a_file_under_another_name_counts_as_missing(tmp_path, table):
    archive, other = Archive(tmp_path), {**IDENTITY, "code": "abd"}
    archive.save(IDENTITY, table)
    archive.file(IDENTITY).rename(archive.file(other))
    assert archive.find(other, KEYS) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda table: [],
        lambda table: table[:-1],
        lambda table: [*table, table[0]],
        lambda table: [table[0], *table[:-1]],
        lambda table: table[::-1],
        lambda table: [row[:-1] for row in table],
        lambda table: [[*row, 1.0] for row in table],
        lambda table: [[*row[:-1], str(row[-1])] for row in table],
        lambda table: [[*row[:-1], True] for row in table],
        lambda table: [[*row[:-1], float("inf")] for row in table],
        lambda table: [[*row[:-1], 10**400] for row in table],
        lambda table: [["historical", *row[1:]] for row in table],
        lambda table: [[[], *row[1:]] for row in table],
        lambda table: [dict(enumerate(row)) for row in table],
        lambda table: [None] * len(table),
        lambda table: "x" * len(table),
        lambda table: 7,
    ],
)
def test_rows_of_another_shape_count_as_missing_whatever_the_checksum(tmp_path, table, change):
    changed, key = change(table), name_of(IDENTITY)
    content = {"key": key, "checksum": digest_of(changed), "of": IDENTITY, "table": changed}
    (tmp_path / f"{key}.json").write_text(json.dumps(content))
    with pytest.warns(FileWarning, match="computed again"):
        assert Archive(tmp_path).load(IDENTITY, KEYS) is None


def test_numbers_that_could_not_be_measured_are_kept(tmp_path, table):
    table[0][-1] = float("nan")
    Archive(tmp_path).save(IDENTITY, table)
    assert repr(Archive(tmp_path).load(IDENTITY, KEYS)) == repr(table)
