"""Programs from a stranger: they cannot load code, open files, print, or look around."""

from __future__ import annotations

from pathlib import Path

import problog
import pytest
from problog.engine_stack import StackBasedEngine
from problog.program import PrologString

from problog4fairness import Program
from problog4fairness.errors import GroundingError, LimitError, P4FError, UnknownPredicateError, UnsafeProgramError
from problog4fairness.program import Limits
from problog4fairness.program.circuit.grounding import compile_text
from problog4fairness.program.language.safety import ALLOWED_LIBRARIES, SafeEngine

LIBRARY = Path(problog.__file__).parent / "library"

# Read one by one in problog 2.3: each of these only compares, computes, takes terms apart, or calls another goal, which
# is looked up among the same built-ins. Whatever a later problog adds is refused until it is added here too.
HARMLESS = {
    "true/0", "fail/0", "false/0", "=/2", "\\=/2", "==/2", "\\==/2", "is/2", ">/2", "</2", "=</2", ">=/2", "=\\=/2",
    "=:=/2", "@>/2", "@</2", "@>=/2", "@=</2", "compare/3", "var/1", "atom/1", "atomic/1", "compound/1", "float/1",
    "rational/1", "integer/1", "nonvar/1", "number/1", "simple/1", "callable/1", "primitive/1", "ground/1", "is_list/1",
    "=../2", "arg/3", "functor/3", "length/2", "sort/2", "between/3", "succ/2", "plus/3", "atom_number/2", "clause/2",
    "numbervars/2", "numbervars/3", "varnumbers/2", "subsumes_term/2", "subsumes_chk/2", "findall/3", "all/3",
    "all_or_none/3", "once/1", "forall/2",
    # What these do is shown below, one test for each.
    "clause/3", "unknown/1", "subquery/2", "subquery/3", "subquery/5", "try_call/1",
    *(f"{name}/{arity}" for name in ("call", "call_nc") for arity in range(1, 10)),
}  # fmt: skip
LOADERS = {"use_module/1", "use_module/2", "_use_module/2", "_use_module/3"}
BUILTINS = sorted(StackBasedEngine(label_all=True).get_builtins())
REFUSED = [signature for signature in BUILTINS if signature not in HARMLESS | LOADERS]

DANGEROUS = {
    "consult/1", "_consult/2", "./2", "module/2", "cmd_args/1", "nocache/2",
    "sample_uniform1/3", "debugprint/1", "write/1", "writenl/1", "writeln/9", "error/1", "nl/0",
    "possible/1", "create_scope/2", "call_in_scope/2", "find_scope/2", "subquery_in_scope/3",
    "try_call/2",
    "dbg_printdb/0", "set_state/1", "print_state/0", "trace/0", "seq/1", "condition/1", "dbreference/1",
}  # fmt: skip


@pytest.fixture
def trap(tmp_path):
    """Files that a program must not reach, and the mark that shows that it did."""
    mark = tmp_path / "mark"
    (tmp_path / "evil.py").write_text(f"open({str(mark)!r}, 'w').close()\n")
    (tmp_path / "evil.pl").write_text(f":- use_module({str(tmp_path / 'evil.py')!r}).\nsecret.\n")
    (tmp_path / "secret.pl").write_text("secret.\n")
    return tmp_path


def caught(trap):
    return (trap / "mark").exists()


def test_the_trap_works(trap):
    """problog itself falls into it: otherwise the tests below would show nothing."""
    StackBasedEngine().prepare(PrologString(f":- use_module('{trap}/evil.py')."))
    assert caught(trap)
    (trap / "mark").unlink()
    StackBasedEngine().prepare(PrologString(f":- consult('{trap}/evil.pl')."))
    assert caught(trap)


def test_every_builtin_of_problog_was_reviewed():
    engine = SafeEngine(label_all=True)
    assert set(engine.get_builtins()) == set(BUILTINS)
    assert engine.refused == set(REFUSED)
    assert set(REFUSED) >= DANGEROUS


def goal(signature):
    name, _, arity = signature.rpartition("/")
    arguments = ["x"] * int(arity)
    if name in (".",):
        return "[x|x]", "'.'", arguments
    quoted = f"'{name}'" if not name[:1].isalpha() else name
    return f"{quoted}({','.join(arguments)})" if arguments else quoted, quoted, arguments


