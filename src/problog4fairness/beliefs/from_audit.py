"""A belief from an audited table, in one step: which columns, which groups, which simplifications."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.beliefs.base import Belief
from problog4fairness.beliefs.belief_file import read_belief
from problog4fairness.beliefs.chains import Chain
from problog4fairness.beliefs.custom import ProgramBelief
from problog4fairness.beliefs.label import LabelBias
from problog4fairness.beliefs.measurement import MeasurementBias
from problog4fairness.errors import P4FError
from problog4fairness.rows.problems import TableError, listed, note, warn
from problog4fairness.rows.roles import Roles, check_column, find_levels, rewritten
from problog4fairness.rows.values import Value, conventional, values_of

if TYPE_CHECKING:
    import pandas as pd

# A feature with more values than this is a measurement; parameters for each pair of its values could not be estimated.
MAX_VALUES = 12


def label_belief(
    audit: pd.DataFrame,
    roles: Roles,
    *,
    negative: bool = True,
    positive: bool = True,
    only_group: bool = False,
    noise: bool = False,
) -> LabelBias:
    """Label bias, estimated from an audit.

    Parameters
    ----------
    audit
        A clean table (:meth:`Roles.clean`) with the recorded and the fair label.
    roles
        Which of its columns is what.
    negative, positive
        Whether favourable labels are lost, and whether they are given without reason.
    only_group
        Whether only the labels of the sensitive group are distorted.
    noise
        Whether anybody's label may also be wrong by mistake.
    """
    if roles.fair is None:
        raise P4FError("an audit has a column with the fair label; name it with --fair")
    if not negative and not positive and not noise:
        raise P4FError("without negative and positive bias, and without noise, there is nothing to estimate")
    groups = None
    if only_group:
        if roles.group is None:
            raise P4FError(f"--only-group is for two groups; {roles.sensitive!r} has {listed(roles.levels)}")
        groups = [roles.group]
    belief = LabelBias(
        roles.sensitive,
        None if negative else False,
        None if positive else False,
        levels=roles.levels,
        groups=groups,
        noise=None if noise else False,
    )
    return belief.estimate(audit, recorded=roles.recorded, fair=roles.fair, favourable=roles.favourable)


def measurement_belief(
    audit: pd.DataFrame,
    sensitive: str,
    levels: Sequence[Value],
    features: Sequence[tuple[str, str]],
    *,
    negative: bool = True,
    positive: bool = True,
    only_group: bool = False,
) -> MeasurementBias:
    """Measurement bias, estimated from an audit.

    Parameters
    ----------
    audit
        A table in which the groups are clean.
    sensitive, levels
        The sensitive column and its groups.
    features
        For each distorted feature the column that was recorded and the column that was audited.
    negative, positive, only_group
        Whether recorded values are too low, too high, and of the sensitive group alone; for features of two values.
    """
    if not features:
        raise P4FError("name the distorted features: --feature NAME --fair-feature NAME, once for each")
    values: dict[str, tuple[Value, ...]] = {}
    columns: dict[str, Any] = {}
    for recorded, fair in features:
        check_column(audit, recorded, "recorded feature", "--feature")
        check_column(audit, fair, "fair feature", "--fair-feature")
    audit = _complete(audit, [name for pair in features for name in pair])
    for recorded, fair in features:
        found = list(dict.fromkeys([*values_of(audit[recorded]), *values_of(audit[fair])]))
        values[recorded] = _feature_values(recorded, found)
        for name in (recorded, fair):
            columns[name] = rewritten(audit[name], values[recorded], values[recorded], f"feature {recorded!r}")
    acting = [levels[1]] if only_group and len(levels) == 2 else None
    belief = MeasurementBias(
        [recorded for recorded, _ in features],
        sensitive,
        None if negative else False,
        None if positive else False,
        levels=levels,
        groups=acting,
        values=values,
    )
    return belief.estimate(audit.assign(**columns), recorded=dict(zip(belief.features, belief.features, strict=True)),
                           fair=dict(features))  # fmt: skip


def feature_pairs(recorded: Sequence[str], fair: Sequence[str]) -> list[tuple[str, str]]:
    """The recorded and the audited column of each feature, as they were named in turn."""
    if len(recorded) != len(fair):
        raise P4FError(
            f"there are {len(recorded)} --feature and {len(fair)} --fair-feature; each recorded one has an audited one"
        )
    same = [name for name, other in zip(recorded, fair, strict=True) if name == other]
    if same:
        raise P4FError(f"--feature {same[0]!r} and its --fair-feature are one column; name the audited one")
    return list(zip(recorded, fair, strict=True))


def measurement_from_table(
    frame: pd.DataFrame,
    name: str,
    sensitive: str,
    features: Sequence[tuple[str, str]],
    *,
    group: object = None,
    negative: bool = True,
    positive: bool = True,
    only_group: bool = False,
) -> tuple[MeasurementBias, list[str]]:
    """Measurement bias from a table as it was read, and notes on where the numbers came from.

    Parameters
    ----------
    frame, name
        The table, and what it is called.
    sensitive, group
        The sensitive column, and the value of the sensitive group where it is not known by convention.
    features, negative, positive, only_group
        As for :func:`measurement_belief`.
    """
    check_column(frame, sensitive, "sensitive variable", "--sensitive")
    levels = find_levels(frame, sensitive, group)
    rows = _complete(frame, [sensitive])
    rows = rows.assign(**{sensitive: rewritten(rows[sensitive], levels, levels, "sensitive variable")})
    found = measurement_belief(
        rows, sensitive, levels, features, negative=negative, positive=positive, only_group=only_group
    )
    notes = [f"Estimated from {len(rows)} audited rows of {name}."]
    notes += [f"Feature {recorded}: audited as {fair}." for recorded, fair in features]
    return found, notes


def _complete(audit: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    missing = audit[list(names)].isna().any(axis=1)
    if missing.any():
        warn(f"{int(missing.sum())} rows lack a value of {listed(names)} and were left out")
        audit = audit[~missing].reset_index(drop=True)
    if not len(audit):
        raise TableError(f"no row has a value in each of {listed(names)}")
    return audit


def _feature_values(name: str, found: list[Value]) -> tuple[Value, ...]:
    usual = conventional(found)
    if usual is not None:
        return usual
    if not 2 <= len(found) <= MAX_VALUES:
        raise TableError(
            f"feature {name!r} has {len(found)} values; a distorted feature has two to {MAX_VALUES}: make classes of it"
        )
    values = tuple(sorted(found, key=str))
    if len(values) == 2:
        note(f"{name}: {values[1]!r} is taken as the higher value, {values[0]!r} as the lower one")
    return values


def belief_from_file(audit: pd.DataFrame, roles: Roles, file: Path) -> Belief:
    """The belief of a file, with parameters estimated from an audit: all of a template, the unknown ones of a program.

    Parameters
    ----------
    audit
        A clean table (:meth:`Roles.clean`) with the recorded and the fair label.
    roles
        Which of its columns is what.
    file
        A belief file or any ProbLog program.
    """
    belief = read_belief(file, sensitive=roles.sensitive, levels=roles.levels)
    if not isinstance(belief, LabelBias | Chain | ProgramBelief):
        raise P4FError(f"{file}: a belief about features is estimated with --belief measurement")
    if roles.fair is None:
        raise P4FError("an audit has a column with the fair label; name it with --fair")
    if isinstance(belief, ProgramBelief) and all(parameter.value is not None for parameter in belief.probabilities):
        raise P4FError(f"{file}: the program has no unknown parameter to estimate; write p1 :: ... for a number")
    return belief.estimate(audit, recorded=roles.recorded, fair=roles.fair, favourable=roles.favourable)


def audit_notes(audit: pd.DataFrame, roles: Roles, name: str) -> list[str]:
    """Where the numbers of a belief came from, for the head of its file: the audit, its columns, rows of each cell."""
    notes = [
        f"Estimated from {len(audit)} audited rows of {name}.",
        f"Recorded label: {roles.recorded} ({roles.favourable} is favourable). Fair label: {roles.fair}.",
    ]
    groups, fair, recorded = roles.group_codes(audit), roles.fair_codes(audit), roles.label_codes(audit)
    for level, group in enumerate(roles.levels):
        cells = [
            f"{int(((groups == level) & (fair == f) & (recorded == r)).sum())} fair {roles.labels[f]} recorded as "
            f"{roles.labels[r]}"
            for f in (1, 0)
            for r in (1, 0)
        ]
        notes.append(f"{roles.sensitive} = {group}: {', '.join(cells)}.")
    return notes
