from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from problog4fairness.errors import P4FError
from studies.data import student
from studies.engine.archive import name_of
from studies.engine.report import summary_of, write_report
from studies.engine.run import Outcome, identity_of, run
from studies.student import METHODS, StudentStudy, student_study
from studies.student_audit import by_draw, draw, parameter_errors, rows_by_hoeffding, scores_of
from studies.student_cells import PROGRAMS, audited, believed, rarest_cell
from studies.student_methods import claims, collapse, disparities, figures
from tests.studies.pupils import pupils, tiny

ROOT = Path(__file__).parents[2]
METRICS = 5


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("student")
    study = tiny()
    return study, run(study, folder), folder


@pytest.fixture(scope="module")
def audit_finished(tmp_path_factory):
    study = tiny(audits=[80, 20], draws=3)
    return study, run(study, tmp_path_factory.mktemp("audit"))


def test_the_paper_s_study():
    study = student_study(pupils())
    assert (len(study.seeds), study.folds) == (10, 5)
    assert study.training.hidden == (256, 256, 256)
    assert (study.training.dropout, study.training.loss, study.training.learning_rate) == (0.2, "focal", 3e-4)
    assert [stack.method for stack in study.stacks()] == list(METHODS)
    assert student_study(pupils(), audits=[5]).seeds == tuple(range(20))


def test_every_method_is_scored_on_both_labels(finished):
    study, outcome, folder = finished
    results = outcome.results
    assert not outcome.failures
    assert len(results) == len(METHODS) * 2 * 2 * 2 * METRICS
    assert not results.duplicated(["method", "seed", "fold", "labels", "metric"]).any()
    assert results["value"].notna().all()
    again = run(study, folder)
    assert (again.computed, again.read) == (0, len(METHODS))
    pd.testing.assert_frame_equal(results, again.results)


def test_everything_that_matters_is_in_the_identity():
    study = tiny()
    data = study.data
    changed = [
        study,
        replace(study, seeds=(0, 2)),
        replace(study, folds=3),
        replace(study, split="grouped"),
        replace(study, training=replace(study.training, max_epochs=4)),
        replace(study, data=replace(data, reading="grade")),
        replace(study, data=replace(data, recorded=1 - data.recorded)),
        replace(study, data=replace(data, pupil=data.pupil[::-1].reset_index(drop=True))),
    ]
    keys = [[name_of(identity_of(stack)) for stack in one.stacks()] for one in changed]
    assert len({key for own in keys for key in own}) == len(changed) * len(METHODS)
    assert keys[0] == [name_of(identity_of(stack)) for stack in tiny().stacks()]


def test_a_failing_method_is_named_and_does_not_stop_the_others(tmp_path):
    data = pupils()
    # No boy is recorded as a pass: there is nothing for thresholds to trade, and no rule that would make it so.
    data = replace(data, recorded=data.recorded.where(data.sensitive == 0, 0))
    outcome = run(tiny(data, seeds=1), tmp_path)
    assert list(outcome.failures) == ["parity"]
    assert "sex = 1" in outcome.failures["parity"]
    assert set(outcome.results["method"]) == set(METHODS) - {"parity"}
    folder = tmp_path / "report"
    write_report(tiny(data, seeds=1), outcome, folder)
    assert "- parity: P4FError" in (folder / "claims.md").read_text()


def cells_of(stack):
    return [stack.cell(0, seed, fold) for seed in stack.seeds for fold in range(stack.folds)]


def test_no_pupil_on_both_sides_of_a_grouped_split():
    def shared(study: StudentStudy) -> int:
        pupil = study.data.pupil.to_numpy()
        return sum(len(set(pupil[cell.train]) & set(pupil[cell.test])) for cell in cells_of(study.stacks()[0]))

    assert shared(tiny(split="grouped")) == 0
    assert shared(tiny()) > 50


