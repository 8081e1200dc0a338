from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from problog4fairness.errors import P4FError
from problog4fairness.evaluation.data import cells
from tests.evaluation.data import loans, rows_of


def table(rows=300, **options):
    people, recorded, fair = loans(rows)
    return rows_of(people, recorded, **{"fair": fair, **options})


def rows_tested(parts):
    return [part.test.tolist() for part in parts]


def test_folds_are_a_partition_and_seeds_differ():
    parts = cells(table(), seeds=2, folds=4)
    assert [(part.seed, part.fold) for part in parts] == [(seed, fold) for seed in (0, 1) for fold in range(4)]
    for seed in (0, 1):
        of_seed = [part for part in parts if part.seed == seed]
        assert sorted(np.concatenate([part.test for part in of_seed])) == list(range(300))
        assert all(sorted([*part.train, *part.test]) == list(range(300)) for part in of_seed)
    assert rows_tested(parts[:4]) != rows_tested(parts[4:])


def test_splits_depend_on_table_seed_and_folds_alone():
    both, one = cells(table(), seeds=[3, 7], folds=3), cells(table(), seeds=[7], folds=3)
    assert rows_tested(both[3:]) == rows_tested(one)


def test_every_fold_has_its_share_of_every_kind_of_row():
    people, recorded, fair = loans()
    partly = fair.astype(object).where(np.arange(300) % 3 == 0, None)
    found = table(fair=partly)
    kinds = pd.DataFrame({"group": found.groups, "recorded": found.recorded, "fair": found.fair})
    for part in cells(found, seeds=2, folds=5):
        counts = kinds.iloc[part.test].value_counts()
        assert all(abs(counts.get(kind, 0) - count / 5) < 1 for kind, count in kinds.value_counts().items())


@pytest.mark.parametrize(
    ("seeds", "folds", "message"),
    [
        (0, 5, "seeds=0 is not a number"),
        (True, 5, "seeds=True is not a number"),
        ([1, 1], 5, "different numbers"),
        ([], 5, "one or more"),
        ([-1], 5, "seed -1 is not a whole number"),
        ([0.5], 5, "seed 0.5"),
        (1, 1, "folds=1 is not a whole number between 2 and the 300 rows"),
        (1, 301, "folds=301"),
        (1, 2.5, "folds=2.5"),
    ],
)
def test_bad_numbers_are_named(seeds, folds, message):
    with pytest.raises(P4FError, match=message):
        cells(table(), seeds, folds)


def test_many_rows_are_split_fewer_times_unless_it_is_stated():
    rows = 20_000
    area = np.arange(rows) % 2
    frame = pd.DataFrame({"x": np.zeros(rows), "area": area})
    many = rows_of(frame, np.arange(rows) // 2 % 2, "area")
    few = rows_of(frame[:1000], np.arange(1000) // 2 % 2, "area")
    assert [len(cells(many)), len(cells(few)), len(cells(many, 5))] == [15, 25, 25]
