"""Programs that try to load a file, in many spellings, and decoy files that tell when they were run or read.

``python -m tests.program.spellings MODE`` reads programs as lines of JSON and answers them in the current folder, with
the walls that ``MODE`` names (see ``MODES``), as the worker would.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from problog.logic import Term, unquote
from problog.program import PrologString

# Terms that name a file. To problog only library(x) is a library; everything else is a file beside the program.
TARGETS = [
    "evil", "'evil'", "'evil.py'", '"evil"', "'EVIL'", "'./evil'", "'{here}/evil.py'", "'{here}/evil'",
    "'library'(lists)", "'library'('lists')", "'library'(\"lists\")", "'library'([lists])", "'library'(library(lists))",
    "library(lists, x)", "library('{here}/evil')", "library('../../../../../../../../../../../../..{here}/evil')",
    "Library(lists)", "'l\\x69brary'(lists)", "'library '(lists)", "'\u200blibrary'(lists)", "'ｌibrary'(lists)",
    "'\u043bibrary'(lists)", "lists", "'lists.pl'", "[lists]", "[[evil]]", "evil+1", "evil-lists", "- evil",
    "f(g(evil))", "'évil'", "'e vil'", "'漢'", "\\+evil", "(evil, lists)", "(library:lists)", "library", "{{evil}}",
    "1", "0.5",
]  # fmt: skip
LOADERS = [
    "use_module({0})", "'use_module'({0})", "use_module({0}, [a/0])", "use_module({0}, library(lists))",
    "'_use_module'(x, {0})", "'_use_module'(library(lists), {0}, [a/0])", "consult({0})", "'consult'({0})",
    "'_consult'(x, {0})", "[{0}]", "'.'({0}, [])",
]  # fmt: skip
# Where the goal {0} stands; {1} is what it loads, {2} its name.
CONTEXTS = [
    ":- {0}.", "a :- {0}.", "a :- call({0}).", "a :- X = ({0}), X.", "a :- X = ({0}), call(X).",
    "a :- ({0}) =.. L, X =.. L, call(X).", "a :- X = ({0}), X =.. [F|R], Y =.. [F|R], once(Y).",
    "g(({0})). a :- g(X), X.", "g(({0})). a :- g(X), \\+ \\+ X.", "g(({0})). a :- findall(Y, (g(X), X), _).",
    "a :- X = ({1}), {2}(X).", "g({1}). a :- g(X), {2}(X).", "a :- call({2}, {1}).",
    "g({2}, {1}). a :- g(F, X), call(F, X).", "a :- functor(X, {2}, 1), arg(1, X, {1}), call(X).",
    "query({0}).", "query(X) :- X = ({0}).", "evidence({0}).",
    "evidence(X, true) :- X = ({0}).", "P::a :- {0}, P = 0.5.", "0.5::a; 0.5::b :- {0}.", "a :- b ; {0}. b :- fail.",
    "a :- forall(true, {0}).", "a :- subquery({0}, _).", "a :- try_call({0}).", "a :- clause(g, B), B. g :- {0}.",
]  # fmt: skip
# problog as it is; our list alone; each part of the wall alone; the whole wall.
MODES = ("nothing", "list", "close_python", "restrict_files", "limit_files", "close")


def programs(here: Path, count: int, seed: int = 0) -> list[str]:
    """Every target with every loader as a directive, and ``count`` other combinations."""
    rest = list(itertools.product(TARGETS, LOADERS, CONTEXTS[1:]))
    plain = [(target, loader, CONTEXTS[0]) for target, loader in itertools.product(TARGETS, LOADERS)]
    return [_program(*parts, here) for parts in plain + random.Random(seed).sample(rest, count)]


def _program(target: str, loader: str, context: str, here: Path) -> str:
    file = target.replace("{here}", str(here))
    name = loader.partition("(")[0] if "(" in loader else "consult"
    return context.format(loader.format(file), file, name) + " a :- fail. 0.5::c. query(a). query(c)."


def lay_decoys(here: Path, mark: Path) -> None:
    """Put a file behind every target: run, it makes ``mark``; read, it changes its time of access."""
    code = f"open({str(mark)!r}, 'w').close()\n"
    for target in TARGETS:
        for name in _names(target.replace("{here}", str(here))):
            for suffix in ("", ".pl", ".py"):
                path = here / (name + suffix)
                if path.parent != here or path.exists() or path.is_dir():
                    continue
                path.write_text(code if path.suffix == ".py" else f":- use_module('{here}/evil.py').\nsecret.\n")
                os.utime(path, (1, 2))


def _names(target: str) -> set[str]:
    """What problog takes for the name of the file."""
    try:
        term = next(iter(PrologString(f"x({target}).")))
        parts = [term.args[0], *getattr(term.args[0], "args", ())]
    except Exception:  # not ProbLog: no file
        return set()
    return {unquote(str(part)) for part in parts if isinstance(part, Term)}


def traces(here: Path, mark: Path) -> list[str]:
    """The decoys that were read, and the mark if one was run; clears them."""
    found = [path.name for path in here.iterdir() if path.is_file() and path.stat().st_atime != 1]
    for name in found:
        os.utime(here / name, (1, 2))
    if mark.exists():
        mark.unlink()
        found.append("ran")
    return found


def run(mode: str, texts: list[str], here: Path, mark: Path) -> list[tuple[dict[str, Any], list[str]]]:
    """The answer to each program and the traces that it left, by a process in the folder ``here``."""
    paths = [str(Path(__file__).parents[2]), *sys.path]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.program.spellings", mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=here,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    ) as process:
        assert json.loads(process.stdout.readline()) == {"ready": True}
        answers = []
        for text in texts:
            request = {"task": "compile", "text": text, "memory": 2**32, "seconds": 60, "most": 2**20}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            answers.append((json.loads(process.stdout.readline()), traces(here, mark)))
    return answers


def main(mode: str) -> None:
    from problog.clausedb import ClauseDB
    from problog.engine_stack import StackBasedEngine

    from problog4fairness.program.circuit import grounding as ground
    from problog4fairness.program.language import syntax
    from problog4fairness.program.sandbox import wall, worker

    assert mode in MODES
    if mode != "list":
        # problog as it is, but for the file that it reads for every program: no program would get further than that.
        ground.SafeEngine = StackBasedEngine
        syntax.check_goals = lambda clause, place: None
        ClauseDB._load_builtin_module = lambda self: None
    wall.close = getattr(wall, mode, lambda: None)
    worker.main()


if __name__ == "__main__":
    main(sys.argv[1])
