"""Display names: used in every sentence, table and figure, and never in the program."""

from __future__ import annotations

from dataclasses import replace

import pytest

import problog4fairness as p4f
from problog4fairness.app.report.names import Names
from problog4fairness.errors import P4FError
from tests.app.report.pages import Page

NAMES = {
    "poor_area": {1: "applicants from poor areas", 0: "applicants from other areas"},
    "granted": {1: "a loan", 0: "no loan"},
}


def test_sentences_read_as_a_person_would_write_them(loans, model):
    report = p4f.report(
        model, loans.loans, audit=loans.audit, fair="repaid", recorded="granted", names=NAMES, comparison=False,
    )  # fmt: skip
    assert "% of applicants from poor areas were given a loan and " in report.summary[0]
    page = Page(report.html)
    assert page.problems == []
    program = report.html[report.html.index("<pre") : report.html.index("</pre>")]
    assert "poor_area = 1" in program
    left = report.html.replace(program, "")
    assert "poor_area = " not in left
    assert "granted = " not in left
    assert "the label = " not in left
    assert "fair 1" not in left
    assert "applicants from poor" in " ".join(text.get_text() for text in report.plot().axes[0].get_yticklabels())


@pytest.mark.parametrize(
    ("values", "names", "said"),
    [
        ((1, 0), {0: "a loan", 1: "no loan"}, "somebody who should have a loan is recorded with no loan"),
        (("refused", "granted"), {}, "a fair granted is recorded as refused"),
    ],
)
def test_parameters_are_told_with_the_labels_that_the_data_have(loans, values, names, said):
    """Also where 0 is the favourable one, which programs write as 1."""

    def labelled(frame):
        return frame.assign(
            **{name: frame[name].map(dict(enumerate(values))) for name in ("granted", "repaid") if name in frame}
        )

    data, audit = labelled(loans.loans), labelled(loans.audit)
    belief = p4f.LabelBias("poor_area", positive=False, affected=[1], favourable=values[1])
    belief = belief.estimate(audit, recorded="granted", fair="repaid", favourable=values[1])
    model = p4f.DebiasedClassifier(belief, "linear", favourable=values[1], random_state=0)
    model.fit(data[list(loans.features)], data["granted"], sensitive_features=data["poor_area"])
    report = p4f.report(model, data, audit=audit, fair="repaid", names={"granted": names}, comparison=False)
    rest = report.html[report.html.index("</pre>") :]
    assert said in rest
    assert "a fair 1 is recorded" not in rest
    assert f"a fair {values[1]} is recorded as {values[0]} where poor_area = 1" in report.parameters["meaning"].tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Share of people with granted = 1", "Share of people with a loan"),
        ("poor_area = 10 and granted = 1.5 stay", "poor_area = 10 and granted = 1.5 stay"),
        ("75% where poor_area = 1.", "75% for applicants from poor areas."),
        ("not_poor_area = 1", "not_poor_area = 1"),
        ("a fair 1 is recorded as 0 where poor_area = 1",
         "somebody who should have a loan is recorded with no loan for applicants from poor areas"),
        ("47% have a fair 1", "47% should have a loan"),
        ("54% were recorded with the label = 1", "54% were recorded with a loan"),
        ("employed recorded as 0 is fairly 1", "employed recorded as 0 is fairly 1"),
        ("a fair 10", "a fair 10"),
    ],
)  # fmt: skip
def test_only_whole_values_are_named(text, said):
    assert Names.of(NAMES, "granted").translated(text) == said


def test_names_are_typed_as_column_value_words():
    assert Names.parsed(['poor_area=1:"poor areas"']).words == {"poor_area = 1": "poor areas"}
    for wrong in ("poor_area", "poor_area=1", "poor_area=1:", "=1:x"):
        with pytest.raises(P4FError, match=r"is no name; write COLUMN=VALUE:WORDS"):
            Names.parsed([wrong])


def test_names_cannot_inject():
    names = Names.of({"a": {1: "<script>x</script>"}, "<b>": {1: "ok"}})
    assert names.page("<p>a = 1</p>") == "<p>&lt;script&gt;x&lt;/script&gt;</p>"
    assert names.page("<p>&lt;b&gt; = 1</p>") == "<p>ok</p>"


def test_a_label_that_begins_another_one():
    names = replace(Names.of({"mark": {"pass": "a pass", "pass with merit": "a merit"}}), label="mark")
    assert names.translated("12% have a fair pass with merit.") == "12% should have a merit."
    assert names.translated("12% have a fair pass.") == "12% should have a pass."
