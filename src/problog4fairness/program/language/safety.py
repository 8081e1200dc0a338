"""What a program may do.

A program can come from a stranger. problog itself lets a program load Python (``use_module``), open files
(``consult``, ``library(db)``), print, and change how it is evaluated, so an allow-list stands in front of its
built-ins: all that only compares, computes or takes terms apart is allowed, everything else is refused.
:func:`check_goals` refuses what the text shows, with line and column, before grounding; :class:`SafeEngine` refuses
the rest (goals put together while grounding) because it does not have the code for them.

This list is the second wall. The first is the process that problog runs in, which cannot open anything (:mod:`.wall`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import problog
from problog.clausedb import ClauseDB
from problog.engine_builtin import _builtin_call, _builtin_subquery
from problog.engine_stack import BooleanBuiltIn, SimpleBuiltIn, StackBasedEngine
from problog.errors import ProbLogError
from problog.extern import problog_export
from problog.logic import And, AnnotatedDisjunction, Clause, Constant, Not, Or, Term, Var, unquote
from problog.program import PrologString

from problog4fairness.errors import UnsafeProgramError

if TYPE_CHECKING:
    from problog4fairness.program.language.syntax import Syntax

ALLOWED_LIBRARIES = frozenset({"lists", "apply", "aggregate", "collect", "cut", "control", "scope", "string"})
# Parts in Python that the libraries above load themselves.
_PARTS = frozenset({"lists.py", "string.py"})
# What problog loads for every program: this very object, so that no program can name it.
_BUILTIN = Term("library", Term("builtin"))

Export = tuple[str, int, Any]


class Database(ClauseDB):  # type: ignore[misc]
    """problog's database of clauses, which loads what is in memory and refuses everything else."""

    def extend(self) -> Database:
        """A database for a few more clauses."""
        return Database(parent=self, builtins=self._ClauseDB__builtins)

    def _load_builtin_module(self) -> None:
        self.use_module(_BUILTIN, None)

    def resolve_filename(self, filename: Any) -> str:
        """``lists.pl`` or ``lists.py`` for what names a library."""
        name = library_name(filename)
        if filename is _BUILTIN or name in _PARTS | ALLOWED_LIBRARIES:
            return name if name.endswith(".py") else f"{name}.pl"
        raise not_allowed(filename)

    def consult(self, filename: Any, location: Any = None, my_scope: Any = None) -> Any:
        """Add the clauses of a library, the first time."""
        name = filename.functor
        if name not in _TEXTS:
            raise not_allowed(filename)
        if name in self.source_files:
            return None, None
        text = PrologString(_TEXTS[name], source_files=[name], identifier=len(self.source_files))
        self.source_files.append(name)
        self.source_parent.append(location)
        self.line_info.append(text.line_info[0])
        return self.add_all(text)

    def load_external_module(self, filename: str) -> tuple[str, list[Any]]:
        """Add the predicates of a library that are written in Python."""
        module = filename.removesuffix(".py")
        for name, arity, function in _EXPORTS[filename]:
            self.add_extern(name, arity, function, scope=module)
        return module, [Term("'/'", Term(name), Constant(arity)) for name, arity, _ in _EXPORTS[filename]]


def library_name(what: Any) -> str:
    """``lists`` for ``library(lists)``, by the comparison that problog makes; empty for anything else."""
    # Not by its signature, which is the same for 'library'(lists): to problog that is the name of a file.
    if isinstance(what, Term) and what.functor == "library" and what.arity == 1:
        return str(unquote(str(what.args[0])))
    return ""


def not_allowed(asked: Any) -> UnsafeProgramError:
    """The error for loading anything but a library of the list."""
    names = "), library(".join(sorted(ALLOWED_LIBRARIES))
    return UnsafeProgramError(f"loading {asked} is not allowed; a program may load library({names})")


class _Recorder:
    """Takes the place of a database while a library in Python is run, and keeps what it exports."""

    def __init__(self) -> None:
        self.exports: list[Export] = []

    def add_extern(self, name: str, arity: int, function: Any, scope: str) -> None:
        self.exports.append((name, arity, function))


def _exports(source: Path) -> list[Export]:
    recorder = _Recorder()
    problog_export.database = recorder
    try:
        exec(compile(source.read_bytes(), source, "exec"), {"__name__": source.stem})
    finally:
        problog_export.database = None
    return recorder.exports


_FOLDER = Path(problog.__file__).parent / "library"
_TEXTS = {f"{name}.pl": (_FOLDER / f"{name}.pl").read_text("utf-8") for name in (*ALLOWED_LIBRARIES, "builtin")}
_EXPORTS = {name: _exports(_FOLDER / name) for name in _PARTS}


