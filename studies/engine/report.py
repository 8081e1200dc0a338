"""What a study leaves behind: tables, figures, and its claims."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from problog4fairness.data import ready_folder, write_atomically, write_table
from problog4fairness.metrics import summarise
from studies.engine.claims import Claim, claims_table, counted
from studies.engine.run import Outcome
from studies.engine.study import Study


def write_report(study: Study, outcome: Outcome, folder: Path | str) -> list[Claim]:
    """Write ``results.csv``, ``claims.md``, ``summary.csv`` and the figures as .pdf and .png; the claims."""
    folder, results = ready_folder(folder), outcome.results
    found = study.claims(results) if len(results) else []
    write_table(results, folder / "results.csv")
    write_atomically(folder / "claims.md", claims_text(study, outcome, found))
    if len(results):
        write_table(summary_of(results), folder / "summary.csv")
        for name, table in study.tables(results).items():
            write_table(table, folder / f"{name}.csv")
        for name, figure in study.figures(results).items():
            save(figure, folder, name)
    return found


def summary_of(results: pd.DataFrame) -> pd.DataFrame:
    """Means and standard errors over seeds, without values that could not be measured."""
    by = [column for column in results.columns if column not in ("seed", "fold", "value")]
    return summarise(results.dropna(subset=["value"]), by=by)


def seed_means(results: pd.DataFrame) -> pd.DataFrame:
    """The mean over folds for each seed, from which the claims of a study can be judged again."""
    by = [column for column in results.columns if column not in ("fold", "value")]
    return results.groupby(by, sort=False, as_index=False)["value"].mean().round(6)


def claims_text(study: Study, outcome: Outcome, found: list[Claim]) -> str:
    """The claims as Markdown."""
    held = f": {counted(found)}" if found else ""
    lines = [f"# {study.name}{held}", "", *study.about(), ""]
    lines += [*claims_table(found, study.said), ""] if found else []
    lines += study.remarks(outcome.results) if len(outcome.results) else []
    if outcome.failures:
        lines += ["", "Missing, for these failed:", ""]
        lines += [f"- {name}: {reason}" for name, reason in outcome.failures.items()]
    return "\n".join(lines).rstrip() + "\n"


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as ``name.pdf`` and ``name.png``."""
    kinds: dict[str, dict[str, Any]] = {"pdf": {"metadata": {"CreationDate": None}}, "png": {"dpi": 160}}
    for kind, options in kinds.items():
        content = io.BytesIO()
        figure.savefig(content, format=kind, **options)
        write_atomically(folder / f"{name}.{kind}", content.getvalue())
