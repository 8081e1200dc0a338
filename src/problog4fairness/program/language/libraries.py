"""problog's own libraries, read once when the worker starts, and a database that can load nothing else.

problog finds a library, and any other file that a program names, when it grounds the program. Here nothing is looked up
at that time: the libraries that a program may load are in memory, and :class:`Database` has no code that opens a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import problog
from problog.clausedb import ClauseDB
from problog.extern import problog_export
from problog.logic import Constant, Term, unquote
from problog.program import PrologString

from problog4fairness.errors import UnsafeProgramError

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

    def consult(self, filename: Any, location: Any = None, my_scope: Any = None) -> Any:  # noqa: ARG002
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

    def add_extern(self, name: str, arity: int, function: Any, scope: str) -> None:  # noqa: ARG002
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
