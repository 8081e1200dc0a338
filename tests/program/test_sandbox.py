"""Programs without end or measure stop at a limit, and the caller does not notice more than the error."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from problog4fairness import Program
from problog4fairness.errors import LimitError, P4FError
from problog4fairness.program import Limits
from problog4fairness.program.sandbox import process as sandbox

MEBIBYTE = 1024 * 1024
TIGHT = Limits(seconds=0.7, memory=300 * MEBIBYTE)
# Seconds within which what has a limit is over, also on a machine that does much else: without one it would never be.
SOON = 20.0
AT_A_LIMIT = r"the program was stopped at the (time limit of 0\.7 s|memory limit of 300 MiB)|nested too deeply"
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")

_numbers = count()


def small(limits: Limits | None = None) -> float:
    """P of a small program that was never compiled before."""
    return Program(f"0.25::a. query(a). % {time.time_ns()} {next(_numbers)}", limits=limits).probability()["a"].item()


def hard_formula() -> str:
    """A random 3-CNF of 60 variables and 120 clauses, which has no small decision diagram."""
    rng, signs = random.Random(1), ("", "\\+")
    lines = [f"0.5::x({i})." for i in range(60)]
    for j in range(120):
        lines += [f"c{j} :- {rng.choice(signs)}x({rng.randrange(60)})." for _ in range(3)]
    return "\n".join([*lines, "q :- " + ",".join(f"c{j}" for j in range(120)) + ".", "query(q)."])


_TREE = "t(0,e). t(N,f(T,T)) :- N > 0, M is N-1, t(M,T)."
_GRAPH = "0.5::e(X,Y) :- between(1,30,X), between(1,30,Y), X \\= Y. p(X,Y) :- e(X,Y). p(X,Y) :- e(X,Z), p(Z,Y)."
BOMBS = {
    "recursion with growing terms": "p(X) :- p(s(X)). query(p(0)).",
    "recursion with growing numbers": "p(X) :- Y is X+1, p(Y). query(p(0)).",
    "recursion in a directive": "p(X) :- p(s(X)). :- p(0). a. query(a).",
    "recursion under negation": "p(X) :- \\+p(s(X)). query(p(0)).",
    "tower of powers": "a :- X is 9**(9**9). query(a).",
    "shift by a trillion": "a :- X is 1 << (1 << 40). query(a).",
    "list of a hundred million": "a :- length(L, 100000000). query(a).",
    "text that doubles": ":- use_module(library(string)). s(0,e). s(N,S) :- N > 0, M is N-1, s(M,T), concat([T,T],S). "
    "a :- s(40,S). query(a).",
    "tree that doubles": f"{_TREE} a :- t(40,T), T = f(X,X). query(a).",
    "all subsets": "0.5::x(N) :- between(1,25,N). a(L) :- findall(N, x(N), L). query(a(_)).",
    "all paths": f"{_GRAPH} query(p(1,30)).",
    "deep term": "a(" + "f(" * 50_000 + "x" + ")" * 50_000 + "). query(a(_)).",
    "deep negation": "a :- " + "\\+" * 50_000 + "b. b. query(a).",
    "conjunction of 20,000 goals": "b. a :- " + ",".join(["b"] * 20_000) + ". query(a).",
    "sum of 20,000 terms": "a :- X is 1" + "+1" * 20_000 + ". query(a).",
    "20,000 heads": ";".join(f"0.00001::a{i}" for i in range(20_000)) + ". query(a0).",
}


@linux
@pytest.mark.parametrize("name", BOMBS)
def test_bomb_ends_at_a_limit(name):
    started = time.monotonic()
    with pytest.raises(LimitError, match=AT_A_LIMIT) as caught:
        Program(BOMBS[name], limits=TIGHT).compile()
    assert len(str(caught.value).splitlines()) == 1
    assert time.monotonic() - started < SOON
    started = time.monotonic()
    assert small() == 0.25
    assert time.monotonic() - started < SOON


@pytest.mark.parametrize(
    "text",
    [
        "a :- " + "(" * 50_000,
        "a :- " + "(" * 50_000 + "b" + ")" * 50_000 + ". b. query(a).",
        "a :- " + ")" * 50_000 + ". query(a).",
        "9" * 100_000 + "::a. query(a).",
        "0." + "9" * 100_000 + "::a. query(a).",
        "query(" + "a" * 1_000_000 + ").",
        "'" + "x" * 1_000_000 + "'. 0.5::a. query(a).",
        "\n" * 100_000 + "0.5::a. query(a).",
        "\ud800. query(a).",
        "0.5::\u00e4\u6f22\U0001f600. query(\u00e4\u6f22\U0001f600).",
        "0.5::'\u6f22 \U0001f600'. query('\u6f22 \U0001f600').",
    ],
    ids=lambda text: text[:12],
)
def test_odd_text_has_an_answer_or_an_error(text):
    """Whatever it is, it is over soon and harms nobody."""
    started = time.monotonic()
    try:
        answer = Program(text, limits=Limits(seconds=5)).probability()
    except P4FError:
        answer = None
    assert time.monotonic() - started < SOON
    assert answer is None or all(0 <= value <= 1 for value in answer.values())
    assert small() == 0.25


@pytest.fixture
def ordinary_stack():
    """Python's own limit; problog raises it in the process that imports it, as the oracle does here."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.usefixtures("ordinary_stack")
