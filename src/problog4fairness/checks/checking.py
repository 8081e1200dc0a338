"""Does the data contradict a belief, and which of several explains it best? The table of all checks."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from problog4fairness.beliefs import Belief, by_column
from problog4fairness.checks import needs
from problog4fairness.checks.case import Case
from problog4fairness.checks.finding import LEVEL, NEVER, Finding, NotDone, holm
from problog4fairness.checks.reading import read_case
from problog4fairness.checks.result import CheckResult, Outcome
from problog4fairness.checks.tests.audited_features import feature_independence_test, measurement_model_test
from problog4fairness.checks.tests.audited_rows import (
    change_test,
    conditional_test,
    impossible_test,
    independence_test,
    parameters_test,
)
from problog4fairness.checks.tests.calibration import calibration_test
from problog4fairness.checks.tests.recorded_rows import consistency_test, plain_test, range_test
from problog4fairness.data import FileWarning, WholeTable, is_frame, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.statistics import percent


@dataclass(frozen=True)
class Check:
    """One check of a belief: its name, its question, what it does, and what it cannot do without."""

    name: str
    question: str
    test: Callable[[Case], Finding]
    needs: Sequence[Callable[[Case], None]]  # from the module of that name

    def run(self, case: Case) -> Finding | str:
        """What it found, or why it was not done, or not decided."""
        try:
            for need in self.needs:
                need(case)
            finding = self.test(case)
            if finding.score is None or finding.p > LEVEL or case.simpler is None:
                return finding
            if finding.stays == NEVER:
                return "not decided: larger trees predict clearly better than small ones, and still larger ones might"
            simpler = self.test(case.simpler)
        except (NotDone, P4FError) as reason:
            return f"not done: {reason}"
        if simpler.score is not None and finding.score < finding.stays * simpler.score:
            return (
                f"not decided: with larger trees the statistic falls from {simpler.score:.1f} to {finding.score:.1f} "
                "standard deviations, and what is left may be what they have not learned"
            )
        return finding


CHECKS = (
    Check(
        "range",
        "Are recorded rates within what the belief allows, everywhere?",
        range_test,
        (needs.recorded_rows, needs.features),
    ),
    Check(
        "group consistency",
        "Do the groups' recorded curves come from one fair curve?",
        consistency_test,
        (needs.recorded_rows, needs.features, needs.group_free, needs.two_classes, needs.fair_features, needs.groups),
    ),
    Check(
        "plain learner",
        "Are recorded labels explained as well through the belief as without it?",
        plain_test,
        (needs.recorded_rows, needs.features),
    ),
    Check(
        "class-conditional",
        "Do recorded labels depend on fair label and group alone?",
        conditional_test,
        (needs.audit_by_label, needs.features, needs.certain_groups),
    ),
    Check("over time", "Is the bias the same at all times?", change_test, (needs.days, needs.audit_by_label)),
    Check(
        "calibration",
        "Does a model trained through the belief say what audited labels say?",
        calibration_test,
        (needs.random_audit, needs.features),
    ),
    Check(
        "independence",
        "Is the fair label independent of the group, given the features?",
        independence_test,
        (needs.random_audit, needs.group_free, needs.groups),
    ),
    Check("parameters", "Are the parameters those of the audit?", parameters_test, (needs.parameters,)),
    Check("impossible outcomes", "Was nothing seen that the belief calls impossible?", impossible_test, (needs.audit,)),
    Check(
        "feature independence",
        "Are fair features independent of each other, given recorded ones?",
        feature_independence_test,
        (needs.distorted_features, needs.audited_features, needs.categories, needs.independent_features),
    ),
    Check(
        "measurement model",
        "Are recorded numbers a line of the fair ones, with normal noise?",
        measurement_model_test,
        (needs.distorted_numbers, needs.audited_features),
    ),
)


def check(
    belief: Belief,
    table: Any,
    *,
    recorded: str | None = None,
    audit: Any = None,
    fair: str | Mapping[str, str] | None = None,
    favourable: Any = None,
    use_sensitive: bool = False,
    features: Sequence[str] | None = None,
    when: str | None = None,
    random_state: int = 0,
) -> CheckResult:
    """Check whether the data contradict the belief.

    Recorded data alone cannot confirm a belief, but they can refute it; audited rows can do so sooner. All checks are
    corrected for their number, so that a belief which is right is contradicted by at most 5% of all tables, as far as
    linear models and boosted trees can learn the recorded label and the group from the features. Where larger trees
    predict clearly better than small ones, checks that rely on them are not decided unless their statistic stays.
    Parameters that were estimated count with their uncertainty. Also ``belief.check(table, ...)``.

    Parameters
    ----------
    belief
        With all its parameters known.
    table
        The recorded data: a data frame, or :class:`~problog4fairness.data.Rows`. Of more than 20,000 rows, so many are
        drawn at random; and of more than 20,000 audited rows.
    recorded
        The column of the recorded label, which may be missing where the belief says when; not needed for votes.
    audit
        Audited rows in a table of their own, which may also be in ``table``; without it, ``fair`` is a column of
        ``table``, missing where nobody looked. They may be those that the belief was estimated from.
    fair
        The column of the fair label. Where distorted features were audited, too, a mapping from recorded columns to
        their audited ones: ``{"granted": "repaid", "income": "true_income"}``.
    favourable
        The label that counts as 1, where neither the belief nor convention says so.
    use_sensitive
        Whether the model uses the group, so that the fair label may depend on it; otherwise it is checked that the fair
        label depends on the other features alone.
    features
        The columns that are features; None for all but those that identify rows or hold dates.
    when
        A column with the day of each row, to see whether the bias changed; the belief's own by default.
    random_state
        All that is random is drawn from it.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(2000)
    >>> wrong = p4f.LabelBias("poor_area", {0: 0.4, 1: 0}, False)  # the groups are swapped
    >>> p4f.check(wrong, data.loans, recorded="granted").contradicted
    True
    """
    from rich.console import Console
    from rich.progress import track

    if not isinstance(belief, Belief):
        raise P4FError(f"a belief is checked, not {type(belief).__name__}; make one of a program by p4f.ProgramBelief")
    options = {
        "audit": audit,
        "fair": fair,
        "favourable": favourable,
        "use_sensitive": use_sensitive,
        "features": features,
        "when": when,
        "seed": random_state,
    }
    constant: list[str] = []
    if belief.columns.recorded:
        cases, constant = _by_column(belief, table, options)
    else:
        cases = {"": read_case(belief, table, recorded=recorded, **options)}
    console = Console(stderr=True)
    steps = track(CHECKS, "checking the belief", console=console, transient=True, disable=not console.is_terminal)
    results = [_worst(step, cases) for step in steps]
    first = next(iter(cases.values()))
    notes = first.notes
    if belief.columns.recorded:
        notes = (*notes, f"Each of {', '.join(cases)} was checked alone, and corrected for; not whether they copy.")
    if constant:
        notes = (*notes, f"Not checked, for there is only one value: {', '.join(constant)}.")
    if first.observation.drawn:
        share = percent(first.observation.drawn)
        notes = (*notes, f"Rows stand for more fair vectors than are listed: {share} of the weight rests on draws.")
    if belief.kind.identified_by:
        notes = (*notes, f"What identifies {belief.title}: {belief.kind.identified_by}")
    return CheckResult(_outcomes(results), first.size, len(first.audited), notes)


def _by_column(belief: Belief, table: Any, options: dict[str, Any]) -> tuple[dict[str, Case], list[str]]:
    """For a record in several columns, a case for each, of the rows that have it; and columns of a single value."""
    parts = by_column(belief)
    if not parts or not is_frame(table):
        raise P4FError("a record in several columns is checked one by one: pass Annotators, and a data frame")
    cases = {}
    frame = to_frame(table)
    constant = [column for column in parts if column in frame.columns and frame[column].nunique() < 2]
    if len(constant) == len(parts):
        raise P4FError(f"all of {', '.join(constant)} have one value only; there is nothing to check")
    for column, part in parts.items():
        if column in constant:
            continue
        unused = [name for name in parts if name != column]
        with warnings.catch_warnings():
            # That somebody did not vote on every row needs no word.
            warnings.filterwarnings("ignore", f"column '{re.escape(column)}' has", FileWarning)
            cases[column] = read_case(part, table, recorded=column, drop=unused, **options)
    return cases, constant


def _worst(check: Check, cases: Mapping[str, Case]) -> tuple[Case, Finding] | str:
    """What a check found in the case that it speaks against most, corrected for their number."""
    results = {name: check.run(case) for name, case in cases.items()}
    done = {name: result for name, result in results.items() if isinstance(result, Finding)}
    if not done:
        return str(next(iter(results.values())))
    name = min(done, key=lambda name: done[name].p)
    worst = done[name]
    sentence = f"{name}: {worst.sentence}" if name else worst.sentence
    return cases[name], replace(worst, sentence=sentence, p=min(1.0, len(done) * worst.p))


def _outcomes(results: Sequence[tuple[Case, Finding] | str]) -> tuple[Outcome, ...]:
    corrected = iter(holm([result[1].p for result in results if not isinstance(result, str)]))
    outcomes = []
    for one, result in zip(CHECKS, results, strict=True):
        if isinstance(result, str):
            outcomes.append(Outcome(one.name, one.question, result))
            continue
        case, finding = result
        rows = case.rows.frame.iloc[finding.rows].set_axis(case.numbers[finding.rows])
        rows = rows.assign(**{case.label: [case.outcomes[code] for code in case.recorded[finding.rows]]})
        found = (finding.sentence, finding.p, next(corrected), rows, finding.advice, finding.least)
        outcomes.append(Outcome(one.name, one.question, *found))
    return tuple(outcomes)


def compare_beliefs(
    beliefs: Sequence[Belief] | Mapping[str, Belief],
    table: Any,
    *,
    recorded: str | None = None,
    favourable: Any = None,
    use_sensitive: bool = False,
    random_state: int = 0,
) -> WholeTable:
    """Compare beliefs by how likely they make recorded labels that were held out. No audit is needed.

    Beliefs that allow the same recorded labels cannot be told apart in this way: with ``use_sensitive=True`` many can.
    The likelihood says which is *less wrong* about the record, not which is right.

    Parameters
    ----------
    beliefs
        Two or more, with all their parameters known; in a dictionary, by the names that they have in the result.
    table, recorded, favourable, use_sensitive, random_state
        As for :func:`~problog4fairness.check`.

    Returns
    -------
    A data frame with a row for each belief, the best first: ``loss``, minus the mean log-likelihood of held-out
    recorded labels; ``behind``, how much greater that is than the best one's; ``low`` and ``high``, the 95% interval of
    that difference; and ``learner``, the quick learner that explained most.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> loans = p4f.datasets.loans(2000).loans
    >>> right = p4f.LabelBias("poor_area", {0: 0, 1: 0.4}, False)
    >>> wrong = p4f.LabelBias("poor_area", {0: 0.4, 1: 0}, False)
    >>> p4f.checks.compare_beliefs({"area": right, "elsewhere": wrong}, loans, recorded="granted").index[0]
    'area'
    """
    named = (
        dict(beliefs) if isinstance(beliefs, Mapping) else {f"{i}: {one!r}": one for i, one in enumerate(beliefs, 1)}
    )
    if len(named) < 2:
        raise P4FError("compare_beliefs compares two or more beliefs")
    options = {"recorded": recorded, "favourable": favourable, "use_sensitive": use_sensitive, "seed": random_state}
    cases = {name: read_case(belief, table, **options) for name, belief in named.items()}
    first = next(iter(cases.values()))
    if not all(np.array_equal(case.numbers, first.numbers) for case in cases.values()):
        raise P4FError("the beliefs are about different rows of the table: some lack a label or a group; drop these")
    features = set.intersection(*(set(case.rows.features) for case in cases.values()))
    fits = []
    for case in cases.values():
        read = [feature for feature in case.rows.features if feature in features]
        fits.append(case.learned(case.belief, case.table.with_features(read)))
    best = max(fits, key=lambda fit: fit.mean)
    rows = []
    for fit in fits:
        behind = best.likelihood - fit.likelihood
        half = float(norm.ppf(0.975) * behind.std(ddof=1) / np.sqrt(len(behind)))
        rows.append((-fit.mean, behind.mean(), behind.mean() - half, behind.mean() + half, fit.learner))
    columns = ["loss", "behind", "low", "high", "learner"]
    frame = pd.DataFrame(rows, columns=columns, index=pd.Index(list(cases), name="belief"))
    return WholeTable(frame.sort_values("loss", kind="stable"))
