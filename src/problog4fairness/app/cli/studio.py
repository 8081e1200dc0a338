"""``p4f studio``: the whole path in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from problog4fairness.app.cli.output import say
from problog4fairness.errors import P4FError


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
