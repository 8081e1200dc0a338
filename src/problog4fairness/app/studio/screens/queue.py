"""Rows whose record was most likely distorted, for somebody to look at: filtered and paged here, not in the browser."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from nicegui import events, run, ui

from problog4fairness.app.studio import parts, tasks
from problog4fairness.app.studio.process import Work
from problog4fairness.app.studio.project import MODEL, REPORT, SUSPECTS
from problog4fairness.app.studio.state import Studio
from problog4fairness.statistics import count

TEACH = (
    "Which records should somebody look at again? The belief and the model together say how likely it is that each row "
    "was distorted; the likeliest come first."
)
PAGE = 25
EVERY = "all"


def show(studio: Studio) -> None:
    """Show the part."""
    project = studio.project
    parts.long_work(studio, "queue", "Make the queue", tasks.queue, partial(_done, studio), teach=TEACH)
    parts.same(
        project.command("report", MODEL, "--data", project.choices.table or "", "--suspects", SUSPECTS, roles=False)
        + f" -o {REPORT}",
        f'p4f.report(clf, frame).save_queue("{SUSPECTS}")',
    )


def _done(studio: Studio, job: Work) -> None:
    review = job.result
    what = f"{count(review['rows'], 'row')} may be distorted: {review['what']}."
    parts.text("p", f"{what} About {count(review['expected'])} are expected to be.")
    if not studio.project.has(SUSPECTS):
        parts.soft("Its file is gone; make it again.")
        return

    async def read() -> None:
        await run.io_bound(studio.read, SUSPECTS, _read)  # a long one takes seconds
        with place:
            _Filters(studio).show()

    place = ui.element("div").classes("stack parts")
    ui.timer(0, read, once=True)


class _Filters:
    """Which rows of the queue are shown, and the page that is shown."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self._filters: dict[str, Any] = {"group": EVERY, "label": EVERY, "least": 0, "page": 0}

    def show(self) -> None:
        @ui.refreshable
        def rows() -> None:
            frame: pd.DataFrame = self._studio.read(SUSPECTS, _read)
            review = self._filtered(frame)
            pages = max(1, -(-len(review) // PAGE))
            self._filters["page"] = page = min(self._filters["page"], pages - 1)
            shown = review.iloc[page * PAGE : (page + 1) * PAGE]
            parts.soft(f"{count(len(review), 'row')} of {count(len(frame))}").props("data-part=count role=status")
            parts.table(_columns_shown(shown))
            with ui.element("nav").classes("keys").props('aria-label="Pages"'):
                for words, way, able in (("Previous", -1, page > 0), ("Next", 1, page + 1 < pages)):
                    turn = parts.button(words, lambda way=way: self._set(rows, page=self._filters["page"] + way))
                    turn.set_enabled(able)
                parts.text("span", f"page {page + 1:,} of {pages:,}", "soft")

        frame = self._studio.read(SUSPECTS, _read)
        with ui.element("div").classes("keys"):
            self._choice(rows, "Group", "group", frame, self._studio.project.choices.sensitive)
            self._choice(rows, "Recorded label", "label", frame, self._studio.project.choices.recorded)
            with ui.element("label").classes("slider").style("flex: 1 1 14rem; max-width: 22rem"):
                label = parts.text("span", "Distorted with at least 0%", "soft")

                def least(event: events.GenericEventArguments) -> None:
                    label.set_text(f"Distorted with at least {event.args}%")  # type: ignore[attr-defined]
                    self._set(rows, least=int(event.args), page=0)

                slider = ui.element("input").props("type=range min=0 max=99 step=1 defaultValue=0 data-filter=least")
                slider.on("input", least, js_handler="(e) => emit(Number(e.target.value))", throttle=0.15)
            parts.download(SUSPECTS, "Download all as CSV")
        rows()
        parts.soft(
            "Distorted: how likely it is that the record is not fair. Nearest neighbours: of the 25 people of other "
            "groups who are most alike, so many have the favourable label on record."
        )

    def _choice(self, rows: Any, words: str, key: str, frame: pd.DataFrame, column: str | None) -> None:
        if column is None or column not in frame.columns:
            return
        values = {EVERY: EVERY, **{value: value for value in sorted(frame[column].unique())}}
        ui.select(
            values,
            value=EVERY,
            label=f"{words} ({column})",
            on_change=parts.guarded(lambda event: self._set(rows, page=0, **{key: event.value})),
        ).props("outlined dense").style("min-width: 12rem")

    def _set(self, rows: Any, **filters: Any) -> None:
        self._filters |= filters
        rows.refresh()

    def _filtered(self, frame: pd.DataFrame) -> pd.DataFrame:
        choices, filters = self._studio.project.choices, self._filters
        kept = frame[_score(frame)] * 100 >= filters["least"]
        for column, key in ((choices.sensitive, "group"), (choices.recorded, "label")):
            if filters[key] != EVERY and column in frame.columns:
                kept &= frame[column] == filters[key]
        return frame[kept]


def _read(file: Path) -> pd.DataFrame:
    """The queue with its cells as texts, apart from the four numbers that end each row."""
    frame = pd.read_csv(file, dtype=str, keep_default_na=False)
    numbers = frame.columns[-4:]
    return frame.assign(**{name: pd.to_numeric(frame[name], errors="coerce") for name in numbers})


def _score(frame: pd.DataFrame) -> str:
    return str(frame.columns[-3])


def _columns_shown(shown: pd.DataFrame) -> pd.DataFrame:
    """The rows as they are shown: what is likely first, in percent."""
    *others, fair, distorted, _, alike = shown.columns
    columns = {
        "row": shown["row"],
        "distorted": shown[distorted].map("{:.0%}".format),
        "fair probability": shown[fair].map("{:.0%}".format),
        "nearest neighbours": shown[alike].map(lambda share: "" if math.isnan(share) else f"{share:.0%}"),
    }
    return pd.DataFrame(columns | {name: shown[name] for name in others if name not in columns})
