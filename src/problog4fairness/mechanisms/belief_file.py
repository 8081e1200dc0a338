r"""A belief as a file: a ProbLog program that people read and change, and from which the mechanism comes back.

The file is the program with its numbers. Its last line is a comment for the machine, ``% p4f: {...}``, with what a
program cannot say: intervals, groups and columns. That line counts only as long as the program is still the one it
describes. Where somebody changed a number, the new number is a stated one; where somebody changed the rules, the file
is a program of one's own. The text always wins.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from problog4fairness.errors import NetworkError, ProgramError, one_line
from problog4fairness.mechanisms.audit import AuditWarning
from problog4fairness.mechanisms.base import Mechanism
from problog4fairness.mechanisms.belief_json import BeliefError, checked_mechanism
from problog4fairness.mechanisms.custom import ProgramMechanism
from problog4fairness.mechanisms.rates import Rate
from problog4fairness.mechanisms.text import Level, number
from problog4fairness.program.program import Program, read_text

MARK = "% p4f: "
_ABOUT = "% The line below brings back intervals, groups and columns. The program above counts: change it as you like."
# Comments and quoted atoms, in which nothing is to be found or changed.
_OPAQUE = re.compile(r"""%[^\n]*|/\*.*?\*/|'(?:[^'\\\n]|\\.|'')*'|"(?:[^"\\\n]|\\.)*\"""", re.DOTALL)
_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"


def belief_text(mechanism: Mechanism, notes: Sequence[str] = ()) -> str:
    """A belief as the text of a ``.pl`` file, which ``p4f check`` and ``p4f query`` take as it is.

    Parameters
    ----------
    mechanism
        The belief.
    notes
        Lines for its head: where the numbers came from.
    """
    head = "".join(f"% {one_line(line)}\n" for line in notes)
    if isinstance(mechanism, ProgramMechanism):
        known = [rate for rate in mechanism.rates if rate.value is not None and rate.rows is not None]
        head += "".join(
            f"% {rate.name} = {number(rate.value or 0)}:{rate.remark.rpartition(':')[2]}\n" for rate in known
        )
    line = json.dumps(mechanism.to_json(), separators=(",", ":"))
    return f"{head}{'%' if head else ''}\n{_written(mechanism).strip()}\n\n{_ABOUT}\n{MARK}{line}\n".lstrip("\n")


