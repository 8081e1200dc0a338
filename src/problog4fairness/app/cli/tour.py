"""``p4f demo`` and ``p4f studio``: the whole path, on made-up loans or in the browser."""

from __future__ import annotations

import io
import json
import shlex
from contextlib import redirect_stdout
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from problog4fairness.app.cli import options
from problog4fairness.app.cli.options import option
from problog4fairness.app.cli.output import clear, print_json, say, show
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    import pandas as pd

    from problog4fairness.datasets import LoanData

RECORDED, FAIR, SENSITIVE = "granted", "repaid", "poor_area"
MOST_AUDITED = 400
# What learns in the demo: quick, and as good as a network on these loans.
LEARNER = "linear"
# The files of a demo, by which an earlier one is known; each step's command writes the one that is named after "-o".
FILES = ("loans.csv", "audit.csv", "new.csv", "belief.pl", "loans.p4f", "report.html", "suspects.csv")
ORACLE, RECORDED_ONLY, WITHOUT, THIS = (
    "oracle (fair labels)", "trained on recorded labels", "without the sensitive column", "this model",
)  # fmt: skip


def demo(
    output: Annotated[Path, option("FOLDER", "A folder for all files.", "-o", "--output")] = Path("p4f-demo"),
    rows: Annotated[int, option("N", "Number of loan applications.", min=200)] = 5000,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Estimate, train, compare and report on made-up loans, with the command for each step; about a minute.

    An earlier demo in the folder is replaced; anybody else's files of the same names are not.
    """
    from rich.console import Console

    console = Console(highlight=False, markup=False, soft_wrap=True, quiet=as_json)
    loans = Loans(output, rows, seed)
    results: dict[str, Any] = {}
    clear()

    def begin(title: str, about: str) -> None:
        console.print(f"{len(results) + 1}. {title}", style="bold")
        console.print(about)

    begin(
        "Loans, and an audit",
        f"A bank has {rows:,} applications on file. It turned down many from poor areas who could have repaid, and "
        f"{loans.audited} applications were checked by hand.",
    )
    results["Loans, and an audit"] = loans.write()
    console.print(f"{', '.join(map(str, results['Loans, and an audit']))}\n")
    for title, about, words in loans.commands():
        begin(title, about)
        console.print(f"$ {shlex.join(['p4f', *words])}", style="cyan")
        results[title] = _run(words, as_json)
        console.print()
    begin(
        "Was it right?",
        f"Only a demo knows: {rows:,} new people whose fair labels are certain. This model, beside one that knows the "
        "fair labels, which nobody does, one that learns the recorded labels, and one that leaves the column out.",
    )
    results["Was it right?"], verdict = loans.judged()
    if not as_json:
        show(results["Was it right?"])
        console.print()
    begin("Verdict", "Was it worth it?")
    results["Verdict"] = verdict
    report = output / "report.html"
    if as_json:
        print_json({"report": report, "result": results["Was it right?"], "verdict": verdict, "steps": results})
        return
    say(verdict, "", report)


def _run(words: list[str], as_json: bool) -> Any:
    """Run a command as if it had been typed; gives its JSON where that is asked for, and else shows what it prints."""
    from problog4fairness.app.cli.app import app

    if not as_json:
        app(words, standalone_mode=False)
        return None
    with redirect_stdout(io.StringIO()) as printed:
        app([*words, "--json"], standalone_mode=False)
    return json.loads(printed.getvalue())


class Loans:
    """Made-up loans in a folder: all that a bank has on file, an audit of some, and new people.

    As many new people judge the result as there are applications on file, of which 400, or half, are audited.
    """

    def __init__(self, folder: Path, rows: int, seed: int) -> None:
        self.folder, self.rows, self.seed = folder, rows, seed
        self.audited = min(MOST_AUDITED, rows // 2)

    def write(self) -> list[Path]:
        """Write the three tables; an error where files of these names are not a demo's."""
        from problog4fairness.data import write_table

        filed = self._filed.drop(columns=FAIR)
        self._refuse_others(",".join(filed.columns))
        self.folder.mkdir(parents=True, exist_ok=True)
        files = [self.folder / name for name in FILES[:3]]
        for file, frame in zip(files, (filed, self._made.audit, self._made.new.drop(columns=FAIR)), strict=True):
            write_table(frame, str(file))
        return files

    def commands(self) -> list[tuple[str, str, list[str]]]:
        """The steps that are commands: a title, what happens, and the words after ``p4f``."""
        from datetime import date

        loans, audit, _, belief, model, report, suspects = (str(self.folder / name) for name in FILES)
        labels = ["--recorded", RECORDED, "--sensitive", SENSITIVE, "--favourable", "1"]
        fair = ["--fair", FAIR, "--sampling", "random"]
        seed = ["--seed", str(self.seed)]
        model_of = ["--belief", belief, *labels, "--audit", audit, *fair, "--group-free", "--learner", LEARNER, *seed]
        names = {
            f"{SENSITIVE}=1": "applicants from poor areas",
            f"{SENSITIVE}=0": "applicants from other areas",
            f"{RECORDED}=1": "a loan",
            f"{RECORDED}=0": "no loan",
        }
        named = [word for value, name in names.items() for word in ("--names", f"{value}:{name}")]
        purpose = "To show what a report looks like; these loans were made up"
        return [
            (
                "Estimate",
                "How often was a fair label recorded wrongly, by area? The audited rows say, with 95% intervals.",
                ["estimate", audit, *labels, "--group", "1", *fair, "-o", belief],
            ),
            (
                "Train",
                "A linear model learns the fair label: it must explain the recorded ones through the belief.",
                ["train", loans, *model_of, "-o", model],
            ),
            (
                "Compare",
                "Is it better than doing nothing, or something simpler? Trained on parts of the data, tested on the "
                "rest, by the audited labels.",
                ["compare", loans, *model_of, "--seeds", "3", "--folds", "3", "-o", str(self.folder)],
            ),
            (
                "Report",
                "Everything on one page, with what could be wrong about it.",
                ["report", model, "--data", loans, "--audit", audit, *fair, "--purpose", purpose, "--date",
                 date.today().isoformat(), *seed, *named, "--comparison", str(self.folder), "-o", report,
                 "--suspects", suspects],
            ),
        ]  # fmt: skip

    def judged(self) -> tuple[pd.DataFrame, str]:
        """On new people, by their fair labels: accuracy and shares who get a loan of four ways to decide; the verdict.

        The verdict is what this model gains over leaving the column out, and who gets a loan by it.
        """
        import pandas as pd

        from problog4fairness.evaluation import Gain
        from problog4fairness.metrics import METRICS

        new, decisions = self._made.new, self._decisions()
        rows = {
            method: {
                "accuracy": METRICS["accuracy"](new[FAIR], decided),
                "poor areas get a loan": float(decided[new[SENSITIVE] == 1].mean()),
                "other areas": float(decided[new[SENSITIVE] == 0].mean()),
            }
            for method, decided in decisions.items()
        }
        gain = Gain.of(new[FAIR], decisions[THIS], decisions[WITHOUT])
        verdict = f"Against leaving the column out: {gain.sentence(len(new), 'a loan')}. {gain.covers}"
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method"), verdict

    def _decisions(self) -> dict[str, pd.Series[int]]:
        """What four ways to decide say of the new people; the first is what nobody can have."""
        import pandas as pd

        from problog4fairness.estimators import DebiasedClassifier

        features = list(self._made.features)
        columns = {ORACLE: [*features, SENSITIVE], RECORDED_ONLY: [*features, SENSITIVE], WITHOUT: features}
        models = {
            method: DebiasedClassifier(learner=LEARNER, favourable=1, random_state=self.seed).fit(
                self._filed[read], self._filed[FAIR if method == ORACLE else RECORDED]
            )
            for method, read in columns.items()
        }
        models[THIS] = DebiasedClassifier.load(self.folder / "loans.p4f")
        return {
            method: pd.Series(model.predict(self._made.new[list(model.feature_names_in_)]).astype(int))
            for method, model in models.items()
        }

    def _refuse_others(self, header: str) -> None:
        """Raise an error where the folder holds somebody's files: a demo's are known by the header of its loans."""
        from problog4fairness.app.report import COMPARISON_FILES

        taken = [self.folder / name for name in (*FILES, *COMPARISON_FILES) if (self.folder / name).exists()]
        if not taken:
            return
        loans = self.folder / "loans.csv"
        with loans.open("rb") if loans.is_file() else io.BytesIO() as file:
            if file.readline(1000).decode(errors="replace").strip() != header:
                raise P4FError(f"{taken[0]} is there already and is not a demo's; choose another folder")

    @cached_property
    def _made(self) -> LoanData:
        from problog4fairness import datasets

        return datasets.loans(rows=self.rows - self.audited, audited=self.audited, new=self.rows, seed=self.seed)

    @cached_property
    def _filed(self) -> pd.DataFrame:
        """All that the bank has on file, the audited rows among them, with the fair labels that nobody has."""
        import numpy as np
        import pandas as pd

        made = self._made
        rows = pd.concat([made.loans.assign(**{FAIR: made.loans_repaid}), made.audit], ignore_index=True)
        return rows.iloc[np.random.default_rng(self.seed).permutation(len(rows))].reset_index(drop=True)


def studio(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE", help="A table (CSV or Parquet), or the folder of a project.", show_default=False
        ),
    ] = None,
    folder: Annotated[
        Path | None, option("FOLDER", "The project's folder. Default: p4f-studio, or FILE-studio.", "-o", "--output")
    ] = None,
    port: Annotated[int, option("N", "Where to listen; 0 takes a free port.", min=0, max=65535)] = 0,
    host: Annotated[str, option("ADDRESS", "Another address than this machine's lets others in.")] = "127.0.0.1",
    password: Annotated[str | None, option("TEXT", "Needed with --host; at least 8 letters.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """State a belief, audit rows, train, compare and write the report on a page in the browser.

    The page is on this machine and for you alone: its address has a secret in it. Nothing is sent anywhere. A project
    is a folder with the same files that the other commands read and write.
    """
    from filecmp import cmp

    from problog4fairness.app.studio import Project, serve

    if source is not None and not source.exists():
        raise P4FError(f"{source}: there is no such file or folder")
    if source is not None and source.is_dir():
        place = source
    else:
        place = folder or (Path("p4f-studio") if source is None else source.with_name(f"{source.stem}-studio"))
    if source is not None and not source.is_dir():
        project = Project.open(place)
        if project.choices.table is None or not cmp(project.table_file, source, shallow=False):
            project.begin(source)
    serve(place, port=port, host=host, password=password, browser=browser, say=say)