@pytest.mark.parametrize("audits", [[], [20, 80]])
def test_networks_of_beliefs_do_without_sex_and_others_read_it(audits):
    study = tiny(audits=audits, draws=2) if audits else tiny()
    programs = [stack for stack in study.stacks() if stack.method in PROGRAMS]
    assert len(programs) == len(PROGRAMS) * (1 + len(audits))
    assert all(stack.kind == "ours" and not stack.cell(0, 0, 0).aware for stack in programs)
    assert all(stack.kind == stack.method for stack in study.stacks() if stack not in programs)
    people = programs[0].cell(0, 0, 0).people
    assert "sex" in people.features(True)
    assert "sex" not in people.features(False)


def test_methods_are_given_the_recorded_labels_and_judged_by_the_fair_ones():
    study = tiny()
    people = study.stacks()[0].cell(0, 0, 0).people
    np.testing.assert_array_equal(people.recorded, study.data.recorded)
    np.testing.assert_array_equal(people.fair, study.data.fair)
    np.testing.assert_array_equal(people.groups, study.data.sensitive)


def test_each_draw_has_its_own_belief():
    study = tiny(audits=[20], draws=3)
    stack = next(stack for stack in study.stacks() if stack.name == "ours with 20 audited rows")
    found = {cell.seed: str(cell.belief) for cell in cells_of(stack)}
    assert found == {draw: str(audited("ours", study.data, 20, draw)) for draw in range(3)}
    assert len(set(found.values())) > 1


def test_parameters_from_all_rows():
    data = pupils()
    boys, passed, recorded = data.sensitive == 1, data.fair == 1, data.recorded == 1
    full, _ = believed("ours", data)
    assert full.parameter_table()["value"].to_dict() == pytest.approx(
        {
            "p1": (~recorded)[boys & passed].mean(),
            "p2": (~recorded)[~boys & passed].mean(),
            "p3": recorded[boys & ~passed].mean(),
            "p4": recorded[~boys & ~passed].mean(),
        }
    )
    assert [list(believed(name, data)[0].parameter_table().index) for name in PROGRAMS[1:]] == [
        ["p1", "p2"],
        ["p1", "p3"],
    ]


def test_parameters_from_an_audit():
    data = pupils()
    rows = np.random.default_rng((7, 160)).permutation(160)[:30]
    part = data.recorded.iloc[rows][(data.sensitive == 1) & (data.fair == 1)]
    belief = audited("ours", data, 30, 7)
    assert belief.parameter_table().loc["p1", "value"] == pytest.approx((part == 0).sum() / (len(part) + 1))
    assert belief.parameter_table().loc["p1", "rows"] == len(part) + 1
    for name in PROGRAMS[1:]:
        own = audited(name, data, 30, 7).parameter_table()["value"]
        assert own.to_dict() == belief.parameter_table().loc[own.index, "value"].to_dict()
    assert (
        audited("ours", data, 30, 8).parameter_table()["value"].to_dict() != belief.parameter_table()["value"].to_dict()
    )
    assert audited("ours", data, 1, 7).parameter_table()["value"].max() <= 0.5
    assert (audited("ours", data, 1, 7).parameter_table()["value"] == 0).sum() >= 3


def test_an_audit_of_any_size_can_be_trained_with(tmp_path):
    # Of girls who failed all were recorded as a pass: a plain share would be 1, and the next girl's fail impossible.
    outcome = run(tiny(pupils(positive=(0.95, 0.9)), audits=[1, 8], draws=2), tmp_path)
    assert not outcome.failures


def test_audits(audit_finished):
    study, outcome = audit_finished
    assert study.audits == (20, 80)
    assert study.name == "student-audit"
    assert not outcome.failures
    seen = outcome.results.groupby("audit")["method"].unique().apply(set).to_dict()
    assert seen == {0: {*PROGRAMS, "lower"}, 20: set(PROGRAMS), 80: set(PROGRAMS)}
    assert outcome.results.groupby(["audit", "method"])["seed"].nunique().eq(3).all()
    errors = parameter_errors(study)
    assert len(errors) == 2 * 3 * 4
    whole = replace(study, audits=(160,))
    everything = parameter_errors(whole)
    assert (everything["value"] - everything["all_rows"]).abs().max() < 0.05  # the imagined row alone


