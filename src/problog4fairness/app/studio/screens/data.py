"""The first screen: the table, and which column is what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from shutil import move
from typing import Any

import pandas as pd
from nicegui import events, ui

from problog4fairness import datasets
from problog4fairness.app.studio import parts
from problog4fairness.app.studio.columns import Column, cell
from problog4fairness.app.studio.project import Choices
from problog4fairness.app.studio.server import LARGEST_UPLOAD
from problog4fairness.app.studio.state import Go, Studio
from problog4fairness.data import TableError, identifiers, write_table
from problog4fairness.errors import P4FError

SHOWN = 25
MAX_CHOICES = 50
# Columns that are shown at once.
MAX_COLUMNS = 60
# Looking at the columns of a wider table takes minutes, and the page could not show them.
WIDEST = 2000
EXAMPLE = {
    "income (known)": [2243, 1500, 1659],
    "job (known)": ["clerk", "nurse", "clerk"],
    "poor_area (the group)": [0, 1, 1],
    "granted (recorded)": [1, 1, 0],
}
QUESTIONS = {
    "recorded": ("favourable", "Which column is the recorded label?", "Which value is favourable?"),
    "sensitive": ("group", "Which column is sensitive?", "Which group was treated unfairly?"),
}


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    parts.title("Data", "A table with one row for each person or case, as CSV or Parquet. It stays on this machine.")
    if studio.project.choices.table is None:
        _empty(studio, go)
        return
    name = Path(studio.project.choices.table).name
    with ui.element("div").classes("stack").props("role=status") as waiting:
        ui.spinner(size="2rem")
        parts.soft(f"reading {name}")
    place = ui.element("div").classes("stack parts")

    async def read() -> None:
        try:
            width = len((await asyncio.to_thread(lambda: studio.project.frame)).columns)
            if width > WIDEST:
                studio.project.choose(table=None)
                raise TableError(f"{name} has {width:,} columns, and this page shows {WIDEST:,}; use p4f in a terminal")
        except (P4FError, OSError) as error:
            waiting.delete()
            with place:
                parts.box(str(error), "bad")
                _empty(studio, go)
            return
        waiting.delete()
        with place:
            await _Table(studio, go).show()

    ui.timer(0, parts.guarded(read), once=True)


def _empty(studio: Studio, go: Go) -> None:
    def upload(file: Path, name: str) -> None:
        suffix = Path(name).suffix.lower()
        if suffix not in (".csv", ".tsv", ".txt", ".parquet"):
            raise TableError("a table is a file whose name ends with .csv or .parquet")
        table = studio.project.path(f"table{suffix}")
        move(file, table)
        studio.project.begin(table)
        go("data")

    def demo() -> None:
        write_table(datasets.loans().loans, str(studio.project.path("loans.csv")))
        studio.project.choose(
            table="loans.csv", recorded="granted", favourable="1", sensitive="poor_area", group="1", drop=()
        )
        go("data")

    def take(name: str) -> None:
        studio.project.begin(studio.project.path(name))
        go("data")

    def back(left: Choices) -> None:
        studio.project.choose(**asdict(left))
        go("data")

    if studio.left is not None and studio.left.table is not None:
        parts.button(f"Undo: back to {Path(studio.left.table).name}", partial(back, studio.left))
    tables = studio.project.tables()[:MAX_CHOICES]
    if tables:
        parts.soft("In this folder:")
        with ui.element("div").classes("keys"):
            for name in tables:
                parts.button(name, partial(take, name))
    parts.uploader(
        "Drop a CSV or Parquet file here, or choose one with +",
        upload,
        ".csv,.tsv,.txt,.parquet",
        "34rem",
        on_rejected=lambda: ui.notify(f"files have at most {LARGEST_UPLOAD >> 20} MiB here; p4f studio FILE"),
        max_file_size=LARGEST_UPLOAD,
    )
    parts.soft("Larger tables are named when the page is started: p4f studio table.csv")
    parts.button("Try it with made-up loans", demo)
    parts.heading("What it needs")
    parts.soft(
        "A column that was recorded and may be unfair, one that says who belongs to which group, and what else is "
        "known of each person. No column has to say what would have been fair."
    )
    parts.table(pd.DataFrame(EXAMPLE))


class _Table:
    """A table that was read: which column is what, its columns at a glance, its rows."""

    def __init__(self, studio: Studio, go: Go) -> None:
        self.studio, self.project, self.go = studio, studio.project, go
        self.frame = studio.project.frame
        self.page, self.every, self.looked = 1, False, False

    async def show(self) -> None:
        """Lay it out; what takes time comes afterwards."""
        name = Path(str(self.project.choices.table)).name
        parts.text("p", f"{name}: {len(self.frame):,} rows, {len(self.frame.columns)} columns")
        if self.project.remarks:
            parts.box(self.project.remarks)
        for role in QUESTIONS:
            await asyncio.to_thread(self._values, role)
        with parts.columns():
            for role, (value, question, _) in QUESTIONS.items():
                with ui.element("div").classes("card"):
                    self._column(role, question)
                    self._value(role, value)
        self._verdict()
        parts.heading("Columns")
        self.waiting = ui.spinner()
        self.cards = ui.element("div").classes("cards")
        self.odd: set[str] = set()
        ui.timer(0, parts.guarded(self._look), once=True)
        parts.heading("Rows")
        self._rows()
        parts.button("Another table", self._forget, "flat")
        self._command()

    @ui.refreshable_method
    def _command(self) -> None:
        name = Path(str(self.project.choices.table)).name
        read = "parquet" if name.endswith(".parquet") else "csv"
        parts.same(self.project.command("plan", "--data", name), f"frame = pd.read_{read}({json.dumps(name)})")

    def _values(self, role: str) -> list[str] | None:
        """The values to choose from for a role; None where there are too many, or no column yet."""
        column = getattr(self.project.choices, role)
        if column not in self.frame.columns or self.project.count(column) > MAX_CHOICES:
            return None
        return [str(one) for one in self.project.values(column)]

    def _column(self, role: str, question: str) -> None:
        names, chosen = list(map(str, self.frame.columns)), getattr(self.project.choices, role)
        field = ui.select(names, value=chosen if chosen in names else None, label=question)
        field.props(f"outlined data-role={role}").on_value_change(parts.guarded(partial(self._choose, role)))

    @ui.refreshable_method
    def _value(self, role: str, value: str) -> None:
        column, values = getattr(self.project.choices, role), self._values(role)
        if column is None:
            return
        if values is None:
            parts.box(f"{column} has more than {MAX_CHOICES} values; it is a measurement, not a group", "bad")
            return
        chosen = getattr(self.project.choices, value)
        field = ui.select(values, value=chosen if chosen in values else None, label=QUESTIONS[role][2])
        field.props(f"outlined data-role={value}").on_value_change(parts.guarded(partial(self._choose, value)))

    async def _choose(self, role: str, event: events.ValueChangeEventArguments[Any]) -> None:
        if role in QUESTIONS:
            self.project.choose(**{role: event.value, QUESTIONS[role][0]: None})
            await asyncio.to_thread(self._values, role)
            self._value.refresh()
            self._show_cards()
        else:
            self.project.choose(**{role: event.value})
        self._verdict.refresh()
        self._command.refresh()

    @ui.refreshable_method
    def _verdict(self) -> None:
        """What the choice means, or what is wrong with it."""
        choices = self.project.choices
        if not (choices.recorded and choices.sensitive) or None in map(self._values, QUESTIONS):
            parts.soft("Choose both columns; then state a belief about them.")
            return
        try:
            roles = self.project.roles()
        except TableError as error:
            parts.box(str(error), "bad")
            return
        groups = f"Groups of {roles.sensitive}: {', '.join(map(str, roles.levels))}"
        which = f"; {roles.group} is the sensitive one" if roles.binary else ""
        parts.box(f"{roles.recorded} = {roles.favourable} is favourable. {groups}{which}.", "good")
        parts.button("State a belief", lambda: self.go("belief"), "unelevated")

    async def _look(self) -> None:
        """Look at every column, which takes a while in large tables."""
        await asyncio.to_thread(self.project.columns)
        self.odd = set(map(str, await asyncio.to_thread(identifiers, self.frame)))
        self.waiting.delete()
        self.looked = True
        self._show_cards()

    def _show_cards(self) -> None:
        if not self.looked:
            return
        columns = self.project.columns()
        self.cards.clear()
        with self.cards:
            for column in columns if self.every else columns[:MAX_COLUMNS]:
                self._card(column)
            if len(columns) > MAX_COLUMNS and not self.every:
                parts.button(f"All {len(columns)} columns", self._all)

    def _all(self) -> None:
        self.every = True
        self._show_cards()

    def _card(self, column: Column) -> None:
        choices = self.project.choices
        roles = {choices.recorded: "the recorded label", choices.sensitive: "the sensitive column"}
        with ui.element("div").classes("card").props("data-column"):
            parts.text("b", column.name)
            with ui.element("div").classes("bars").props('aria-hidden="true"'):
                for height in column.bars:
                    ui.element("i").style(f"height: {100 * height:.0f}%")
            parts.text("span", column.about, "soft")
            lacking = f", {column.missing:,} missing" if column.missing else ""
            parts.text("span", f"{column.values:,} values{lacking}", "soft")
            if column.name in roles:
                parts.text("span", roles[column.name], "role")
            elif column.name in self.odd:
                parts.text("span", "seems to identify rows: it will be left out", "soft")
            else:
                learn = ui.checkbox("learn from it", value=column.name not in choices.drop)
                learn.on_value_change(parts.guarded(partial(self._learn, column.name)))
                learn.props["aria-label"] = f"learn from {column.name}"

    def _learn(self, name: str, event: events.ValueChangeEventArguments[Any]) -> None:
        rest = tuple(other for other in self.project.choices.drop if other != name)
        self.project.choose(drop=rest if event.value else (*rest, name))

    def _rows(self) -> None:
        pages = max(1, -(-len(self.frame) // SHOWN))
        self._part()
        if pages == 1:
            return
        with ui.element("div").classes("keys"):
            turn = ui.pagination(1, pages, value=1, direction_links=True, on_change=parts.guarded(self._turn))
            turn.props("max-pages=5")
            row = ui.number("Go to row", min=1, max=len(self.frame), precision=0).props("outlined dense")
            row.style("width: 9rem").on(
                "keydown.enter", lambda: turn.set_value(min(pages, max(1, -(-int(row.value or 1) // SHOWN))))
            )

    @ui.refreshable_method
    def _part(self) -> None:
        begin = (self.page - 1) * SHOWN
        shown = self.frame.iloc[begin : begin + SHOWN, :MAX_COLUMNS]
        rows: Iterator[list[str | Callable[[], object]]] = (
            [partial(parts.text, "td", f"{number:,}", "soft"), *map(cell, values)]
            for number, values in enumerate(shown.itertuples(index=False), start=begin + 1)
        )
        parts.grid(["", *map(str, shown.columns)], rows, label="rows of the table", classes="plain rows")
        if len(self.frame.columns) > MAX_COLUMNS:
            parts.soft(f"The first {MAX_COLUMNS} columns of {len(self.frame.columns)}.")

    def _turn(self, event: events.ValueChangeEventArguments[Any]) -> None:
        self.page = int(event.value)
        self._part.refresh()

    def _forget(self) -> None:
        choices: dict[str, Any] = dict.fromkeys(("table", "recorded", "favourable", "sensitive", "group"))
        self.studio.left = self.project.choices
        self.project.choose(drop=(), **choices)
        self.go("data")
