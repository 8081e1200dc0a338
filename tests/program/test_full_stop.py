"""A missing full stop is called that, where it is missing; tuples are written as they are read."""

from __future__ import annotations

import pytest

from problog4fairness import Program
from problog4fairness.errors import ProgramSyntaxError


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("nn(h,X) :: y(X)\nquery(y(x)).", 1),
        ("nn(h,X) :: y(X).\nquery(y(x))", 2),
        ("0.4 :: a  % how often\n\n% a remark\n0.2 :: b :- a.\nquery(b).", 1),
        ("0.4 :: a.\n0.2 :: b :-\n  a\nquery(b).\n", 3),
    ],
)
def test_a_missing_full_stop_is_called_that(text, line):
    with pytest.raises(ProgramSyntaxError) as caught:
        Program(text).compile()
    column = len(text.splitlines()[line - 1].partition("%")[0].rstrip()) + 1
    assert str(caught.value) == f"{line}:{column}: a full stop is missing at the end of this line"


def test_other_slips_are_not():
    with pytest.raises(ProgramSyntaxError) as caught:
        Program("0.4 :: a.\n0.2 :: b :- ) a.\nquery(b).").compile()
    assert "full stop" not in str(caught.value)


def test_tuples_are_written_as_tuples():
    program = Program("0.4 :: y((1,[1])). 0.5 :: z((a,b,c)). query(y(_)). query(z(_)).")
    assert program.compile().queries == ("y((1,[1]))", "z((a,b,c))")
