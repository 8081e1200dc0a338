"""The fields that a belief declares: what they refuse, and what a table answers."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import problog4fairness as p4f
from problog4fairness.beliefs import Field, belief_types
from problog4fairness.errors import P4FError

TABLE = SimpleNamespace(levels=("rich", "poor"), labels=("no", "yes"), values=lambda column: (0, 1))


def test_every_kind_that_a_command_line_offers_declares_its_fields():
    kinds = belief_types()
    assert {"label", "row", "changed", "measurement", "historical", "numeric", "selective"} <= set(kinds)
    assert all(kind.kind.fields for kind in kinds.values())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Field("when", "column"), 3),
        (Field("features", "columns"), ["a", "a"]),
        (Field("groups", "groups"), [object()]),
        (Field("joint", "flag"), 1),
        (Field("kept", "choice", choices=("all", "accepted")), "some"),
        (Field("points", "count", low=2, high=9), 10),
        (Field("points", "count"), True),
        (Field("values", "values"), [1]),
        (Field("columns", "mapping"), {"a": 1}),
        (Field("label", "belief"), "label bias"),
    ],
)
def test_what_a_field_cannot_hold_is_refused(field, value):
    with pytest.raises(P4FError):
        field.plain(value)


def test_a_table_answers_what_is_left_out():
    belief = p4f.LabelBias.from_fields({"sensitive": "area", "positive": False, "affected": ["poor"]}, TABLE)
    assert belief == p4f.LabelBias("area", positive=False, groups=("rich", "poor"), affected="poor")
    three = SimpleNamespace(levels=(0, 1), labels=("low", "mid", "high"))
    assert p4f.LabelBias.from_fields({"sensitive": "area"}, three) == p4f.ClassBias("area", ("low", "mid", "high"))
    with pytest.raises(P4FError, match="nothing to estimate"):
        p4f.LabelBias.from_fields({"sensitive": "area", "negative": False, "positive": False}, TABLE)
    with pytest.raises(TypeError, match="nonsense"):
        p4f.LabelBias("area", nonsense=1)
