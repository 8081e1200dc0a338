"""What was measured, as tables for a person and as JSON for a machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from measure import startup as start
from measure import training as train
from measure.growth import LIMITS, Growth
from measure.listings import BATCH, ROWS
from measure.rounds import Ratio
from measure.startup import Startup
from measure.training import Agreement, Speed


def machine() -> dict[str, Any]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": load,
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        **{name: version(name) for name in ("problog4fairness", "torch", "problog", "PySDD")},
    }


def _cpu() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def show_machine(console: Console, found: dict[str, Any]) -> None:
    load = "" if found["load"] is None else f", load {found['load']:.1f} at the start"
    console.print(f"{found['cpu']}, {found['cores']} cores{load}; {found['system']}", highlight=False)
    names = ("problog4fairness", "torch", "problog", "PySDD")
    packages = ", ".join(f"{name} {found[name]}" for name in names)
    console.print(f"Python {found['python']}, {packages}; torch on one thread", highlight=False)


def show_agreements(console: Console, found: Sequence[Agreement]) -> None:
    table = _table(
        f"Same loss? One batch of {BATCH}, against the formula written by hand (allowed: {train.TOLERANCE:g})",
        ["contestant", "loss", "loss apart", "gradient apart", ""],
    )
    for entry in found:
        verdict = "same" if entry.close else "[red]DIFFERENT[/red]"
        table.add_row(
            entry.contestant, f"{entry.loss:.6f}", f"{entry.difference:.1e}", f"{entry.gradient:.1e}", verdict
        )
    console.print(table)


def show_speeds(console: Console, found: Sequence[Speed], rounds: int) -> None:
    table = _table(
        f"Training, batch {BATCH}: medians of {rounds} paired rounds, quartiles in brackets",
        ["contestant", "steps/s", "ms/step", "share of plain", "times DeepProbLog"],
    )
    for entry in found:
        table.add_row(
            entry.contestant,
            f"{1 / entry.step_seconds:,.4g}",
            f"{1000 * entry.step_seconds:,.4g}",
            _share(entry),
            _spread(entry.to_reference, ",.0f") if entry.to_reference else "",
        )
    console.print(table)


def _share(entry: Speed) -> str:
    if entry.contestant == train.PLAIN:
        return "1"
    if entry.to_plain.median < 0.1:
        return f"1/{1 / entry.to_plain.median:,.0f}"
    return _spread(entry.to_plain, ".3f")


def _spread(ratio: Ratio, form: str) -> str:
    middle = format(ratio.median, form)
    return f"{middle} ({ratio.low:{form}} to {ratio.high:{form}})" if ratio.rounds > 1 else f"{middle} (one round)"


def show_startups(console: Console, found: Sequence[Startup], repeats: int) -> None:
    of = f"medians of {repeats} fresh processes" if repeats > 1 else "one fresh process each"
    table = _table(
        f"From text to likelihood of {ROWS:,} rows, in ms ({of})",
        ["listing", "imports", "worker start", "cold work", "= to circuit", "+ to likelihood", "cached"],
    )
    sizes = _table("Circuits", ["listing", "nodes", "edges", "variables"])
    for entry in found:
        times = (entry.imports, entry.worker, entry.work, entry.to_circuit, entry.to_likelihood, entry.cached)
        table.add_row(entry.listing, *map(_ms, times))
        sizes.add_row(entry.listing, *(f"{count:,}" for count in (entry.nodes, entry.edges, entry.variables)))
    console.print(table)
    console.print(sizes)


def goals(speeds: Sequence[Speed], startups: Sequence[Startup]) -> list[dict[str, Any]]:
    """Every goal, what was reached, and whether that is enough."""
    rows = []
    for entry in speeds:
        name = entry.contestant.removeprefix("ours, ")
        if entry.contestant != name and name in train.GOALS:
            share, times = train.GOALS[name]
            rows.append(_goal(f"{name}: share of plain", share, entry.to_plain.median))
            if entry.to_reference is not None:
                rows.append(_goal(f"{name}: times DeepProbLog", times, entry.to_reference.median))
    for startup in startups:
        if startup.listing in start.GOALS:
            work, cached = start.GOALS[startup.listing]
            rows.append(_goal(f"{startup.listing}: cold work, s", work, startup.work, most=True))
            rows.append(_goal(f"{startup.listing}: cached, s", cached, startup.cached, most=True))
    return rows


def _goal(what: str, goal: float, value: float, *, most: bool = False) -> dict[str, Any]:
    met = value <= goal if most else value >= goal
    return {"what": what, "goal": f"at {'most' if most else 'least'} {goal:,g}", "reached": value, "met": met}


def show_goals(console: Console, found: Sequence[dict[str, Any]]) -> None:
    table = _table("Goals", ["what", "goal", "reached", ""])
    for row in found:
        value = f"{row['reached']:,.0f}" if row["reached"] >= 10 else f"{row['reached']:.3f}"
        table.add_row(row["what"], row["goal"], value, "[green]met[/green]" if row["met"] else "[red]missed[/red]")
    console.print(table)


def show_growth(console: Console, found: Sequence[Growth]) -> None:
    table = _table(
        "Growth: the printed measurement listing with n features, each in a fresh worker",
        ["n", "seconds", "peak memory, MiB", "of which idle", "nodes", "edges", "variables"],
    )
    for entry in found:
        counts = (entry.nodes, entry.edges, entry.variables)
        table.add_row(
            str(entry.features),
            f"{entry.seconds:.3g}" + ("" if entry.stopped is None else " (not finished)"),
            _mib(entry.peak_memory),
            _mib(entry.idle_memory),
            *("-" if count is None else f"{count:,}" for count in counts),
        )
    console.print(table)
    for entry in found:
        if entry.stopped is not None:
            console.print(f"n = {entry.features} did not finish: {entry.stopped}", highlight=False)
    limits = f"{LIMITS.seconds:g} s and {LIMITS.memory / 2**30:g} GiB"
    console.print(f"Limits here: {limits} for each n; the library's default is 60 s and 2 GiB.", highlight=False)


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE, min_width=len(title))
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number and column else "left", no_wrap=True)
    return table


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.3g}" if seconds < 1 else f"{1000 * seconds:,.0f}"


def _mib(count: int | None) -> str:
    return "not known" if count is None else f"{count / 2**20:,.0f}"
