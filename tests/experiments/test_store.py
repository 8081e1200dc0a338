from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from problog4fairness.experiments import Method
from problog4fairness.experiments.store import Store, key_of
from tests.experiments.studies import constant, deadly, slow, tiny

TABLE = [["label", 0.1, "constant", 0, 0, "accuracy", 0.123456789012345678]]


@pytest.fixture
def plan():
    return tiny(methods=(Method("constant", constant),)).stacks()[0]


def test_what_was_saved_is_loaded(tmp_path, plan):
    store = Store(tmp_path / "new" / "folder")
    assert store.load(plan) is None
    store.save(plan, TABLE)
    store.save(plan, TABLE)
    assert store.load(plan) == TABLE
    assert [file.suffix for file in store.folder.iterdir()] == [".json"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: text.replace("0.1234", "0.9234"),
        lambda text: "[]",
        lambda text: "{}",
        lambda text: "\0" * len(text),
    ],
)
def test_a_damaged_file_counts_as_missing(tmp_path, plan, damage):
    store = Store(tmp_path)
    store.save(plan, TABLE)
    (file,) = tmp_path.iterdir()
    file.write_text(damage(file.read_text()))
    assert store.load(plan) is None
    store.save(plan, TABLE)
    assert store.load(plan) == TABLE


def test_a_file_under_another_name_counts_as_missing(tmp_path, plan):
    store, other = Store(tmp_path), replace(plan, folds=3)
    store.save(plan, TABLE)
    (tmp_path / f"{key_of(plan)}.json").rename(tmp_path / f"{key_of(other)}.json")
    assert store.load(other) is None


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
