"""``p4f demo`` and ``p4f studio``: the whole path, on made-up loans or in the browser."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from problog4fairness.app.cli.options import Json, Seed
from problog4fairness.app.cli.output import clear, print_json, say, show
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.app.report import Demo


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="A folder for all files.")] = Path(
        "p4f-demo"
    ),
    rows: Annotated[int, typer.Option(min=200, metavar="N", help="Number of loan applications.")] = 5000,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Estimate, train, compare and report on made-up loans, with the command for each step; about a minute.

    An earlier demo in the folder is replaced; anybody else's files of the same names are not.
    """
    import pandas as pd
    from rich.console import Console

    from problog4fairness.app.report import Demo

    made = Demo(output, seed, rows)
    commands = _commands(made)
    console = Console(highlight=False, markup=False, soft_wrap=True, quiet=as_json)
    results = {}
    clear()
    for number, step in enumerate(made.steps, start=1):
        console.print(f"{number}. {step.title}", style="bold")
        console.print(step.about)
        if step.name in commands:
            console.print(f"$ {commands[step.name]}", style="cyan")
        result = step.run()
        results[step.title] = result
        if not as_json:
            if isinstance(result, pd.DataFrame):
                show(result)
            else:
                console.print(str(result))
            console.print()
    report = output / "report.html"
    if as_json:
        print_json(
            {"report": report, "result": results["Was it right?"], "verdict": results["Verdict"], "steps": results}
        )
        return
    say(report)


def _commands(demo: Demo) -> dict[str, str]:
    """For each step that has one, the command that does it."""
    from problog4fairness.app.report import FAIR, FILES, FOLDS, RECORDED, SEEDS, SENSITIVE

    loans, audit, _, belief, model, _, suspects = (quote(str(demo.folder / name)) for name in FILES)
    labels = f"--recorded {RECORDED} --sensitive {SENSITIVE} --favourable 1"
    random = "--sampling random"
    audited, seed = f"--audit {audit} --fair {FAIR} {random}", f"--seed {demo.seed}"
    return {
        "estimate": f"p4f estimate {audit} {labels} --group 1 --fair {FAIR} {random} -o {belief}",
        "train": f"p4f train {loans} --belief {belief} {labels} {audited} --group-free --learner linear "
        f"{seed} -o {model}",
        "compare": f"p4f compare {loans} --belief {belief} {labels} {audited} --group-free --learner linear "
        f"--seeds {SEEDS} --folds {FOLDS} {seed} -o {quote(str(demo.folder))}",
        "report": f"{demo.inputs.command(demo.folder / 'report.html')} --suspects {suspects}",
    }


def studio(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE", help="A table (CSV or Parquet), or the folder of a project.", show_default=False
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FOLDER", help="The project's folder; by default p4f-studio, or FILE-studio."
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="Where to listen; 0 takes a free port.")] = 0,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Another address than this machine's lets others in.")
    ] = "127.0.0.1",
    password: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Needed with --host; at least 8 letters.")
    ] = None,
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
