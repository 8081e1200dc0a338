"""Every way in which an input can be bad has its own error: one line, with the place where there is one."""

from __future__ import annotations

import os
import pickle

import pytest
import torch

from problog4fairness import Program, errors
from problog4fairness.errors import (
    DisjunctionError,
    GroundingError,
    InconsistentEvidenceError,
    LimitError,
    MissingValueError,
    NegativeCycleError,
    NetworkError,
    NonGroundError,
    NoQueryError,
    P4FError,
    ProbabilityError,
    ProgramError,
    ProgramSyntaxError,
    ShapeError,
    UnknownNameError,
    UnknownPredicateError,
    UnreadableFileError,
    UnsafeProgramError,
)

# name: (error, program, line and column or None, a part of the message)
IN_TEXT = {
    "syntax: two atoms": (ProgramSyntaxError, "a.\nb c.\nquery(a).", (2, 3), "operator"),
    "syntax: no full stop": (ProgramSyntaxError, "query(a).\na :- b", (2, 7), "a full stop is missing"),
    "syntax: open bracket": (ProgramSyntaxError, "query(a).\na :- (b.\n", (2, 6), "unmatched"),
    "syntax: close bracket": (ProgramSyntaxError, "query(a).\na :- b).", (2, 7), "unmatched"),
    "syntax: open quote": (ProgramSyntaxError, "query(a).\n a :- 'b.\n", (2, 7), "unmatched"),
    "syntax: empty clause": (ProgramSyntaxError, "query(a).\n.\n", (2, 1), "empty"),
    "syntax: text as probability": (ProgramSyntaxError, 'query(a).\n"0.5"::a.', (2, 1), "probability"),
    "syntax: list as probability": (ProgramSyntaxError, "query(a).\n[1,2]::a.", (2, 8), "the list [1,2] is not a"),
    "syntax: list in a sum": (ProgramSyntaxError, "query(a).\n0.5+[1]::a.", (2, 10), "the list [1] is not a"),
    "list bound as probability": (ProgramSyntaxError, "query(a).\nP::a :- P=[1,2].", None, "is not a number"),
    "unknown predicate": (UnknownPredicateError, "a :- b,\n  nobody(1).\nb. query(a).", (2, 3), "nobody/1"),
    "unknown predicate, negated": (UnknownPredicateError, "a :- \\+nobody.\nquery(a).", (1, 8), "nobody/0"),
    "unknown predicate, other arity": (UnknownPredicateError, "b(1).\na :- b(1,2).\nquery(a).", (2, 6), "b/2"),
    "unknown query": (UnknownPredicateError, "a.\nquery(b).", (2, 7), "b/0"),
    "unknown question": (UnknownPredicateError, "a.\n?- b.", (2, 4), "b/0"),
    "unknown evidence": (UnknownPredicateError, "a.\nquery(a).\nevidence(b).", (3, 10), "b/0"),
    "unknown, called indirectly": (UnknownPredicateError, "a :- X = nobody, call(X). query(a).", None, "nobody/0"),
    "non-ground fact": (NonGroundError, "query(a(_)).\n0.5::a(X).", (2, 6), "variables"),
    "non-ground weight": (NonGroundError, "query(a).\nP::a.", (2, 4), "variables"),
    "non-ground disjunction": (NonGroundError, "query(a(_)).\n0.5::a(X); 0.5::b(X).", (2, 6), "variables"),
    "non-ground network": (NonGroundError, "query(a(_)).\nnn(h,X)::a(X).", (2, 10), "variables"),
    "cycle through negation": (NegativeCycleError, "a :- \\+b.\nb :- \\+a.\nquery(a).", (2, 6), "negation"),
    "its own negation": (NegativeCycleError, "query(a).\n0.5::c. a :- c, \\+a.", (2, 17), "negation"),
    "probability above 1": (ProbabilityError, "query(a).\n  1.3::a.", (2, 3), "probability 1.3 of a is not between"),
    "probability of a rule": (ProbabilityError, "query(a). b.\n2::a :- b.", (2, 1), "probability 2 of a"),
    "probability in a disjunction": (ProbabilityError, "query(a).\n1.1::a; 0.1::b.", (2, 1), "probability 1.1 of a"),
    "infinite probability": (ProbabilityError, "query(a).\n1e999::a.", (2, 1), "probability inf of a"),
    "negative probability": (ProbabilityError, "query(a).\n-0.5::a.", None, "probability -0.5 of a"),
    "learnable above 1": (ProbabilityError, "query(a).\nt(1.3)::a.", (2, 3), "probability 1.3 of a"),
    "computed above 1": (ProbabilityError, "P::a(P) :- P is 3/2. query(a(_)).", None, "probability 1.5 of a(1.5)"),
    "computed below 0": (ProbabilityError, "P::a(P) :- P is 1-2. query(a(_)).", None, "probability -1 of a(-1)"),
    "computed, no number": (ProbabilityError, "P::a :- P is nan. query(a).", None, "probability nan of a"),
    "expression above 1": (ProbabilityError, "0.7+0.6::a. query(a).", None, "probability 1.3 of a"),
    "disjunction above 1": (DisjunctionError, "query(a).\n 0.6::a; 0.8::b.", (2, 2), "a; b sum to 1.4"),
    "disjunction with a body": (DisjunctionError, "query(a). c.\n0.6::a; 0.8::b :- c.", (2, 1), "a; b sum to 1.4"),
    "disjunction of which one head matters": (DisjunctionError, "query(a). 0.6::a; 0.8::b.", (1, 11), "sum to 1.4"),
    "disjunction, computed": (
        DisjunctionError, "P::a; Q::b :- P is 3/5, Q is 4/5. query(a). query(b).", None, "a; b sum to 1.4",
    ),
    "network with two arities": (
        NetworkError, "query(a).\nnn(h,x)::a.\nnn(h,[x,z])::b.", (3, 1), "1 input and with 2 inputs",
    ),
    "network with other outcomes": (
        NetworkError, "nn(h,[x],Y,[a,b])::c(Y).\nnn(h,[x],Y,[a,d])::e(Y). query(e(a)).", (2, 1), "outcomes a, d",
    ),
    "network, binary and not": (NetworkError, "nn(h,[x],Y,[a,b])::c(Y).\nnn(h,x)::e. query(e).", (2, 1), "network h"),
    "network without outcomes": (NetworkError, "query(y(a)).\nnn(h,[x],Y)::y(Y).", (2, 1), "list of outcomes"),
    "network with one outcome": (NetworkError, "query(y(a)).\nnn(h,[x],Y,[a])::y(Y).", (2, 1), "two or more"),
    "network with open outcomes": (NetworkError, "query(y(a)).\nnn(h,[x],Y,[a,B])::y(Y).", (2, 1), "variables"),
    "network with a fixed outcome": (
        NetworkError, "query(y(a)).\nnn(h,[x],a,[a,b])::y(a).", (2, 1), "must be a variable",
    ),
    "network with outcomes and a second head": (
        NetworkError, "query(y(a)).\nnn(h,[x],Y,[a,b])::y(Y); 0.1::z.", (2, 1), "only head",
    ),
    "network whose body uses the outcome": (
        NetworkError, "query(y(a)). d(a).\nnn(h,[x],Y,[a,b])::y(Y) :- d(Y).", (2, 1), "outcome Y",
    ),
    "network without a name": (P4FError, "query(a).\nnn::a.", None, ""),
    "no query": (NoQueryError, "0.5::a.", None, "?-"),
    "nothing at all": (NoQueryError, "", None, "?-"),
    "a query of two arguments": (NoQueryError, "a. query(a,b).", None, "?-"),
    "several goals": (ProgramSyntaxError, "a. b.\n?- a, b.", (2, None), "one goal"),
    "alternative goals": (ProgramSyntaxError, "a. b.\n?- a; b.", (2, None), "one goal"),
    "evidence against a fact": (InconsistentEvidenceError, "a. query(a). evidence(a,false).", None, "evidence"),
    "evidence without support": (
        InconsistentEvidenceError, "a :- fail. 0.5::b. query(b). evidence(a).", None, "evidence",
    ),
    "evidence both ways": (
        InconsistentEvidenceError, "0.5::a. query(a). evidence(a). evidence(\\+a).", None, "evidence",
    ),
    "evidence for two heads": (
        InconsistentEvidenceError, "0.5::a; 0.5::b. query(a). evidence(a). evidence(b).", None, "evidence",
    ),
    "division by zero": (GroundingError, "query(a).\na :- X is 1/0.", (2, None), "division by zero"),
    "arithmetic without a value": (GroundingError, "query(a).\na :- X is Y+1.", (2, None), "is/2"),
    "infinite term": (GroundingError, "a :- X = f(X). query(a).", None, "infinite"),
    "a built-in defined": (GroundingError, "true :- fail. query(true).", None, "true/0"),
    "loads Python": (UnsafeProgramError, "query(a). a.\n:- use_module('x.py').", (2, 4), "not allowed"),
    "consults": (UnsafeProgramError, "query(a).\na :- consult('x.pl').", (2, 6), "consult/1"),
    "binary text": (ProgramSyntaxError, "query(a).\0", None, "binary"),
}  # fmt: skip


