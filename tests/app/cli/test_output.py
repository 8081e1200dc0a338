"""Messages of the library name arguments; the command line names its options."""

from __future__ import annotations

import pytest

from problog4fairness.app.cli.output import with_options


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("say which one is favourable by favourable=...", "say which one is favourable by --favourable VALUE"),
        ("override with group=...; or leave it", "override with --group VALUE; or leave it"),
        ("were left out; keep by keep=[...]", "were left out; keep by --keep COLUMN"),
        ("override with decimal='.'", "override with --decimal '.'"),
        ("group='X Y' is not a value", "--group 'X Y' is not a value"),
        ("sensitive='aera': there is no such column", "--sensitive 'aera': there is no such column"),
        ("only_group=True, or fair_feature=...", "--only-group, or --fair-feature COLUMN"),
        ("folds=1 is too few", "--folds 1 is too few"),
        ("folds=1; seeds=2.", "--folds 1; --seeds 2."),
        ("levels=(0, 1) names the groups", "levels=(0, 1) names the groups"),
        ("my_group=... is none of ours", "my_group=... is none of ours"),
        ("column 'area' has 3 values", "column 'area' has 3 values"),
    ],
)
def test_arguments_become_options(message, expected):
    assert with_options(message) == expected
