"""A program's text taken apart in one pass: tokens, and the weights that stand before ``::``.

This runs in the caller, on files that anybody may have written. No part of the text is looked at more than a few times,
whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

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
    found: list[Token] = []
    since = 0
    for token in _pieces(text):
        if token.text == "::":
            _join_weight(found, since)
            since = len(found) + 1
        found.append(token)
    return found


def _pieces(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skipped":
            yield Token(match.group(), match.start(), match.end())


def _join_weight(found: list[Token], since: int) -> None:
    """Make one token of the term at the end of ``found``: a word, a number, or a word with arguments."""
    first = len(found) - 1
    depth = 0
    while first >= since:
        depth += {")": 1, "(": -1}.get(found[first].text, 0)
        if depth == 0 and found[first].text != "(":
            term = found[first:]
            found[first:] = [Token("".join(part.text for part in term), term[0].start, term[-1].end, weight=True)]
            return
        first -= 1