@pytest.mark.parametrize("signature", REFUSED)
def test_refused_in_the_text(signature):
    """As a goal, a directive, a query, evidence, and inside every control construct: before anything is ground."""
    text, _, _ = goal(signature)
    for clause in (
        f"a :- {text}.",
        f"a :- b, ({text} ; b).",
        f"a :- \\+ {text}.",
        f"a :- \\+ (b, {text}).",
        f"0.5::a ; 0.5::c :- {text}.",
        f":- {text}.",
        f"a :- findall(X, {text}, L).",
        f"a :- call({text}).",
        f"a :- once({text}).",
        f"a :- forall(b, {text}).",
        f"query({text}).",
        f"evidence({text}).",
        f"evidence({text}, false).",
    ):
        with pytest.raises(UnsafeProgramError) as refusal:
            compile_text(f"b. query(a).\n{clause}\na.")
        assert refusal.value.line == 2
        assert signature in str(refusal.value)


@pytest.mark.parametrize("signature", REFUSED)
def test_refused_when_put_together_while_grounding(signature):
    text, name, arguments = goal(signature)
    parts = ",".join([name, *arguments])
    for body in (
        f"X = {text}, X",
        f"X = {text}, call(X)",
        f"X =.. [{parts}], call(X)",
        "g(X), findall(Y, X, L)",
        "g(X), \\+X",
        f"call({parts})" if arguments else f"X = {name}, once(X)",
        "clause(g(X), B), call(X)",
        "h(X), X",
    ):
        with pytest.raises((UnsafeProgramError, UnknownPredicateError, GroundingError)) as refusal:
            compile_text(f"g({text}). h(X) :- g(X). query(a). a :- {body}.")
        # A built-in of ten or more arguments cannot be called; ``'.'`` is not an atom that =.. takes.
        if not isinstance(refusal.value, UnsafeProgramError):
            assert "allowed" not in str(refusal.value)
            assert signature == "./2" or ("clause(" in body) or len(arguments) > 8


@pytest.mark.parametrize("signature", REFUSED)
def test_cannot_be_defined_either(signature):
    """A definition of its own would make the check above ambiguous: problog refuses to overwrite a built-in."""
    text, _, _ = goal(signature)
    with pytest.raises(P4FError):
        compile_text(f"{text} :- b. b. query(b).")


