"""A report to show: what is believed, how sure that is, what the model changes, and what could be wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.classifier import DebiasedClassifier
from problog4fairness.classifier.sensitivity import Sensitivity
from problog4fairness.comparison import Comparison, compare
from problog4fairness.errors import P4FError
from problog4fairness.reporting import evidence, sections
from problog4fairness.reporting.amounts import count
from problog4fairness.reporting.facts import Facts, collect
from problog4fairness.reporting.figures import draw_changes
from problog4fairness.reporting.joining import with_audit
from problog4fairness.reporting.limits import doubts, limits
from problog4fairness.reporting.page import page
from problog4fairness.rows import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What is fitted again is fitted on so many rows at most; predictions are made for all.
MOST_ROWS = 20_000
# More parameters than this make the figure unreadable; the least certain ones are shown.
MOST_PARAMETERS = 6
SEEDS, FOLDS = 3, 3


@dataclass(frozen=True, eq=False)
class Report:
    """A page, and the tables behind its sections.

    Attributes
    ----------
    title
        Its heading.
    html
        The page: one text that needs no other file, host or script.
    parameters
        The parameters of the belief, with ``more_for_10_points`` and ``more_for_5_points``, the audited rows still
        missing.
    changes
        By group: shares of favourable labels on record and as decided, decisions raised and lowered, with intervals.
        For several sensitive variables, all groups one after the other; the last row is ``all``.
    audited
        By group: fair rate, accuracy and kinds of errors on audited rows; None without an audit.
    comparison, sensitivity
        As :func:`~problog4fairness.compare` and :meth:`DebiasedClassifier.sensitivity` returned them; None where they
        were not asked for, or could not be made (then ``warnings`` says why).
    suspects
        The rows most likely distorted, by their number from 1.
    summary, warnings
        The sentences that begin the page, and the warnings on it.
    """

    title: str
    html: str = field(repr=False)
    parameters: pd.DataFrame = field(repr=False)
    changes: pd.DataFrame = field(repr=False)
    audited: pd.DataFrame | None = field(repr=False)
    comparison: Comparison | None = field(repr=False)
    sensitivity: Sensitivity | None = field(repr=False)
    suspects: pd.DataFrame = field(repr=False)
    summary: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    good: str = "the favourable label"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_whole(Path(path), self.html)

    def plot(self) -> Figure:
        """The main figure: shares of favourable labels by group, on record, as decided and by the audit."""
        return draw_changes(self.changes, self.audited, self.good)

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain data, ready for JSON; numbers that are not known are None."""
        frames = {"parameters": self.parameters, "changes": self.changes, "suspects": self.suspects}
        if self.audited is not None:
            frames["audited"] = self.audited
        if self.sensitivity is not None:
            frames["sensitivity"] = self.sensitivity.spans
        tables = {
            name: [_plain(row) for row in frame.reset_index().to_dict("records")] for name, frame in frames.items()
        }
        compared = None if self.comparison is None else self.comparison.to_dict()
        words = {"title": self.title, "summary": list(self.summary), "warnings": list(self.warnings)}
        return {**words, **tables, "comparison": compared}