@pytest.mark.parametrize("depth", [50, 300, 900, 3000, 9000])
@pytest.mark.parametrize(
    "form",
    [
        "nn(h,{term})::a. query(a).",
        "p({term})::a. query(a).",
        "nn(h,[x],Y,[u,{term}])::y(Y). a :- y(u). query(a).",
        "0.5::b({term}). a :- b(_). query(a).",
    ],
)
def test_deep_terms_do_not_exhaust_the_callers_stack(form, depth):
    """What comes back from the worker is nested as deeply as the program: the caller must get an answer or an error."""
    text = form.replace("{term}", "f(" * depth + "x" + ")" * depth)
    try:
        program = Program(text, limits=Limits(seconds=20))
        many = "[u," in form
        values = {network.name: [0.5, 0.5] if many else 0.5 for network in program.networks}
        circuit = program.compile()
        assert circuit.probability(values, dict.fromkeys(program.parameters, 0.5)).item() == 0.5
        assert repr(circuit)
    except P4FError:
        assert depth > 50


@pytest.mark.usefixtures("ordinary_stack")
@pytest.mark.parametrize("depth", [50, 900, 3000])
def test_deep_weights_do_not_exhaust_the_callers_stack(depth):
    text = "1-(" * depth + "p" + ")" * depth + "::a. query(a)."
    try:
        probability = Program(text, limits=Limits(seconds=20)).probability(parameters={"p": 0.25})["a"]
        assert probability.item() == pytest.approx(0.25)
    except P4FError:
        assert depth > 50


def test_time_limit_is_named_and_kept():
    started = time.monotonic()
    with pytest.raises(LimitError, match=r"time limit of 0\.5 s"):
        Program("a :- X is 9**(9**9). query(a).", limits=Limits(seconds=0.5, memory=2**40)).compile()
    assert time.monotonic() - started < SOON


@linux
def test_memory_limit_is_named_and_kept():
    for mebibytes in (200, 400):
        limits = Limits(seconds=30, memory=mebibytes * MEBIBYTE)
        with pytest.raises(LimitError, match=f"memory limit of {mebibytes} MiB"):
            Program("a :- length(L, 100000000). query(a).", limits=limits).compile()


@linux
def test_a_diagram_that_does_not_fit():
    """PySDD is C: where it gets no memory it ends the process, with a word on standard error."""
    with pytest.raises(LimitError, match="memory limit of 200 MiB"):
        Program(hard_formula(), limits=Limits(seconds=60, memory=200 * MEBIBYTE)).compile()
    assert small() == 0.25


