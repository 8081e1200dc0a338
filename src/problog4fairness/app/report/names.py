"""Display names: what a reader is told in place of ``poor_area = 1``."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from problog4fairness.errors import P4FError

# What stands on a page as it is: the program, letters of figures that were placed already, and tags apart from what
# they say of themselves to those who cannot see.
_KEPT = re.compile(r'(<pre.*?</pre>|<style.*?</style>|<text.*?</text>|<[^>]*?aria-label="|<[^>]*>)', re.DOTALL)
# What is said of a label's values, and how it is said where they have names; {} stands for a value.
_OF_LABELS = (
    ("a fair {} is recorded as {}", "somebody who should have {} is recorded with {}"),
    ("(?:with|and) a fair {}", "who should have {}"),
    ("have a fair {}", "should have {}"),
    ("Fair {}", "Should have {},"),
    ("points of fair {}", "points of those who should have {}"),
    ("points of recorded as {}", "points of those recorded with {}"),
    ("were recorded as {}", "were recorded with {}"),
    ("Recorded as {}", "Recorded with {}"),
    ("the label = {}", "{}"),
)


@dataclass(frozen=True)
class Names:
    """What groups and labels are called.

    A group is called by words for its people, ``applicants from poor areas``, and a label by words for what people get,
    ``a loan``: so that a sentence reads "31% of applicants from poor areas were given a loan".

    Attributes
    ----------
    words
        By ``column = value``, its words.
    label
        The column of the label; all others are groups.
    """

    words: Mapping[str, str] = field(default_factory=dict)
    label: str | None = None

    @classmethod
    def of(cls, names: Mapping[str, Mapping[Any, str]] | None, label: str | None = None) -> Names:
        """From a dictionary by column and value: ``{"poor_area": {1: "applicants from poor areas"}}``."""
        named = {
            f"{column} = {value}": words for column, values in (names or {}).items() for value, words in values.items()
        }
        return cls(named, label)

    @classmethod
    def parsed(cls, texts: Sequence[str]) -> Names:
        """From what is typed: ``poor_area=1:applicants from poor areas``."""
        named = {}
        for text in texts:
            column, equals, rest = text.partition("=")
            value, colon, words = rest.partition(":")
            if not (column and equals and colon and words.strip()):
                way_out = "write COLUMN=VALUE:WORDS, as poor_area=1:'applicants from poor areas'"
                raise P4FError(f"{text!r} is no name; {way_out}")
            named[f"{column.strip()} = {value.strip()}"] = words.strip().strip("\"'")
        return cls(named)

    def translated(self, text: str) -> str:
        """A text with the names in it.

        >>> names = Names.of({"poor_area": {1: "applicants from poor areas"}, "granted": {1: "a loan"}}, "granted")
        >>> names.translated("Of the people with poor_area = 1 who should have granted = 1, 41% had none.")
        'Of the applicants from poor areas who should have a loan, 41% had none.'
        >>> names.translated("Where poor_area = 1, the record is right.")
        'For applicants from poor areas, the record is right.'
        >>> names.translated("Of the people with poor_area = 1 and a fair 1, 32% were recorded as 1.")
        'Of the applicants from poor areas who should have a loan, 32% were recorded with a loan.'
        """
        return self._replaced(text, lambda part: part)

    def page(self, page: str) -> str:
        """A page with the names in it, apart from the program."""
        if not self.words:
            return page
        parts = _KEPT.split(page)
        for number in range(0, len(parts), 2):
            parts[number] = self._replaced(parts[number], html.escape)
        return "".join(parts)

    def _replaced(self, text: str, written: Callable[[str], str]) -> str:
        for key, words in sorted(self.words.items(), key=lambda pair: -len(pair[0])):
            lead = "" if key.startswith(f"{self.label} = ") else r"(?:(people|[Ww]here) (?:with )?)?"
            pattern = rf"{lead}(?<![\w.]){re.escape(written(key))}(?![\w.]*\w)"
            text = re.sub(pattern, partial(_led, written(words)), text)
        start = f"{self.label} = "
        by_value = {key.removeprefix(start): words for key, words in self.words.items() if key.startswith(start)}
        # Longer ones first: "pass with merit" is not a pass.
        values = sorted(by_value, key=len, reverse=True)
        labels = {written(value): written(by_value[value]) for value in values}
        for sentence, named in _OF_LABELS if labels else ():
            value = rf"({'|'.join(map(re.escape, labels))})(?![\w.]*\w)"
            text = re.sub(sentence.replace("{}", value), partial(_named, labels, named), text)
        return text


def _led(words: str, match: re.Match[str]) -> str:
    """The words with what leads to them: a name says who people are, so that "people with" goes."""
    before = match[1] if match.re.groups else None
    return {"where": "for ", "Where": "For "}.get(before or "", "") + words


def _named(labels: Mapping[str, str], sentence: str, match: re.Match[str]) -> str:
    """A sentence about a label's values with their words."""
    return sentence.format(*(labels[value] for value in match.groups()))
