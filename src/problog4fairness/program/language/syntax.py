"""From ProbLog text to checked clauses.

problog's own parser reads the text. What it lets pass is checked here, before anything is ground: probabilities outside
[0, 1], annotated disjunctions above 1, neural predicates declared in two ways, a missing query, and goals that a
program from a stranger must not call. Neural predicates with several outcomes become annotated disjunctions, ``?- q``
becomes ``query(q)`` (problog ignores it), and learnable ``t(0.3)`` becomes the named parameter ``t_1``.

This module runs in the worker process (see :mod:`.sandbox`), never in the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from problog.errors import ProbLogError
from problog.logic import AnnotatedDisjunction, Clause, Constant, Or, Term, Var, term2list
from problog.program import LogicProgram, PrologString

from problog4fairness.errors import (
    DisjunctionError,
    LimitError,
    NetworkError,
    NoQueryError,
    Place,
    ProbabilityError,
    ProgramSyntaxError,
)
from problog4fairness.program.language.safety import check_goals

SUM_TOLERANCE = 1e-9
# Atoms that ProbLog reads as numbers.
_CONSTANTS = ("e", "pi", "epsilon", "inf", "nan")


class Syntax(LogicProgram):  # type: ignore[misc]
    """A parsed program: its clauses as they will be ground, and what was found in them."""

    def __init__(self, line_info: Any) -> None:
        super().__init__(line_info=line_info)
        self.clauses: list[Any] = []
        self.networks: dict[str, dict[str, Any]] = {}
        self.parameters: dict[str, dict[str, Any]] = {}
        self.queries: list[str] = []
        self.evidence: list[tuple[str, bool]] = []

    def __iter__(self) -> Iterator[Any]:
        return iter(self.clauses)

    def place(self, *terms: Any) -> Place:
        """Line and column of the first of ``terms`` that has them, as arguments of an error."""
        for term in terms:
            position = self.lineno(term.location) if getattr(term, "location", None) else None
            if position is not None:
                return {"line": position[1], "column": position[2]}
        return {}

    def summary(self) -> dict[str, Any]:
        """What a :class:`~problog4fairness.Program` tells about its text, as JSON."""
        return {
            "canonical": sorted(canonical(clause) for clause in self.clauses),
            "networks": list(self.networks.values()),
            "parameters": list(self.parameters.values()),
            "queries": self.queries,
            "evidence": [list(pair) for pair in self.evidence],
        }


def parse(text: str) -> Syntax:
    """Read and check a program."""
    source = PrologString(text)
    try:
        clauses = list(source)
    except ProbLogError as error:
        place = position_of(source, error.location)
        missing = missing_stop(text, place)
        if missing is not None:
            raise ProgramSyntaxError("a full stop is missing at the end of this line", **missing) from None
        raise ProgramSyntaxError(_lowered(error.base_message), **place) from None
    except RecursionError:
        raise LimitError("the program is nested too deeply to be read") from None
    except (ValueError, AttributeError) as error:
        raise ProgramSyntaxError(_lowered(str(error) or "the text cannot be read")) from None
    syntax = Syntax(line_info=source.line_info)
    learnable = 0
    for clause in clauses:
        clause = _query_clause(clause, syntax)
        for head in _heads(clause):
            learnable = _rename_learnable(head, learnable, syntax)
        clause = _expand_outcomes(clause, syntax)
        _check_probabilities(clause, syntax)
        check_goals(clause, syntax)
        _collect(clause, syntax)
        syntax.clauses.append(clause)
    if not syntax.queries:
        raise NoQueryError("the program has no query; add query(...). or ?- ... . for what should be computed")
    return syntax


def _rest_of_tuple(term: Any) -> str:
    """``b,c`` of the tuple ``(a,b,c)``, which nests to the right."""
    if isinstance(term, Term) and str(term.functor).strip("'") == "," and term.arity == 2:
        return f"{term_text(term.args[0])},{_rest_of_tuple(term.args[1])}"
    return term_text(term)


def term_text(term: Any) -> str:
    """A term as text without spaces, the way queries and leaves are named everywhere."""
    if term is None or isinstance(term, int):
        return "_"
    if isinstance(term, Var):
        return str(term.name)
    if isinstance(term, Constant):
        return str(term)
    if term.functor == "." and term.arity == 2:
        items, tail = [], term
        while isinstance(tail, Term) and tail.functor == "." and tail.arity == 2:
            items.append(term_text(tail.args[0]))
            tail = tail.args[1]
        end = "" if str(tail) == "[]" else "|" + term_text(tail)
        return "[" + ",".join(items) + end + "]"
    if term.is_negated():
        return "\\+" + term_text(-term)
    name = str(term.functor)
    if not term.args:
        return name
    if name.strip("'") == "," and term.arity == 2:
        return f"({term_text(term.args[0])},{_rest_of_tuple(term.args[1])})"
    bare = name.strip("'")
    if term.arity == 2 and bare != name and not bare[:1].isalpha():
        return f"{term_text(term.args[0])}{bare}{term_text(term.args[1])}"
    return f"{name}({','.join(term_text(a) for a in term.args)})"


def canonical(clause: Any) -> str:
    """A clause as text in which variables are numbered: clauses of the same meaning read the same."""
    names: dict[str, str] = {}

    def show(term: Any) -> str:
        if isinstance(term, Var):
            if term.name == "_":
                return "_"
            return names.setdefault(term.name, f"V{len(names) + 1}")
        if isinstance(term, Constant):
            return repr(term.functor)
        if isinstance(term, AnnotatedDisjunction):
            return ";".join(map(show, term.heads)) + ":-" + show(term.body)
        if not isinstance(term, Term):
            return repr(term)
        functor = str(term.functor)
        weight = show(term.probability) + "::" if term.probability is not None else ""
        return weight + functor + ("(" + ",".join(map(show, term.args)) + ")" if term.args else "")

    return show(clause)


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]


def _query_clause(clause: Any, syntax: Syntax) -> Any:
    """``?- q`` as ``query(q)``. problog has no such operator and reads ``? - q``: an atom minus a goal."""
    if _is_question(clause):
        return Term("query", clause.args[1], location=clause.args[1].location)
    inner = clause
    while isinstance(inner, Term) and inner.args and isinstance(inner.args[0], Term):
        inner = inner.args[0]
        if _is_question(inner):
            raise ProgramSyntaxError("a query is one goal; give each goal its own ?- line", **syntax.place(inner))
    return clause


def _is_question(term: Any) -> bool:
    return isinstance(term, Term) and term.signature == "-/2" and str(term.args[0]) == "?"


def _heads(clause: Any) -> list[Any]:
    if isinstance(clause, AnnotatedDisjunction):
        return list(clause.heads)
    if isinstance(clause, Or):
        return list(clause.to_list())
    if isinstance(clause, Clause):
        return [clause.head]
    return [clause] if type(clause) is Term else []


def _body(clause: Any) -> Any:
    return clause.body if isinstance(clause, Clause | AnnotatedDisjunction) else None


def _rename_learnable(head: Any, learnable: int, syntax: Syntax) -> int:
    """``t(0.3, X)`` is the parameter ``t_k(X)``, the k-th learnable one of the text, with 0.3 as its value."""
    weight = head.probability
    if not (isinstance(weight, Term) and weight.functor == "t" and weight.arity >= 1):
        return learnable
    learnable += 1
    start = weight.args[0]
    default = float(start) if isinstance(start, Constant) and (start.is_float() or start.is_integer()) else None
    if default is not None:
        _check_range(default, start, head, syntax)
    name = f"t_{learnable}"
    head.probability = Term(name, *weight.args[1:], location=weight.location)
    syntax.parameters[name] = {"name": name, "default": default}
    return learnable


def _network(weight: Any) -> tuple[str, list[Any], Any, list[Any] | None] | None:
    """Name, inputs, outcome variable and outcomes of ``nn(...)``; None for any other weight."""
    if not isinstance(weight, Term) or weight.functor != "nn":
        return None
    if not weight.args:
        raise NetworkError("a network needs a name; write nn(h,X)")
    name, *rest = weight.args
    first = _list(rest[0]) if rest else None
    if len(rest) == 3 and _list(rest[2]) is not None:
        inputs = first if first is not None else [rest[0]]
        return term_text(name), inputs, rest[1], _list(rest[2])
    if first is not None and len(rest) > 1:
        raise NetworkError(f"{term_text(weight)} has an outcome but no list of outcomes; write nn(h,[X],Y,[a,b,c])")
    return term_text(name), first if first is not None else rest, None, None


def _list(term: Any) -> list[Any] | None:
    if isinstance(term, Term) and not isinstance(term, Var | Constant) and term.functor in (".", "[]"):
        try:
            return list(term2list(term, deep=False))
        except ValueError:
            return None
    return None


def _expand_outcomes(clause: Any, syntax: Syntax) -> Any:
    """``nn(h,[X],Y,[a,b]) :: y(X,Y)`` as ``nn(h,[X],0,[a,b]) :: y(X,a) ; nn(h,[X],1,[a,b]) :: y(X,b)``."""
    heads = _heads(clause)
    for head in heads:
        try:
            network = _network(head.probability)
        except NetworkError as error:
            raise NetworkError(error.message, **syntax.place(head.probability, head)) from None
        outcome, outcomes = network[2:] if network else (None, None)
        if outcomes is None:
            continue
        place = syntax.place(head.probability, head)
        if len(heads) > 1:
            raise NetworkError("a network with several outcomes must be the only head of its clause", **place)
        if not isinstance(outcome, Var):
            raise NetworkError(f"the outcome {term_text(outcome)} must be a variable", **place)
        if len(outcomes) < 2 or not all(value.is_ground() for value in outcomes):
            raise NetworkError("a network needs two or more outcomes, without variables", **place)
        body = _body(clause)
        if body is not None and outcome.name in {str(v) for v in body.variables()}:
            raise NetworkError(f"the outcome {outcome.name} cannot be used in the body of its own clause", **place)
        choices = []
        weight = head.probability
        for index, value in enumerate(outcomes):
            choice = head.with_probability().apply(_Substitution({outcome.name: value}))
            choice.probability = weight.with_args(weight.args[0], weight.args[1], Constant(index), weight.args[3])
            choice.location = head.location
            choices.append(choice)
        return AnnotatedDisjunction(choices, body if body is not None else Term("true"), location=clause.location)
    return clause


class _Substitution(dict[str, Any]):
    """Replaces the named variables and leaves the others."""

    def __missing__(self, name: str) -> Any:
        return Var(name)


def _check_range(value: float, weight: Any, head: Any, syntax: Syntax) -> None:
    if not 0 <= value <= 1:
        message = f"probability {value:g} of {term_text(head)} is not between 0 and 1"
        raise ProbabilityError(message, **syntax.place(weight, head))


def _check_probabilities(clause: Any, syntax: Syntax) -> None:
    total = 0.0
    heads = _heads(clause)
    for head in heads:
        weight = head.probability
        if isinstance(weight, Constant):
            if not (weight.is_float() or weight.is_integer()):
                raise ProgramSyntaxError(f"{weight} is not a probability", **syntax.place(weight, head))
            _check_range(float(weight), weight, head, syntax)
            total += float(weight)
    if len(heads) > 1 and total > 1 + SUM_TOLERANCE:
        names = "; ".join(term_text(head) for head in heads)
        raise DisjunctionError(
            f"the probabilities of {names} sum to {total:g}, which is more than 1",
            **syntax.place(heads[0].probability, heads[0]),
        )


def _collect(clause: Any, syntax: Syntax) -> None:
    for head in _heads(clause):
        if head.probability is not None:
            _collect_weight(head.probability, head, syntax)
    if isinstance(clause, Clause) and clause.head.signature == "query/1":
        syntax.queries.append(term_text(clause.head.args[0]))
    if not isinstance(clause, Term) or isinstance(clause, Clause | AnnotatedDisjunction | Or):
        return
    if clause.signature == "query/1":
        syntax.queries.append(term_text(clause.args[0]))
    elif clause.signature in ("evidence/1", "evidence/2"):
        atom, value = clause.args[0], True
        if clause.arity == 2:
            value = str(clause.args[1]) == "true"
        if atom.is_negated():
            atom, value = -atom, not value
        syntax.evidence.append((term_text(atom), value))


def _collect_weight(weight: Any, head: Any, syntax: Syntax) -> None:
    if not isinstance(weight, Term) or isinstance(weight, Var | Constant):
        return
    network = _network(weight)
    if network is not None:
        name, inputs, _, outcomes = network
        entry = {
            "name": name,
            "inputs": len(inputs),
            "outcomes": None if outcomes is None else [term_text(value) for value in outcomes],
        }
        known = syntax.networks.setdefault(name, entry)
        if known != entry:
            raise NetworkError(
                f"network {name} is used with {_network_text(known)} and with {_network_text(entry)}",
                **syntax.place(weight),
            )
        return
    if weight.functor in (".", "[]"):
        raise ProgramSyntaxError(
            f"the list {term_text(weight)} is not a probability; write one number or name", **syntax.place(weight, head)
        )
    bare = str(weight.functor).strip("'")
    if bare in ("+", "-", "*", "/"):
        for argument in weight.args:
            _collect_weight(argument, head, syntax)
    elif weight.args or bare not in _CONSTANTS:
        syntax.parameters.setdefault(bare, {"name": bare, "default": None})


def _network_text(entry: dict[str, Any]) -> str:
    inputs = f"{entry['inputs']} input" + ("" if entry["inputs"] == 1 else "s")
    return inputs + (f" and outcomes {', '.join(entry['outcomes'])}" if entry["outcomes"] else "")


def position_of(source: Any, location: Any) -> Place:
    """Line and column of a place that problog names."""
    if isinstance(location, tuple) and len(location) == 3:
        # problog's parser counts the columns of the first line from 0 and those of the others from 1.
        return {"line": location[1], "column": location[2] + (location[1] == 1)}
    position = source.lineno(location) if isinstance(location, int) else None
    return {"line": position[1], "column": position[2]} if position else {}


def missing_stop(text: str, place: Place) -> Place | None:
    """The end of a line that lacks a full stop, where one lets the text be read further than ``place``."""
    lines = text.split("\n")
    line, column = place.get("line", len(lines)), place.get("column", 1)
    for last in (line - 1, len(lines)):
        # Before the line with the error, or at the very end.
        while last and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("%")):
            last -= 1
        if not last or lines[last - 1].split("%")[0].rstrip().endswith((".", ",", ":-", "::", "(", ";")):
            continue
        code, mark, remark = lines[last - 1].partition("%")
        source = PrologString("\n".join([*lines[: last - 1], f"{code.rstrip()}. {mark}{remark}", *lines[last:]]))
        try:
            list(source)
        except ProbLogError as error:
            next_place = position_of(source, error.location)
            if (next_place.get("line", 0), next_place.get("column", 0)) <= (line, column):
                continue
        except (ValueError, AttributeError, RecursionError):
            continue
        return {"line": last, "column": len(code.rstrip()) + 1}
    return None
