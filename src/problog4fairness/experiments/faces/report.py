"""What the face study leaves behind: two tables, two figures, and its claims."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from problog4fairness.experiments.claims import Claim, claims_table
from problog4fairness.experiments.faces.claims import face_claims
from problog4fairness.experiments.faces.figures import draw
from problog4fairness.experiments.faces.plan import FaceStudy
from problog4fairness.experiments.figures import save
from problog4fairness.experiments.run import Outcome
from problog4fairness.metrics import summarise
from problog4fairness.rows.writing import ready_folder, write_table, write_whole


def write_face_report(study: FaceStudy, outcome: Outcome, folder: Path | str) -> list[Claim]:
    """Write ``results.csv``, ``summary.csv``, ``claims.md``, and both figures as .pdf and .png; the claims."""
    folder = ready_folder(folder)
    results = outcome.results
    found = face_claims(results) if len(results) else []
    write_table(results, folder / "results.csv")
    write_whole(folder / "claims.md", claims_text(study, outcome, found))
    if len(results):
        write_table(summary_of(results), folder / "summary.csv")
        save(draw(results, "disparity"), folder, "figure")
        save(draw(results, "equalized_odds"), folder, "equalized_odds")
    return found


def summary_of(results: pd.DataFrame) -> pd.DataFrame:
    """Means and standard errors over seeds; without values that could not be measured."""
    return summarise(results.dropna(subset=["value"]), by=["method", "metric", "attribute"])


def claims_text(study: FaceStudy, outcome: Outcome, found: list[Claim]) -> str:
    """The claims as Markdown."""
    held, training = sum(claim.holds for claim in found), study.training
    what = f"{study.rows} drawn faces" if study.data == "drawn" else "CelebA"
    lines = [
        f"# faces: {held} of {len(found)} claims hold",
        "",
        f"{what} of {study.size} × {study.size} pixels, network `{study.network}`, {len(study.seeds)} seeds; "
        f"learning rate {training.learning_rate:g}, batches of {training.batch_size}, at most {training.max_epochs} "
        "epochs, of which the one with the lowest validation loss is kept.",
        "Numbers are means over seeds of differences within a seed, with 95% intervals. Seeds differ in first weights "
        "and in the order of the pictures; the pictures are the same, so the intervals say nothing about other ones.",
        "The parameters come from both labels of the training partition. In the chain of three attributes they cannot "
        "be told apart one by one: the whole chain's P(recorded | fair, attributes) can, and it is what training uses.",
        "",
        *claims_table(found),
    ]
    if outcome.failures:
        lines += ["", "Missing, for these runs failed:", ""]
        lines += [f"- {name}: {reason}" for name, reason in outcome.failures.items()]
    return "\n".join(lines) + "\n"
