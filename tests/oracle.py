r"""problog's own answer to a program: what every circuit is compared with.

Nothing of the library is used here. Networks and parameters get their numbers through a semiring of problog, which
then grounds, compiles and evaluates the program by itself:

    >>> problog_answer("p1 :: a. nn(h,x) :: b. c :- a, \\+b. ?- c.", nn={"h": 0.25}, parameters={"p1": 0.5})
    {'c': 0.375}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from problog import get_evaluatable
from problog.errors import InconsistentEvidenceError
from problog.evaluator import SemiringProbability
from problog.logic import AnnotatedDisjunction, Clause, Constant, Term, Var, term2list
from problog.program import PrologString, SimpleProgram

__all__ = ["InconsistentEvidenceError", "problog_answer", "problog_program"]

Number = float | Sequence[float]

_QUESTION = re.compile(r"(?:(?<=\s)|(?<=\.)|^)\?-\s*(.+?)\s*\.(?=\s|%|$)", re.DOTALL)
_COMMENT = re.compile(r"%[^\n]*|/\*.*?\*/", re.DOTALL)


def problog_answer(
    text: str,
    nn: Mapping[str, Number] | None = None,
    parameters: Mapping[str, float] | None = None,
    *,
    backend: str = "sdd",
) -> dict[str, float]:
    """P(query | evidence) of every query, by query text without spaces.

    Parameters
    ----------
    text
        The program, as the library would get it.
    nn, parameters
        Values by name, ``"h"``, or by ground leaf, ``"h(x_(1,0))"``; a network with several outcomes has a sequence.
    backend
        What problog evaluates with: ``"sdd"`` or ``"ddnnf"``.

    Raises
    ------
    InconsistentEvidenceError
        problog's own.
    """
    semiring = _Numbers(nn or {}, parameters or {})
    diagram = get_evaluatable(backend).create_from(problog_program(text))
    answer = diagram.evaluate(semiring=semiring)
    return {_name(query): float(value) for query, value in answer.items()}


def problog_program(text: str) -> Any:
    """The program in the form that problog understands: queries as facts, outcomes as annotated disjunctions."""
    text = _QUESTION.sub(r"query(\1).", _COMMENT.sub(" ", text))
    program = SimpleProgram()
    for clause in PrologString(text):
        for plain in _without_outcomes(clause):
            program.add_statement(plain)
    return program


def _without_outcomes(clause: Any) -> list[Any]:
    """``nn(h,[X],Y,[a,b]) :: y(X,Y)`` as ``nn_outcome(0,h,[X]) :: y(X,a) ; nn_outcome(1,h,[X]) :: y(X,b)``."""
    head = clause.head if isinstance(clause, Clause) else clause
    weight = getattr(head, "probability", None)
    if isinstance(clause, AnnotatedDisjunction) or not (isinstance(weight, Term) and weight.signature == "nn/4"):
        return [clause]
    name, inputs, outcome, outcomes = weight.args
    assert isinstance(outcome, Var)
    plain = str(head.with_probability())
    choices = [
        f"nn_outcome({index},{name},{inputs})::" + re.sub(rf"\b{outcome.name}\b", str(value), plain)
        for index, value in enumerate(term2list(outcomes, deep=False))
    ]
    body = f" :- {clause.body}" if isinstance(clause, Clause) else ""
    return list(PrologString(";".join(choices) + body + "."))


class _Numbers(SemiringProbability):
    """Probabilities, in which a symbolic weight stands for a number."""

    def __init__(self, nn: Mapping[str, Number], parameters: Mapping[str, float]) -> None:
        self._nn = {_spaceless(name): value for name, value in nn.items()}
        self._parameters = {_spaceless(name): value for name, value in parameters.items()}

    def value(self, a: Any) -> float:
        if not isinstance(a, Term) or isinstance(a, Constant):
            return float(a)
        functor = str(a.functor).strip("'")
        if functor == "nn":
            return float(_look_up(self._nn, _leaf(*a.args), str(a.args[0])))
        if functor == "nn_outcome":
            index, name, *inputs = a.args
            return float(_look_up(self._nn, _leaf(name, *inputs), str(name))[int(index)])
        if functor in "+-*/" and a.arity == 2:
            left, right = map(self.value, a.args)
            return {"+": left + right, "-": left - right, "*": left * right, "/": left / right if right else 0.0}[
                functor
            ]
        if functor == "t":
            return float(a.args[0])
        if not {_name(a), functor} & self._parameters.keys():
            return float(a)  # an expression of numbers, or problog's complaint
        return float(_look_up(self._parameters, _name(a), functor))


def _leaf(name: Any, *inputs: Any) -> str:
    if len(inputs) == 1 and inputs[0].functor in (".", "[]"):
        inputs = tuple(term2list(inputs[0], deep=False))
    return f"{name}({','.join(map(_name, inputs))})" if inputs else str(name)


def _look_up(values: Mapping[str, Any], leaf: str, name: str) -> Any:
    return values[leaf] if leaf in values else values[name]


def _name(term: Any) -> str:
    """Text without spaces; variables that grounding left open are all called ``_``."""
    return re.sub(r"\bX\d+\b", "_", _spaceless(str(term)))


def _spaceless(text: str) -> str:
    return "".join(text.split())
