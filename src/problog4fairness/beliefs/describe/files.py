r"""A belief as a file: a ProbLog program that people read and change, and from which the belief comes back.

The file is the program with its numbers. Its last line is a comment for the machine, ``% p4f: {...}``, with what a
program cannot say: intervals, groups and columns. That line counts only as long as the program is still the one it
describes. Where somebody changed a number, the new number is a stated one; where somebody changed the rules, the file
is a program of one's own. The text always wins.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from problog4fairness.audit import warn_audit
from problog4fairness.beliefs.belief import Belief
from problog4fairness.beliefs.describe.plain_data import FORMAT, BeliefError, checked_belief
from problog4fairness.beliefs.templates.custom import ProgramBelief
from problog4fairness.beliefs.variables import favourable_comment
from problog4fairness.data import Level
from problog4fairness.errors import NetworkError, ProgramError, one_line
from problog4fairness.program import Program, comment, number, printed, read_text
from problog4fairness.statistics import Parameter, known_values, probabilities

MARK = "% p4f: "
_ABOUT = "% The line below brings back intervals, groups and columns. The program above counts: change it as you like."
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def belief_text(belief: Belief, notes: Sequence[str] = ()) -> str:
    """A belief as the text of a ``.pl`` file, which ``p4f lint`` and ``p4f query`` take as it is.

    Parameters
    ----------
    belief
        The belief.
    notes
        Lines for its head: where the numbers came from.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> text = p4f.beliefs.belief_text(p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1]))
    >>> "0.4 :: label_neg_bias(X) :- a(X)." in text
    True
    """
    head = "".join(comment(one_line(line)) + "\n" for line in notes)
    if isinstance(belief, ProgramBelief):
        head += "".join(comment(line) + "\n" for line in favourable_comment(belief))
        known = [
            parameter for parameter in belief.parameters if parameter.value is not None and parameter.rows is not None
        ]
        head += "".join(
            comment(f"{parameter.name} = {number(parameter.value or 0)}:{parameter.remark.rpartition(':')[2]}") + "\n"
            for parameter in known
        )
    described = {"format": FORMAT, **belief.to_json()}
    _check_texts(described)
    line = json.dumps(described, separators=(",", ":"))
    return f"{head}{'%' if head else ''}\n{_written(belief).strip()}\n\n{_ABOUT}\n{MARK}{line}\n".lstrip("\n")


def read_belief(
    source: Path | str,
    *,
    sensitive: str | None = None,
    groups: Sequence[Level] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Belief:
    """A belief from a file that :func:`belief_text` wrote, whoever changed it since, or from any ProbLog program.

    Parameters
    ----------
    source
        A :class:`~pathlib.Path` names a file; a string is the text itself.
    sensitive
        For programs of one's own: the column of the network besides the classifier, where there is one.
    groups
        For programs of one's own: the two values of that column, where they are not 0 and 1; the second one counts
        as 1.
    columns
        For programs of one's own: the column of each network, where it is not called like the network.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import problog4fairness as p4f
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "belief.pl"
    ...     _ = file.write_text(p4f.beliefs.belief_text(belief))
    ...     p4f.beliefs.read_belief(file) == belief
    True
    """
    name = None if isinstance(source, str) else str(source)
    text = source if isinstance(source, str) else read_text(source)
    body, described = _divided(text, name)
    try:
        if described is not None:
            belief = _restored(body, described, name)
            if belief is not None:
                return belief
            warn_audit(f"{name or 'the program'} was changed by hand: its rules count, the intervals are dropped")
        return _own(body, described, sensitive, groups, columns or {})
    except ProgramError as error:
        raise error.at(name) if error.source is None else error from None


def _divided(text: str, name: str | None) -> tuple[str, Belief | None]:
    """The program, and the belief that the last marked line describes."""
    # Not splitlines: ProbLog ends a line, and with it a comment, at a line feed and nowhere else.
    lines = text.split("\n")
    marked = [i for i, line in enumerate(lines) if line.startswith(MARK)]
    if not marked:
        return text, None
    place = f"{name or 'the program'}, line {marked[-1] + 1}"
    described = checked_belief(lines[marked[-1]].removeprefix(MARK), place)
    gone = {*marked, *(i for i, line in enumerate(lines) if line.rstrip() == _ABOUT)}
    return "\n".join(line for i, line in enumerate(lines) if i not in gone), described


def _restored(body: str, described: Belief, name: str | None) -> Belief | None:
    """The described belief with the numbers of the text; None where the text is another program."""
    if isinstance(described, ProgramBelief):
        return described if Program(body) == Program(_written(described)) else None
    names = dict.fromkeys(parameter.name for parameter in probabilities(described.parameters))
    expected, written = tokens(described.bind(None).text()), tokens(body)
    slots = Counter(token.text for token in expected if token.weight)
    odd = next((parameter for parameter in names if slots[parameter] != 1), None)
    if odd is not None:
        raise BeliefError(f"{name or 'the program'}: the line '% p4f: ...' names a parameter {odd} too many")
    if len(expected) != len(written):
        return None
    values: dict[str, str] = {}
    for ours, theirs in zip(expected, written, strict=True):
        if ours.weight and ours.text in names and (ours.text == theirs.text or _NUMBER.fullmatch(theirs.text)):
            values[ours.text] = theirs.text
        elif ours.text != theirs.text:
            return None
    used = described._values_in_use()
    return described._with_parameters(
        tuple(
            _with_number(parameter, values[parameter.name], used.get(parameter.name))
            if parameter.is_probability
            else parameter
            for parameter in described.parameters
        )
    )


def _with_number(parameter: Parameter, written: str, used: float | None) -> Parameter:
    """The parameter with the number that the text gives it; its interval stays where that is the one in use."""
    value = None if written == parameter.name else float(written)
    if value == used:
        return parameter
    changed = parameter.stated(value)
    if parameter.rows is not None:
        warn_audit(f"{parameter.name} was changed by hand to {written}: its interval is dropped")
    return changed


def _own(
    body: str,
    described: Belief | None,
    sensitive: str | None,
    groups: Sequence[Level] | None,
    columns: Mapping[str, str],
) -> ProgramBelief:
    """A program of the user's own, its networks bound to columns."""
    program = Program(body)
    classifier, features = "h", ()
    recorded = () if described is None else described.columns.recorded
    bound: dict[str, str] = {}
    values: dict[str, Sequence[Any]] = {}
    if isinstance(described, ProgramBelief):
        classifier, features = described.record.classifier, described.features  # type: ignore[assignment]
        bound, values = dict(described.network_columns), dict(described.values)
    elif described is not None:
        bound.update(described._network_columns())
        for variable in described.variables:
            if len(variable.columns) > 1:
                raise BeliefError("a program over joint sensitive columns cannot be changed by hand; estimate it anew")
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
    if groups is not None and sensitive is not None and tuple(groups) != (0, 1) and len(groups) == 2:
        values.update({net: tuple(groups) for net in others if bound.get(net, net) == sensitive and net not in values})
    known = {name: column for name, column in bound.items() if name in networks}
    return ProgramBelief(
        program,
        classifier=classifier,
        columns={**known, **columns},
        features=features,
        recorded=recorded,
        values={name: pair for name, pair in values.items() if name in networks and networks[name].outcomes is None},
        favourable=None if described is None else described.favourable,
    )


