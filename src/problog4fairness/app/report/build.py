"""A report to show: what is believed, how sure that is, what the model changes, and what could be wrong."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.app.report.belief import belief_section, learner_section, parameters_section
from problog4fairness.app.report.changes import changes_section, draw_changes
from problog4fairness.app.report.evidence import compared, comparison_section, sampled, sensitivity_section, varied
from problog4fairness.app.report.facts import Facts, clean, collect, fair_labels, recorded_column
from problog4fairness.app.report.groups import groups_section
from problog4fairness.app.report.markup import page
from problog4fairness.app.report.names import Names
from problog4fairness.app.report.record import Record, card_section, glossary_section, record_section
from problog4fairness.app.report.review import Review, review_section, write_queue
from problog4fairness.app.report.summary import limits, limits_section, summary, summary_section, warnings_of
from problog4fairness.app.report.uncertainty import check_section, uncertainty_section
from problog4fairness.audit import Audit
from problog4fairness.data import check_column, is_frame, to_frame, write_atomically
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, read_audit
from problog4fairness.evaluation import Comparison
from problog4fairness.robustness import Sensitivity
from problog4fairness.statistics import count, in_labels, probabilities

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The column of an audited row's number while rows are left out.
_PLACE = "p4f_place"


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
        As :func:`~problog4fairness.compare` and :func:`~problog4fairness.robustness.sensitivity` returned them; None
        where they were not asked for, or could not be made (then ``warnings`` says why).
    suspects, queue
        The rows most likely distorted, by their number from 1: those on the page, and all.
    summary, warnings, training_warnings
        The sentences that begin the page, the warnings on it, and the training diagnostics.
    good
        How the favourable label is called.
    names
        What groups and labels are called.
    """

    title: str
    html: str = field(repr=False)
    parameters: pd.DataFrame = field(repr=False)
    changes: pd.DataFrame = field(repr=False)
    audited: pd.DataFrame | None = field(repr=False)
    comparison: Comparison | None = field(repr=False)
    sensitivity: Sensitivity | None = field(repr=False)
    suspects: pd.DataFrame = field(repr=False)
    queue: pd.DataFrame = field(repr=False)
    summary: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    training_warnings: tuple[str, ...] = ()
    good: str = "the favourable label"
    names: Names = field(default=Names(), repr=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_atomically(Path(path), self.html)

    def plot(self) -> Figure:
        """The main figure: shares of favourable labels by group, on record, as decided and by the audit."""
        return draw_changes(self.changes, self.audited, self.good, self.names)

    def save_queue(self, path: str | PathLike[str]) -> None:
        """Write all rows for review, likeliest first, as CSV with six digits."""
        write_queue(self.queue, path)

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html):,} characters)"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, where nothing of it can touch the notebook."""
        inside = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{inside}" title="{html.escape(self.title)}" width="100%" height="700"></iframe>'

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain data, ready for JSON; numbers that are not known are None."""
        frames = {"parameters": self.parameters, "changes": self.changes, "suspects": self.suspects}
        if self.audited is not None:
            frames["audited"] = self.audited
        if self.sensitivity is not None:
            frames["sensitivity"] = self.sensitivity.table
        tables = {
            name: [_plain(row) for row in frame.reset_index().to_dict("records")] for name, frame in frames.items()
        }
        compared = None if self.comparison is None else self.comparison.to_dict()
        words = {"title": self.title, "summary": list(self.summary), "warnings": list(self.warnings)}
        words["training_warnings"] = list(self.training_warnings)
        return {**words, **tables, "comparison": compared}


def report(
    clf: DebiasedClassifier,
    data: pd.DataFrame,
    *,
    audit: pd.DataFrame | Audit | None = None,
    fair: str | None = None,
    recorded: str | None = None,
    comparison: Comparison | bool = True,
    sensitivity: Sensitivity | bool = True,
    seed: int = 0,
    names: Mapping[str, Mapping[Any, str]] | Names | None = None,
    record: Record | Mapping[str, Any] | None = None,
) -> Report:
    """What a model believes, how uncertain that is, what it changes, and what could be wrong, on one page.

    The same inputs give the same page, to the letter.

    Parameters
    ----------
    clf
        A trained classifier. Of three or more classes shares and gaps are those of the favourable one.
    data
        Recorded data: the features, the sensitive column and the recorded label. Rows without a label are left out.
    audit, fair
        Audited rows, and the name of their column with the fair label, in the values of the recorded one. Numbers from
        them are weighted by their design: that of their columns ``p4f_...``, or of a :class:`~problog4fairness.Audit`.
        Where the model has learned from a row, it is judged by a model that was fitted without it.
    recorded
        The column of the recorded label; by default the name that it had in training.
    comparison
        Whether to compare with other methods on the model's own learner (three seeds, three folds), or what
        :func:`~problog4fairness.compare` returned.
    sensitivity
        Whether to vary the parameters, or what :func:`~problog4fairness.robustness.sensitivity` returned. Both are
        fitted on 20,000 rows at most, drawn at random; the page says so.
    seed
        Of whatever is drawn at random.
    names
        What groups and labels are called on the page, by column and value: ``{"poor_area": {1: "applicants from poor
        areas"}, "granted": {1: "a loan", 0: "no loan"}}``. A group is called by words for its people, a label by words
        for what they get.
    record
        Who made it, for what, when, and from which files: ``title``, ``author``, ``purpose``, ``date``, ``reviewed_by``
        and ``approved_by`` (``Ana Vos, 2026-11-18``; without, there is a line to sign on paper), and ``sources``.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(rows=300, audited=100, new=1)
    >>> belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    >>> model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
    >>> X, poor = data.loans[list(data.features)], data.loans["poor_area"]
    >>> model = model.fit(X, data.loans["granted"], sensitive_features=poor)
    >>> page = p4f.report(model, data.loans, audit=data.audit, fair="repaid", comparison=False, sensitivity=False)
    >>> len(page.summary) > 2  # page.save("report.html") writes the page
    True
    """
    data, audit = (to_frame(table) if is_frame(table) else table for table in (data, audit))
    facts = collect(clf, data, audit, fair, recorded)
    sample, notes = sampled(facts, seed)
    problems: list[str] = []
    comparing = comparison if isinstance(comparison, Comparison) else None
    if comparison and comparing is None:
        try:
            comparing = compared(facts, sample, seed)
        except P4FError as error:
            problems.append(f"The comparison with other methods could not be made: {error}")
    varying = sensitivity if isinstance(sensitivity, Sensitivity) else None
    if sensitivity and varying is None:
        try:
            varying = varied(facts, sample)
        except P4FError as error:
            problems.append(f"The sensitivity to the parameters could not be computed: {error}")
    made = record if isinstance(record, Record) else Record(**(record or {}))
    called = replace(names if isinstance(names, Names) else Names.of(names), label=facts.label.column)
    warnings = [*warnings_of(facts), *problems]
    return _written(facts, comparing, varying, warnings, notes, called, replace(made, seed=seed))


def report_tables(
    model: DebiasedClassifier,
    data: pd.DataFrame,
    *,
    audit: pd.DataFrame | Audit | None = None,
    fair: str | None = None,
    recorded: str | None = None,
    favourable: object = None,
    record: Record | None = None,
    **options: Any,
) -> Report:
    """:func:`~problog4fairness.report` on tables as they were read.

    Without ``audit``, rows of ``data`` with a fair label are the audited ones. ``favourable`` is the favourable value
    of the fair label, where that is written in another way than the recorded one. How many rows were left out is noted
    in the sources of the record.
    """
    column = recorded_column(model, recorded)
    taken = {*model.belief_.columns.sensitive, *model.feature_names_in_}
    for name, role in ((column, "recorded"), (fair, "fair")):
        if name in taken or (fair == column and role == "fair"):
            raise P4FError(f"column {name!r} cannot be the {role} label: the model knows it as something else")
    check_column(data, column, "recorded label", "recorded")
    if audit is None and fair is not None:
        audit = data
    if audit is not None:
        known = read_audit(audit, fair)
        fair = known.fair[0]
        rows = clean(model, known.frame.assign(**{_PLACE: np.arange(len(known))}), column)
        audit = known.take(rows.pop(_PLACE).to_numpy())
        audit = replace(audit, frame=rows.assign(**{fair: fair_labels(model, rows, fair, favourable)}))
    cleaned = clean(model, data, column).drop(columns=[] if fair is None else [fair], errors="ignore")
    why = f"no {' or '.join([column, *model.belief_.columns.sensitive])}"
    kept = {"data": len(cleaned), "audit": len(audit) if audit is not None else 0}
    made = record or Record()
    sources = [
        replace(source, left_out={why if source.role == "data" else "not audited": source.rows - kept[source.role]})
        if source.rows is not None and source.role in kept
        else source
        for source in made.sources
    ]
    made = replace(made, sources=sources)
    return report(model, cleaned, audit=audit, fair=fair, recorded=column, record=made, **options)


def review_table(model: DebiasedClassifier, data: pd.DataFrame, *, recorded: str | None = None) -> Review:
    """The rows for review of a table as it was read, without the rest of a report."""
    column = recorded_column(model, recorded)
    check_column(data, column, "recorded label", "recorded")
    return collect(model, clean(model, data, column), None, None, column).review


def _written(
    facts: Facts,
    comparison: Comparison | None,
    sensitivity: Sensitivity | None,
    warnings: list[str],
    notes: list[str],
    names: Names,
    made: Record,
) -> Report:
    label = facts.label
    heading = made.title or f"Fair decisions on {label.column}: what the model believes and changes"
    training_warnings = [f"{sentence[:1].upper()}{sentence[1:]}." for sentence in facts.model.training_warnings_]
    opening = summary(facts, comparison)
    same_rows = facts.audit is not None and facts.estimated
    parts = [
        ("summary", "Summary", summary_section(opening)),
        ("limits", "Limits and warnings", limits_section(training_warnings, warnings, limits(facts, notes))),
        ("belief", "The belief", belief_section(facts)),
        ("parameters", "Parameters and their uncertainty", parameters_section(facts)),
        ("learner", "Learner", learner_section(facts)),
        ("changes", "What the model changes", changes_section(facts, names)),
        ("groups", "Confusion matrix and calibration, by group", groups_section(facts, names)),
        ("comparison", "Comparison with other methods", comparison and comparison_section(comparison, same_rows)),
        (
            "sensitivity",
            "Sensitivity to each parameter",
            sensitivity and sensitivity_section(facts, sensitivity, names),
        ),
        ("check", "Do the data contradict the belief?", check_section(facts, made.seed)),
        ("uncertainty", "Uncertainty", uncertainty_section(facts, names, made.seed)),
        ("suspects", "Likely mislabelled rows", review_section(facts)),
        ("record", "Record", record_section(facts, made)),
    ]
    shown = [(name, title, content) for name, title, content in parts if content]
    titles = {name: title for name, title, _ in shown}
    shown.append(("card", "Model card", card_section(facts, made, titles)))
    shown.append(("glossary", "Glossary", glossary_section()))
    audited = "" if facts.audit is None else f", {count(len(facts.audit.sample), 'audited row')}"
    about = (
        f"{count(len(facts.data), 'row')} of recorded data{audited}; the label is {label.column}, with {label.good} as "
        "the favourable one."
    )
    footer = (
        f"Made with problog4fairness {version('problog4fairness')}. This page holds everything it needs; "
        "it loads nothing and runs nothing."
    )
    return Report(
        title=heading,
        html=names.page(page(heading, about, shown, footer)),
        parameters=_parameters(facts),
        changes=_all_groups([division.changes for division in facts.divisions]),
        audited=_all_groups([division.audited for division in facts.divisions if division.audited is not None]),
        comparison=comparison,
        sensitivity=sensitivity,
        suspects=facts.review.shown,
        queue=facts.review.table,
        summary=tuple(map(names.translated, opening)),
        warnings=tuple(map(names.translated, warnings)),
        training_warnings=tuple(training_warnings),
        good=label.good,
        names=names,
    )


def _parameters(facts: Facts) -> pd.DataFrame:
    table = facts.belief.parameter_table().rename(columns={"still_needed": "more_for_10_points"})
    table["meaning"] = [in_labels(meaning, facts.label.values) for meaning in table["meaning"]]
    # An amount, which is no probability, needs no points.
    needed = {each.name: each.still_needed(0.05) for each in probabilities(facts.belief.parameters)}
    return table.assign(more_for_5_points=[needed.get(str(name)) for name in table.index])


def _all_groups(frames: list[pd.DataFrame]) -> pd.DataFrame | None:
    """The groups of all sensitive variables, and everybody once, last; None of no variable."""
    return pd.concat([*(frame.drop(index="all") for frame in frames), frames[0].loc[["all"]]]) if frames else None


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Values of a data frame as JSON knows them."""
    values = {}
    for name, value in row.items():
        value = value.item() if isinstance(value, np.generic) else value
        missing = value is pd.NA or (isinstance(value, float) and math.isnan(value))
        values[str(name)] = None if missing else value if isinstance(value, int | float | str | bool) else str(value)
    return values