def failure(make, kind):
    """The error that ``make`` raises: exactly of this kind, and one line."""
    with pytest.raises(P4FError) as caught:
        make()
    error = caught.value
    assert type(error) is kind or kind is P4FError, f"{type(error).__name__}: {error}"
    assert str(error)
    assert str(error).splitlines() == [str(error)]
    return error


@pytest.mark.parametrize("name", IN_TEXT)
def test_bad_text(name):
    kind, text, place, part = IN_TEXT[name]
    error = failure(lambda: Program(text).probability(), kind)
    assert part in str(error)
    assert error.source is None
    if place is not None:
        line, column = place
        assert error.line == line
        assert column is None or error.column == column
        assert str(error) == f"{error.line}:{error.column}: {error.message}"


@pytest.mark.parametrize("name", [name for name in IN_TEXT if name != "binary text"])
def test_bad_file(name, tmp_path):
    kind, text, place, part = IN_TEXT[name]
    path = tmp_path / "loans.pl"
    path.write_text(text, encoding="utf-8")
    error = failure(lambda: Program.from_file(path).compile().probability(), kind)
    assert part in str(error)
    if place is not None:
        assert str(error) == f"{path}:{error.line}:{error.column}: {error.message}"
        assert error.line == place[0]
    elif isinstance(error, ProgramError) and kind is not InconsistentEvidenceError:  # known only when it is evaluated
        assert str(error).startswith(f"{path}:")


