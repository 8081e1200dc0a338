"""Does the data contradict a belief? All tests, one after another."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from problog4fairness.beliefs import Belief
from problog4fairness.checks.case import Case
from problog4fairness.checks.comparing_beliefs import which_test
from problog4fairness.checks.finding import LEVEL, NEVER, Finding, NotDone, holm
from problog4fairness.checks.reading import read_case
from problog4fairness.checks.result import CheckResult, Doubt
from problog4fairness.checks.tests.audited_rows import conditional_test, independence_test, ruled_out_test
from problog4fairness.checks.tests.calibration import calibration_test
from problog4fairness.checks.tests.features import feature_tables_test
from problog4fairness.checks.tests.numbers import numbers_test
from problog4fairness.checks.tests.over_time import change_test
from problog4fairness.checks.tests.parameters import fit_test
from problog4fairness.checks.tests.recorded_rows import affine_test, plain_test, range_test
from problog4fairness.data import FileWarning, is_frame, to_frame
from problog4fairness.errors import P4FError
from problog4fairness.statistics import percent

# Each test with its name and its question.
TESTS: tuple[tuple[str, str, Callable[[Case], Finding]], ...] = (
    ("range", "Are recorded rates within what the belief allows, everywhere?", range_test),
    ("affine groups", "Do the groups' recorded curves come from one fair curve?", affine_test),
    ("plain learner", "Are recorded labels explained as well through the belief as without it?", plain_test),
    ("which belief", "Does another belief explain recorded labels better?", which_test),
    ("class-conditional", "Do recorded labels depend on fair label and group alone?", conditional_test),
    ("over time", "Is the bias the same at all times?", change_test),
    ("calibration", "Does a model trained through the belief say what audited labels say?", calibration_test),
    ("independence", "Is the fair label independent of the group, given the features?", independence_test),
    ("parameters", "Are the parameters those of the audit?", fit_test),
    ("ruled out", "Was nothing seen that the belief calls impossible?", ruled_out_test),
    ("feature tables", "Are fair features independent of each other, given recorded ones?", feature_tables_test),
    ("numbers", "Are recorded numbers a line of the fair ones, with normal noise?", numbers_test),
)  # fmt: skip
# Seconds after which a bar is shown.
_PATIENCE = 2.0


def check(
    belief: Belief,
    table: Any,
    *,
    recorded: str | None = None,
    audit: Any = None,
    fair: str | None = None,
    fair_features: Mapping[str, str] | None = None,
    sensitive_features: Any = None,
    favourable: Any = None,
    use_sensitive: bool = False,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    features: Sequence[str] | None = None,
    others: Sequence[Belief] = (),
    when: str | None = None,
    random_state: int = 0,
    progress: bool | None = None,
) -> CheckResult:
    """Test whether the data contradict the belief.

    Recorded data alone cannot confirm a belief, but they can refute it; audited rows can do so sooner. All tests are
    corrected for their number, so that a belief which is right is contradicted by at most 5% of all tables, as far as
    linear models and boosted trees can learn the recorded label and the group from the features. Where larger trees
    predict clearly better than small ones, tests that rely on them are not decided unless their statistic stays.
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
        The column of the fair label.
    fair_features
        For each feature that the belief distorts the column with its audited value.
    sensitive_features
        The sensitive columns, where ``table`` does not have them.
    favourable
        The label that counts as 1, where neither the belief nor convention says so.
    use_sensitive
        Whether the model uses the group, so that the fair label may depend on it; otherwise it is tested that the fair
        label depends on the other features alone.
    drop, keep
        Columns that are no features, and columns that are whatever they look like.
    features
        The columns that are features; None for all that look like it.
    others
        Other beliefs, to see whether one of them explains the record better.
    when
        A column with the day of each row, to see whether the bias changed; the belief's own by default.
    random_state
        All that is random is drawn from it.
    progress
        Whether to show a progress bar; by default only on a terminal, after two seconds.

    Examples
    --------
    >>> import problog4fairness as p4f
    >>> data = p4f.datasets.loans(2000)
    >>> wrong = p4f.LabelBias("poor_area", {0: 0.4, 1: 0}, False)  # the groups are swapped
    >>> doubts = p4f.check(wrong, data.loans, recorded="granted")
    >>> doubts.contradicted
    True
    """
    if not isinstance(belief, Belief):
        raise P4FError(f"a belief is checked, not {type(belief).__name__}; make one of a program by p4f.ProgramBelief")
    options: dict[str, Any] = {
        "audit": audit,
        "fair": fair,
        "fair_features": fair_features,
        "sensitive_features": sensitive_features,
        "favourable": favourable,
        "use_sensitive": use_sensitive,
        "keep": keep,
        "features": features,
        "others": others,
        "when": when,
        "seed": random_state,
    }
    constant: list[str] = []
    if belief.recorded_columns:
        cases, constant = _by_column(belief, table, drop, options)
    else:
        cases = {"": read_case(belief, table, recorded=recorded, drop=drop, **options)}
    findings: list[_Told | str] = []
    with _bar(len(TESTS), progress) as advance:
        for name, _, test in TESTS:
            advance(name)
            findings.append(_worst(test, cases))
    first = next(iter(cases.values()))
    notes = first.notes
    if belief.recorded_columns:
        notes = (*notes, f"Each of {', '.join(cases)} was tested alone, and corrected for; not whether they copy.")
    if constant:
        notes = (*notes, f"Not tested, for there is only one value: {', '.join(constant)}.")
    if first.observation.drawn:
        share = percent(first.observation.drawn)
        notes = (*notes, f"Rows stand for more fair vectors than are listed: {share} of the weight rests on draws.")
    if belief.identified_by:
        notes = (*notes, f"What identifies {belief.title}: {belief.identified_by}")
    return CheckResult(_corrected(findings), first.size, len(first.audited), notes)


@dataclass(frozen=True, eq=False)
class _Told:
    """What a test found, and in which case."""

    case: Case
    finding: Finding


def _by_column(
    belief: Belief, table: Any, drop: Sequence[str], options: dict[str, Any]
) -> tuple[dict[str, Case], list[str]]:
    """For a record in several columns, a case for each, of the rows that have it; and columns of a single value."""
    parts = belief.by_column()
    if not parts or not is_frame(table):
        raise P4FError("a record in several columns is tested one by one: pass Annotators, and a data frame")
    cases = {}
    frame = to_frame(table)
    constant = [column for column in parts if column in frame.columns and frame[column].nunique() < 2]
    if len(constant) == len(parts):
        raise P4FError(f"all of {', '.join(constant)} have one value only; there is nothing to test")
    for column, part in parts.items():
        if column in constant:
            continue
        unused = [*drop, *(name for name in parts if name != column)]
        with warnings.catch_warnings():
            # That somebody did not vote on every row needs no word.
            warnings.filterwarnings("ignore", f"column '{re.escape(column)}' has", FileWarning)
            cases[column] = read_case(part, table, recorded=column, drop=unused, **options)
    return cases, constant


def _worst(test: Callable[[Case], Finding], cases: Mapping[str, Case]) -> _Told | str:
    """What a test found in the case that it speaks against most, corrected for their number."""
    found = {name: _done(test, case) for name, case in cases.items()}
    done = {name: own for name, own in found.items() if isinstance(own, Finding)}
    if not done:
        return str(next(iter(found.values())))
    name = min(done, key=lambda name: done[name].p)
    worst = done[name]
    sentence = f"{name}: {worst.sentence}" if name else worst.sentence
    return _Told(cases[name], replace(worst, sentence=sentence, p=min(1.0, len(done) * worst.p)))


def _done(test: Callable[[Case], Finding], case: Case) -> Finding | str:
    """What a test found, or why it was not done, or not decided."""
    try:
        found = test(case)
        if found.score is None or found.p > LEVEL or case.simpler is None:
            return found
        if found.stays == NEVER:
            return "not decided: larger trees predict clearly better than small ones, and still larger ones might"
        simpler = test(case.simpler)
    except (NotDone, P4FError) as reason:
        return f"not done: {reason}"
    if simpler.score is not None and found.score < found.stays * simpler.score:
        return (
            f"not decided: with larger trees the statistic falls from {simpler.score:.1f} to {found.score:.1f} "
            "standard deviations, and what is left may be what they have not learned"
        )
    return found


def _corrected(findings: Sequence[_Told | str]) -> tuple[Doubt, ...]:
    corrected = iter(holm([own.finding.p for own in findings if isinstance(own, _Told)]))
    found = []
    for (name, question, _), told in zip(TESTS, findings, strict=True):
        if isinstance(told, str):
            found.append(Doubt(name, question, told))
            continue
        case, own = told.case, told.finding
        rows = case.rows.frame.iloc[own.rows].set_axis(case.numbers[own.rows])
        label = [case.outcomes[code] for code in case.recorded[own.rows]]
        rows = rows.assign(**{case.label: label})
        found.append(Doubt(name, question, own.sentence, own.p, next(corrected), rows, own.advice, own.least))
    return tuple(found)


@contextmanager
def _bar(steps: int, progress: bool | None) -> Iterator[Callable[[str], None]]:
    """A bar over the tests, on standard error, once they have taken two seconds."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not (console.is_terminal if progress is None else progress):
        yield lambda _: None
        return
    began, done = time.monotonic(), 0
    with Progress(console=console, transient=True, auto_refresh=False) as shown:
        task = shown.add_task("testing the belief", total=steps, visible=False)

        def advance(name: str) -> None:
            nonlocal done
            visible = time.monotonic() - began > _PATIENCE
            shown.update(task, completed=done, description=f"testing the belief: {name}", visible=visible, refresh=True)
            done += 1

        yield advance
