"""Audited rows as an estimate needs them: coded, weighted by their sampling design, or counted by stratum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from problog4fairness.audit.audit import Audit, filled_rows
from problog4fairness.audit.estimation.stratified import Design, Stratified
from problog4fairness.audit.reading import read_labels, warn_audit
from problog4fairness.audit.sheet import DESIGN, NOT_STATED, PROBABILITY, STRATUM, read_design
from problog4fairness.audit.strata import LABEL, SamplingFrame, Strata, audit_groups, ruled_out, sampling_frame
from problog4fairness.data import COUNT, Codes, Rows, counts_of, expand_counts, is_frame, plain, to_frame
from problog4fairness.errors import P4FError

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief


def as_audit(audit: Any, fair: str | Sequence[str], drawn_from: Any = None) -> Audit:
    """Rows as an :class:`Audit`; what was hidden from reviewers comes from the table that they were sampled from."""
    columns = audit.frame.columns if isinstance(audit, Audit) else to_frame(audit).columns if is_frame(audit) else ()
    if drawn_from is None:
        return Audit.of(audit, fair=fair)
    if DESIGN in columns:
        return Audit.of(audit, fair=fair, table=drawn_from if STRATUM in columns else None)
    return Audit.of(audit, fair=fair) if isinstance(audit, Audit) else Audit.of(audit, fair=fair, sampling="random")


def frame_of(audit: Any) -> pd.DataFrame:
    """The rows of an audit, however it was passed, each by itself."""
    return audit.frame if isinstance(audit, Audit) else expand_counts(to_frame(audit))


def audited_rows(
    belief: Belief, audit: Any, recorded: str, fair: str, favourable: Any, drawn_from: Any
) -> tuple[Rows, Stratified | None]:
    """The rows of an audit, and what it says by stratum where it was sampled by recorded label.

    Where the parameters are not counted one by one, the rows are weighted so that a likelihood is right for the design.
    """
    counted = None if isinstance(audit, Audit) or drawn_from is not None else _counted(audit, fair)
    if counted is not None:
        rows = read_labels(belief, counted, recorded, fair, favourable)
        return replace(rows, weights=counts_of(counted).astype(np.float64)), None
    audit = as_audit(audit, fair, drawn_from)
    rows = read_labels(belief, audit.frame, recorded, fair, favourable)
    assert rows.recorded is not None
    assert rows.fair is not None
    if not by_record(audit, drawn_from):
        if not audit.is_weighted:
            return rows, None
        groups, _ = audit_groups(belief, rows.frame)
        cells = groups * len(rows.classes) + rows.fair
        return replace(rows, weights=audit.effective_weights(cells, rows.recorded)), None
    groups, words = audit_groups(belief, rows.frame)
    strata = Strata(words, (recorded,), (tuple(str(plain(label)) for label in rows.classes),), (LABEL,))
    table = None if drawn_from is None else sampling_frame(belief, drawn_from, recorded, favourable)
    codes = strata.codes(groups, rows.recorded)
    design = counted_design(belief, audit, strata, codes, [rows.fair], table)
    if not belief.audit_rules.counted:
        rows = replace(rows, weights=design.weights(codes, rows.fair))
    return rows, Stratified(design, codes)


def _counted(audit: Any, fair: str) -> pd.DataFrame | None:
    """A table of equal rows with their numbers, which may stand for millions, as it is; None for any other."""
    if not is_frame(audit) or COUNT not in (frame := to_frame(audit)).columns or {DESIGN, PROBABILITY} & set(frame):
        return None
    warn_audit(NOT_STATED)
    return frame.iloc[filled_rows(frame, [fair])].reset_index(drop=True)


def by_record(audit: Audit, drawn_from: Any) -> bool:
    """Whether rows were sampled by what was recorded, and each counts for itself alone."""
    if audit.clusters is not None:
        return False
    written = read_design(audit.frame, known=drawn_from is not None)
    return drawn_from is not None or (written is not None and written.design == "neyman")


def counted_design(
    belief: Belief, audit: Audit, strata: Strata, codes: Codes, fair: Sequence[Codes], table: SamplingFrame | None
) -> Design:
    """What audited rows say by stratum; the sizes are those of the whole table, or those that the rows carry."""
    written = read_design(audit.frame, known=table is not None)
    if table is not None and written is not None and written.table != table.fingerprint:
        raise P4FError("the audited rows were drawn from another table than drawn_from=...; pass the one they are from")
    if table is not None:
        known: Mapping[str, int] = dict(zip(table.strata.names, table.sizes.tolist(), strict=True))
    else:
        known = {} if written is None else written.sizes
    unknown = int((codes < 0).sum())
    if unknown:
        columns = ", ".join(belief.columns.sensitive)
        raise P4FError(f"{unknown} audited rows have no group ({columns}); fill it in, or leave these rows out")
    counts = np.bincount(codes, minlength=len(strata.names))
    sizes = np.array([known.get(name, 0) for name in strata.names])
    for name, count, size in zip(strata.names, counts.tolist(), sizes.tolist(), strict=True):
        if count and name not in known:
            raise P4FError(
                f"nothing says how many rows of the table have {name}; the audited rows were drawn for another belief "
                f"(by {next(iter(known), 'nothing')}, ...)"
            )
        if count > size:
            raise P4FError(f"{count} audited rows have {name}, more than the {size} of the table that they are from")
    ruled = ruled_out(belief, strata.shape)
    return Design.of(strata, sizes, codes, fair, ruled)
