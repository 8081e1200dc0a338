"""What the data say against a belief: the tests, corrected for their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from problog4fairness.checks.finding import LEVEL
from problog4fairness.statistics import MISSING, count

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Doubt:
    """One test of a belief.

    Attributes
    ----------
    name
        What it is called: ``range``.
    question
        What it asks.
    found
        What it found, a plain sentence; why it was not done, where it was not.
    p
        The probability of something as extreme if the belief were right; None where the test was not done.
    corrected
        The same, corrected for the number of tests that were done (Holm); None where the test was not done.
    rows
        The rows that say so, with their numbers in the table as index; -1 for those that are in the audit only.
    advice
        What to do where it contradicts the belief.
    least
        Its power: the least difference that these data show in four of five tables, for the group or share that they
        show worst. Smaller errors of the belief stay unseen. Empty where nothing is known of it.

    Examples
    --------
    >>> from problog4fairness.checks import Doubt
    >>> test = Doubt("range", "Are the recorded shares possible?", "They are not.", p=0.004, corrected=0.012)
    >>> test.contradicts, test.p_text
    (True, '0.012')
    """

    name: str
    question: str
    found: str
    p: float | None = None
    corrected: float | None = None
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    advice: str = ""
    least: str = ""

    def __repr__(self) -> str:
        return f"Doubt({self.name}, p {self.p_text}: {self.found})"

    @property
    def done(self) -> bool:
        """Whether there was a test."""
        return self.p is not None

    @property
    def contradicts(self) -> bool:
        """Whether it contradicts the belief, at 5% for all tests together."""
        return self.corrected is not None and self.corrected <= LEVEL

    @property
    def p_text(self) -> str:
        """The corrected p-value for people."""
        if self.corrected is None:
            return MISSING
        return "< 0.001" if self.corrected < 0.001 else f"{self.corrected:.3f}"


@dataclass(frozen=True, eq=False)
class CheckResult:
    """What the data say against a belief; the result of :func:`~problog4fairness.check`.

    No contradiction does not mean that the belief is right: recorded data cannot confirm it, and few audited rows see
    only what is far off.

    Attributes
    ----------
    tests
        All tests, those that were not done included.
    rows, audited
        How many recorded rows and how many audited ones there were.
    notes
        What a reader should know.

    Examples
    --------
    >>> from problog4fairness.checks import Doubt, CheckResult
    >>> test = Doubt("range", "Are the recorded shares possible?", "They are not.", p=0.004, corrected=0.004)
    >>> CheckResult((test,), rows=2000, audited=0).verdict
    'The data contradict the belief: range (1 test on 2,000 recorded rows and 0 audited rows).'
    """

    tests: tuple[Doubt, ...]
    rows: int
    audited: int
    notes: tuple[str, ...] = ()

    @property
    def contradicted(self) -> bool:
        """Whether the data contradict the belief.

        If it is right, that happens in at most 5% of all tables, as far as the learners inside can learn the recorded
        label and the group from the features.
        """
        return any(test.contradicts for test in self.tests)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each test.

        Its columns are ``p``, ``corrected``, ``contradicts``, ``rows`` (how many say so), ``found``, ``do``, ``least``.
        """
        return pd.DataFrame(
            {
                "p": [own.p for own in self.tests],
                "corrected": [own.corrected for own in self.tests],
                "contradicts": [own.contradicts for own in self.tests],
                "rows": [len(own.rows) if own.contradicts else 0 for own in self.tests],
                "found": [own.found for own in self.tests],
                "do": [own.advice if own.contradicts else "" for own in self.tests],
                "least": [own.least for own in self.tests],
            },
            index=pd.Index([own.name for own in self.tests], name="test"),
        ).astype({"p": "float64", "corrected": "float64"})

    def __getitem__(self, name: str) -> Doubt:
        for own in self.tests:
            if own.name == name:
                return own
        raise KeyError(f"no test {name!r}; there are {', '.join(own.name for own in self.tests)}")

    def __iter__(self) -> Iterator[Doubt]:
        return iter(self.tests)

    @property
    def verdict(self) -> str:
        """Whether the data contradict the belief, in one sentence."""
        done = sum(own.done for own in self.tests)
        by = f"{count(done, 'test')} on {count(self.rows, 'recorded row')} and {count(self.audited, 'audited row')}"
        if not done:
            return "No test of the belief could be done."
        if not self.contradicted:
            return f"The data do not contradict the belief ({by}); that does not confirm it."
        against = [own.name for own in self.tests if own.contradicts]
        return f"The data contradict the belief: {', '.join(against)} ({by})."

    @property
    def power(self) -> str:
        """The least differences that these data show in four of five tables; empty if nothing is known of them."""
        told = [f"{own.name} {own.least}" for own in self.tests if own.least]
        return f"Least difference that these data show in 4 of 5 tables: {'; '.join(told)}." if told else ""

    def words(self) -> list[str]:
        """The verdict, a sentence or two for each test that contradicts the belief, and the power of the tests."""
        against = [f"{own.found} {own.advice}" for own in self.tests if own.contradicts]
        return [self.verdict, *against, *([self.power] if self.power else [])]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "contradicted": self.contradicted,
            "verdict": self.verdict,
            "tests": [
                {
                    "test": own.name,
                    "p": own.p,
                    "corrected": own.corrected,
                    "contradicts": own.contradicts,
                    "found": own.found,
                    "rows": [int(number) for number in own.rows.index] if own.contradicts else [],
                    "do": own.advice if own.contradicts else "",
                    "least": own.least,
                }
                for own in self.tests
            ],
            "power": self.power,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"CheckResult({self.verdict})"

    def __str__(self) -> str:
        lines = [self.verdict, ""]
        lines += [f"{own.name:18} {own.p_text:>9}  {own.found}" for own in self.tests]
        lines += ["", *(f"{own.name}: {own.advice}" for own in self.tests if own.contradicts)]
        lines += [own for own in (self.power, *self.notes) if own]
        return "\n".join(lines).rstrip()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(own.name)}</th><td>{'<b>' if own.contradicts else ''}{escape(own.p_text)}"
            f"{'</b>' if own.contradicts else ''}</td><td style='text-align:left'>{escape(own.found)}</td>"
            + (f"<td style='text-align:left'>{escape(own.advice)}</td></tr>" if own.contradicts else "</tr>")
            for own in self.tests
        )
        left = "<th style='text-align:left'>"
        head = f"<tr><th>test</th><th>p, corrected</th>{left}found</th>"
        head += f"{left}what to do</th></tr>" if self.contradicted else "</tr>"
        notes = "".join(f"<p>{escape(note)}</p>" for note in (self.power, *self.notes) if note)
        return f"<p><b>{escape(self.verdict)}</b></p><table><thead>{head}</thead><tbody>{rows}</tbody></table>{notes}"

    def plot(self) -> Figure:
        """The corrected p-value of each test; those left of the line contradict the belief."""
        from problog4fairness.checks.figures import draw_doubts

        return draw_doubts(self)