DOUBLED = """:- use_module(library(string)).
d(0,a).
d(N,X) :- N > 0, M is N-1, d(M,Y), concat([Y,Y],X).
"""


@pytest.mark.parametrize(
    "rule",
    ["0.5::q(X) :- d(22,X). query(q(_)).", "nn(h,X)::q :- d(22,X). query(q).", "p(X)::q :- d(22,X). query(q).",
     "P::q :- d(22,P). query(q).", "0.5::a(X) :- d(22,X). 0.5::q :- a(X). query(q)."],
)  # fmt: skip
def test_names_that_double_do_not_reach_the_caller(rule):
    """A megabyte of them would be read, kept, printed and stored where there is no limit."""
    began = time.monotonic()
    with pytest.raises(P4FError) as found:
        Program(DOUBLED + rule, limits=Limits(seconds=20)).lint()
    assert len(str(found.value)) < 1500
    assert time.monotonic() - began < 20


def test_an_answer_that_is_too_large_is_refused_in_the_worker(monkeypatch):
    monkeypatch.setattr(sandbox, "MAX_ANSWER", 2_000)
    with pytest.raises(LimitError, match="more than 1,999"):
        Program(" ".join(f"0.5::a{number}. query(a{number})." for number in range(100))).compile()
    assert small() == 0.25


def test_a_number_with_thousands_of_digits_is_an_error_of_the_program():
    with pytest.raises(P4FError):
        Program("0.5::q(X) :- X is 7 ** 99999. query(q(_)).", limits=Limits(seconds=20)).compile()


def test_a_long_list_is_shown_in_part():
    text = " ".join(f"0.5::a{number}. query(a{number})." for number in range(300))
    shown = dict(Program(text).lint().rows())["queries"]
    assert shown.endswith("a99, and 200 more")


@linux
def test_limits_are_those_of_each_program():
    """One worker serves all: a tight limit for one program must not stay for the next."""
    text = "a :- X is 1 << (1 << 30), X > 0. query(a). % {}"
    with pytest.raises(LimitError):
        Program(text.format(1), limits=Limits(memory=200 * MEBIBYTE)).compile()
    assert small(Limits(memory=200 * MEBIBYTE)) == 0.25
    assert Program(text.format(2), limits=Limits(memory=1500 * MEBIBYTE)).probability()["a"].item() == 1.0


@linux
@pytest.mark.parametrize("mebibytes", [1, 16, 50, 100])
def test_a_limit_too_small_for_any_program(mebibytes):
    with pytest.raises(LimitError, match=f"memory limit of {mebibytes} MiB"):
        small(Limits(memory=mebibytes * MEBIBYTE))
    assert small() == 0.25


@pytest.mark.parametrize(
    "limits",
    [
        {"seconds": 0}, {"seconds": -1}, {"seconds": float("nan")}, {"seconds": "1"}, {"seconds": None},
        {"memory": 0}, {"memory": -1}, {"memory": 1.5}, {"memory": "1"}, {"memory": None},
    ],
    ids=str,
)  # fmt: skip
def test_limits_must_make_sense(limits):
    """A memory limit of -1 would be none at all, and a time limit of "1" too."""
    with pytest.raises((ValueError, TypeError)):
        Limits(**limits)


@pytest.mark.parametrize("limits", [{"seconds": float("inf")}, {"seconds": 1e10}, {"memory": 2**70}], ids=str)
def test_limits_can_be_lifted(limits):
    assert small(Limits(**limits)) == 0.25


def worker_id() -> int:
    process = sandbox._workers[-1]._process
    assert process is not None
    return process.pid


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_worker_serves_many_programs():
    small()
    first = worker_id()
    assert [small() for _ in range(5)] == [0.25] * 5
    with pytest.raises(P4FError):
        Program("1.5::a. query(a).")
    assert worker_id() == first


