from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest
from problog4fairness.experiments import Method
from problog4fairness.experiments.archive import digest_of
from problog4fairness.experiments.store import Store, identity, key_of, keys_of

from problog4fairness.rows import FileWarning
from tests.experiments.studies import constant, deadly, slow, tiny


@pytest.fixture
def plan():
    return tiny(methods=(Method("constant", constant),)).stacks()[0]


@pytest.fixture
def table(plan):
    return [[*key, 0.1234 + number / 7] for number, key in enumerate(keys_of(plan))]


def test_what_was_saved_is_loaded(tmp_path, plan, table):
    store = Store(tmp_path / "new" / "folder")
    assert store.load(plan) is None
    store.save(plan, table)
    store.save(plan, table)
    assert store.load(plan) == table
    assert [file.suffix for file in store.folder.iterdir()] == [".json"]


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
def test_a_damaged_file_counts_as_missing(tmp_path, plan, table, damage):
    store = Store(tmp_path)
    store.save(plan, table)
    (file,) = tmp_path.iterdir()
    file.write_text(damage(file.read_text()))
    assert store.find(plan) is None
    with pytest.warns(FileWarning, match=rf"{file.name}: damaged, or not the results .*; computed again"):
        assert store.load(plan) is None
    store.save(plan, table)
    assert store.load(plan) == table


def test_a_file_under_another_name_counts_as_missing(tmp_path, plan, table):
    store, other = Store(tmp_path), replace(plan, folds=3)
    store.save(plan, table)
    (tmp_path / f"{key_of(plan)}.json").rename(tmp_path / f"{key_of(other)}.json")
    assert store.find(other) is None


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
def test_rows_of_another_shape_count_as_missing_whatever_the_checksum(tmp_path, plan, table, change):
    changed, key = change(table), key_of(plan)
    content = {"key": key, "checksum": digest_of(changed), "of": identity(plan), "table": changed}
    (tmp_path / f"{key}.json").write_text(json.dumps(content))
    with pytest.warns(FileWarning, match="computed again"):
        assert Store(tmp_path).load(plan) is None


def test_numbers_that_could_not_be_measured_are_kept(tmp_path, plan, table):
    table[0][-1] = float("nan")
    Store(tmp_path).save(plan, table)
    assert repr(Store(tmp_path).load(plan)) == repr(table)


def test_everything_that_matters_is_in_the_key(plan):
    changed = [
        replace(plan, seeds=(0, 2)),
        replace(plan, folds=3),
        replace(plan, rows=300),
        replace(plan, training=replace(plan.training, max_epochs=3)),
        replace(plan, points=(replace(plan.points[0], x=0.05),)),
        replace(plan, points=(replace(plan.points[0], settings=replace(plan.points[0].settings, sigma_y=1.0)),)),
        replace(plan, points=(replace(plan.points[0], assumed=plan.points[0].settings),)),
        replace(plan, method=Method("other", constant)),
        replace(plan, method=Method("constant", slow)),
        replace(plan, method=Method("constant", constant, version=2)),
        replace(plan, method=Method("constant", partial(deadly, "a"))),
        replace(plan, method=Method("constant", partial(deadly, "b"))),
    ]
    assert len({key_of(one) for one in (plan, *changed)}) == len(changed) + 1
    assert key_of(plan) == key_of(replace(plan))
