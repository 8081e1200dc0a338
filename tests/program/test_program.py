"""Programs as values: what they tell about themselves, binding, equality, copying."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import problog4fairness as p4f
from problog4fairness.errors import ProbabilityError, UnknownNameError
from problog4fairness.program.program import Network
from tests.oracle import problog_answer

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_program_tells_what_is_in_it():
    program = p4f.Program(
        "nn(h,[X],Y,[1,2,3]) :: c(X,Y). nn(a,X) :: a(X). p1 :: f. p2(N) :: g(N). 0.5 :: e."
        " q :- c(x,1), a(x), f, g(2), e. query(q). ?- c(x,_). evidence(\\+g(3)). evidence(e,true). evidence(f,false)."
    )
    assert program.networks == (Network("h", 1, ("1", "2", "3")), Network("a", 1))
    assert program.parameters == ("p1", "p2")
    assert program.queries == ("q", "c(x,_)")
    assert program.evidence == (("g(3)", False), ("e", True), ("f", False))
    assert program.compile().queries == ("q", "c(x,1)", "c(x,2)", "c(x,3)")


def test_query_texts_have_no_spaces():
    program = p4f.Program("0.5 :: f(X, [1, 2|_], 'A b') :- X = g(a, b). query(f(_, [1, 2], 'A b')).")
    assert program.compile().queries == ("f(g(a,b),[1,2],'A b')",)


def test_equal_by_meaning_of_the_text():
    written = p4f.Program("p :: f(X) :- g(X). % a comment\ng(1).\n?- f(1).")
    again = p4f.Program("g(1).\n\nquery(f(1)).  p::f(Y):-g(Y).")
    other = p4f.Program("g(1). query(f(1)). p::f(Y):-g(Y), g(Y).")
    assert written == again
    assert hash(written) == hash(again)
    assert written != other
    assert written != "p"
    assert p4f.Program("0.5 :: a. 0.5 :: a. query(a).") != p4f.Program("0.5 :: a. query(a).")


def test_binding_gives_a_new_program():
    program = p4f.Program("p(N) :: f(N). q :: g. query(f(1)). query(f(2)). query(g).")
    bound = program.bind({"p": 0.25, "p( 2 )": 0.5}).bind({"q": 1})
    assert program.bound == {}
    assert bound.bound == {"p": 0.25, "p(2)": 0.5, "q": 1.0}
    assert [value.item() for value in bound.probability().values()] == [0.25, 0.5, 1.0]
    assert bound.probability(parameters={"q": 0.125})["g"].item() == 0.125
    assert bound != program
    assert bound == p4f.Program(program.text).bind({"q": 1, "p(2)": 0.5, "p": 0.25})
    assert str(bound).startswith("% p = 0.25\n% p(2) = 0.5\n% q = 1\n")
    with pytest.raises(UnknownNameError, match=r"no parameter 'r'; it has p, q"):
        program.bind({"r": 0.5})
    with pytest.raises(ProbabilityError, match=r"probability 1.5 of parameter q"):
        program.bind({"q": 1.5})
    with pytest.raises(ProbabilityError):
        program.bind({"q": float("nan")})


def test_programs_are_picklable_by_their_text():
    program = p4f.Program.from_file(EXAMPLES / "label.pl").bind({"p1": 0.25})
    copy = pickle.loads(pickle.dumps(program))
    assert copy == program
    assert copy.bound == {"p1": 0.25}


def test_compiling_twice_compiles_once():
    first, second = (p4f.Program("0.5 :: a. query(a).").compile() for _ in range(2))
    assert first.data is second.data


@pytest.mark.parametrize(
    "text",
    [
        "path(X,Y) :- edge(X,Y). path(X,Y) :- edge(X,Z), path(Z,Y)."
        " 0.5 :: edge(1,2). 0.5 :: edge(2,1). 0.5 :: edge(2,3). query(path(1,3)).",
        "0.5 :: a(X) :- member(X,[1,2]). :- use_module(library(lists)). q :- a(1), \\+a(2). query(q).",
        "0.25 :: a; 0.5 :: b. q :- a. q :- b. query(q).",
        "num(3). q(Y) :- num(X), Y is X * 2 + 1. query(q(_)).",
        "0.5 :: a. 0.5 :: b. q :- (a ; b), \\+ (a, b). query(q).",
        "0.5::a(1). 0.5::a(2). q(L) :- findall(X, a(X), L). query(q([1,2])).",
    ],
)
def test_what_problog_can_say_is_accepted(text):
    found = {name: value.item() for name, value in p4f.Program(text).probability().items()}
    assert found == pytest.approx(problog_answer(text), abs=1e-12)


def test_lint_names_what_looks_like_a_slip():
    program = p4f.Program("nn(h,X) :: y(X). nn(g,X) :: z(X). p :: f. q :: k. sure. query(y(1)). query(sure). query(f).")
    findings = program.lint()
    assert findings.queries == ("y(1)", "sure", "f")
    assert findings.warnings == (
        "network g does not matter for any query",
        "parameter q does not matter for any query",
        "query sure is always true, whatever the networks and parameters say",
    )
    assert p4f.Program.from_file(EXAMPLES / "label.pl").lint().warnings == ()


def test_repr_names_queries_networks_and_parameters():
    assert repr(p4f.Program("p :: f. query(f).").bind({"p": 0.5})) == (
        "Program(queries=['f'], networks=[], parameters=['p'], bound={'p': 0.5})"
    )
