"""Long work, each as a function of plain data: what runs in a process of its own."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.rows import FileWarning, read_table
from problog4fairness.studio.project import AUDIT, MODEL, REPORT, Project
from problog4fairness.studio.work import Tell

if TYPE_CHECKING:
    import pandas as pd

# Rows that are shown behind a test.
SHOWN = 20


def _audit(project: Project) -> pd.DataFrame | None:
    """The audited rows that have a fair label, if there are any."""
    if not project.has(AUDIT):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FileWarning)  # the column may still be empty
        audit = read_table(project.path(AUDIT))
    audit = audit[audit[project.choices.fair].notna()].reset_index(drop=True)
    return audit if len(audit) else None


def doubt(tell: Tell, folder: str) -> dict[str, Any]:
    """Test the project's belief against its data."""
    from problog4fairness.doubt import check

    project = Project.open(Path(folder))
    said, audit = project.choices, _audit(project)
    tell({"step": "testing"})
    found = check(
        project.belief(),
        project.frame,
        recorded=said.recorded,
        audit=audit,
        fair=None if audit is None else said.fair,
        favourable=said.favourable,
        independent=said.independent,
        drop=said.drop,
        random_state=said.seed,
        progress=False,
    )
    tests = [
        {
            "name": own.name,
            "question": own.question,
            "found": own.found,
            "p": own.p_text,
            "done": own.done,
            "contradicts": own.contradicts,
            "advice": own.advice,
            "columns": [str(name) for name in own.rows.columns],
            "rows": [list(map(str, values)) for values in own.rows.head(SHOWN).itertuples(index=False)],
        }
        for own in found
    ]
    return {"tests": tests, "verdict": found.verdict, "contradicted": found.contradicted, "notes": list(found.notes)}


def stress(tell: Tell, folder: str) -> dict[str, Any]:
    """How far the audit's uncertainty reaches, and where the gap would close."""
    from problog4fairness.classifier import DebiasedClassifier
    from problog4fairness.classifier.table import training_rows

    project = Project.open(Path(folder))
    said, audit = project.choices, _audit(project)
    model = DebiasedClassifier.load(project.path(MODEL))
    rows = training_rows(
        project.frame,
        model.belief_,
        recorded=said.recorded or "",
        sensitive=said.sensitive,
        audit=audit,
        fair=None if audit is None else said.fair,
        favourable=said.favourable,
        drop=list(said.drop),
        independent=said.independent,
    )
    known: dict[str, Any] = {"sensitive_features": rows.groups, "fair": rows.fair, "progress": False}
    tell({"step": "bands"})
    bands = model.bands(rows.features, rows.label, random_state=said.seed, **known)
    tell({"step": "bounds"})
    bounds = model.bounds(rows.features, rows.label, **known)
    return {
        "bands": bands.words(),
        "people": {"firm": len(bands.people) - bands.open, "open": bands.open},
        "summary": bands.summary.to_dict("records"),
        "bounds": bounds.words(),
    }


def train(tell: Tell, folder: str) -> dict[str, Any]:
    """Train the project's model and save it; what there is to say about it."""
    from problog4fairness.classifier.learner_words import learner_words
    from problog4fairness.classifier.table import train_on_table
    from problog4fairness.learners.progress import listening

    project = Project.open(Path(folder))
    said = project.choices
    audit = _audit(project)
    tell({"step": "reading"})

    def hear(label: str, epoch: float, loss: float, share: float) -> None:
        tell({"label": label, "epoch": epoch, "loss": loss, "share": share})

    with listening(hear):
        model, rows = train_on_table(
            project.frame,
            project.belief(),
            recorded=said.recorded or "",
            sensitive=said.sensitive,
            audit=audit,
            fair=None if audit is None else said.fair,
            favourable=said.favourable,
            drop=list(said.drop),
            independent=said.independent,
            learner=said.learner,
            random_state=said.seed,
        )
    model.save(project.path(MODEL))
    return {
        "rows": len(rows.features),
        "left_out": rows.dropped,
        "audited": model.audited_,
        "features": [str(name) for name in rows.features.columns],
        "words": learner_words(model),
        "concerns": list(model.concerns_),
    }


def report(tell: Tell, folder: str, comparison: bool) -> dict[str, Any]:
    """Write the project's page; its summary."""
    from problog4fairness.classifier import DebiasedClassifier
    from problog4fairness.reporting.tables import report_tables

    project = Project.open(Path(folder))
    said = project.choices
    audit = _audit(project)
    tell({"step": "comparing" if comparison else "writing"})
    made = report_tables(
        DebiasedClassifier.load(project.path(MODEL)),
        project.frame,
        audit=audit,
        fair=None if audit is None else said.fair,
        comparison=comparison,
        seed=said.seed,
        progress=False,
    )
    made.save(project.path(REPORT))
    return {"summary": list(made.summary)}
