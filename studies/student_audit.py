"""How small may an audit be? What parameters from few rows are off by, and what that costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from problog4fairness.statistics import required_samples
from studies.looks import LOOKS
from studies.student_cells import OURS, PROGRAMS, rarest_cell

if TYPE_CHECKING:
    from studies.student import StudentStudy

ABOUT = (
    "Parameters come from so many rows, drawn at random among all; one imagined row, labelled rightly, is added to "
    "each of the four cells, so that a parameter of which no row tells is 0 and none is 1. With few rows this "
    "takes the rarest parameters, those of positive bias, to 0, and a program towards 'no positive bias'. Mean "
    "and standard deviation over draws."
)
ERROR, CONFIDENCE = 0.1, 0.95
MEANINGS = {"p1": "p1, of boys who passed", "p2": "p2, of girls who passed", "p3": "p3, of boys who failed",
            "p4": "p4, of girls who failed"}  # fmt: skip


def parameter_errors(study: StudentStudy) -> pd.DataFrame:
    """How far the full program's parameters from each audit are from those of all rows.

    Returns
    -------
    A row per size of the audit, draw and parameter: ``audit``, ``seed``, ``parameter``, ``value``, ``all_rows``.
    """
    truth = {rate.name: rate.value for rate in study.beliefs[OURS][0].parameters}
    rows = [
        (size, draw, rate.name, rate.value, truth[rate.name])
        for (name, size), beliefs in study.audited.items()
        if name == OURS
        for draw, belief in beliefs.items()
        for rate in belief.parameters
    ]
    return pd.DataFrame(rows, columns=["audit", "seed", "parameter", "value", "all_rows"])


def rows_by_hoeffding(study: StudentStudy) -> dict[str, int]:
    """For each program, how many rows to audit until 185 of them are expected in its rarest cell.

    With 185 rows of a cell its parameter is known within .1 with 95% confidence, by Hoeffding's inequality.
    """
    needed = required_samples(ERROR, CONFIDENCE)
    return {name: math.ceil(needed / rarest_cell(name, study.data)) for name in PROGRAMS}


def draw(study: StudentStudy, scores: pd.DataFrame) -> Figure:
    """F1 on fair labels against the size of the audit, with the spread over draws.

    Parameters
    ----------
    study
        What was computed.
    scores
        As :func:`scores_of` gives them.
    """
    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    axes = figure.subplots()
    total = len(study.data.fair)
    for name in PROGRAMS:
        _program(axes, scores[scores["method"] == name].sort_values("audit"), name, total)
    lower = scores.loc[scores["method"] == "lower", "mean"]
    if len(lower):
        axes.axhline(lower.iloc[0], color=LOOKS["lower"][0], linestyle="--", label="lower, without an audit", zorder=1)
    axes.plot([], [], color="#444444", linestyle=":", marker="o", fillstyle="none", label=f"all {total:,} rows audited")
    axes.set_xscale("log")
    sizes = [*study.audits, total]
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("audited rows that the parameters come from")
    axes.set_ylabel("F1 on fair labels")
    axes.set_title("mean and standard deviation over draws of the audit", fontsize="medium")
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    return figure


def _program(axes: Axes, own: pd.DataFrame, name: str, total: int) -> None:
    """The line of one program, and where it is with all rows audited."""
    colour, marker = LOOKS[name]
    few, everything = own[own["audit"] > 0], own.loc[own["audit"] == 0, "mean"]
    x, mean, spread = (few[column].to_numpy(dtype=float) for column in ("audit", "mean", "spread"))
    axes.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.13, linewidth=0)
    axes.plot(x, mean, color=colour, marker=marker, markersize=5, label=name)
    if len(everything):
        axes.axhline(everything.iloc[0], color=colour, linewidth=0.7, linestyle=":")
        axes.plot(total, everything.iloc[0], color=colour, marker=marker, markersize=6, fillstyle="none")


def scores_of(summary: pd.DataFrame) -> pd.DataFrame:
    """F1 on fair labels from a ``summary.csv``: ``audit``, ``method``, ``mean``, ``spread`` (over draws)."""
    rows = summary[(summary["labels"] == "fair") & (summary["metric"] == "f1")]
    spread = rows["standard_error"].fillna(0.0) * rows["n"] ** 0.5
    return rows.assign(spread=spread)[["audit", "method", "mean", "spread"]]


def by_draw(results: pd.DataFrame) -> pd.DataFrame:
    """F1 on fair labels, the mean of the folds of each draw: ``audit``, ``method``, ``seed``, ``value``."""
    rows = results[(results["labels"] == "fair") & (results["metric"] == "f1")]
    return rows.groupby(["audit", "method", "seed"], sort=False)["value"].mean().reset_index()


def audit_table(study: StudentStudy, results: pd.DataFrame) -> list[str]:
    """F1 on fair labels by size of the audit, as lines of a Markdown table."""
    scores = by_draw(results)
    sizes = [*study.audits, 0]
    heading = [*(f"{size} rows" for size in study.audits), "all rows"]
    lines = [f"| F1 on fair labels | {' | '.join(heading)} |", "|---|" + "---|" * len(heading)]
    for name in PROGRAMS:
        cells = [_plus_minus(scores.loc[(scores["method"] == name) & (scores["audit"] == size), "value"])
                 for size in sizes]  # fmt: skip
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lower = _plus_minus(scores.loc[scores["method"] == "lower", "value"])
    return [*lines, f"| lower | {' | '.join([''] * len(study.audits))} | {lower} |"]


def _plus_minus(values: pd.Series[float]) -> str:
    if not len(values):
        return ""
    return f"{values.mean():.3f}" + (f" ± {values.std():.3f}" if len(values) > 1 else "")


def error_lines(errors: pd.DataFrame) -> list[str]:
    """The mean and the 95% quantile of the parameters' errors by size of the audit, as a Markdown table."""
    distance = errors.assign(error=(errors["value"] - errors["all_rows"]).abs())
    sizes = sorted(distance["audit"].unique())
    lines = [f"| mean error, 95% quantile | {' | '.join(f'{size} rows' for size in sizes)} |",
             "|---|" + "---|" * len(sizes)]  # fmt: skip
    for name, own in distance.groupby("parameter"):
        groups = [own.loc[own["audit"] == size, "error"] for size in sizes]
        cells = [f"{group.mean():.3f}, {np.quantile(group, CONFIDENCE):.3f}" for group in groups]
        lines.append(f"| {MEANINGS[str(name)]} | {' | '.join(cells)} |")
    return lines


def remarks(study: StudentStudy, results: pd.DataFrame) -> list[str]:
    """Both tables, and how many rows Hoeffding's inequality asks for."""
    wanted = ", ".join(f"{name} {rows:,}" for name, rows in rows_by_hoeffding(study).items())
    return [
        *audit_table(study, results),
        "",
        *error_lines(parameter_errors(study)),
        "",
        "Rows to audit until 185 are expected in the rarest cell of a program, enough to know its parameter within .1 "
        f"with 95% confidence (Hoeffding): {wanted}. There are {len(study.data.fair):,} rows.",
    ]
