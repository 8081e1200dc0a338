"""Reading a belief takes time in proportion to its text, whatever a stranger wrote into it."""

from __future__ import annotations

import contextlib
import time
import timeit
import warnings

import pytest

import problog4fairness as p4f
from problog4fairness.beliefs.describe.files import belief_text, read_belief, tokens
from problog4fairness.beliefs.describe.plain_data import belief_of
from problog4fairness.errors import P4FError

BELIEF = p4f.LabelBias("area", 0.2, 0.1)
HOSTILE = {
    "comments": "/* ",
    "closed comments": "/**/",
    "quotes": "'",
    "escaped quotes": "\\'",
    "double quotes": '\\"',
    "brackets": "p(",
    "closing brackets": ") :: ",
    "weights": "p(a) :: ",
    "numbers": "1.",
    "exponents": "1e",
    "blanks": " ",
    "blank lines": "\n",
    "percent": "%",
    "marks": "\n% p4f",
    "colons": ":",
}


def seconds(call) -> float:
    """Of this process, in the best of several runs: what else the machine does only adds."""
    return min(timeit.repeat(call, timer=time.process_time, repeat=7, number=1))


def assert_linear(make, size):
    """Twice the work takes at most 2.5 times as long; measured again where the machine was busy."""
    once, twice = make(size), make(2 * size)
    ratios = []
    for _ in range(5):
        ratios.append(seconds(twice) / seconds(once))
        if ratios[-1] <= 2.5:
            return
    raise AssertionError(f"twice the text took {min(ratios):.1f} times as long")


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("start", ["", "'"])
def test_taking_text_apart_is_linear(kind, start):
    def make(size):
        text = start + HOSTILE[kind] * (size // len(HOSTILE[kind]))
        return lambda: tokens(text)

    assert_linear(make, 40_000)


@pytest.mark.parametrize("kind", ["comments", "escaped quotes"])
def test_reading_a_hostile_belief_is_quick(kind):
    """The template is compared with the text; a text of other rules then goes to the sandbox, which has its limits."""
    text = HOSTILE[kind] * (200_000 // len(HOSTILE[kind])) + "\n" + belief_text(BELIEF)
    start = time.perf_counter()
    with warnings.catch_warnings(action="ignore"), contextlib.suppress(P4FError):
        read_belief(text)
    assert time.perf_counter() - start < 30  # hours, if it were not in proportion


MANY = {
    "groups": lambda size: p4f.LabelBias("area", 0.1, groups=tuple(range(size))),
    "classes": lambda size: p4f.ClassBias("area", range(3), groups=tuple(range(size // 3)), transitions=0.1),
    "features": lambda size: p4f.MeasurementBias([f"q{i}" for i in range(size)], "area", 0.1, 0.2),
    "chains": lambda size: p4f.chain(*(p4f.LabelBias(f"a{i}", 0.1) for i in range(size // 2))),
}


@pytest.mark.parametrize("kind", MANY)
def test_reading_a_belief_back_is_linear_in_its_parameters(kind):
    def make(size):
        text = belief_text(MANY[kind](size))
        return lambda: read_belief(text)

    assert_linear(make, 120)


def test_a_belief_with_room_for_too_many_parameters_is_refused():
    described = p4f.ClassBias("area", ["a", "b", "c"], transitions=0.1).to_json()
    with pytest.raises(ValueError, match="room for 2000000 parameters, more than 100000"):
        belief_of({**described, "classes": [f"c{i}" for i in range(1000)], "parameters": []})
    described = p4f.MeasurementBias(["q"], "area", 0.1).to_json()
    names = [f"q{i}" for i in range(1000)]
    with pytest.raises(ValueError, match="room for 4000000 parameters"):
        belief_of(
            {
                **described,
                "features": names,
                "values": {name: [0, 1] for name in names},
                "groups": [*range(1000)],
                "parameters": [],
            }
        )


def test_names_in_the_machine_readable_line_do_not_reach_the_program():
    described = p4f.LabelBias("area", 0.1).to_json()
    for key in ("name", "suffix"):
        with pytest.raises(ValueError, match="do not fit"):
            belief_of({**described, key: "_a(X). query(evil). 0.7::evil. b"})
    nested = p4f.chain(p4f.LabelBias("area", 0.1)).to_json()
    with pytest.raises(ValueError, match="do not fit"):
        belief_of({**nested, "beliefs": [{**nested["beliefs"][0], "suffix": "_a(X). query(evil). x"}]})