def test_hoeffding_by_hand():
    data = pupils()
    sizes = pd.crosstab(data.sensitive, data.fair) / len(data.fair)
    assert rarest_cell("ours", data) == sizes.min(axis=None)
    assert rarest_cell("no positive bias", data) == sizes[1].min()
    assert rarest_cell("no bias on A = 0", data) == sizes.loc[1].min()
    assert rows_by_hoeffding(tiny(data))["no positive bias"] == np.ceil(185 / sizes[1].min())


def test_hoeffding_on_the_student_data(student_folder):
    study = student_study(student(student_folder))
    assert rows_by_hoeffding(study) == {"ours": 2364, "no positive bias": 458, "no bias on A = 0": 1932}


def test_the_audit_figure(audit_finished):
    study, outcome = audit_finished
    scores = by_draw(outcome.results)
    summary = scores_of(summary_of(outcome.results))
    (axes,) = draw(study, summary).axes
    lines = {line.get_label(): line for line in axes.lines}
    own = scores[(scores["method"] == "ours") & (scores["audit"] > 0)].groupby("audit")["value"]
    np.testing.assert_array_equal(lines["ours"].get_xdata(), [20, 80])
    np.testing.assert_allclose(lines["ours"].get_ydata(), own.mean())
    spread = summary[(summary["method"] == "ours") & (summary["audit"] > 0)].set_index("audit")["spread"]
    np.testing.assert_allclose(spread, own.std())


def test_files(finished, tmp_path):
    study, outcome, _ = finished
    found = write_report(study, outcome, tmp_path / "out")
    names = {file.name for file in (tmp_path / "out").iterdir()}
    figures = {f"{name}.{kind}" for name in ("figure", "equalized_odds") for kind in ("pdf", "png")}
    assert names == {"results.csv", "summary.csv", "seeds.csv", "claims.md"} | figures
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "results.csv"), outcome.results)
    summary = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert len(summary) == len(METHODS) * 2 * METRICS
    text = (tmp_path / "out" / "claims.md").read_text()
    assert len(found) == 21
    assert all(claim.text in text and claim.measured in text for claim in found)


def test_files_of_audits(audit_finished, tmp_path):
    study, outcome = audit_finished
    assert write_report(study, outcome, tmp_path) == []
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"results.csv", "summary.csv", "parameters.csv", "claims.md", "audit.pdf", "audit.png"}
    text = (tmp_path / "claims.md").read_text()
    mean = by_draw(outcome.results).query("method == 'ours' and audit == 20")["value"].mean()
    assert f"| ours | {mean:.3f} ± " in text


def test_a_study_in_which_everything_failed_has_a_report(tmp_path):
    empty = Outcome(pd.DataFrame(columns=["audit"]), {"ours": "ValueError: no"})
    for study in (tiny(), tiny(audits=[20], draws=1)):
        assert write_report(study, empty, tmp_path) == []
        assert "ours: ValueError: no" in (tmp_path / "claims.md").read_text()


def test_figures_have_both_labels_on_one_scale(finished):
    study, outcome, _ = finished
    figure = figures(study.data, outcome.results)["figure"]
    fair, biased = figure.axes
    assert fair.get_ylim() == biased.get_ylim()
    for axes, labels in ((fair, "fair"), (biased, "recorded")):
        lines = {line.get_label(): line for line in axes.lines}
        rows = outcome.results[(outcome.results["labels"] == labels) & (outcome.results["method"] == "parity")]
        assert lines["parity"].get_ydata()[0] == pytest.approx(rows.loc[rows["metric"] == "f1", "value"].mean())
        assert lines["disparity of the labels"].get_xdata()[0] == pytest.approx(disparities(study.data)[labels])
        label = study.data.fair if labels == "fair" else study.data.recorded
        assert lines["passing everybody"].get_ydata()[0] == pytest.approx(f1_score(label, np.ones(len(label))))


