"""Who reviews: links for others, how far they agree, and rows on which they do not."""

from __future__ import annotations

from nicegui import ui

from problog4fairness.app.studio.auditing import LOOK, Audit
from problog4fairness.app.studio.parts import guarded, heading, soft, text
from problog4fairness.app.studio.reviews import Agreement, Answer, checked_name
from problog4fairness.app.studio.screens.review import cells
from problog4fairness.app.studio.state import Studio


class Reviewers:
    """All reviewers of an audit, for who answers for it.

    Parameters
    ----------
    studio
        Knows the addresses of reviewers' pages.
    audit
        The drawn rows.
    """

    def __init__(self, studio: Studio, audit: Audit) -> None:
        self.studio, self.audit, self.seen = studio, audit, -1

    def show(self) -> None:
        """Lay it out, and follow what reviewers say."""
        heading("Reviewers")
        soft(
            "Let somebody else look at the same rows: two people who do not know each other's answers show how far "
            "such judgements can be trusted. A link opens the rows and nothing else; it is good until p4f studio ends."
        )
        with ui.element("div").classes("keys"):
            name = ui.input("Name of a reviewer").props("outlined dense").style("width: 18rem")
            invite = guarded(lambda: self._invite(name))
            name.on("keydown.enter", invite)
            ui.button("Make a link", on_click=invite).props("outline no-caps")
        self._links()
        self._people()
        self._conflicts()
        ui.timer(LOOK, self._look)

    def _invite(self, field: ui.input) -> None:
        name = checked_name(field.value or "")
        if name not in self.studio.invited:
            self.studio.invited.append(name)
        field.set_value("")
        self._links.refresh()

    @ui.refreshable_method
    def _links(self) -> None:
        """Apart from what changes with each answer: a button that is replaced while it is pressed does nothing."""
        for name in self.studio.invited:
            link = self.studio.link(name)
            with ui.element("div").classes("person"):
                text("b", name)
                field = ui.input(value=link).props("outlined dense readonly").classes("link")
                field.props["aria-label"] = f"link for {name}"
                copy = ui.button("Copy", on_click=lambda link=link: ui.clipboard.write(link)).props("flat no-caps")
                copy.props["aria-label"] = f"copy the link for {name}"

    @ui.refreshable_method
    def _people(self) -> None:
        reviews = self.audit.reviews
        counts = [f"{name} {len(reviews.of(name))}" for name in reviews.reviewers()]
        if counts:
            text("p", f"Answers so far: {', '.join(counts)}.")
        for both in reviews.agreements():
            text("p", _agreement(both)).props("data-part=agreement")

    @ui.refreshable_method
    def _conflicts(self) -> None:
        conflicts = self.audit.reviews.conflicts()
        if not conflicts:
            return
        settled = self.audit.reviews.settled()
        heading("Conflicts")
        mine = self.audit.reviews.of(self.audit.project.choices.reviewer)
        hidden = [row for row in conflicts if mine and row not in mine]
        soft(f"{len(conflicts)} rows, {sum(row in settled for row in conflicts)} of them settled. Rows that are open "
             "count for nothing.")  # fmt: skip
        if hidden:
            soft(f"{len(hidden)} of them are shown once you have answered them yourself.")
        with ui.element("div").classes("cards wide"):
            for row, answers in conflicts.items():
                if row not in hidden:
                    self._conflict(row, answers, settled.get(row))

    def _conflict(self, row: int, answers: list[Answer], settled: str | None) -> None:
        with ui.element("div").classes("card row-card").props(f"data-conflict={row}"):
            text("b", f"Row {row}")
            cells(self.audit, row)
            for answer in answers:
                text("span", f"{answer.reviewer} says {answer.label}{f': {answer.note}' if answer.note else ''}")
            with ui.element("div").classes("keys"):
                for label in self.audit.labels:
                    look = "unelevated" if label == settled else "outline"
                    button = ui.button(f"It is {label}", on_click=guarded(lambda label=label: self._settle(row, label)))
                    button.props(f"{look} no-caps aria-pressed={str(label == settled).lower()}")
                if settled is not None:
                    ui.button("Open again", on_click=guarded(lambda: self._settle(row, None))).props(
                        "flat dense no-caps"
                    )

    def _settle(self, row: int, label: str | None) -> None:
        self.audit.reviews.settle(row, label, self.audit.project.choices.reviewer or "owner")

    def _look(self) -> None:
        size = self.audit.reviews.size()
        if size != self.seen:
            self.seen = size
            self._people.refresh()
            self._conflicts.refresh()


def _agreement(both: Agreement) -> str:
    """How far two reviewers agree, in words."""
    kappa = "" if both.kappa is None else f"; beyond chance {both.kappa:.2f} (Cohen's kappa, 1 is all, 0 is chance)"
    share = f"{both.same} of {both.rows} common rows ({both.same / both.rows:.0%})"
    return f"{both.first} and {both.second} say the same of {share}{kappa}."
