"""The first screen: the table, and which column is what."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import events, ui

from problog4fairness import datasets
from problog4fairness.errors import P4FError
from problog4fairness.rows import TableError, identifiers, write_table
from problog4fairness.rows.values import values_of
from problog4fairness.studio.facts import Column, columns_of
from problog4fairness.studio.parts import box, columns, guarded, heading, same, soft, text, title
from problog4fairness.studio.server import LARGEST_UPLOAD
from problog4fairness.studio.state import Go, Studio

SHOWN = 25
MAX_CHOICES = 50


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    title("Data", "A table with one row for each person or case, as CSV or Parquet. It stays on this machine.")
    if studio.project.choices.table is None:
        _empty(studio, go)
        return
    try:
        frame = studio.project.frame
    except (P4FError, OSError) as error:
        box(" ".join(str(error).split()), "bad")
        _empty(studio, go)
        return
    text("p", f"{Path(studio.project.choices.table).name}: {len(frame):,} rows, {len(frame.columns)} columns")
    if studio.project.remarks:
        box(studio.project.remarks)
    _roles(studio, go)
    heading("Columns")
    waiting = ui.spinner()
    cards = ui.element("div").classes("cards")

    async def look() -> None:
        found = await asyncio.to_thread(columns_of, frame)
        odd = set(map(str, identifiers(frame)))
        waiting.delete()
        with cards:
            for column in found:
                _card(studio, column, column.name in odd)

    ui.timer(0, look, once=True)
    heading("Rows")
    _rows(studio)
    ui.button("Another table", on_click=guarded(lambda: _forget(studio, go))).props("flat no-caps").classes(
        "self-start"
    )
    name = Path(studio.project.choices.table).name
    same(studio.project.command("plan", "--data", name), f'frame = pd.read_csv("{name}")')


def _empty(studio: Studio, go: Go) -> None:
    async def took(event: events.UploadEventArguments) -> None:
        suffix = Path(event.file.name).suffix.lower()
        if suffix not in (".csv", ".tsv", ".txt", ".parquet"):
            raise TableError("a table is a file whose name ends with .csv or .parquet")
        name = f"table{suffix}"
        await event.file.save(studio.project.path(name))
        studio.project.begin(studio.project.path(name))
        go("data")

    def demo() -> None:
        write_table(datasets.loans().loans, str(studio.project.path("loans.csv")))
        studio.project.choose(
            table="loans.csv", recorded="granted", favourable="1", sensitive="poor_area", group="1", drop=()
        )
        go("data")

    upload = ui.upload(
        label="Drop a CSV or Parquet file here, or choose one with +",
        on_upload=guarded(took),
        on_rejected=lambda: ui.notify(f"files have at most {LARGEST_UPLOAD >> 20} MiB here; p4f studio FILE"),
        max_file_size=LARGEST_UPLOAD,
        auto_upload=True,
    )
    upload.props('accept=".csv,.tsv,.txt,.parquet" flat bordered').style("width: min(34rem, 100%)")
    soft("Larger tables are named when the page is started: p4f studio table.csv")
    ui.button("Try it with made-up loans", on_click=guarded(demo)).props("outline no-caps").classes("self-start")


def _roles(studio: Studio, go: Go) -> None:
    project = studio.project
    names = list(map(str, project.frame.columns))

    def choose(role: str, event: events.ValueChangeEventArguments[Any]) -> None:
        other = {"recorded": "favourable", "sensitive": "group"}.get(role)
        project.choose(**{role: event.value, **({other: None} if other else {})})
        go("data")

    with columns():
        for role, value, question, means in (
            ("recorded", "favourable", "Which column is the recorded label?", "Which value is favourable?"),
            ("sensitive", "group", "Which column is sensitive?", "Which group was treated unfairly?"),
        ):
            column = getattr(project.choices, role)
            with ui.element("div").classes("card"):
                ui.select(names, value=column, label=question, on_change=guarded(partial(choose, role))).props(
                    f"outlined data-role={role}"
                )
                if column is None:
                    continue
                values = [str(one) for one in values_of(project.frame[column])][: MAX_CHOICES + 1]
                if len(values) > MAX_CHOICES:
                    box(f"{column} has more than {MAX_CHOICES} values; it is a measurement, not a group", "bad")
                    continue
                chosen = getattr(project.choices, value)
                ui.select(
                    values,
                    value=chosen if chosen in values else None,
                    label=means,
                    on_change=guarded(partial(choose, value)),
                ).props(f"outlined data-role={value}")
    try:
        roles = project.roles()
    except TableError as error:
        if project.choices.recorded and project.choices.sensitive:
            box(" ".join(str(error).split()), "bad")
        return
    box(
        f"{roles.recorded} = {roles.favourable} is favourable. Groups of {roles.sensitive}: "
        f"{', '.join(map(str, roles.levels))}{f'; {roles.group} is the sensitive one' if roles.binary else ''}.",
        "good",
    )
    ui.button("State a belief", on_click=lambda: go("belief")).props("unelevated no-caps").classes("self-start")


def _card(studio: Studio, column: Column, odd: bool) -> None:
    def learn(event: events.ValueChangeEventArguments[Any]) -> None:
        rest = tuple(name for name in studio.project.choices.drop if name != column.name)
        studio.project.choose(drop=rest if event.value else (*rest, column.name))

    with ui.element("div").classes("card"):
        text("b", column.name)
        with ui.element("div").classes("bars").props('aria-hidden="true"'):
            for height in column.bars:
                ui.element("i").style(f"height: {100 * height:.0f}%")
        text("span", " to ".join(dict.fromkeys(column.ends)), "soft")
        lacking = f", {column.missing:,} missing" if column.missing else ""
        text("span", f"{column.values:,} values{lacking}", "soft")
        if odd:
            text("span", "seems to identify rows: it will be left out", "soft")
        elif column.name not in (studio.project.choices.recorded, studio.project.choices.sensitive):
            ui.checkbox("learn from it", value=column.name not in studio.project.choices.drop, on_change=guarded(learn))


def _rows(studio: Studio) -> None:
    frame = studio.project.frame
    place = {"page": 1}
    pages = max(1, -(-len(frame) // SHOWN))

    @ui.refreshable
    def part() -> None:
        begin = (place["page"] - 1) * SHOWN
        names = [
            {"name": f"c{i}", "label": str(n), "field": f"c{i}", "align": "left"} for i, n in enumerate(frame.columns)
        ]
        rows = [
            {"id": begin + number, **{f"c{i}": str(value) for i, value in enumerate(values)}}
            for number, values in enumerate(frame.iloc[begin : begin + SHOWN].itertuples(index=False))
        ]
        ui.table(columns=names, rows=rows, row_key="id").props("flat dense").style("max-width: 100%")

    def turn(event: events.ValueChangeEventArguments[Any]) -> None:
        place["page"] = int(event.value)
        part.refresh()

    with ui.element("div").classes("scroll"):
        part()
    if pages > 1:
        ui.pagination(1, pages, value=1, direction_links=True, on_change=guarded(turn)).props("max-pages=7")


def _forget(studio: Studio, go: Go) -> None:
    studio.project.choose(table=None, recorded=None, favourable=None, sensitive=None, group=None, drop=())
    go("data")
