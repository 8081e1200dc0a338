"""What the data say against a belief: the outcome of each check, corrected for their number."""

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

# Blue and orange of Okabe and Ito's palette, which colour-blind readers tell apart.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#888888"
# Smaller p-values are drawn here.
LEAST_DRAWN = 3e-4


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of one check of a belief.

    Attributes
    ----------
    name
        What it is called: ``range``.
    question
        What it asks.
    finding
        What it found, a plain sentence; why it was not done, where it was not.
    p
        The probability of something as extreme if the belief were right; None where the check was not done.
    corrected
        The same, corrected for the number of checks that were done (Holm).
    rows
        The rows that say so, with their numbers in the table as index; -1 for those that are in the audit only.
    advice
        What to do where it contradicts the belief.
    least
        Its power: the least difference that these data show in four of five tables, for the group or share that they
        show worst. Smaller errors of the belief stay unseen. Empty where nothing is known of it.

    Examples
    --------
    >>> from problog4fairness.checks import Outcome
    >>> outcome = Outcome("range", "Are the recorded shares possible?", "They are not.", p=0.004, corrected=0.012)
    >>> outcome.contradicts, outcome.p_text
    (True, '0.012')
    """

    name: str
    question: str
    finding: str
    p: float | None = None
    corrected: float | None = None
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    advice: str = ""
    least: str = ""

    def __repr__(self) -> str:
        return f"Outcome({self.name}, p {self.p_text}: {self.finding})"

    @property
    def done(self) -> bool:
        """Whether the check was done."""
        return self.p is not None

    @property
    def contradicts(self) -> bool:
        """Whether it contradicts the belief, at 5% for all checks together."""
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
    outcomes
        Those of all checks, those that were not done included.
    rows, audited
        How many recorded rows and how many audited ones there were.
    notes
        What a reader should know.

    Examples
    --------
    >>> from problog4fairness.checks import Outcome, CheckResult
    >>> outcome = Outcome("range", "Are the recorded shares possible?", "They are not.", p=0.004, corrected=0.004)
    >>> CheckResult((outcome,), rows=2000, audited=0).verdict
    'The data contradict the belief: range (1 check on 2,000 recorded rows and 0 audited rows).'
    """

    outcomes: tuple[Outcome, ...]
    rows: int
    audited: int
    notes: tuple[str, ...] = ()

    @property
    def against(self) -> list[Outcome]:
        """The outcomes that contradict the belief."""
        return [outcome for outcome in self.outcomes if outcome.contradicts]

    @property
    def contradicted(self) -> bool:
        """Whether the data contradict the belief.

        If it is right, that happens in at most 5% of all tables, as far as the learners inside can learn the recorded
        label and the group from the features.
        """
        return bool(self.against)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each check.

        Its columns are ``p``, ``corrected``, ``contradicts``, ``rows`` (how many say so), ``finding``, ``do``, and
        ``least``.
        """
        rows = [
            (one.p, one.corrected, one.contradicts, len(one.rows), one.finding, one.advice, one.least)
            if one.contradicts
            else (one.p, one.corrected, False, 0, one.finding, "", one.least)
            for one in self.outcomes
        ]
        columns = ["p", "corrected", "contradicts", "rows", "finding", "do", "least"]
        names = pd.Index([one.name for one in self.outcomes], name="test")
        return pd.DataFrame(rows, names, columns).astype({"p": "float64", "corrected": "float64"})

    def __getitem__(self, name: str) -> Outcome:
        for outcome in self.outcomes:
            if outcome.name == name:
                return outcome
        raise KeyError(f"no check {name!r}; there are {', '.join(outcome.name for outcome in self.outcomes)}")

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    @property
    def verdict(self) -> str:
        """Whether the data contradict the belief, in one sentence."""
        done = sum(outcome.done for outcome in self.outcomes)
        by = f"{count(done, 'check')} on {count(self.rows, 'recorded row')} and {count(self.audited, 'audited row')}"
        if not done:
            return "No check of the belief could be done."
        if not self.contradicted:
            return f"The data do not contradict the belief ({by}); that does not confirm it."
        return f"The data contradict the belief: {', '.join(outcome.name for outcome in self.against)} ({by})."

    @property
    def power(self) -> str:
        """The least differences that these data show in four of five tables; empty if nothing is known of them."""
        least = [f"{outcome.name} {outcome.least}" for outcome in self.outcomes if outcome.least]
        return f"Least difference that these data show in 4 of 5 tables: {'; '.join(least)}." if least else ""

    def words(self) -> list[str]:
        """The verdict, a sentence or two for each check that contradicts the belief, and the power of the checks."""
        sentences = [self.verdict, *(f"{outcome.finding} {outcome.advice}" for outcome in self.against), self.power]
        return [sentence for sentence in sentences if sentence]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        numbers = {outcome.name: [int(number) for number in outcome.rows.index] for outcome in self.against}
        records = self.table.astype(object).where(self.table.notna(), None).reset_index().to_dict("records")
        return {
            "contradicted": self.contradicted,
            "verdict": self.verdict,
            "tests": [{**record, "rows": numbers.get(str(record["test"]), [])} for record in records],
            "power": self.power,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"CheckResult({self.verdict})"

    def __str__(self) -> str:
        lines = [self.verdict, ""]
        lines += [f"{outcome.name:20} {outcome.p_text:>9}  {outcome.finding}" for outcome in self.outcomes]
        lines += ["", *(f"{outcome.name}: {outcome.advice}" for outcome in self.against)]
        return "\n".join([*lines, *(line for line in (self.power, *self.notes) if line)]).rstrip()

    def _repr_html_(self) -> str:
        table = pd.DataFrame(
            [(one.p_text, one.finding, one.advice if one.contradicts else "") for one in self.outcomes],
            columns=["p, corrected", "finding", "what to do"],
            index=[outcome.name for outcome in self.outcomes],
        )
        table = table if self.contradicted else table.drop(columns="what to do")
        notes = "".join(f"<p>{escape(note)}</p>" for note in (self.power, *self.notes) if note)
        with pd.option_context("display.max_colwidth", None):
            return f"<p><b>{escape(self.verdict)}</b></p>{table.to_html(justify='left')}{notes}"

    def plot(self) -> Figure:
        """The corrected p-value of each check, on a logarithmic axis; left of the line they contradict the belief."""
        import matplotlib as mpl
        from matplotlib.figure import Figure

        outcomes = list(reversed(self.outcomes))
        # A name from somebody's data is text, not a formula.
        with mpl.rc_context({"text.parse_math": False}):
            figure = Figure(figsize=(6.4, 0.9 + 0.32 * len(outcomes)), layout="constrained")
            axes = figure.subplots()
            axes.set_xscale("log")
            axes.set_xlim(LEAST_DRAWN / 1.6, 1.6)
            for place, outcome in enumerate(outcomes):
                if outcome.corrected is None:
                    beside: Any = {"va": "center", "transform": axes.get_yaxis_transform()}
                    axes.text(0.02, place, outcome.finding, color=GREY, fontsize=8, **beside)
                    continue
                colour, marker = (ORANGE, "D") if outcome.contradicts else (BLUE, "o")
                axes.plot([max(outcome.corrected, LEAST_DRAWN)], [place], color=colour, marker=marker, markersize=7)
            axes.axvline(LEVEL, color=GREY, linewidth=1, linestyle="--")
            axes.set_yticks(range(len(outcomes)), [outcome.name for outcome in outcomes])
            axes.set_ylim(-0.6, len(outcomes) - 0.4)
            axes.set_xticks([0.001, 0.01, LEVEL, 0.2, 1], ["≤ 0.001", "0.01", f"{LEVEL:g}", "0.2", "1"])
            axes.minorticks_off()
            axes.set_xlabel("corrected p-value; left of the line, the belief is contradicted")
            axes.grid(axis="y", alpha=0.25, linewidth=0.5)
            axes.spines[["top", "right"]].set_visible(False)
        return figure
