"""What a study leaves behind: two tables, a figure, and its claims."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from problog4fairness.experiments.claims import Claim, claims, claims_table
from problog4fairness.experiments.figures import draw, save
from problog4fairness.experiments.run import Outcome
from problog4fairness.experiments.study import Study
from problog4fairness.metrics import summarise
from problog4fairness.rows.writing import ready_folder, write_table, write_whole


def summary_of(results: pd.DataFrame) -> pd.DataFrame:
    """Means and standard errors at each point, over seeds."""
    return summarise(results, by=["bias", "x", "method", "metric"])


def write_report(study: Study, outcome: Outcome, folder: Path | str) -> list[Claim]:
    """Write ``results.csv``, ``summary.csv``, ``figure.pdf``, ``figure.png`` and ``claims.md``; the claims."""
    folder = ready_folder(folder)
    found = claims(study.name, outcome.results)
    write_table(outcome.results, folder / "results.csv")
    write_whole(folder / "claims.md", claims_text(study, outcome, found))
    if len(outcome.results):
        summary = summary_of(outcome.results)
        write_table(summary, folder / "summary.csv")
        save(draw(study, summary), folder)
    return found


def claims_text(study: Study, outcome: Outcome, found: list[Claim]) -> str:
    """The claims as Markdown."""
    held = sum(claim.holds for claim in found)
    lines = [
        f"# {study.name}: {held} of {len(found)} claims hold",
        "",
        f"{len(study.seeds)} seeds × {study.folds} folds, {study.rows} people for each seed; at most "
        f"{study.training.max_epochs} epochs, {study.training.patience} without a lower validation loss end a fit.",
        "Numbers are means with 95% intervals over seeds; the place that is furthest off decides.",
        "",
        *claims_table(found),
    ]
    if outcome.failures:
        lines += ["", "Missing, for these stacks failed:", ""]
        lines += [f"- {name}: {reason}" for name, reason in outcome.failures.items()]
    return "\n".join(lines) + "\n"