def _written(belief: Belief) -> str:
    """The program with numbers in it; parameters that stand for several numbers keep their names."""
    text = belief.text()
    if not isinstance(belief, ProgramBelief):
        return text
    values = {name: number(value) for name, value in known_values(belief.parameters).items()}
    pieces, start = [], 0
    for token in tokens(text):
        if token.weight and token.text in values:
            pieces += [text[start : token.start], values[token.text]]
            start = token.end
    return "".join([*pieces, text[start:]])


def _check_texts(value: Any) -> None:
    """Refuse names that no file can hold, wherever they stand."""
    if isinstance(value, str):
        printed(value)
    elif isinstance(value, dict):
        _check_texts([*value, *value.values()])
    elif isinstance(value, list):
        for part in value:
            _check_texts(part)


# Comments and quotes that nothing ends go on to the end of the text and of the line; none is tried a second time.
_TOKEN = re.compile(
    r"""
      (?P<skipped> \s++ | %[^\n]*+ | /\*.*?(?:\*/|\Z) )
    | '(?:[^'\\\n]|\\.|'')*+'?
    | "(?:[^"\\\n]|\\.)*+"?
    | [0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?
    | \w++
    | ::
    | .
    """,
    re.DOTALL | re.VERBOSE,
)


class Token(NamedTuple):
    """A piece of a program that means something, and where it stands; a weight such as ``p1(income)`` is one piece."""

    text: str
    start: int
    end: int
    weight: bool = False


def tokens(text: str) -> list[Token]:
    """The tokens of a program, without comments and blanks."""
    pieces: list[Token] = []
    since = 0
    for token in _pieces(text):
        if token.text == "::":
            _join_weight(pieces, since)
            since = len(pieces) + 1
        pieces.append(token)
    return pieces


def _pieces(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skipped":
            yield Token(match.group(), match.start(), match.end())


def _join_weight(before: list[Token], since: int) -> None:
    """Make one token of the term at the end of ``found``: a word, a number, or a word with arguments."""
    first = len(before) - 1
    depth = 0
    while first >= since:
        depth += {")": 1, "(": -1}.get(before[first].text, 0)
        if depth == 0 and before[first].text != "(":
            term = before[first:]
            before[first:] = [Token("".join(part.text for part in term), term[0].start, term[-1].end, weight=True)]
            return
        first -= 1