@posix
def test_worker_killed_between_programs():
    small()
    first = worker_id()
    os.kill(first, signal.SIGKILL)
    time.sleep(0.1)
    assert small() == 0.25
    assert worker_id() != first


@posix
def test_worker_killed_the_moment_before():
    """No time for the caller to see that it has gone."""
    for _ in range(3):
        small()
        os.kill(worker_id(), signal.SIGKILL)
        assert small() == 0.25


@posix
def test_worker_killed_at_work():
    small()
    victim = worker_id()

    def kill() -> None:
        with suppress(ProcessLookupError):  # the time of its program may be over by now
            os.kill(victim, signal.SIGKILL)

    timer = threading.Timer(0.5, kill)
    timer.start()
    started = time.monotonic()
    with pytest.raises((LimitError, RuntimeError)):
        Program("a :- X is 9**(9**9). query(a).", limits=Limits(seconds=2)).compile()
    timer.join()
    assert time.monotonic() - started < SOON
    assert small() == 0.25


@posix
def test_worker_stopped_and_stuck():
    """A worker that does not answer at all is replaced when the time is over."""
    small()
    os.kill(worker_id(), signal.SIGSTOP)
    with pytest.raises(LimitError, match="time limit"):
        small(Limits(seconds=1))
    assert small() == 0.25


def test_threads_share_the_worker():
    def ask(number: int) -> float:
        text = f"{number / 100}::a. b :- \\+a. query(b). % {time.time_ns()}"
        return Program(text).probability()["b"].item()

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(40)))
    assert answers == pytest.approx([1 - number / 100 for number in range(40)])


def test_a_bomb_in_one_thread_leaves_the_others_alone():
    def ask(number: int) -> str:
        if number % 5 == 0:
            with pytest.raises(LimitError):
                Program(f"p(X) :- p(s(X)). query(p({number})).", limits=Limits(seconds=0.5)).compile()
            return "stopped"
        return str(small())

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(12))) == ["stopped" if n % 5 == 0 else "0.25" for n in range(12)]


def script(text: str, input: str | None = None) -> subprocess.CompletedProcess[str]:  # noqa: A002
    command = [sys.executable, "-c", textwrap.dedent(text)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, input=input)


@posix
def test_after_a_fork():
    """Parent and child each have a worker, and the end of the child is not the end of the parent's."""
    run = script("""
        import os, sys
        from problog4fairness.program.sandbox import process as sandbox
        ask = lambda text: sandbox.run("compile", text)["queries"][0]["name"]
        assert ask("0.5::a. query(a).") == "a"
        first = sandbox._workers[-1]._process.pid
        child = os.fork()
        if child == 0:
            assert ask("0.5::b. query(b).") == "b"
            assert sandbox._workers[-1]._process.pid != first
            sys.exit(7)  # the ordinary way, with all that happens at exit
        assert ask("0.5::c. query(c).") == "c"
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert ask("0.5::d. query(d).") == "d"
        assert sandbox._workers[-1]._process.pid == first
    """)
    assert (run.returncode, run.stderr) == (0, "")


@linux
def test_no_thread_is_left_behind():
    """From Python 3.12 on, a fork beside other threads is warned about; a caller with one thread keeps one."""
    run = script("""
        import os, threading
        from problog4fairness.program.sandbox import process as sandbox
        for number in range(5):
            sandbox.run("compile", f"0.5::a. query(a). % {number}")
            assert threading.active_count() == len(os.listdir("/proc/self/task")) == 1
    """)
    assert (run.returncode, run.stderr) == (0, "")


@posix
def test_after_a_fork_while_a_program_runs():
    """The lock of the parent's worker is held at that moment; the child must not wait for it."""
    run = script("""
        import os, threading, time
        from problog4fairness.errors import LimitError
        from problog4fairness.program.sandbox import process as sandbox
        def busy():
            try:
                sandbox.run("compile", "a :- X is 9**(9**9). query(a).", sandbox.Limits(seconds=2))
            except LimitError:
                print("stopped")
        sandbox.run("compile", "0.5::a. query(a).")
        thread = threading.Thread(target=busy)
        thread.start()
        time.sleep(0.5)
        import warnings; warnings.simplefilter("ignore")
        child = os.fork()
        if child == 0:
            name = sandbox.run("compile", "0.5::b. query(b).")["queries"][0]["name"]
            sandbox._workers[-1].stop()
            os._exit(0 if name == "b" else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        thread.join()
    """)
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "stopped", "")


