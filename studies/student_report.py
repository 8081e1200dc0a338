"""What the student study leaves behind: tables, figures and claims."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from problog4fairness.comparison import Comparison
from problog4fairness.experiments.claims import Claim, claims_table
from problog4fairness.experiments.figures import save
from problog4fairness.experiments.student.audit import (
    audit_table,
    draw_audit,
    error_lines,
    parameter_errors,
    rows_by_hoeffding,
)
from problog4fairness.experiments.student.claims import student_claims
from problog4fairness.experiments.student.run import StudentOutcome
from problog4fairness.experiments.student.study import StudentStudy
from problog4fairness.metrics import statistical_disparity, summarise
from problog4fairness.rows.writing import ready_folder, write_table, write_whole


def write_student_report(study: StudentStudy, outcome: StudentOutcome, folder: Path | str) -> list[Claim]:
    """Write the report of a run; the claims.

    ``results.csv``, ``summary.csv`` and ``claims.md``; the figures ``figure`` (F1 against statistical disparity) and
    ``equalized_odds`` as PDF and PNG; or with audits ``parameters.csv`` and the figure ``audit``.
    """
    folder = ready_folder(folder)
    results = outcome.results
    found = [] if study.audits or not len(results) else student_claims(results, disparities(study)["fair"])
    write_table(results, folder / "results.csv")
    if len(results):
        by = ["audit", "method", "labels", "metric"]
        write_table(summarise(results.dropna(subset="value"), by=by), folder / "summary.csv")
    if study.audits:
        errors = parameter_errors(study)
        write_table(errors, folder / "parameters.csv")
        if len(results):
            save(draw_audit(study, results, errors), folder, "audit")
        body = _audit_lines(study, results, errors)
    else:
        if len(results):
            save(draw_methods(study, results, "disparity"), folder)
            save(draw_methods(study, results, "equalized_odds"), folder, "equalized_odds")
        body = _claim_lines(study, results, found)
    write_whole(folder / "claims.md", _text(study, outcome, found, body))
    return found


def disparities(study: StudentStudy) -> dict[str, float]:
    """The statistical disparity of the fair and of the recorded labels."""
    labels = {"fair": study.data.fair, "recorded": study.data.recorded}
    return {
        name: statistical_disparity(label, sensitive_features=study.data.sensitive) for name, label in labels.items()
    }


def comparison(study: StudentStudy, results: pd.DataFrame) -> Comparison:
    """The results as a comparison of methods."""
    rows = len(study.data.fair)
    return Comparison(results.drop(columns="audit"), disparities(study), rows=rows, audited=rows)


def draw_methods(study: StudentStudy, results: pd.DataFrame, x: str) -> Figure:
    """F1 against a measure of fairness, judged by fair labels and, beside it on the same scale, by biased ones."""
    figure = comparison(study, results).plot(x=x, y="f1")  # type: ignore[arg-type]
    low, high = (pick(axes.get_ylim()[end] for axes in figure.axes) for end, pick in ((0, min), (1, max)))
    for axes, title in zip(figure.axes, ("tested on fair labels", "tested on biased labels: the trap"), strict=True):
        axes.set_ylim(low, high)
        axes.locator_params(axis="x", nbins=6)
        axes.set_title(title, fontsize="medium")
    return figure


def _text(study: StudentStudy, outcome: StudentOutcome, found: list[Claim], body: list[str]) -> str:
    held = f": {sum(claim.holds for claim in found)} of {len(found)} claims hold" if found else ""
    training, data = study.training, study.data
    repetitions = "draws of audited rows" if study.audits else "seeds"
    split = "no pupil on both sides of a split" if study.split == "grouped" else "random splits"
    lines = [
        f"# {study.name}{held}",
        "",
        f"{len(data.fair)} rows, biased labels by {data.reading}; {len(study.seeds)} {repetitions} × {study.folds} "
        f"folds, {split}, stratified by sex and both labels. Networks of {len(training.hidden)} × "
        f"{training.hidden[0]}, at most {training.max_epochs} epochs; {training.patience} without a lower validation "
        "loss end a fit.",
        "",
    ]
    if study.warnings:
        lines += ["Warnings about the parameters from all rows:", "", *(f"- {line}" for line in study.warnings), ""]
    lines += body
    if outcome.failures:
        lines += ["", "Missing, for these failed:", ""]
        lines += [f"- {name}: {reason}" for name, reason in outcome.failures.items()]
    return "\n".join(lines) + "\n"


def _claim_lines(study: StudentStudy, results: pd.DataFrame, found: list[Claim]) -> list[str]:
    lines = [
        "Differences are means over seeds with 95% intervals, each seed the mean of its folds; a claim holds or does "
        "not by its mean. The intervals speak of splits and networks on these pupils, not of other pupils. The paper "
        "does not say by which metric baselines look better on biased labels: F1 was looked at first, accuracy after.",
        "",
        *claims_table(found),
    ]
    if not len(results):
        return lines
    tables = {name: comparison(study, results).table(name) for name in ("fair", "recorded")}
    wide = {
        f"{words}, {kind} labels": (labels, metric)
        for metric, words in (("f1", "F1"), ("accuracy", "accuracy"))
        for labels, kind in (("fair", "fair"), ("recorded", "biased"))
    }
    wide |= {
        "disparity": ("fair", "disparity"),
        "equalized odds, fair labels": ("fair", "equalized_odds"),
        "share that passes": ("fair", "positive_rate"),
    }
    lines += ["", f"| method | {' | '.join(wide)} |", "|---|" + "---|" * len(wide)]
    for method in tables["fair"].index:
        cells = [str(tables[labels].loc[method, metric]) for labels, metric in wide.values()]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    gaps, shares = disparities(study), {"fair": study.data.fair.mean(), "biased": study.data.recorded.mean()}
    everybody = ", ".join(f"{2 * share / (1 + share):.3f} on {kind} labels" for kind, share in shares.items())
    return [
        *lines,
        "",
        f"Disparity of the labels themselves: fair {gaps['fair']:.3f}, biased {gaps['recorded']:.3f}.",
        f"To pass everybody, without looking, gives an F1 of {everybody}: most pupils pass, and F1 rewards saying so. "
        "Read it together with the share that passes.",
    ]


def _audit_lines(study: StudentStudy, results: pd.DataFrame, errors: pd.DataFrame) -> list[str]:
    needed = rows_by_hoeffding(study)
    total = len(study.data.fair)
    wanted = ", ".join(f"{name} {rows:,}" for name, rows in needed.items())
    return [
        "Parameters come from so many rows, drawn at random among all; one imagined row, labelled rightly, is added to "
        "each of the four cells, so that a parameter of which no row tells is 0 and none is 1. With few rows this "
        "takes the rarest parameters, those of positive bias, to 0, and a program towards 'no positive bias'. Mean "
        "and standard deviation over draws.",
        "",
        *(audit_table(study, results) if len(results) else []),
        "",
        *error_lines(errors),
        "",
        "Rows to audit until 185 are expected in the rarest cell of a program, enough to know its parameter within .1 "
        f"with 95% confidence (Hoeffding): {wanted}. There are {total:,} rows.",
    ]