def test_a_collapse_is_told_above_the_results():
    fine = {"ours": 0.9, "lower": 0.8, "unawareness": 0.85, "massaging": 0.7, "parity": 0.8}
    assert collapse(pd.Series(fine)) == []
    said, _ = collapse(pd.Series(fine | {"ours": 0.45}))
    assert "collapses" in said
    assert "0.450, below every baseline's (0.700 and more)" in said


def test_labels_without_signal_are_warned_of(tmp_path):
    data = replace(pupils(400, positive=(0.9, 0.1)), reading="grade")
    study = tiny(data, seeds=1)
    assert study.name == "student-grade"
    (line,) = [line for line in study.warnings if "almost no signal" in line or "the opposite" in line]
    assert line.startswith("where sex = 0")
    outcome = run(study, tmp_path / "stacks")
    write_report(study, outcome, tmp_path)
    assert not outcome.failures
    assert line in (tmp_path / "claims.md").read_text()


def test_grade_on_the_student_data(student_folder):
    study = student_study(student(student_folder, reading="grade"))
    assert any("carry almost no signal (1 - negative - positive = 0.048)" in line for line in study.warnings)


def table(f1, disparity=None, accuracy=None, odds=None):
    measured = {"f1": f1, "disparity": disparity, "accuracy": accuracy, "equalized_odds": odds}
    rows = [
        (0, method, seed, 0, labels, metric, value + (seed - 0.5) / 1000)
        for metric, values in measured.items()
        for (method, labels), value in (values or {}).items()
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows, columns=["audit", "method", "seed", "fold", "labels", "metric", "value"])


def test_claims_by_hand():
    f1 = {("ours", "fair"): 0.86, ("unawareness", "fair"): 0.82, ("no positive bias", "fair"): 0.85}
    f1 |= {("ours", "recorded"): 0.8, ("lower", "recorded"): 0.81}
    disparity = {("ours", "fair"): -0.05, ("lower", "fair"): -0.10, ("no positive bias", "fair"): 0.0}
    accuracy = {("ours", "recorded"): 0.75, ("lower", "recorded"): 0.74}
    odds = {("ours", "fair"): 0.2, ("lower", "fair"): 0.5, ("parity", "fair"): 0.1}
    claimed = claims(table(f1, disparity, accuracy, odds), -0.04)
    fairer = [claim for claim in claimed if claim.text.startswith("equalized odds")]
    assert [(claim.text.split(" than ")[1].split()[0], claim.holds) for claim in fairer] == [
        ("lower", True),
        ("parity", False),
    ]
    found = [claim for claim in claimed if claim not in fairer]
    assert [claim.holds for claim in found] == [True, False, True, False, True, False]
    ahead, simpler, nearer, _, trap, other_trap = found
    assert ahead.measured == "+0.0400 (+0.0400 to +0.0400); 0.860 against 0.820"
    assert simpler.measured.startswith("-0.0100")
    assert nearer.measured == "+0.0500 (+0.0500 to +0.0500); -0.050 against -0.100, fair labels -0.040"
    assert trap.text == "judged by biased labels, lower looks better than ours in F1"
    assert other_trap.text == "judged by biased labels, lower looks better than ours in accuracy"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"audits": [0]}, "an audit of 0 rows: choose a size from 1 to the 160"),
        ({"audits": [161]}, "an audit of 161 rows: choose"),
        ({"audits": [20], "seeds": 2}, "give draws"),
        ({"draws": 3}, "give sizes of audits"),
        ({"seeds": 0}, "seeds must be 1 or more, not 0"),
        ({"folds": 1}, "folds must be 2 or more, not 1"),
        ({"split": "by hand"}, "split must be 'random' or 'grouped'"),
    ],
)
def test_errors(options, message):
    with pytest.raises(P4FError, match=message):
        student_study(pupils(), **options)