def report(
    clf: DebiasedClassifier,
    data: pd.DataFrame,
    *,
    audit: pd.DataFrame | None = None,
    fair: str | None = None,
    recorded: str | None = None,
    comparison: Comparison | bool = True,
    sensitivity: Sensitivity | bool = True,
    title: str | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Report:
    """What a model believes, how sure that is, what it changes, and what could be wrong, on one page.

    The same inputs give the same page, to the letter.

    Parameters
    ----------
    clf
        A trained classifier of a binary label.
    data
        Recorded data: the features, the sensitive column and the recorded label. Rows without a label are left out.
    audit, fair
        Audited rows, and the name of their column with the fair label, in the values of the recorded one.
    recorded
        The column of the recorded label; by default the name that it had in training.
    comparison
        Whether to compare with the baselines (three seeds, three folds), or what
        :func:`~problog4fairness.compare` returned.
    sensitivity
        Whether to vary the parameters, or what :meth:`DebiasedClassifier.sensitivity` returned. Both are fitted on
        20,000 rows at most, drawn at random; the page says so.
    title
        Heading of the page.
    seed
        Of that draw and of the comparison.
    progress
        Whether to show progress bars; by default only where standard error is a terminal.
    """
    if audit is not None and fair is None:
        raise P4FError("name the column of the fair label in the audit by fair=...")
    facts = collect(clf, data, audit, fair, recorded)
    sample, notes = _sample(facts, seed)
    compared, varied, problems = None, None, []
    if isinstance(comparison, Comparison):
        compared = comparison
    elif comparison and (clf.belief_ is None or not clf.belief_.sensitive_columns):
        problems.append("Other methods were not compared: no belief names a sensitive column, so there are no groups.")
    elif comparison:
        try:
            compared = _compared(facts, sample, seed, progress)
        except P4FError as error:
            problems.append(f"The comparison with other methods could not be made: {error}")
    if isinstance(sensitivity, Sensitivity):
        varied = sensitivity
    elif sensitivity:
        try:
            varied = _varied(facts, sample, progress)
        except P4FError as error:
            problems.append(f"The sensitivity to the parameters could not be found: {error}")
    return _written(facts, compared, varied, problems, notes, title)


def _sample(facts: Facts, seed: int) -> tuple[pd.DataFrame, list[str]]:
    data = facts.data
    notes = []
    if facts.dropped:
        notes.append(f"{count(facts.dropped, 'row')} without {facts.label.column} had to be left out.")
    if len(data) <= MOST_ROWS:
        return data, notes
    chosen = np.sort(np.random.default_rng(seed).choice(len(data), MOST_ROWS, replace=False))
    notes.append(
        f"Comparison and sensitivity were fitted on {count(MOST_ROWS)} of {count(len(data))} rows, drawn at random; "
        "everything else is about all rows."
    )
    return data.iloc[chosen].reset_index(drop=True), notes


def _compared(facts: Facts, sample: pd.DataFrame, seed: int, progress: bool | None) -> Comparison:
    model, column = facts.model, facts.label.column
    rows, fair = sample, None
    if facts.audit is not None and facts.fair is not None:
        beside = facts.sensitive(sample)
        needed = [column, *facts.features, *([] if beside is None else beside.columns)]
        audit = facts.audit[facts.audit[facts.fair].notna()]
        rows, fair = with_audit(sample, audit, fair=facts.fair, needed=needed)
    return compare(
        rows[facts.features],
        rows[column],
        model.belief_,
        sensitive_features=facts.sensitive(rows),
        fair=fair,
        favourable=model.classes_.tolist()[1],
        independent=model.independent,
        seeds=[seed + number for number in range(SEEDS)],
        folds=FOLDS,
        progress=progress,
    )


def _varied(facts: Facts, sample: pd.DataFrame, progress: bool | None) -> Sensitivity | None:
    model = facts.model
    rates = list(model.belief_.probabilities) if model.belief_ is not None else []
    if not rates:
        return None
    # A value that was stated may be anything.
    widths = [1.0 if rate.low is None or rate.high is None else rate.high - rate.low for rate in rates]
    least_sure = sorted(sorted(range(len(rates)), key=lambda i: (-widths[i], i))[:MOST_PARAMETERS])
    audit = None
    if facts.audit is not None and facts.fair is not None:
        rows = facts.audit[facts.audit[facts.fair].notna()]
        audit = (rows[facts.features], rows[facts.fair], facts.sensitive(rows))
    return model.sensitivity(
        sample[facts.features],
        sample[facts.label.column],
        sensitive_features=facts.sensitive(sample),
        audit=audit,
        parameters=[rates[i].name for i in least_sure],
        progress=progress,
    )


def _written(
    facts: Facts,
    compared: Comparison | None,
    varied: Sensitivity | None,
    problems: list[str],
    notes: list[str],
    title: str | None,
) -> Report:
    first = facts.divisions[0]
    model, label = facts.model, facts.label
    heading = title or f"Fair decisions on {label.column}: what the model believes and changes"
    divisions = [(division.changes, division.audited) for division in facts.divisions]
    warned = [*doubts(model, divisions, facts.data), *problems]
    estimated = bool(facts.overlap is not None and _estimated(model))
    parts = [
        ("summary", "Summary", sections.opening(facts)),
        ("limits", "Limits and warnings", sections.limits(warned, limits(model, facts.overlap, estimated, notes))),
        ("belief", "The belief", sections.belief(facts)),
        ("parameters", "Parameters, and how sure they are", sections.parameters(facts)),
        ("changes", "What the model changes", sections.changed(facts)),
    ]
    if compared is not None:
        parts.append(("comparison", "Comparison with other methods", evidence.comparison(compared, estimated)))
    if varied is not None:
        parts.append(
            ("sensitivity", "If a parameter is wrong", evidence.sensitivity(varied, _not_varied(model, varied)))
        )
    parts.append(("suspects", "Rows for review", sections.suspects(facts)))
    audited = "" if facts.audit is None else f", {count(len(facts.audit), 'audited row')}"
    about = (
        f"{count(len(facts.data), 'row')} of recorded data{audited}; the label is {label.column}, with {label.good} as "
        "the favourable one."
    )
    footer = (
        f"Made with problog4fairness {version('problog4fairness')}. This page holds everything it needs; "
        "it loads nothing and runs nothing."
    )
    table = pd.DataFrame() if model.belief_ is None else model.belief_.parameters
    if model.belief_ is not None:
        table = table.rename(columns={"still_needed": "more_for_10_points"})
        table["more_for_5_points"] = [rate.still_needed(0.05) for rate in model.belief_.probabilities]
    return Report(
        title=heading,
        html=page(heading, about, parts, footer),
        parameters=table,
        changes=_together([division.changes for division in facts.divisions]),
        audited=None
        if first.audited is None
        else _together([d.audited for d in facts.divisions if d.audited is not None]),
        comparison=compared,
        sensitivity=varied,
        suspects=facts.suspects,
        summary=tuple(sections.summary(facts)),
        warnings=tuple(warned),
        good=label.good,
    )


def _not_varied(model: DebiasedClassifier, varied: Sensitivity) -> list[str]:
    rates = () if model.belief_ is None else model.belief_.probabilities
    return [rate.name for rate in rates if rate.name not in varied.parameters.index]


def _estimated(model: DebiasedClassifier) -> bool:
    """Whether audited rows gave some parameter of the belief."""
    return model.belief_ is not None and any(rate.rows is not None for rate in model.belief_.probabilities)


def _together(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """The groups of all sensitive variables, and everybody once, last."""
    return pd.concat([*(frame.drop(index="all") for frame in frames), frames[0].loc[["all"]]])


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Values of a data frame as JSON knows them."""
    found = {}
    for name, value in row.items():
        value = value.item() if isinstance(value, np.generic) else value
        missing = value is pd.NA or (isinstance(value, float) and math.isnan(value))
        found[str(name)] = None if missing else value if isinstance(value, int | float | str | bool) else str(value)
    return found
