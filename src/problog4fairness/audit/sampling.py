"""How audited rows were sampled: by a plan, which wrote it into the rows, or as somebody states it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from problog4fairness.audit.reading import warn_audit
from problog4fairness.audit.sheet import DESIGN, ROW, STRATUM, SheetDesign, read_design
from problog4fairness.data import Codes, Floats, to_frame
from problog4fairness.errors import P4FError, among

Sampling: TypeAlias = Literal["random", "stratified", "unknown"]

NOT_STATED = (
    "nothing says how the audited rows were sampled; they are taken as a random sample. If they are one, state it by "
    'sampling="random" (argument of p4f.Audit.of)'
)


def sample_of(
    frame: pd.DataFrame,
    sampling: str | None,
    strata: str | Sequence[str] | None,
    population: Mapping[Any, float] | None,
    inclusion: Any,
    table: Any,
) -> Sample:
    """How the rows of a frame were sampled; the parameters are those of :meth:`Audit.of`."""
    design = read_design(frame, known=True)
    if design is not None:
        if sampling is not None or strata is not None or inclusion is not None:
            raise P4FError("the rows say how they were sampled, in their columns p4f_...; state nothing else")
        return _of_sheet(frame, design)
    if strata is not None:
        return _of_strata(frame, [strata] if isinstance(strata, str) else list(strata), population, table)
    if inclusion is not None:
        return _of_inclusion(np.asarray(inclusion, dtype=np.float64))
    if sampling not in (None, "random"):
        raise P4FError(f'sampling must be "random", not {sampling!r}; state others by strata= or inclusion=')
    if sampling is None:
        warn_audit(NOT_STATED)
    return Sample("unknown" if sampling is None else "random", np.zeros(len(frame), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Sample:
    """The strata of rows, and either the sizes of these or each row's inverse inclusion probability."""

    sampling: Sampling
    strata: Codes
    population: Floats = field(default_factory=lambda: np.zeros(0))
    names: tuple[str, ...] = ("everybody",)
    by: str = ""
    inverse: Floats | None = None

    def weights(self) -> Floats:
        """Inverse inclusion probabilities, with mean 1."""
        weights = np.ones(len(self.strata)) if self.inverse is None else self.inverse
        if len(self.population):
            counts = np.bincount(self.strata, minlength=len(self.population))
            weights = (self.population / np.maximum(counts, 1))[self.strata]
        return np.asarray(weights / weights.mean())


def _of_sheet(frame: pd.DataFrame, design: SheetDesign) -> Sample:
    """The design that a plan wrote into the rows."""
    missing = [name for name in (ROW, STRATUM) if name not in frame.columns]
    if missing:
        raise P4FError(f"the audited rows were drawn by a plan, but its column {missing[0]!r} is missing; keep it")
    names, rows = tuple(design.sizes), frame[ROW].tolist()
    keys = frame[STRATUM].map(str).str.strip().to_numpy()
    strata = np.full(len(frame), -1, dtype=np.int64)
    for place, name in enumerate(names):
        strata[keys == design.keys(name, rows)] = place
    wrong = np.flatnonzero((strata < 0) & frame[DESIGN].notna().to_numpy())
    if len(wrong):
        raise P4FError(
            f"row {rows[wrong[0]]} of the audit: its column {STRATUM} was changed; copy it from the file that was drawn"
        )
    if (strata < 0).any():
        raise P4FError(f"{int((strata < 0).sum())} audited rows do not say how they were drawn; leave them out")
    population = np.array([design.sizes[name] for name in names], dtype=np.float64)
    if (np.bincount(strata, minlength=len(names)) > population).any():
        raise P4FError("there are more audited rows than the table that they were drawn from has; drop repeated rows")
    if len(names) == 1:
        return Sample("random", strata, population, names)
    by = "group and recorded value" if design.design == "neyman" else "group"
    return Sample("stratified", strata, population, names, by)


def _of_strata(frame: pd.DataFrame, columns: list[str], population: Mapping[Any, float] | None, table: Any) -> Sample:
    """Strata that somebody states, by columns."""
    for name in columns:
        if name not in frame.columns:
            raise P4FError(f"no column {name!r} in the audit; {among(name, frame.columns)}")

    def kinds(rows: pd.DataFrame) -> list[Any]:
        values = [rows[name].tolist() for name in columns]
        return values[0] if len(columns) == 1 else list(zip(*values, strict=True))

    if population is not None:
        sizes = {stratum: float(size) for stratum, size in population.items()}
    elif table is not None:
        sizes = pd.Series(kinds(to_frame(table))).value_counts(sort=False).astype(float).to_dict()
    else:
        raise P4FError("how large are the strata? pass population={stratum: rows}, or the table")
    if any(size < 0 for size in sizes.values()):
        raise P4FError("a stratum cannot have fewer than 0 rows")
    place = {stratum: number for number, stratum in enumerate(sizes)}
    sampled = kinds(frame)
    lacking = [stratum for stratum in sampled if stratum not in place]
    if lacking:
        raise P4FError(f"population says nothing of the stratum {lacking[0]!r}")
    values = [(stratum,) if len(columns) == 1 else stratum for stratum in sizes]
    words = [", ".join(f"{name} = {value}" for name, value in zip(columns, own, strict=True)) for own in values]
    strata = np.array([place[stratum] for stratum in sampled], dtype=np.int64)
    return Sample("stratified", strata, np.array(list(sizes.values())), tuple(words), " and ".join(columns))


def _of_inclusion(probability: Floats) -> Sample:
    """Inclusion probabilities that somebody states."""
    wrong = ~((probability > 0) & (probability <= 1))
    if wrong.any():
        raise P4FError(f"inclusion holds {probability[wrong][0]}, which is no probability above 0")
    nothing = np.zeros(len(probability), dtype=np.int64)
    return Sample("stratified", nothing, inverse=1 / probability)