@posix
def test_no_worker_outlives_its_caller():
    """After an ordinary end at once; after a kill at the latest when the time of its program is over."""
    ordinary = script("""
        from problog4fairness.program.sandbox import process as sandbox
        sandbox.run("compile", "0.5::a. query(a).")
        print(sandbox._workers[-1]._process.pid)
    """)
    assert not is_running(int(ordinary.stdout))
    killed = script("""
        import os, signal, threading, time
        from problog4fairness.program.sandbox import process as sandbox
        sandbox.run("compile", "0.5::a. query(a).")
        limits = sandbox.Limits(seconds=1)
        bomb = "a :- X is 9**(9**9). query(a)."
        threading.Thread(target=sandbox.run, args=("compile", bomb, limits), daemon=True).start()
        time.sleep(0.3)
        print(sandbox._workers[-1]._process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    orphan = int(killed.stdout)
    deadline = time.monotonic() + SOON
    while is_running(orphan) and time.monotonic() < deadline:
        time.sleep(0.1)
    outlived = is_running(orphan)
    if outlived:
        os.kill(orphan, signal.SIGKILL)
    assert not outlived


@posix
def test_a_busy_worker_ends_with_its_caller_long_before_its_limit():
    """Also in the middle of C code, and when the thread that asked for it ended long ago."""
    killed = script("""
        import os, signal, threading, time
        from problog4fairness.program.sandbox import process as sandbox
        first = threading.Thread(target=sandbox.run, args=("compile", "0.5::a. query(a)."))
        first.start()
        first.join()
        time.sleep(0.2)
        assert sandbox._workers[-1]._process.poll() is None
        bomb = "a :- X is 9**(9**9). query(a)."
        limits = sandbox.Limits(seconds=600, memory=2**40)
        threading.Thread(target=sandbox.run, args=("compile", bomb, limits), daemon=True).start()
        time.sleep(0.5)
        print(sandbox._workers[-1]._process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    orphan = int(killed.stdout)
    deadline = time.monotonic() + SOON
    while is_running(orphan) and time.monotonic() < deadline:
        time.sleep(0.1)
    outlived = is_running(orphan)
    if outlived:
        os.kill(orphan, signal.SIGKILL)
    assert not outlived


@posix
def test_files_in_the_current_folder_are_not_modules(tmp_path):
    """``problog.py`` or ``json.py`` next to somebody's data must not become part of the worker."""
    for name in ("problog", "json", "pysdd", "resource", "problog4fairness"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w').close()\nraise SystemExit(3)\n")
    small()
    here = Path.cwd()
    os.kill(worker_id(), signal.SIGKILL)
    time.sleep(0.1)
    try:
        os.chdir(tmp_path)
        assert small() == 0.25
    finally:
        os.chdir(here)
    assert not (tmp_path / "mark").exists()


def test_what_a_library_prints_does_not_disturb(capfd):
    """The worker answers on its own channel."""
    run = script(
        """
        from problog4fairness.program.circuit import grounding as ground
        from problog4fairness.program.sandbox import worker
        original = ground.compile_text
        def noisy(text):
            print("noise on standard output")
            return original(text)
        ground.compile_text = noisy
        worker.main()
    """,
        input='{"task": "compile", "text": "0.5::a. query(a).", "memory": 2000000000, "seconds": 9, "most": 999}\n',
    )
    assert run.returncode == 0
    assert "noise" in run.stderr
    ready, answer = run.stdout.splitlines()
    assert ready == '{"ready": true}'
    assert answer.startswith('{"result"')