def read_belief(
    source: Path | str,
    *,
    sensitive: str | None = None,
    levels: Sequence[Level] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Mechanism:
    """A belief from a file that :func:`belief_text` wrote, whoever changed it since, or from any ProbLog program.

    Parameters
    ----------
    source
        A :class:`~pathlib.Path` names a file; a string is the text itself.
    sensitive
        For programs of one's own: the column of the network besides the classifier, where there is one.
    levels
        For programs of one's own: the two values of that column, where they are not 0 and 1; the second one counts
        as 1.
    columns
        For programs of one's own: the column of each network, where it is not called like the network.
    """
    name = None if isinstance(source, str) else str(source)
    text = source if isinstance(source, str) else read_text(source)
    body, described = _divided(text, name)
    try:
        if described is not None:
            mechanism = _restored(body, described, name)
            if mechanism is not None:
                return mechanism
            _tell(f"{name or 'the program'} was changed by hand: its rules count, the intervals are dropped")
        return _own(body, described, sensitive, levels, columns or {})
    except ProgramError as error:
        raise error.at(name) if error.source is None else error from None


def _divided(text: str, name: str | None) -> tuple[str, Mechanism | None]:
    """The program, and the mechanism that the last marked line describes."""
    lines = text.splitlines()
    marked = [i for i, line in enumerate(lines) if line.startswith(MARK)]
    if not marked:
        return text, None
    place = f"{name or 'the program'}, line {marked[-1] + 1}"
    described = checked_mechanism(lines[marked[-1]].removeprefix(MARK), place)
    gone = {*marked, *(i for i, line in enumerate(lines) if line == _ABOUT)}
    return "\n".join(line for i, line in enumerate(lines) if i not in gone) + "\n", described


def _restored(body: str, described: Mechanism, name: str | None) -> Mechanism | None:
    """The described mechanism with the numbers of the text; None where the text is another program."""
    if isinstance(described, ProgramMechanism):
        return described if Program(body) == Program(_written(described)) else None
    unknown = tuple(Rate(rate.name, rate.meaning) for rate in described.rates)
    pattern = _plain(described.with_rates(unknown).text())
    for rate in unknown:
        # A number, or the name of a parameter that is still unknown.
        slot = _plain(rate.name) + "::"
        parts = re.split(rf"(?<![\w)]){re.escape(slot)}", pattern)
        if len(parts) != 2:
            raise BeliefError(f"{name or 'the program'}: the line '% p4f: ...' names a parameter {rate.name} too many")
        pattern = f"\0{rate.name}\0".join(parts)
    pieces = [
        f"({_NUMBER}|{re.escape(_plain(piece))})::" if i % 2 else re.escape(piece)
        for i, piece in enumerate(pattern.split("\0"))
    ]
    order = pattern.split("\0")[1::2]
    found = re.fullmatch("".join(pieces), _plain(body))
    if found is None:
        return None
    values = dict(zip(order, found.groups(), strict=True))
    return described.with_rates(tuple(_with_number(rate, values[rate.name]) for rate in described.rates))


def _with_number(rate: Rate, written: str) -> Rate:
    """The rate with the number that the text gives it; its interval stays where the number is the same."""
    value = None if written == _plain(rate.name) else float(written)
    if value == rate.value:
        return rate
    stated = Rate(rate.name, rate.meaning, value)
    if rate.rows is not None:
        _tell(f"{rate.name} was changed by hand to {written}: its interval is dropped")
    return stated


def _own(
    body: str,
    described: Mechanism | None,
    sensitive: str | None,
    levels: Sequence[Level] | None,
    columns: Mapping[str, str],
) -> ProgramMechanism:
    """A program of the user's own, its networks bound to columns."""
    program = Program(body)
    classifier, features = "h", ()
    bound: dict[str, str] = {}
    values: dict[str, Sequence[Any]] = {}
    if isinstance(described, ProgramMechanism):
        classifier, features = described.classifier, described.features  # type: ignore[assignment]
        bound, values = dict(described.columns), dict(described.values)
    elif described is not None:
        for variable in described.variables:
            if len(variable.columns) > 1:
                raise BeliefError("a program over joint sensitive columns cannot be changed by hand; estimate it anew")
            bound[variable.name] = variable.columns[0]
            if variable.binary and set(variable.levels) != {0, 1}:
                values[variable.name] = variable.levels
            elif variable.levels == (1, 0):
                values[variable.name] = (1, 0)
    networks = {network.name: network for network in program.networks}
    if classifier not in networks and described is not None and described.features:
        raise NetworkError("of a belief about features, numbers can be changed by hand, but not the rules")
    others = [name for name, network in networks.items() if name != classifier and network.inputs == 1]
    if sensitive is not None and len(others) == 1 and others[0] not in columns:
        if bound.get(others[0], sensitive) != sensitive:
            raise BeliefError(f"the belief is about the column {bound[others[0]]!r}, not {sensitive!r}")
        bound[others[0]] = sensitive
    bound.update(columns)
    if levels is not None and sensitive is not None and tuple(levels) != (0, 1) and len(levels) == 2:
        values.update({net: tuple(levels) for net in others if bound.get(net, net) == sensitive and net not in values})
    known = {name: column for name, column in bound.items() if name in networks}
    return ProgramMechanism(
        program,
        classifier=classifier,
        columns={**known, **columns},
        features=features,
        values={name: pair for name, pair in values.items() if name in networks and networks[name].outcomes is None},
    )


def _written(mechanism: Mechanism) -> str:
    """The program with numbers in it; parameters that stand for several numbers keep their names."""
    text = mechanism.text()
    if not isinstance(mechanism, ProgramMechanism):
        return text
    for rate in mechanism.rates:
        if rate.value is not None:
            name = re.escape(rate.name).replace(r"\(", r"\s*\(\s*").replace(",", r"\s*,\s*").replace(r"\)", r"\s*\)")
            name = rf"(?<![\w(,]){name}(?=\s*::)"
            text = "".join(
                piece if opaque else re.sub(name, number(rate.value), piece) for piece, opaque in _pieces(text)
            )
    return text


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and whether each is a comment or quoted."""
    start = 0
    for found in _OPAQUE.finditer(text):
        yield text[start : found.start()], False
        yield found.group(), True
        start = found.end()
    yield text[start:], False


def _plain(text: str) -> str:
    """The program without comments, and without blanks that mean nothing."""
    tokens: list[str] = []
    for piece, opaque in _pieces(text):
        if not opaque:
            tokens += re.findall(r"\w+|[^\w\s]", piece)
        elif piece[0] in "'\"":
            tokens.append(piece)
    joined = ""
    for token in tokens:
        both_words = joined[-1:].isalnum() and (token[0].isalnum() or token[0] == "_")
        joined += f" {token}" if both_words else token
    return joined


def _tell(message: str) -> None:
    warnings.warn(AuditWarning(message), stacklevel=4)
