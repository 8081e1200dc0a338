"""The screen on which a model learns: what learns, how far it is, and a way to stop it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import events, ui

from problog4fairness.app.studio import parts, tasks
from problog4fairness.app.studio.process import Work
from problog4fairness.app.studio.project import BELIEF, MODEL
from problog4fairness.app.studio.state import Go, Studio

ABOUT = {
    "auto": "tries the three below, and takes the one under which held-out recorded rows are most likely",
    "linear": "logistic regression: its coefficients can be read",
    "boosted": "trees: mostly best on tables",
    "network": "several small networks, averaged",
}
GROUP_USE = {
    "auto": "Audited rows decide whether the model uses the group; without them it is group-free",
    "no": "Group-free: people who are alike in all other columns have the same fair label",
    "yes": "The model uses the group: the fair label may depend on it",
}
TEACH = (
    "Nothing has been learned yet. While the model learns, you see how likely the recorded rows become; it can be "
    "stopped at any time. Training diagnostics follow here."
)
# Of what was heard, the last so many points are drawn.
MOST = 400
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
HEIGHT = "14rem"


def show(studio: Studio, go: Go) -> None:
    """Show the screen."""
    parts.title("Train", "A model learns the fair label: it must explain what was recorded through the belief.")
    if not parts.belief_is_known(studio, go):
        return
    project = studio.project

    def choose(name: str, event: events.ValueChangeEventArguments[Any]) -> None:
        project.choose(**{name: event.value})
        command.refresh()

    learners = ui.radio(
        {name: f"{name}: {about}" for name, about in ABOUT.items()},
        value=project.choices.learner,
        on_change=parts.guarded(lambda event: choose("learner", event)),
    )
    learners.props('aria-label="What learns"')
    uses = ui.radio(
        GROUP_USE,
        value=project.choices.use_sensitive,
        on_change=parts.guarded(lambda event: choose("use_sensitive", event)),
    )
    uses.props('aria-label="Whether the model uses the group"')

    def more() -> None:
        if project.has(MODEL):
            parts.button("Compare and stress it", lambda: go("stress"))
            parts.button("To the report", lambda: go("report"))

    parts.long_work(studio, "train", "Train", tasks.train, _done, running=_running, more=more, teach=TEACH)

    @ui.refreshable
    def command() -> None:
        choices = project.choices
        fair = ", fair=fair" if project.is_audited else ""
        parts.same(
            project.command("train", choices.table or "", "--belief", BELIEF, *project.learning(), "-o", MODEL),
            f"clf = p4f.DebiasedClassifier(belief, {choices.learner!r}, use_sensitive={choices.uses_group!r}, "
            f"random_state={choices.seed})\n"
            f'clf.fit(X, y, sensitive_features=groups{fair})\nclf.save("{MODEL}")',
        )

    command()


def _running(job: Work) -> Callable[[], None]:
    bar = parts.progress(job)
    drawn = parts.chart(_curve({}, "seconds"), "how likely the recorded rows are, so far", HEIGHT)
    drawn.props("data-part=curve")

    def update() -> None:
        bar()
        curves: dict[str, list[tuple[float, float]]] = {}
        for one in job.progress[-MOST:]:
            if one.get("loss") is not None:
                name = f"{one['fit']}. {one['label'].split()[-1] if one['label'] else 'fit'}"
                curves.setdefault(name, []).append((one["seconds"], one["loss"]))
        drawn.set_visibility(bool(curves))
        drawn.options.update(_curve(curves, "seconds"))
        drawn.update()

    update()
    return update


def _done(job: Work) -> None:
    done = job.result
    parts.heading("The model")
    taught = f", {done['audited']} of them audited" if done["audited"] else ""
    left_out = f"; {done['left_out']:,} left out for lack of a label or a group" if done["left_out"] else ""
    parts.text("p", f"{done['rows']:,} rows{taught}{left_out}; {job.seconds:.1f} s.")
    for line in done["words"]:
        parts.text("p", line)
    training_warnings = done["training_warnings"]
    learned = parts.box(
        training_warnings or "It learned: no training diagnostic gives a warning.",
        "bad" if training_warnings else "good",
    )
    learned.props("data-part=learned")
    if done["history"]:
        parts.chart(_curve(done["history"], "step"), "how likely the recorded rows became while it learned", HEIGHT)


def _curve(curves: dict[str, Any], unit: str) -> dict[str, Any]:
    """The loss, minus the mean log-likelihood of recorded rows, as lines."""
    lines = [
        {
            "type": "line",
            "name": name,
            "data": points,
            "showSymbol": len(points) < 3,
            "symbolSize": 5,
            "lineStyle": {"color": parts.colour(COLOURS[number % len(COLOURS)]), "width": 2},
            "itemStyle": {"color": parts.colour(COLOURS[number % len(COLOURS)])},
        }
        for number, (name, points) in enumerate(curves.items())
    ]
    return {
        "grid": {"left": 64, "right": 16, "top": 34, "bottom": 40},
        "legend": {"show": len(lines) > 1, "top": 0, "type": "scroll", "textStyle": {"color": "var(--ink)"}},
        "xAxis": parts.axis(unit, nameGap=26, scale=False),
        "yAxis": parts.axis("-log likelihood", nameGap=46),
        "series": lines,
    }