@pytest.mark.parametrize("bad", ["b c.", "a :- b).", "a :- 'b", "(b."])
def test_columns_count_from_one_on_every_line(bad):
    """A syntax error has the same column on the first line as on any other."""
    first = failure(lambda: Program(f"{bad}\nquery(a)."), ProgramSyntaxError)
    third = failure(lambda: Program(f"a.\n\n{bad}\nquery(a)."), ProgramSyntaxError)
    assert (first.line, third.line) == (1, 3)
    assert first.column == third.column


@pytest.mark.parametrize(
    "text",
    [
        "a :- X is 1.5 << 2. query(a).",
        "a :- X is 2.0 ** 100000. query(a).",
        "a :- X is exp(1000). query(a).",
        "a :- X is integer(inf). query(a).",
        'a :- X is "abc" + 1. query(a).',
        "a :- X is (-1) ** 0.5, X > 2. query(a).",
        "a(X) :- X is 2**20000. query(a(_)).",
        "a :- atom_number(nan,X). query(a).",
        ":- use_module(library(string)). a(X) :- str2int(abc,X). query(a(_)).",
        ":- use_module(library(lists)). a(X) :- enum_groups([a,b],X,Y). query(a(_)).",
        ":- use_module(library(lists),nothing). a. query(a).",
        ":- use_module(library(lists),X). a. query(a).",
        "query(1).",
        "1. query(a). a.",
        "a :- 1. query(a).",
        "a :- findall(X,1,L). query(a).",
        "evidence(1). a. query(a).",
        "nn::a. query(a).",
        "0.5::a; b :- c. c. query(a). query(b).",
    ],
)
def test_odd_programs_are_bad_input_and_not_a_crash(text):
    """problog answers these with a bare TypeError, AttributeError, ... of Python; a caller must not see that."""
    failure(lambda: Program(text).probability(), P4FError)


