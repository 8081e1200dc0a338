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
    """Where in a program's text something stands.

    Examples
    --------
    >>> from problog4fairness.errors import Place, ProgramError, among
    >>> str(ProgramError("no such predicate", source="loans.pl", **Place(line=7, column=1)))
    'loans.pl:7:1: no such predicate'
    """

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
    there = [str(own) for own in known]
    near = get_close_matches(str(name).lower(), [own.lower() for own in there], n=1)
    meant = next((f"did you mean {own!r}? " for own in there if near and own.lower() == near[0]), "")
    return f"{meant}{verb} {', '.join(there) or 'none'}"


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
    ...     p4f.required_samples(error=2)
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
    """A cell of a table that cannot be used: what it has, the row (from 0), and the rest of the sentence.

    Examples
    --------
    >>> from problog4fairness.errors import CellError
    >>> print(CellError("'n/a'", 11, "where training saw numbers").at(4))
    'n/a' in row 5, where training saw numbers
    """

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
    """The text is not ProbLog.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program("0.5 :: a").probability()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    problog4fairness.errors.ProgramSyntaxError: 1:9: ...
    """


class UnknownPredicateError(ProgramError):
    """A goal that no clause and no allowed built-in defines.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program("a :- b. ?- a.").probability()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    problog4fairness.errors.UnknownPredicateError: 1:6: nothing defines b/0; define it...
    """


class NonGroundError(ProgramError):
    """A probabilistic fact, or a query, that still holds variables when it is reached.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program("0.5 :: a(X). ?- a(X).").probability()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    problog4fairness.errors.NonGroundError: 1:8: this probabilistic fact holds variables that nothing binds...
    """


class NegativeCycleError(ProgramError):
    r"""An atom that depends on its own negation.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program(r"a :- \+b. b :- \+a. ?- a.").probability()
    Traceback (most recent call last):
        ...
    problog4fairness.errors.NegativeCycleError: 1:16: an atom depends on its own negation
    """


class ProbabilityError(ProgramError):
    """A probability outside [0, 1], in the text or bound later.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program("p1 :: a. ?- a.").bind({"p1": 1.3})
    Traceback (most recent call last):
        ...
    problog4fairness.errors.ProbabilityError: probability 1.3 of parameter p1 is not between 0 and 1
    """


class DisjunctionError(ProgramError):
    """An annotated disjunction whose probabilities sum to more than 1.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program("0.7 :: a; 0.6 :: b. ?- a.").probability()
    Traceback (most recent call last):
        ...
    problog4fairness.errors.DisjunctionError: 1:1: the probabilities of a; b sum to 1.3, which is more than 1
    """


class NetworkError(ProgramError):
    """A neural predicate that is declared twice in different ways, or in a form that does not exist.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.ProgramBelief("nn(g,X) :: y(X). ?- y(x).")
    Traceback (most recent call last):
        ...
    problog4fairness.errors.NetworkError: the program has no network h for the classifier; it has g
    """


class NoQueryError(ProgramError):
    """Nothing to compute: no ``query(...)`` and no ``?- ...``.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program("0.5 :: a.").probability()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    problog4fairness.errors.NoQueryError: the program has no query...
    """


class InconsistentEvidenceError(ProgramError):
    """Evidence of probability 0.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program("0.5 :: a. b :- a. evidence(a, false). evidence(b). ?- a.").probability()
    Traceback (most recent call last):
        ...
    problog4fairness.errors.InconsistentEvidenceError: the evidence can never hold
    """


class UnsafeProgramError(ProgramError):
    """A program that would load code, touch files or print; refused before it is ground.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program(":- use_module('evil.py'). 0.5 :: a. ?- a.").probability()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    problog4fairness.errors.UnsafeProgramError: 1:4: loading 'evil.py' is not allowed; a program may load ...
    """


class LimitError(ProgramError):
    """Grounding or compiling reached a limit of time, memory or size.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> endless = p4f.Program("a(X) :- Y is X + 1, a(Y). ?- a(0).", limits=p4f.Limits(seconds=0.5))
    >>> try:
    ...     endless.probability()
    ... except p4f.errors.LimitError:
    ...     print("it was stopped")
    it was stopped
    """


class GroundingError(ProgramError):
    """Any other reason why problog cannot ground a program.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program("a :- X is foo + 1, X > 0. ?- a.").probability()
    Traceback (most recent call last):
        ...
    problog4fairness.errors.GroundingError: 1:8: error while evaluating 'is'(x1,foo+1): unknown function 'foo'/0
    """


class UnreadableFileError(ProgramError):
    """A program file that does not exist, cannot be read, or holds binary data.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program.from_file("nowhere.pl")
    Traceback (most recent call last):
        ...
    problog4fairness.errors.UnreadableFileError: nowhere.pl: the file does not exist
    """


class EncodingError(ProgramError):
    r"""A program file that is not UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import problog4fairness as p4f
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "loans.pl"
    ...     _ = file.write_bytes("% caf\xe9\n0.5 :: a. ?- a.".encode("latin-1"))
    ...     try:
    ...         p4f.Program.from_file(file)
    ...     except p4f.errors.EncodingError:
    ...         print("not UTF-8")
    not UTF-8
    """


class MissingValueError(P4FError):
    """A parameter or a network for which no value was given.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.Program("p1 :: a. ?- a.").probability()
    Traceback (most recent call last):
        ...
    problog4fairness.errors.MissingValueError: parameter p1 has no value; give one to p1
    """


class UnknownNameError(P4FError):
    """A value for a parameter or a network that the program does not have.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.learners.named_learner("lienar")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    problog4fairness.errors.UnknownNameError: there is no learner 'lienar'...
    """


class ShapeError(P4FError):
    """Values whose shapes do not fit each other or the network they stand for.

    Examples
    --------
    >>> import torch
    >>> import problog4fairness as p4f
    >>> circuit = p4f.Program("nn(h,X) :: y(X). nn(a,X) :: z(X). b :- y(x), z(x). ?- b.").compile()
    >>> circuit.probability(nn={"h": torch.rand(2), "a": torch.rand(3)})
    Traceback (most recent call last):
        ...
    problog4fairness.errors.ShapeError: the shapes of the values do not fit together (h(x): [2], a(x): [3])
    """


class TrainingError(P4FError):
    """Training that cannot begin with these settings, jobs or files, or cannot go on: a loss that is not finite.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> p4f.learners.Boosted(learning_rate=-1).check_options()
    Traceback (most recent call last):
        ...
    problog4fairness.errors.TrainingError: learning_rate=-1 is not a number above 0 and at most 1
    """


class CheckpointError(TrainingError):
    """A checkpoint file that is damaged, or of another fit.

    Examples
    --------
    >>> from problog4fairness.errors import CheckpointError, TrainingError
    >>> issubclass(CheckpointError, TrainingError)
    True
    """


class SwappedWarning(UserWarning):
    """The name of a column says that it was passed in the place of another one.

    Examples
    --------
    >>> from problog4fairness.errors import SwappedWarning
    >>> issubclass(SwappedWarning, UserWarning)
    True
    """


class LearningWarning(UserWarning):
    """A model that may not have learned what it should.

    Examples
    --------
    >>> import warnings
    >>> from problog4fairness.errors import LearningWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", LearningWarning)  # a model that may not have learned stops the work
    """
