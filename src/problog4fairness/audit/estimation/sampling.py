"""Audited rows and how they were drawn: at random, or by what was recorded, which the estimate turns round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from problog4fairness.audit.audits import NOT_STATED, Audit
from problog4fairness.audit.columns import Column, read_audit, tell
from problog4fairness.audit.estimation.stratified import Design, Stratified
from problog4fairness.audit.sheet import DESIGN, STRATUM, is_filled, read_drawing
from problog4fairness.audit.strata import LABEL, Drawn, Strata, audit_groups
from problog4fairness.data import Codes, Rows, is_frame, one_by_one, plain, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.statistics import Estimate, Parameter, sequential_interval

if TYPE_CHECKING:
    from problog4fairness.beliefs import Belief


def audited_rows(
    belief: Belief,
    audit: Any,
    recorded: Column,
    fair: Column,
    sensitive_features: Any,
    favourable: Any,
    drawn_from: Any,
) -> tuple[Rows, Stratified | None]:
    """The rows of an audit, and what it says by stratum where it was drawn by recorded label.

    Where the parameters are not counted one by one, the rows are weighted so that a likelihood is right for the design.
    """
    known = audit if isinstance(audit, Audit) else None
    if known is not None and isinstance(fair, str):
        known = audit = Audit.of(known, fair=fair)
    audit = filled(audit, drawn_from, fair)
    rows = read_audit(belief, audit, recorded, fair, sensitive_features, favourable)
    if rows.recorded is None or rows.fair is None:
        return rows, None
    if not by_record(audit, drawn_from) or (known is not None and known.clusters is not None):
        if known is None:
            return rows, None
        groups, _ = audit_groups(belief, rows.frame)
        cells = groups * len(rows.classes) + rows.fair
        return replace(rows, weights=known.effective_weights(cells, rows.recorded)), None
    groups, words = audit_groups(belief, rows.frame)
    classes = tuple(str(plain(own)) for own in rows.classes)
    strata = Strata(words, (recorded if isinstance(recorded, str) else "recorded",), (classes,), (LABEL,))
    table = None
    if drawn_from is not None:
        table = belief._audit_strata(drawn_from, recorded, None, favourable)
    codes = strata.codes(groups, rows.recorded)
    design = counted_design(belief, audit, strata, codes, [rows.fair], table)
    if not belief._counted:
        rows = replace(rows, weights=design.weights(codes, rows.fair))
    return rows, Stratified(design, codes)


def counted_design(
    belief: Belief, audit: Any, strata: Strata, codes: Codes, fair: Sequence[Codes], table: Drawn | None
) -> Design:
    """What audited rows say by stratum; the sizes are those of the whole table, or those that the rows carry."""
    drawing = read_drawing(audit, known=table is not None)
    if table is not None and drawing is not None and drawing.table != table.fingerprint:
        raise P4FError("the audited rows were drawn from another table than drawn_from=...; pass the one they are from")
    if table is not None:
        known: Mapping[str, int] = dict(zip(table.strata.names, table.sizes.tolist(), strict=True))
    else:
        known = drawing.sizes if drawing is not None else {}
    unknown = int((codes < 0).sum())
    if unknown:
        columns = ", ".join(belief.sensitive_columns)
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
    ruled = belief._ruled_out(strata.shape)
    return Design.of(strata.things, strata.shape, sizes, codes, fair, ruled).held(strata)


def filled(audit: Any, drawn_from: Any, *fair: Any) -> Any:
    """The frame of an audit without rows that were drawn by a plan and not filled in, each row by itself.

    Columns that were hidden from reviewers come from the table that the rows were drawn from. Where nothing says how
    rows were sampled, a warning does.
    """
    names = [name for name in fair if isinstance(name, str)]
    if isinstance(audit, Audit):
        audit = audit.frame
    elif drawn_from is None and read_drawing(audit) is None:
        tell(NOT_STATED)
    if drawn_from is not None and is_frame(audit) and {STRATUM, DESIGN} <= set(audit.columns):
        audit = Audit.of(audit, fair=names, table=drawn_from).frame
    audit = to_frame(audit) if is_frame(audit) else audit
    designed = hasattr(audit, "columns") and DESIGN in audit.columns
    if designed or drawn_from is not None:
        audit = one_by_one(audit)
    if not designed:
        return audit
    known = np.ones(len(audit), dtype=bool)
    for name in fair:
        if isinstance(name, str) and name in audit.columns:
            known &= is_filled(audit[name])
    if not known.any():
        raise P4FError("none of the rows that were drawn is filled in yet")
    return audit if known.all() else audit[known].reset_index(drop=True)


def by_record(audit: Any, drawn_from: Any) -> bool:
    """Whether rows were drawn by what was recorded; rows that do not say how are taken as drawn at random."""
    if drawn_from is not None:
        return True
    drawing = read_drawing(audit)
    if drawing is None or drawing.design != "neyman":
        return False
    silent = int(audit[DESIGN].isna().sum())
    if silent:
        tell(f"{silent} audited rows do not say how they were drawn; they are taken as drawn at random")
    return True


def anytime(parameters: Iterable[Parameter], confidence: float) -> tuple[Parameter, ...]:
    """Counted parameters with intervals that hold however often one looks; see :func:`sequential_interval`."""
    found = []
    for own in parameters:
        if own.rows is None or own.value is None:
            found.append(own)
            continue
        if own.cell is None or own.source is not None:
            raise P4FError(f"sequential=True is for parameters that are counted; {own.name} is not")
        one, none = np.ones(1), np.zeros(1)
        rows = np.array([float(own.rows)])
        ends = sequential_interval(own.value * rows, rows, np.array([1e15]), one, none, 1.0, confidence)
        found.append(own.estimated(Estimate(own.value, float(ends[0]), float(ends[1]), own.rows)))
    return tuple(found)