@pytest.mark.parametrize("text", [None, 7, b"query(a).", ["query(a)."], {}])
def test_a_program_is_text(text):
    failure(lambda: Program(text), ProgramSyntaxError)


def test_too_much_text():
    failure(lambda: Program("% " + "x" * 5_000_000), LimitError)


@pytest.mark.parametrize("value", [1.3, -0.1, float("nan"), float("inf")])
def test_bound_probability_outside_its_range(value):
    program = Program("p1::a. query(a).")
    for make in (
        lambda: program.bind({"p1": value}),
        lambda: program.probability(parameters={"p1": value}),
        lambda: program.probability(parameters={"p1": torch.tensor([0.5, value])}),
        lambda: program.compile().log_probability(parameters={"p1": value}),
        lambda: program.compile().specialise(parameters={"p1": value}),
    ):
        assert "parameter p1" in str(failure(make, ProbabilityError))


@pytest.mark.parametrize("value", [1.3, -0.1, float("nan")])
def test_network_output_outside_its_range(value):
    circuit = Program("nn(h,x)::a. query(a).").compile()
    for make in (
        lambda: circuit.probability({"h": value}),
        lambda: circuit.log_probability({"h": torch.tensor([[0.5], [value]])}),
        lambda: circuit.probability({"h": lambda _: value}),
    ):
        assert "network h(x)" in str(failure(make, ProbabilityError))


def test_a_bad_value_is_named():
    error = failure(lambda: Program("p1::a. query(a).").bind({"p1": 1.3}), ProbabilityError)
    assert str(error) == "probability 1.3 of parameter p1 is not between 0 and 1"


def test_outcomes_that_are_no_distribution():
    program = Program("nn(h,[x],Y,[a,b,c])::y(Y). query(y(a)).")
    error = failure(lambda: program.probability({"h": torch.tensor([0.5, 0.5, 0.1])}), ProbabilityError)
    assert "sum to 1" in str(error)
    failure(lambda: program.probability({"h": torch.tensor([1.5, -0.5, 0.0])}), ProbabilityError)


def test_expression_outside_its_range():
    program = Program("p1*2::a. query(a).")
    assert program.probability(parameters={"p1": 0.25})["a"].item() == 0.5
    failure(lambda: program.probability(parameters={"p1": 0.7}), ProbabilityError)


@pytest.mark.parametrize(
    "values", [{"p1": 0.7, "p2": 0.6}, {"p1": torch.tensor([0.1, 0.7]), "p2": torch.tensor([0.6])}]
)
def test_disjunction_above_one_by_its_parameters(values):
    program = Program("p1::a; p2::b. query(a). query(b).")
    error = failure(lambda: program.probability(parameters=values), DisjunctionError)
    assert "a; b sum to 1.3" in str(error)
    failure(lambda: program.compile().log_probability(parameters=values), DisjunctionError)


