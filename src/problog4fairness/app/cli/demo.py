"""``p4f demo``: from a CSV to a fair model and a report, on made-up loans."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from problog4fairness.app.cli.options import Json, Seed
from problog4fairness.app.cli.output import clear, print_json, say, show

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
