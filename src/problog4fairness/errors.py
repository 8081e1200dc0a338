"""Every way in which an input can be wrong, by name.

All of them are :class:`P4FError`, and all of them read as one line that names the place, the value and the way out.
Errors of a program carry the file, the line and the column where they are known:
``loans.pl:7:1: probability 1.3 of neg_bias(X) is not between 0 and 1``.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypedDict


class Place(TypedDict, total=False):
    """Where in a program's text something stands."""

    line: int
    column: int


MAX_LINE = 1000


def printable(text: str) -> str:
    r"""The text with every character that a terminal would obey, or not show, written as Python writes it: ``\x1b``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line(message: str) -> str:
    """A message as one line of printable characters, cut where it is very long."""
    line = printable(" ".join(message.split()))
    return line if len(line) <= MAX_LINE else line[:MAX_LINE] + " ..."


def among(name: object, known: Iterable[object], verb: str = "there are") -> str:
    """The names that there are, after the one that may be meant; ``verb`` says whose they are.

    >>> among("grantd", ["granted", "income"])
    "did you mean 'granted'? there are granted, income"
    """
    names = list(map(str, known))
    near = get_close_matches(str(name).lower(), [known_name.lower() for known_name in names], n=1)
    meant = next((f"did you mean {known_name!r}? " for known_name in names if [known_name.lower()] == near), "")
    return f"{meant}{verb} {', '.join(names) or 'none'}"


class P4FError(ValueError):
    """Root of all errors that an input can cause; reads as one printable line, whatever the input holds.

    A message names the Python argument that would help as ``favourable=...``; the command line writes its option there.

    Parameters
    ----------
    message
        What is wrong, where, and the way out.
    argument
        The argument that is missing or wrong, where there is one.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> try:
    ...     p4f.statistics.required_samples(error=2)
    ... except p4f.errors.P4FError as error:
    ...     print(error)
    error 2 is not between 0 and 1
    """

    def __init__(self, message: str = "", *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument

    def __str__(self) -> str:
        return one_line(super().__str__())


class CellError(P4FError):
    """A cell of a table that cannot be used: what it has, the row (from 0), and the rest of the sentence."""

    def __init__(self, has: str, row: int, rest: str) -> None:
        super().__init__(f"{has} in row {row + 1}, {rest}")
        self.has, self.row, self.rest = has, row, rest

    def at(self, row: int) -> CellError:
        """The same error in a table in which the row has another number."""
        return type(self)(self.has, row, self.rest)


class ProgramError(P4FError):
    """A ProbLog program that cannot be used, and where in its text the reason stands.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> try:
    ...     p4f.Program("1.3 :: a. ?- a.").probability()
    ... except p4f.errors.ProgramError as error:
    ...     print(error)
    1:1: probability 1.3 of a is not between 0 and 1
    """

    def __init__(
        self, message: str, *, source: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        self.message = one_line(message)
        self.source = source
        self.line = line
        self.column = column
        super().__init__(self.message)

    def __str__(self) -> str:
        place = [str(part) for part in (self.source, self.line, self.column) if part is not None]
        return ":".join(place) + ": " + self.message if place else self.message

    def at(self, source: str | None) -> ProgramError:
        """The same error, in the file ``source``."""
        return type(self)(self.message, source=source, line=self.line, column=self.column)


class ProgramSyntaxError(ProgramError):
    """The text is not ProbLog."""


class UnknownPredicateError(ProgramError):
    """A goal that no clause and no allowed built-in defines."""


class NonGroundError(ProgramError):
    """A probabilistic fact, or a query, that still holds variables when it is reached."""


class NegativeCycleError(ProgramError):
    """An atom that depends on its own negation."""


class ProbabilityError(ProgramError):
    """A probability outside [0, 1], in the text or bound later."""


class DisjunctionError(ProgramError):
    """An annotated disjunction whose probabilities sum to more than 1."""


class NetworkError(ProgramError):
    """A neural predicate that is declared twice in different ways, or in a form that does not exist."""


class NoQueryError(ProgramError):
    """Nothing to compute: no ``query(...)`` and no ``?- ...``."""


class InconsistentEvidenceError(ProgramError):
    """Evidence of probability 0."""


class UnsafeProgramError(ProgramError):
    """A program that would load code, touch files or print; refused before it is ground."""


class LimitError(ProgramError):
    """Grounding or compiling reached a limit of time, memory or size."""


class GroundingError(ProgramError):
    """Any other reason why problog cannot ground a program."""


class UnreadableFileError(ProgramError):
    """A program file that does not exist, cannot be read, or is not UTF-8 text."""


class MissingValueError(P4FError):
    """A parameter or a network for which no value was given."""


class UnknownNameError(P4FError):
    """A value for a parameter or a network that the program does not have."""


class ShapeError(P4FError):
    """Values whose shapes do not fit each other or the network they stand for."""


class TrainingError(P4FError):
    """Training that cannot begin with these settings, jobs or files, or cannot go on: a loss that is not finite."""


class CheckpointError(TrainingError):
    """A checkpoint file that is damaged, or of another fit."""


class SwappedWarning(UserWarning):
    """The name of a column says that it was passed in the place of another one."""


class LearningWarning(UserWarning):
    """A model that may not have learned what it should."""