_CONTROL = {"true/0", "fail/0", "false/0", "once/1", "findall/3", "all/3", "all_or_none/3", "forall/2", "try_call/1"}
# These look at the program's own clauses and atoms.
_OWN = {"clause/2", "clause/3", "unknown/1", "subquery/2", "subquery/3", "subquery/5"}
_CALLS = {f"{name}/{arity}" for name in ("call", "call_nc") for arity in range(1, 10)}
_COMPARISON = {
    f"{name}/2" for name in ("=", "\\=", "==", "\\==", ">", "<", "=<", ">=", "=\\=", "=:=", "@>", "@<", "@>=", "@=<")
} | {"compare/3", "subsumes_term/2", "subsumes_chk/2"}
_ARITHMETIC = {"is/2", "between/3", "succ/2", "plus/3", "atom_number/2"}
_TYPES = {
    f"{name}/1"
    for name in (
        "var", "atom", "atomic", "compound", "float", "rational", "integer", "nonvar", "number", "simple", "callable",
        "primitive", "ground", "is_list",
    )
}  # fmt: skip
_TERMS = {"=../2", "arg/3", "functor/3", "length/2", "sort/2", "numbervars/2", "numbervars/3", "varnumbers/2"}

ALLOWED_BUILTINS = frozenset(_CONTROL | _OWN | _CALLS | _COMPARISON | _ARITHMETIC | _TYPES | _TERMS)
_LOADERS = frozenset({"use_module/1", "use_module/2", "_use_module/2", "_use_module/3"})


class SafeEngine(StackBasedEngine):  # type: ignore[misc]
    """problog's engine with the allowed built-ins only, on a database that loads nothing but libraries."""

    def __init__(self, **options: Any) -> None:
        self.refused: set[str] = set()
        super().__init__(**options)

    def add_builtin(self, predicate: str, arity: int, function: Any) -> None:
        """Register a built-in, or what refuses it."""
        signature = f"{predicate}/{arity}"
        if signature not in ALLOWED_BUILTINS | _LOADERS:
            self.refused.add(signature)
            function = BooleanBuiltIn(_refusal(signature))
        elif signature == "try_call/1":
            function = _try_call
        elif signature == "subquery/5":
            function = SimpleBuiltIn(_subquery)
        super().add_builtin(predicate, arity, function)

    def prepare(self, program: Any) -> Any:
        """The program as a database of clauses, with its directives done."""
        database = Database.createFrom(program, builtins=self.get_builtins())
        database.engine = self
        self._process_directives(database)
        return database


def _refusal(signature: str) -> Any:
    def refuse(*_arguments: Any, **_context: Any) -> bool:
        raise UnsafeProgramError(f"{signature.removeprefix('_')} is not allowed in a program")

    return refuse


def _try_call(goal: Any, **context: Any) -> Any:
    """Call a goal, which does not hold where problog cannot call it; problog's own hides refusals and limits too."""
    try:
        return _builtin_call(goal, **context)
    except ProbLogError:
        return True, context["callback"].notifyComplete()


# What subquery/5 may ask for. Compilers give the same probabilities, and one of them would start a process.
_SEMIRING, _COMPILERS = "prob", ("ddnnf", "sdd")


def _subquery(goal: Any, share: Any, evidence: Any, semiring: Any, compiler: Any, **context: Any) -> Any:
    """The probability of a goal given evidence, by the compiler of subquery/3 whichever is named."""
    asked = [str(name).strip("\"'") for name in (semiring, compiler)]
    if asked[0] != _SEMIRING or asked[1] not in _COMPILERS:
        raise UnsafeProgramError(f'subquery/5 is for "{_SEMIRING}" and {" or ".join(_COMPILERS)} in a program')
    return [(*answer, semiring, compiler) for answer in _builtin_subquery(goal, share, evidence, **context)]


_REFUSED = frozenset(SafeEngine().refused)


def check_goals(clause: Any, syntax: Syntax) -> None:
    """Refuse a clause that calls, or defines, what is not allowed."""
    if isinstance(clause, Clause | AnnotatedDisjunction):
        for goal in _goals(clause.body):
            _check_goal(goal, clause, syntax)
    elif isinstance(clause, Term) and clause.signature in ("query/1", "evidence/1", "evidence/2"):
        for goal in _goals(clause.args[0]):
            _check_goal(goal, clause, syntax)


def _check_goal(goal: Any, clause: Any, syntax: Syntax) -> None:
    signature = goal.signature.replace("'", "")
    if signature in _LOADERS:
        asked = goal.args[1 if signature.startswith("_") else 0]
        if library_name(asked) in ALLOWED_LIBRARIES:
            return
        raise UnsafeProgramError(not_allowed(asked).message, **syntax.place(goal, clause))
    if signature in _REFUSED:
        raise UnsafeProgramError(f"{signature} is not allowed in a program", **syntax.place(goal, clause))


_META = {"findall/3": 1, "all/3": 1, "all_or_none/3": 1} | dict.fromkeys(
    ("once/1", "call/1", "call_nc/1", "try_call/1", "subquery/2", "subquery/3", "subquery/5"), 0
)


def _goals(body: Any) -> Iterator[Any]:
    """The goals of a body, also those inside control constructs."""
    pending = [body]
    while pending:
        term = pending.pop()
        if isinstance(term, Var) or not isinstance(term, Term):
            continue
        if isinstance(term, And | Or | Not) or term.functor.strip("'") in ("\\+", "not", "forall"):
            pending.extend(term.args)
            continue
        yield term
        if term.signature in _META:
            pending.append(term.args[_META[term.signature]])
