"""From a CSV to a fair model and a report, on loans that were made up, one step after the other."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from datetime import date
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from problog4fairness import datasets
from problog4fairness.app.report.bundle import Inputs
from problog4fairness.app.report.refits import FOLDS, SEEDS
from problog4fairness.app.report.stored import COMPARISON_FILES, save_comparison
from problog4fairness.audit import Audit, AuditTable
from problog4fairness.beliefs import belief_text, named_belief
from problog4fairness.data import FileNote, read_table, write_table, write_whole
from problog4fairness.errors import P4FError
from problog4fairness.estimators import DebiasedClassifier, belief_for, stated_audit, train_on_table
from problog4fairness.evaluation import Gain, compare_rows, compared_rows
from problog4fairness.metrics import METRICS

RECORDED, FAIR, SENSITIVE = "granted", "repaid", "poor_area"
ROWS, AUDITED = 5000, 400
FILES = ("loans.csv", "audit.csv", "new.csv", "belief.pl", "loans.p4f", "report.html", "suspects.csv")
# What learns in the demo: quick, and as good as a network on these loans.
LEARNER = "linear"
NAMES = {
    "poor_area = 1": "applicants from poor areas",
    "poor_area = 0": "applicants from other areas",
    "granted = 1": "a loan",
    "granted = 0": "no loan",
}
PURPOSE = "To show what a report looks like; these loans were made up"
ORACLE, RECORDED_ONLY, WITHOUT, THIS = (
    "oracle (fair labels)", "trained on recorded labels", "without the sensitive column", "this model",
)  # fmt: skip


class Step(NamedTuple):
    """One step of the demo: its name, its heading and what happens in it; ``run`` gives a text or a table to show."""

    name: str
    title: str
    about: str
    run: Callable[[], Any]


class Demo:
    """The main job on made-up loans, in a folder.

    Parameters
    ----------
    folder
        Where the files go; it is made if need be.
    seed
        Of the loans, of training and of the comparison.
    rows
        Applications on file; as many new people judge the result, and 400 of them, or half, are audited.

    Examples
    --------
    ``for step in Demo("demo").steps: print(step.title, step.run())``
    """

    def __init__(self, folder: str | PathLike[str], seed: int = 0, rows: int = ROWS) -> None:
        self.folder = Path(folder)
        self.seed, self.rows, self.audited = seed, rows, min(AUDITED, rows // 2)
        self.date = date.today().isoformat()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps, to be run in order."""
        loans = (
            f"A bank has {self.rows:,} applications on file. It turned down many from poor areas who could have "
            f"repaid, and {self.audited} applications were checked by hand."
        )
        judged = (
            f"Only a demo knows: {self.rows:,} new people whose fair labels are certain. This model, beside one that "
            "knows the fair labels, which nobody does, one that learns the recorded labels, and one that leaves the "
            "column out."
        )
        estimated = "How often was a fair label recorded wrongly, by area? The audited rows tell, with 95% intervals."
        trained = "A linear model learns the fair label: it must explain the recorded ones through the belief."
        compared = (
            "Is it better than doing nothing, or something simpler? Trained on parts of the data, tested on the rest, "
            "by the audited labels."
        )
        return (
            Step("make", "Loans, and an audit", loans, self.make),
            Step("estimate", "Estimate", estimated, self.estimate),
            Step("train", "Train", trained, self.train),
            Step("compare", "Compare", compared, self.compare),
            Step("report", "Report", "Everything on one page, with what could be wrong about it.", self.report),
            Step("judge", "Was it right?", judged, self.judge),
            Step("verdict", "Verdict", "Was it worth it?", self.verdict),
        )

    def make(self) -> str:
        """Write ``loans.csv``, ``audit.csv`` and ``new.csv``; an error where files of these names are not a demo's."""
        drawn, filed = self._drawn, self._filed.drop(columns=FAIR)
        self._refuse_others(",".join(filed.columns))
        self.folder.mkdir(parents=True, exist_ok=True)
        write_table(filed, str(self.folder / "loans.csv"))
        write_table(drawn.audit, str(self.folder / "audit.csv"))
        write_table(drawn.new.drop(columns=FAIR), str(self.folder / "new.csv"))
        return ", ".join(str(self.folder / name) for name in FILES[:3])

    def estimate(self) -> pd.DataFrame:
        """Write ``belief.pl``; gives the parameters as a table."""
        name = str(self.folder / "audit.csv")
        table = AuditTable(
            self._read("audit.csv"), name, SENSITIVE, RECORDED, FAIR, favourable=1, group=1, sampling="random"
        )
        belief = named_belief("label", table).estimate_table(table)
        write_whole(self.folder / "belief.pl", belief_text(belief, table.notes(belief)))
        return belief.parameter_table()

    def train(self) -> str:
        """Write ``loans.p4f``; says on how many rows and for how long it was trained."""
        loans = self._read("loans.csv")
        model, rows = train_on_table(
            loans,
            self._belief(loans),
            recorded=RECORDED,
            sensitive=SENSITIVE,
            audit=self._audit(loans),
            fair=FAIR,
            favourable=1,
            use_sensitive=False,
            learner=LEARNER,
            random_state=self.seed,
            verbose=True,
        )
        model.save(self.folder / "loans.p4f")
        return f"{len(rows.features):,} rows: {self.folder / 'loans.p4f'}"

    def compare(self) -> pd.DataFrame:
        """Write the comparison's files; gives its table."""
        loans = self._read("loans.csv")
        belief = self._belief(loans)
        rows = compared_rows(
            loans, [belief], recorded=RECORDED, sensitive=SENSITIVE, audit=self._audit(loans), fair=FAIR, favourable=1
        )
        model = DebiasedClassifier(belief, LEARNER, use_sensitive=False)
        seeds = [self.seed + number for number in range(SEEDS)]
        comparison = compare_rows(rows, model, seeds=seeds, folds=FOLDS)
        save_comparison(comparison, self.folder, belief)
        return comparison.table()

    def report(self) -> str:
        """Write ``report.html``; gives its summary."""
        made = self.inputs.report()
        made.save(self.folder / "report.html")
        made.save_queue(self.folder / "suspects.csv")
        return "\n".join([*made.summary, str(self.folder / "report.html")])

    @property
    def inputs(self) -> Inputs:
        """What the report is made from."""
        return Inputs(
            self.folder / "loans.p4f",
            str(self.folder / "loans.csv"),
            self.folder / "audit.csv",
            {"fair": FAIR, "sampling": "random", "purpose": PURPOSE, "date": self.date, "seed": self.seed},
            NAMES,
            self.folder,
        )

    def judge(self) -> pd.DataFrame:
        """On new people, by their fair labels: accuracy, and the share who get a loan, of four ways to decide."""
        new = self._drawn.new
        rows = {
            method: {
                "accuracy": METRICS["accuracy"](new[FAIR], decided),
                "poor areas get a loan": float(decided[new[SENSITIVE] == 1].mean()),
                "other areas": float(decided[new[SENSITIVE] == 0].mean()),
            }
            for method, decided in self.decisions.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")

    def verdict(self) -> str:
        """What this model gains over leaving the column out, and who gets a loan by it who should and should not."""
        new, decided = self._drawn.new, self.decisions
        gain = Gain.of(new[FAIR], decided[THIS], decided[WITHOUT])
        return f"Against leaving the column out: {gain.sentence(len(new), 'a loan')}. {gain.covers}"

    @cached_property
    def decisions(self) -> dict[str, pd.Series[int]]:
        """What four ways to decide say of the new people; the first is what nobody can have."""
        filed, new, features = self._filed, self._drawn.new, list(self._drawn.features)
        seen = {ORACLE: [*features, SENSITIVE], RECORDED_ONLY: [*features, SENSITIVE], WITHOUT: features}
        models = {
            method: DebiasedClassifier(learner=LEARNER, favourable=1, random_state=self.seed).fit(
                filed[columns], filed[FAIR if method == ORACLE else RECORDED]
            )
            for method, columns in seen.items()
        }
        models[THIS] = DebiasedClassifier.load(self.folder / "loans.p4f")
        return {
            method: pd.Series(model.predict(new[list(model.feature_names_in_)]).astype(int))
            for method, model in models.items()
        }

    def _audit(self, loans: pd.DataFrame) -> Audit:
        """The audited applications, drawn at random."""
        return stated_audit(self._read("audit.csv"), loans, FAIR, "random", None)

    def _refuse_others(self, header: str) -> None:
        """Raise an error where the folder holds somebody's files: a demo's are known by the header of its loans."""
        taken = [self.folder / name for name in (*FILES, *COMPARISON_FILES) if (self.folder / name).exists()]
        if not taken:
            return
        loans = self.folder / "loans.csv"
        with loans.open("rb") if loans.is_file() else io.BytesIO() as file:
            if file.readline(1000).decode(errors="replace").strip() != header:
                raise P4FError(f"{taken[0]} is there already and is not a demo's; choose another folder")

    @cached_property
    def _drawn(self) -> datasets.LoanData:
        return datasets.loans(rows=self.rows - self.audited, audited=self.audited, new=self.rows, seed=self.seed)

    @cached_property
    def _filed(self) -> pd.DataFrame:
        """All that the bank has on file, the audited rows among them, with the fair labels that nobody has."""
        drawn = self._drawn
        rows = pd.concat([drawn.loans.assign(**{FAIR: drawn.loans_repaid}), drawn.audit], ignore_index=True)
        return rows.iloc[np.random.default_rng(self.seed).permutation(len(rows))].reset_index(drop=True)

    def _read(self, name: str) -> pd.DataFrame:
        return read_table(self.folder / name)

    def _belief(self, loans: pd.DataFrame) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FileNote)
            return belief_for(self.folder / "belief.pl", loans, sensitive=SENSITIVE)