HOSTILE = [
    ":- use_module('{0}/evil.py').",
    ":- use_module('{0}/evil').",
    ":- use_module('{0}/evil.py', [a/0]).",
    ":- use_module('{0}/evil.py', library(lists)).",
    ":- use_module(library('{0}/evil.py')).",
    ":- use_module(library('../../../../../../../../../../../..{0}/evil')).",
    ":- '_use_module'(library(lists), '{0}/evil.py').",
    ":- '_use_module'(library(lists), '{0}/evil.py', [a/0]).",
    ":- '_use_module'(x, '{0}/evil.py').",
    ":- consult('{0}/evil.pl').",
    ":- consult('{0}/secret').",
    ":- '_consult'(x, '{0}/evil.pl').",
    ":- ['{0}/evil.pl'].",
    ":- ['{0}/secret.pl', '{0}/evil.pl'].",
    "a :- use_module('{0}/evil.py').",
    "a :- '_use_module'(library(lists), '{0}/evil.py').",
    "a :- call(use_module('{0}/evil.py')).",
    "a :- call(use_module, '{0}/evil.py').",
    "a :- call(use_module, '{0}/evil.py', library(lists)).",
    "a :- call_nc(use_module, '{0}/evil.py', library(lists)).",
    "a :- try_call(use_module, '{0}/evil.py').",
    "a :- try_call(use_module, '{0}/evil.py', library(lists)).",
    "a :- call('_use_module', library(lists), '{0}/evil.py').",
    "a :- call('_use_module', library(lists), '{0}/evil.py', library(lists)).",
    "a :- X = use_module('{0}/evil.py'), X.",
    "a :- X = use_module('{0}/evil.py', library(lists)), call(X).",
    "a :- X = '_use_module'(library(lists), '{0}/evil.py'), call(X).",
    "a :- X =.. [use_module, '{0}/evil.py'], call(X).",
    "a :- X =.. [use_module, '{0}/evil.py', library(lists)], call(X).",
    "a :- X =.. ['_use_module', library(lists), '{0}/evil.py'], call(X).",
    "a :- X =.. [consult, '{0}/evil.pl'], call(X).",
    "a :- functor(X, use_module, 1), arg(1, X, '{0}/evil.py'), call(X).",
    "g(use_module('{0}/evil.py', library(lists))). a :- g(X), findall(Y, X, L).",
    "g(use_module('{0}/evil.py', library(lists))). a :- findall(X, g(X), [Y]), once(Y).",
    "g('{0}/evil.py'). a :- g(F), use_module(F).",
    "g(library(lists), '{0}/evil.py'). a :- g(L, F), use_module(F, L).",
    "g(library(lists), '{0}/evil.py'). a :- g(L, F), '_use_module'(L, F).",
    "g(db). a :- g(L), use_module(library(L)).",
    "g(db). a :- g(L), X = use_module(library(L)), X.",
    "g('../../x'). a :- g(L), X = use_module(library(L)), X.",
    "a :- findall(X, use_module('{0}/evil.py'), L).",
    "a :- forall(true, use_module('{0}/evil.py')).",
    "a :- X = use_module('{0}/evil.py', library(lists)), forall(true, X).",
    "a :- X = use_module('{0}/evil.py', library(lists)), \\+ \\+ X.",
    ":- use_module(library(apply)). a :- maplist(use_module, ['{0}/evil.py']).",
    ":- use_module(library(apply)). a :- maplist(use_module, ['{0}/evil.py'], [library(lists)]).",
    ":- use_module(library(apply)). a :- maplist('_use_module', [library(lists)], ['{0}/evil.py']).",
    ":- use_module(library(apply)). a :- maplist(consult, ['{0}/evil.pl']).",
    ":- use_module(library(control)). a :- on_fail(fail, consult('{0}/evil.pl')).",
    ":- use_module(library(control)). a :- cut(use_module(library(lists)), ['{0}/evil.py']).",
    ":- use_module(library(cut)). r(1) :- consult('{0}/evil.pl'). a :- cut(r).",
    ":- use_module(library(aggregate)). a :- aggregate(use_module, 1, 1, true, (X, library(lists))).",
    ":- use_module(library(string)). a :- concat([use, '_module'], F), X =.. [F, '{0}/evil.py', library(lists)], X.",
    "query(X) :- X = use_module('{0}/evil.py', library(lists)).",
    "query(use_module('{0}/evil.py')).",
    "query(X) :- X = consult('{0}/evil.pl').",
    "evidence(X) :- X = use_module('{0}/evil.py', library(lists)).",
    "evidence(X, true) :- X = '_use_module'(library(lists), '{0}/evil.py').",
    "evidence(consult('{0}/evil.pl')).",
    "0.5::c ; 0.5::d :- X = use_module('{0}/evil.py', library(lists)), X. a :- c.",
    "P::c :- X = use_module('{0}/evil.py', library(lists)), X, P = 0.5. a :- c.",
    "nn(h, x)::c :- X = use_module('{0}/evil.py', library(lists)), X. a :- c.",
    "a :- x:use_module('{0}/evil.py').",
    "a :- create_scope(x, S), call_in_scope(S, use_module('{0}/evil.py')).",
    "a :- subquery(use_module('{0}/evil.py'), P).",
    "a :- X = subquery(use_module('{0}/evil.py', library(lists)), P), X.",
    ":- use_module(library(assert)). a :- assertz(secret), secret.",
    "a :- assertz(secret), secret.",
    "a :- retract(b), \\+b. b.",
    "a :- recordz(b, c).",
    ":- use_module(library(record)). a :- recordz(b, c).",
    ":- use_module(library(db)). :- sqlite_load('{0}/mark').",
    ":- use_module(library(db)). :- csv_load('{0}/secret.pl', s).",
    ":- use_module(library(aproblog)). a.",
    ":- use_module(library(nlp4plp)). a.",
    ":- use_module(library(collect)). a :- use_module('{0}/evil.py') => list(X, L).",
    ":- use_module(library(collect)). a :- X = consult('{0}/evil.pl'), (X => g/list(Y, L)).",
    "a :- try_call(use_module('{0}/evil.py')).",
    "a :- X = use_module('{0}/evil.py'), try_call(X).",
    "a :- X = use_module('{0}/evil.py'), subquery(X, P).",
    "b. a :- X = use_module('{0}/evil.py'), subquery(b, P, [X]).",
    "g :- use_module('{0}/evil.py'). a :- clause(g, B, P), call(B).",
    'a :- subquery(b, P, [], "prob", "bdd"). b.',
    'a :- subquery(b, P, [], "symbolic", "sdd"). b.',
    'a :- subquery(b, P, [], "prob", f(x)). b.',
    'a :- subquery(use_module(\'{0}/evil.py\'), P, [], "prob", "sdd").',
    'a :- X = use_module(\'{0}/evil.py\'), subquery(X, P, [], "prob", "sdd").',
    ":- unknown(fail). a :- use_module('{0}/evil.py').",
    ":- unknown(fail). a :- X = '_consult'(x, '{0}/evil.pl'), X.",
    ":- use_module(library('lists.py')). a.",
    ":- use_module(library('./lists')). a.",
    ":- load_external('{0}/evil.py').",
    ":- initialization(consult('{0}/evil.pl')).",
    ":- include('{0}/secret.pl'). a :- secret.",
    ":- ensure_loaded('{0}/secret.pl'). a :- secret.",
    ":- set_prolog_flag(unknown, fail).",
    "a :- shell('touch {0}/mark').",
    "a :- open('{0}/mark', write, S), close(S).",
    "a :- see('{0}/secret.pl').",
    "a :- halt.",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_program(text, trap):
    """Refused, or unknown, wherever it is tried: when it is read, checked, compiled and drawn."""
    program = text.replace("{0}", str(trap)) + " a :- fail. query(a)."
    with pytest.raises((UnsafeProgramError, UnknownPredicateError, GroundingError)) as refusal:
        Program(program).compile()
    assert not caught(trap)
    assert type(refusal.value) in (UnsafeProgramError, UnknownPredicateError), refusal.value
    with pytest.raises((UnsafeProgramError, UnknownPredicateError, GroundingError)):
        Program(program).diagram()
    assert not caught(trap)


@pytest.mark.parametrize("goal_text", ["x:{0}", "X = {0}, [x,y]:X", "x:({0}, true)"])
def test_a_scope_opens_no_way_out(goal_text, trap):
    """library(scope) calls whatever stands behind the colon: refused there, or stopped at the limit, but never done."""
    text = goal_text.replace("{0}", f"use_module('{trap}/evil.py')")
    program = Program(f":- use_module(library(scope)). a :- {text}. query(a).", limits=Limits(seconds=2))
    for task in (program.compile, program.diagram):
        with pytest.raises((UnsafeProgramError, LimitError)):
            task()
    assert not caught(trap)


@pytest.mark.parametrize("path", sorted(LIBRARY.iterdir()), ids=lambda path: path.name)
def test_libraries(path):
    """Those that only define predicates can be loaded, all others are refused, in the text and while grounding."""
    if path.name.startswith("__"):
        pytest.skip("not a library")
    for name in {path.name, path.stem}:
        static = f":- use_module(library('{name}')). 0.5::a. query(a)."
        dynamic = f"0.5::a :- X = use_module(library('{name}')), X. query(a)."
        if name in ALLOWED_LIBRARIES:
            assert compile_text(static)["queries"]
            continue
        with pytest.raises(UnsafeProgramError):
            compile_text(static)
        if name not in ("lists.py", "string.py"):  # parts of libraries that are allowed
            with pytest.raises(UnsafeProgramError):
                compile_text(dynamic)


def test_allowed_libraries_open_no_way_out():
    """What they load themselves is known: each clause of theirs calls only what a program may call."""
    assert set(ALLOWED_LIBRARIES) == {"lists", "apply", "aggregate", "collect", "cut", "control", "scope", "string"}
    for name in ALLOWED_LIBRARIES:
        for clause in PrologString((LIBRARY / f"{name}.pl").read_text()):
            body = str(clause)
            assert not any(word in body for word in ("consult", "write", "print", "error", "subquery", "assert"))
            if "use_module" in body:
                assert any(
                    f"library({part})" in body for part in ("lists", "apply", "string", "'lists.py'", "'string.py'")
                )


def test_a_file_next_to_the_program_is_not_a_library(trap, monkeypatch):
    (trap / "lists.pl").write_text(f":- use_module('{trap}/evil.py').\nmember(x, y).\n")
    monkeypatch.chdir(trap)
    program = Program(":- use_module(library(lists)). 0.5::a(X) :- member(X, [1,2]). query(a(_)). % here")
    assert set(program.probability()) == {"a(1)", "a(2)"}
    assert not caught(trap)
    with pytest.raises(UnsafeProgramError):
        Program(":- use_module(lists). a. query(a).")
    (trap / "library'(lists).py").write_text((trap / "evil.py").read_text())
    for goal_text in ("use_module('library'(lists))", "call(use_module, 'library'(lists))"):
        with pytest.raises(UnsafeProgramError):
            Program(f":- {goal_text}. 0.5::a. query(a).").compile()
    assert not caught(trap)


def test_nothing_is_printed(capfd):
    for goal_text in ("write(hello)", "writeln(hello)", "nl", "debugprint(hello)", "print(hello)", "print_state"):
        for body in (goal_text, f"X = {goal_text}, X"):
            with pytest.raises((UnsafeProgramError, UnknownPredicateError)):
                Program(f"a :- {body}. query(a).").compile()
    Program("0.5::a. b :- a, b. c :- \\+b. query(c). % quiet").compile()
    assert capfd.readouterr() == ("", "")


def test_a_refusal_says_what_is_allowed():
    with pytest.raises(UnsafeProgramError, match=r"2:4: loading library\(db\) is not allowed; .*library\(lists\)"):
        Program("query(a). a.\n:- use_module(library(db)).")


# name: (why it is harmless, a program, its answers)
ALLOWED_WITH_REASON = {
    "unknown/1": (
        "changes how the engine of this one program answers goals that nobody defines",
        ":- unknown(fail). a :- \\+nobody. query(a).",
        {"a": 1.0},
    ),
    "clause/3": (
        "reads the program's own clauses, with their probabilities",
        "0.3::b :- c. c. a(P) :- clause(b, _, P). query(a(_)).",
        {"a(0.3)": 1.0},
    ),
    "subquery/2": (
        "grounds and evaluates a goal of the program, by the same engine, in this process",
        "0.3::b. 0.5::c. d :- b, c. a(P) :- subquery(d, P). query(a(_)).",
        {"a(0.15)": 1.0},
    ),
    "subquery/3": (
        "the same, given evidence",
        "0.3::b. 0.5::c. d :- b. d :- c. a(P) :- subquery(b, Q, [d]), P is round(Q*1000). query(a(_)).",
        {"a(462)": 1.0},
    ),
    "subquery/5": (
        "the same, by the same compiler, whichever it names",
        '0.3::b. 0.5::c. d :- b. d :- c. a(P) :- subquery(b, Q, [d], "prob", "ddnnf"), P is round(Q*1000). '
        "query(a(_)).",
        {"a(462)": 1.0},
    ),
    "try_call/1": (
        "calls a goal of the program; ours hides neither refusals nor limits",
        "0.3::b. a :- try_call(b). c :- try_call(nobody(1)). query(a). query(c).",
        {"a": 0.3, "c": 0.0},
    ),
    "library(collect)": (
        "is five clauses over findall-like built-ins",
        ":- use_module(library(collect)). b(1). b(2). a(L) :- b(X) => list(X, L). query(a(_)).",
        {"a([1,2])": 1.0},
    ),
    "library(scope)": (
        "is five clauses that call a goal of the program under a name",
        ":- use_module(library(scope)). 0.3::s:b. a :- s:b. query(a).",
        {"a": 0.3},
    ),
}


@pytest.mark.parametrize("name", ALLOWED_WITH_REASON)
def test_allowed_because(name):
    """It runs behind the wall, where nothing can be opened: in the worker, not here."""
    _, text, expected = ALLOWED_WITH_REASON[name]
    answers = {query: float(value) for query, value in Program(text).probability().items()}
    assert answers == pytest.approx(expected)


def test_unknown_holds_for_one_program_only():
    assert Program(":- unknown(fail). a :- \\+nobody. query(a).").probability()["a"] == 1
    with pytest.raises(UnknownPredicateError):
        Program("a :- \\+nobody. query(a).").compile()