def test_missing_values_are_named():
    circuit = Program("p1(2)::a. nn(h,x)::b. p2::d. c :- a, b, d. query(c).").compile()
    for make in (circuit.probability, circuit.log_probability):
        error = failure(make, MissingValueError)
        assert "no value" in str(error)
    values = {"p1(2)": 0.5, "p2": 0.5}
    assert "network h(x)" in str(failure(lambda: circuit.probability(parameters=values), MissingValueError))
    for name in values:
        rest = {other: 0.5 for other in values if other != name}
        error = failure(lambda rest=rest: circuit.probability({"h": 0.5}, rest), MissingValueError)
        assert f"parameter {name}" in str(error)
        failure(lambda rest=rest: circuit.specialise(parameters=rest), MissingValueError)


def test_names_with_line_breaks_stay_in_one_line():
    failure(lambda: Program("p1('a\nb')::a. query(a).").probability(), MissingValueError)
    failure(lambda: Program("nn('h\ng',x)::a. query(a).").probability(), MissingValueError)


def test_unknown_names_are_named():
    program = Program("p1(1)::a. nn(h,x)::b. c :- a, b. query(c).")
    circuit = program.compile()
    for make, name in (
        (lambda: program.bind({"p9": 0.5}), "p9"),
        (lambda: program.bind({"h": 0.5}), "h"),
        (lambda: circuit.probability({"h": 0.5, "g": 0.5}, {"p1": 0.5}), "g"),
        (lambda: circuit.probability({"h": 0.5}, {"p1": 0.5, "p9": 0.5}), "p9"),
        (lambda: circuit.probability({"h(z)": 0.5}, {"p1": 0.5}), "h(z)"),
        (lambda: circuit.probability({"h": 0.5}, {"p1(2)": 0.5}), "p1(2)"),
        (lambda: circuit.probability(parameters={"p1": 0.5}, logits={"p1": 0.5}), "p1"),
        (lambda: circuit.specialise({"g": 0.5}, {"p1": 0.5}), "g"),
    ):
        assert repr(name) in str(failure(make, UnknownNameError))


def test_values_for_what_does_not_matter_are_no_error():
    """``program.networks`` and ``.parameters`` name all that the text names, so values for all of it may be given."""
    program = Program("p1::a. p2::b. nn(h,x)::c. nn(g,x)::d. query(a).")
    given = dict.fromkeys(program.parameters, 0.25)
    assert program.bind(given).probability()["a"].item() == 0.25
    networks = {network.name: 0.5 for network in program.networks}
    assert program.probability(networks, given)["a"].item() == 0.25


def test_evidence_that_values_make_impossible():
    circuit = Program("p1::a. nn(h,x)::b. query(b). evidence(a).").compile()
    half = torch.tensor([0.5, 0.5], dtype=torch.float64)
    for method in (circuit.probability, circuit.log_probability):
        assert method({"h": 0.5}, {"p1": 0.5}).numel() == 1
        failure(lambda method=method: method({"h": 0.5}, {"p1": 0.0}), InconsistentEvidenceError)
        mixed = {"p1": torch.tensor([0.5, 0.0], dtype=torch.float64)}
        error = failure(lambda method=method, mixed=mixed: method({"h": half}, mixed), InconsistentEvidenceError)
        assert "1 of 2 rows" in str(error)
    failure(lambda: circuit.specialise(parameters={"p1": 0.0}), InconsistentEvidenceError)


def test_shapes_that_do_not_fit():
    circuit = Program("nn(h,x)::a. nn(g,x)::b. nn(o,[x],Y,[u,v,w])::c(Y). d :- a, b, c(u). query(d).").compile()
    fine = {"h": torch.full((4, 1), 0.5), "g": torch.full((3,), 0.5), "o": torch.full((3, 3), 1 / 3)}
    assert circuit.probability(fine).shape == (4, 3, 1)
    for name, value in (
        ("g", torch.full((2,), 0.5)),
        ("o", torch.full((3, 2), 0.5)),
        ("o", 0.5),
        ("o", torch.full((7, 3), 1 / 3)),
    ):
        error = failure(lambda name=name, value=value: circuit.probability({**fine, name: value}), ShapeError)
        assert name in str(error)
        failure(lambda name=name, value=value: circuit.log_probability({**fine, name: value}), ShapeError)
    specialised = circuit.specialise({"g": 0.5, "o": torch.full((3,), 1 / 3)})
    assert specialised.log_probability(torch.zeros(5, 1)).shape == (5, 1, 2)
    failure(lambda: specialised.log_probability(torch.zeros(5, 2)), ShapeError)
    failure(lambda: specialised.log_probability(torch.zeros(())), ShapeError)


