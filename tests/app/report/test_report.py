"""The report as a page and as tables."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import problog4fairness as p4f
from problog4fairness.beliefs import Belief
from problog4fairness.data import Sensitive
from problog4fairness.learners import Network
from problog4fairness.statistics import Parameter
from tests.app.report.pages import HOSTILE, IMAGE, QUICK, Page, compared, quick, trained


def test_page_is_sound_and_complete(report):
    page = Page(report.html)
    assert page.problems == []
    for heading in ("Summary", "Limits and warnings", "The belief", "Parameters", "What the model changes",
                    "Do the data contradict the belief?", "Comparison with other methods",
                    "Sensitivity to each parameter", "Likely mislabelled rows"):  # fmt: skip
        assert heading in page.words
    assert page.tags.count("svg") >= 6
    assert "label_neg_bias(X) :- a(X)." in page.words
    assert "Recorded data alone can contradict the belief, but they cannot confirm it" in page.words
    assert len(report.html) < 2_000_000


def test_page_loads_nothing(report):
    assert "http://" not in report.html
    assert "https://" not in report.html
    assert "@import" not in report.html


def test_page_follows_light_dark_and_print(report):
    style = report.html.split("<style>")[1].split("</style>")[0]
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    used = set(re.findall(r"var\((--[a-z-]+)\)", report.html))
    assert {"--ink", "--blue", "--vermilion"} <= used
    assert all(f"{name}:" in report.html for name in used)
    drawings = re.findall(r"<svg.*?</svg>", report.html, flags=re.DOTALL)
    assert not [colour for drawing in drawings for colour in re.findall(r"(?:fill|stroke): (#[0-9a-f]+)", drawing)]


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_letters_can_be_read(report, scheme):
    # WCAG AA asks for a contrast of 4.5 between letters and paper.
    blocks = re.findall(r":root \{(.*?)\}", report.html, flags=re.DOTALL)
    colours = dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", blocks[["light", "dark", "print"].index(scheme)]))

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    for letters in ("--ink", "--soft-ink", "--blue"):
        for paper in ("--paper", "--panel"):
            low, high = sorted((luminance(colours[letters]), luminance(colours[paper])))
            assert (high + 0.05) / (low + 0.05) >= 4.5


def test_same_inputs_give_the_same_bytes(report, loans, model):
    again = p4f.report(
        model, loans.loans, audit=loans.audit, fair="repaid", recorded="granted",
        comparison=compared(model, loans),
    )  # fmt: skip
    assert again.html == report.html


def test_frames_hold_the_numbers(report, loans, model):
    recorded = loans.loans.groupby("poor_area")["granted"].mean()
    assert report.changes.loc["poor_area = 1", "recorded"] == pytest.approx(recorded[1])
    decided = model.predict(loans.loans[[*loans.features, "poor_area"]])
    raised = ((decided == 1) & (loans.loans["granted"] == 0))[loans.loans["poor_area"] == 1].mean()
    assert report.changes.loc["poor_area = 1", "raised"] == pytest.approx(raised)
    assert (report.changes["decided_low"] <= report.changes["decided"]).all()
    right = (model.predict(loans.audit[[*loans.features, "poor_area"]]) == loans.audit["repaid"]).mean()
    assert report.audited.loc["all", "accuracy"] == pytest.approx(right)
    assert report.parameters.loc["p1", "more_for_5_points"] > report.parameters.loc["p1", "more_for_10_points"]
    own = report.parameters.loc["p1"]
    grown = ((own["high"] - own["low"]) / 2 / 0.05) ** 2
    assert own["more_for_5_points"] == pytest.approx(own["rows"] * (grown - 1), abs=1)
    assert report.plot().axes
    json.dumps(report.to_dict(), allow_nan=False)


def test_suspects_are_those_of_the_classifier(report, loans, model):
    columns = [*loans.features, "poor_area"]
    chance = model.distortion_proba(loans.loans[columns], loans.loans["granted"])
    assert len(report.suspects) == 20
    assert report.suspects["distorted"].iloc[0] == pytest.approx(np.nanmax(chance))
    row = report.suspects.index[0] - 1
    assert report.suspects["income"].iloc[0] == loans.loans["income"].iloc[row]
    assert (report.suspects["granted"] == 0).all()


def test_summary_says_the_numbers(report):
    first, _, third, quality, *_, verdict = report.summary
    assert first.startswith("On record, ")
    assert " of people with poor_area = 1 were given granted = 1 and " in first
    assert f"{report.changes.loc['poor_area = 1', 'decided']:.0%}" in third
    assert "200 audited rows" in quality
    assert verdict.startswith("Verdict, against a model trained on recorded labels: ")
    assert "of 400 people, " in verdict
    for who in ("who should have granted = 1 get it", "who should not have it get it"):
        assert who in verdict


def test_summary_says_when_the_record_or_the_audit_is_as_good(report, loans, model):
    """What speaks against using the model stands beside what speaks for it."""
    right = report.audited.loc["all"]
    told = [own for own in report.summary if own.startswith("The record itself is right more often")]
    assert bool(told) == bool(right["record_right"] > right["accuracy"])
    assert told
    found = replace(compared(model, loans), kinds={"this model": "belief", "trained on recorded labels": "audit_only"})
    gains = found.gains.assign(accuracy=0.001, accuracy_low=-0.02, accuracy_high=0.02)
    options = {"audit": loans.audit, "fair": "repaid", "recorded": "granted", "sensitivity": False}
    page = p4f.report(model, loans.loans, comparison=replace(found, gains=gains), **options)
    (told,) = [own for own in page.summary if own.startswith("Against learning from the audited rows alone: ")]
    assert "equally good within 2 points" in told
    gains = found.gains.assign(accuracy=0.041, accuracy_low=-0.03, accuracy_high=0.11)
    page = p4f.report(model, loans.loans, comparison=replace(found, gains=gains), **options)
    (told,) = [own for own in page.summary if own.startswith("Against learning from the audited rows alone: ")]
    assert "not decided by this audit" in told


def test_save_writes_a_whole_file(report, tmp_path):
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]


def test_names_and_values_cannot_inject(loans):
    names = {"job": HOSTILE, "poor_area": "area & <b>$x_1$</b>", "granted": IMAGE}
    data = loans.loans.rename(columns=names)
    data[HOSTILE] = data[HOSTILE].replace({"clerk": IMAGE, "nurse": "{{7*7}}", "smith": "</pre><svg onload=alert(1)>"})
    labels = {0: "<i>no</i>", 1: 'yes" onclick="x'}
    data[IMAGE] = data[IMAGE].map(labels)
    belief = p4f.LabelBias(names["poor_area"], negative={1: 0.4, 0: 0.1}, positive=False)
    model = p4f.DebiasedClassifier(belief, favourable=labels[1], **QUICK)
    model.fit(data.drop(columns=IMAGE), data[IMAGE])
    audit = data[:60].assign(**{"<u>": data[IMAGE][:60]})
    report = p4f.report(
        model,
        data,
        recorded=IMAGE,
        audit=audit,
        fair="<u>",
        record={"title": HOSTILE},
        comparison=False,
    )
    page = Page(report.html)
    assert page.problems == []
    assert HOSTILE in page.words
    assert "$x_1$" in page.words
    assert not {"b", "i", "u", "img", "script"} & set(page.tags)


def test_every_kind_of_belief_gets_a_page(loans):
    known = loans.loans.assign(
        married=(loans.loans["children"] > 1).astype(int), rich=(loans.loans["income"] > 2000) * 1
    )
    beliefs = [
        p4f.MeasurementBias("rich", "poor_area", negative={1: 0.3, 0: 0.0}, positive=False),
        p4f.HistoricalBias("rich", "poor_area", negative={1: 0.3, 0: 0.0}, positive=False),
        p4f.chain(p4f.LabelBias("poor_area", negative=0.3, positive=0.0), p4f.LabelBias("married", 0.1, 0.0)),
        p4f.ProgramBelief(
            r"nn(h,X) :: y(X). nn(poor_area,X) :: a(X). p :: b(X) :- a(X). z(X) :- y(X), \+b(X). ?- z(x)."
        ).bind({"p": 0.3}),
        p4f.LabelBias("job", negative=0.1, positive=False, groups=("clerk", "nurse", "smith", "teacher")),
        None,
    ]  # fmt: skip
    for belief in beliefs:
        model = p4f.DebiasedClassifier(belief, **quick(max_epochs=1)).fit(
            known.drop(columns="granted"), known["granted"]
        )
        report = p4f.report(model, known, recorded="granted", comparison=False, sensitivity=False)
        assert Page(report.html).problems == []
        assert "No audited rows were given" in report.html or belief is None
    assert "repeats" in report.warnings[0]


class Lost(Belief):
    """A belief of another kind: good labels of one group get lost."""

    def __init__(self, column, share):
        self.variables = (Sensitive((column,)),)
        self.parameters = (Parameter("lost", "a favourable label gets lost", share),)

    def text(self):
        lost = self.parameters[0].value
        return rf"nn(h,X) :: y(X). nn(a,X) :: a(X). {lost} :: l(X) :- a(X). y_(X) :- y(X), \+l(X). ?- y_(x)."

    def to_json(self):
        return {"kind": "Lost", "column": self.columns.sensitive[0], "share": self.parameters[0].value}

    @classmethod
    def _from_json(cls, value):
        return cls(value["column"], value["share"])


def test_a_belief_of_another_kind_gets_the_same_page(loans):
    new = told(loans, Lost("poor_area", 0.4), audit=loans.audit, sensitivity=True)
    same = told(
        loans, p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1]), audit=loans.audit,
        sensitivity=True,
    )  # fmt: skip
    assert Page(new.html).problems == []
    pd.testing.assert_frame_equal(new.changes, same.changes)
    pd.testing.assert_frame_equal(new.suspects, same.suspects)
    assert new.sensitivity.base.equals(same.sensitivity.base)
    assert new.warnings[0].startswith("lost was stated")


def test_amounts_that_are_no_probabilities_are_on_the_page(loans):
    stated = {"mean": 2000.0, "spread": 400.0}
    belief = p4f.NumericMeasurementBias("income", "poor_area", 0.8, False, 50.0, affected=[1], **stated)
    found = told(loans, belief)
    assert found.parameters.loc["factor(income,1)", "value"] == 0.8
    words = Page(found.html).words
    for said in ("factor(income,1)", "0.8", "stated"):
        assert said in words.split("Parameters of the belief")[1][:600]


def test_comparison_and_sensitivity_are_made_on_request(loans, model, monkeypatch):
    from problog4fairness.app.report import evidence as module
    from problog4fairness.app.report import facts

    monkeypatch.setattr(facts, "MOST_ROWS", 150)
    monkeypatch.setattr(module, "FOLDS", 2)
    monkeypatch.setattr(module, "SEEDS", 1)
    report = p4f.report(model, loans.loans, audit=loans.audit, fair="repaid", recorded="granted", sensitivity=False)
    assert {"this model", "trained on recorded labels", "without the sensitive column"} <= set(
        report.comparison.methods
    )
    assert report.comparison.audited == 200
    assert report.comparison.rows == 150 + 200
    assert "fitted on 150 of 400 rows" in report.html


def test_warnings_stand_in_plain_sight(loans):
    few = loans.audit[:24]
    with pytest.warns(p4f.audit.AuditWarning):
        belief = p4f.LabelBias("poor_area").estimate(few, recorded="granted", fair="repaid")
    model, data = trained(loans, belief)
    report = p4f.report(model, data, recorded="granted", comparison=False, sensitivity=False)
    assert any("audited rows are informative about p1" in warning for warning in report.warnings)
    assert any("No audited rows were given" in warning for warning in report.warnings)
    assert report.warnings[0].split(" (")[0] in report.html
    stated, _ = trained(loans, p4f.LabelBias("poor_area", negative={1: 0.95, 0: 0.0}, positive=0.02))
    report = p4f.report(stated, data, recorded="granted", comparison=False, sensitivity=False)
    assert any("stated, not estimated" in warning for warning in report.warnings)
    assert any("poor_area = 1, recorded labels carry almost no signal" in warning for warning in report.warnings)


def test_bad_input_is_one_line(loans, model):
    data = loans.loans
    for arguments, message in (
        ({"recorded": "grant"}, "no column 'grant' in the data"),
        ({"audit": loans.audit, "recorded": "granted"}, "by fair="),
        ({"audit": loans.audit, "fair": "income", "recorded": "granted"}, "column 'income' has the label"),
        (
            {"audit": loans.audit[["repaid"]], "fair": "repaid", "recorded": "granted"},
            "no column 'income' in the audit",
        ),
    ):
        with pytest.raises(p4f.errors.P4FError, match=message):
            p4f.report(model, data, comparison=False, sensitivity=False, **arguments)
    with pytest.raises(p4f.errors.P4FError, match="no column 'savings' in the data"):
        p4f.report(model, data.drop(columns="savings"), recorded="granted")
    empty = data.assign(granted=pd.NA)
    with pytest.raises(p4f.errors.P4FError, match="no row of the data has a value"):
        p4f.report(model, empty, recorded="granted")


def told(loans, belief, *, audit=None, model=None, data=None, **options):
    """A report on a belief with as little fitting as can be."""
    data = loans.loans if data is None else data
    columns = [name for name in data.columns if name != "granted"]
    settings = {**quick(max_epochs=1), **(model or {})}
    fitted = p4f.DebiasedClassifier(belief, **settings).fit(data[columns], data["granted"])
    options = {"comparison": False, "sensitivity": False, **options}
    fair = None if audit is None else "repaid"
    return p4f.report(fitted, data, audit=audit, fair=fair, recorded="granted", **options)


def test_several_sensitive_variables(loans):
    def with_parents(frame):
        return frame.assign(parent=(frame["children"] > 2).astype(int))

    belief = p4f.chain(p4f.LabelBias("poor_area", negative=0.3, positive=0.0), p4f.LabelBias("parent", 0.1, 0.0))
    audit = with_parents(loans.audit)[:40]
    report = told(loans, belief, data=with_parents(loans.loans), audit=audit)
    groups = ["poor_area = 0", "poor_area = 1", "parent = 0", "parent = 1", "all"]
    assert report.changes.index.tolist() == groups
    assert report.audited.index.tolist() == groups
    assert report.summary[3].startswith("By parent, the difference is ")
    assert any("audited rows with parent = 1" in warning for warning in report.warnings)
    assert "who then had granted = 1, 10% were recorded with" in report.html
    assert "who should have granted = 1, 30% were given granted = 0" in report.html


def test_three_groups_are_named_lowest_and_highest(loans):
    belief = p4f.LabelBias("job", negative=0.1, positive=False, groups=("clerk", "nurse", "smith", "teacher"))
    report = told(loans, belief)
    rates = report.changes.drop(index="all")["recorded"]
    assert (
        f"of people with {rates.idxmin()}, the lowest rate of 4 groups, were given granted = 1 and" in report.summary[0]
    )
    assert f"of people with {rates.idxmax()}, the highest: a difference of +" in report.summary[0]
    assert "picked among several" in report.html


def test_what_the_model_sees_is_said_as_it_is(loans):
    data = loans.loans.assign(rich=(loans.loans["income"] > 2000) * 1)
    distorted = {"negative": {1: 0.3, 0: 0.0}, "positive": False}
    historical = told(loans, p4f.HistoricalBias("rich", "poor_area", **distorted), data=data).html
    assert "corrects what is on record by poor_area" in historical
    assert "does not see poor_area" not in historical
    measurement = p4f.MeasurementBias("rich", "poor_area", **distorted)
    as_given = told(loans, measurement, data=data).html
    assert "predicts from features as they are given" in as_given
    assert "The model learns what is filled" in as_given
    assert "granted depends on other features, rich (fair)" in as_given
    corrected = told(loans, measurement, data=data, model={"test_features": "biased"}).html
    assert "corrects what is on record by poor_area" in corrected
    assert "fair world" not in corrected
    # All rows of a cell are equally likely to be distorted: the list is some of them.
    cell = ((data["poor_area"] == 1) & (data["rich"] == 0)).sum()
    assert f"{cell - 20} more rows are as likely as the last one shown" in corrected


def test_stated_parameters_have_no_interval_in_any_sentence(loans):
    belief = p4f.LabelBias("poor_area", negative={1: 0.4}, positive=False, affected=[1])
    report = told(loans, belief, audit=loans.audit, sensitivity=True)
    words = Page(report.html).words
    assert "no interval says how sure it is." in report.warnings[0]
    assert "p1 was varied around its value" in words
    assert "within the intervals" not in words
    assert "given its parameters" not in words


def test_parameters_that_are_not_varied_are_named(loans, model, monkeypatch):
    from problog4fairness.app.report import evidence as module

    monkeypatch.setattr(module, "MOST_PARAMETERS", 3)
    report = p4f.report(model, loans.loans, recorded="granted", comparison=False)
    (missing,) = set(report.parameters.index) - set(report.sensitivity.parameters.index)
    assert f"{missing} was not varied" in report.html


def test_comparison_says_what_its_intervals_are(report, loans, model):
    words = " ".join(Page(report.html).words.split())
    rows = report.comparison.summary.query("method == 'this model' and labels == 'fair' and metric == 'accuracy'")
    half = (rows["high"] - rows["mean"]).item()
    assert f"± {100 * half:.1f}" in words
    assert "half a 95% interval over the audited rows (200 rows, a random sample)" in words
    assert "too few for one" in words  # of recorded labels, by so few seeds
    assert "may come from these very rows" in words
    assert "On fair labels, higher and nearer to the line is better" in words
    small = p4f.DebiasedClassifier(model.belief_, Network(hidden=(4,), max_epochs=1))
    recorded = p4f.compare(loans.loans, small, recorded="granted", methods=["recorded_only"], seeds=1, folds=2)
    alone = p4f.report(model, loans.loans, recorded="granted", comparison=recorded, sensitivity=False).html
    assert "is better" not in alone
    assert "only means closer to the record" in alone


def test_rows_without_a_fair_label_are_not_audited(loans, model):
    audit = loans.audit.assign(repaid=loans.audit["repaid"].where(loans.audit.index < 50))
    report = p4f.report(
        model, loans.audit.drop(columns="repaid"), audit=audit, fair="repaid", recorded="granted", comparison=False,
        sensitivity=False,
    )  # fmt: skip
    assert report.audited.loc["all", "rows"] == 50
    assert "50 audited rows; the label" in report.html
    assert "50 audited rows are also in the data" in report.html


def test_without_a_belief_there_is_nobody_to_compare(loans):
    report = told(loans, None, comparison=True)
    assert report.warnings[1].endswith(
        "could not be made: the belief names no sensitive column, so there are no groups"
    )
    assert "Under this belief no row is likely to be distorted" in report.html
    assert report.html.count("everybody</th>") == 0


def test_a_group_that_nobody_audited_is_on_the_page(loans):
    belief = p4f.ProgramBelief(
        "nn(h,X) :: y(X). nn(job,X,J,[clerk,nurse,smith,teacher]) :: j(X,J). 0.3 :: b(X) :- j(X,smith). "
        r"z(X) :- y(X), \+b(X). ?- z(x)."
    )
    report = told(loans, belief, audit=loans.audit[loans.audit["job"] != "smith"])
    assert report.audited.loc["job = smith", "rows"] == 0
    assert report.audited.loc["all", "rows"] == (loans.audit["job"] != "smith").sum()
    assert any("Only 0 audited rows with job = smith" in warning for warning in report.warnings)
