"""The screen on which a model learns: what learns, how far it is, and a way to stop it."""

from __future__ import annotations

import math
from typing import Any

from nicegui import events, ui

from problog4fairness.studio import tasks, work
from problog4fairness.studio.known import belief_is_known
from problog4fairness.studio.parts import box, guarded, heading, same, soft, text, title
from problog4fairness.studio.project import BELIEF, MODEL
from problog4fairness.studio.running import long_work
from problog4fairness.studio.state import Go, Studio

ABOUT = {
    "auto": "tries the three below, and takes the one under which held-out recorded rows are most likely",
    "linear": "logistic regression: its coefficients can be read",
    "boosted": "trees: mostly best on tables",
    "network": "several small networks, averaged",
}


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    title("Train", "A model learns the fair label: it must explain what was recorded through the belief.")
    if not belief_is_known(studio, go):
        return
    project = studio.project

    def choose(name: str, event: events.ValueChangeEventArguments[Any]) -> None:
        project.choose(**{name: event.value})

    ui.radio(
        {name: f"{name}: {about}" for name, about in ABOUT.items()},
        value=project.choices.learner,
        on_change=guarded(lambda event: choose("learner", event)),
    )
    ui.checkbox(
        "The fair label does not depend on the group, so the model does not see it",
        value=project.choices.independent,
        on_change=guarded(lambda event: choose("independent", event)),
    )

    def more() -> None:
        if project.has(MODEL):
            ui.button("To the report", on_click=lambda: go("report")).props("outline no-caps")

    long_work(studio, "train", "Train", tasks.train, _done, running=_running, more=more)
    learner = project.choices.learner
    same(
        project.command("train", project.choices.table or "", "--belief", BELIEF, "--learner", learner, "-o", MODEL),
        f'clf = p4f.DebiasedClassifier(belief, "{learner}", random_state={project.choices.seed})\n'
        f'clf.fit(X, y, sensitive_features=groups)\nclf.save("{MODEL}")',
    )


def _running(job: work.Work) -> None:
    told = _losses(job)
    if not told:
        ui.linear_progress(show_value=False).props('indeterminate aria-label="training"')
        soft("reading the table")
        return
    last = told[-1]
    ui.linear_progress(last["share"], show_value=False).props('aria-label="training"')
    left = f", about {job.seconds * (1 - last['share']) / last['share']:.0f} s left" if last["share"] > 0.02 else ""
    text("p", f"loss {last['loss']:.4f}{left}")
    _curve(told)


def _done(job: work.Work) -> None:
    done = job.result
    heading("The model")
    taught = f", {done['audited']} of them audited" if done["audited"] else ""
    text("p", f"{done['rows']:,} rows{taught}; {job.seconds:.1f} s.")
    for line in done["words"]:
        text("p", line)
    if done["concerns"]:
        box(done["concerns"], "bad")
    _curve(_losses(job))


def _losses(job: work.Work) -> list[dict[str, Any]]:
    return [one for one in job.told if "loss" in one and math.isfinite(one["loss"])]


def _curve(told: list[dict[str, Any]]) -> None:
    """The likelihood that is learned from, so far."""
    if len(told) < 2:
        return
    losses = [one["loss"] for one in told]
    ui.echart(
        {
            "animation": False,
            "grid": {"left": 60, "right": 10, "top": 30, "bottom": 10},
            "xAxis": {"type": "category", "data": list(range(1, len(losses) + 1)), "show": False},
            "yAxis": {"type": "value", "scale": True, "name": "-log likelihood"},
            "series": [{"type": "line", "data": losses, "showSymbol": False, "lineStyle": {"color": "#D55E00"}}],
        }
    ).style("height: 12rem; max-width: 40rem")