def test_no_such_file(tmp_path):
    path = tmp_path / "absent.pl"
    error = failure(lambda: Program.from_file(path), UnreadableFileError)
    assert str(error) == f"{path}: the file does not exist"
    assert (error.source, error.line, error.column) == (str(path), None, None)
    failure(lambda: Program.from_file(tmp_path / "absent" / "absent.pl"), UnreadableFileError)


def test_a_folder(tmp_path):
    assert str(failure(lambda: Program.from_file(tmp_path), UnreadableFileError)) == f"{tmp_path}: the file is a folder"


def test_a_file_inside_a_file(tmp_path):
    (tmp_path / "a.pl").write_text("0.5::a. query(a).")
    failure(lambda: Program.from_file(tmp_path / "a.pl" / "b.pl"), UnreadableFileError)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe.pl")
    failure(lambda: Program.from_file(tmp_path / "pipe.pl"), UnreadableFileError)


def test_a_binary_file(tmp_path):
    path = tmp_path / "program.pl"
    path.write_bytes(b"\x7fELF\x02\x01\x01\0\0\0 query(a).")
    assert "binary" in str(failure(lambda: Program.from_file(path), UnreadableFileError))


def test_a_file_that_is_too_long(tmp_path):
    path = tmp_path / "program.pl"
    path.write_bytes(b"%" * 5_000_000)
    assert str(failure(lambda: Program.from_file(path), LimitError)).startswith(f"{path}: ")


def test_not_utf8(tmp_path):
    path = tmp_path / "program.pl"
    path.write_bytes("0.5::a.\n% caf\u00e9\nquery(a).".encode("latin-1"))
    error = failure(lambda: Program.from_file(path), UnreadableFileError)
    assert str(error).startswith(f"{path}:2: ")
    path.write_bytes("0.5::a.\n% caf\u00e9\nquery(a).".encode())
    assert Program.from_file(path).probability()["a"].item() == 0.5
    path.write_bytes("0.5::a. query(a).".encode("utf-16"))
    failure(lambda: Program.from_file(path), UnreadableFileError)


def test_utf8_with_a_mark(tmp_path):
    path = tmp_path / "program.pl"
    path.write_bytes("\ufeff1.5::a. query(a).".encode())
    assert str(failure(lambda: Program.from_file(path), ProbabilityError)).startswith(f"{path}:1:1: ")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_no_permission(tmp_path):
    path = tmp_path / "program.pl"
    path.write_text("0.5::a. query(a).")
    path.chmod(0)
    failure(lambda: Program.from_file(path), UnreadableFileError)


def test_errors_survive_a_process_boundary():
    """joblib and multiprocessing send errors as pickles."""
    error = errors.ProbabilityError("probability 1.3", source="loans.pl", line=7, column=1)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is ProbabilityError
    assert str(copy) == str(error) == "loans.pl:7:1: probability 1.3"


def test_all_errors_are_value_errors_of_one_family():
    named = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    kinds = [kind for kind in named if not issubclass(kind, Warning)]
    assert len(kinds) > 15
    assert all(issubclass(kind, P4FError) and issubclass(kind, ValueError) for kind in kinds)
    assert all(kind.__doc__ for kind in named)


@pytest.mark.parametrize("name", ["belief.pl", "examples/loan noise.pl"])
def test_the_name_of_a_file_is_no_program(name):
    with pytest.raises(ProgramSyntaxError, match=r"is the name of a file, not a program; Program\.from_file"):
        Program(name)
    assert Program("a. query(a). pl.").queries == ("a",)
