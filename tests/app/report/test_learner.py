"""What learned a model, and what speaks against it, on the page."""

from __future__ import annotations

import problog4fairness as p4f

BELIEF = p4f.LabelBias("poor_area", negative={1: 0.4, 0: 0.0}, positive=0.1)


def page(loans, learner):
    columns = [*loans.features, "poor_area"]
    model = p4f.DebiasedClassifier(BELIEF, learner, random_state=0).fit(loans.loans[columns], loans.loans["granted"])
    made = p4f.report(model, loans.loans, comparison=False, sensitivity=False)
    return model, made


def test_the_choice_and_its_losers_are_shown(loans):
    model, made = page(loans, "auto")
    assert '<section id="learner"' in made.html
    assert "chosen by the loss of recorded rows that were held out" in made.html
    assert made.html.count("behind by") == 2
    assert "Training diagnostics" not in made.html


def test_training_warnings_are_in_a_box_of_their_own(loans):
    model, made = page(loans, p4f.learners.Network(max_epochs=1))
    assert any("stopped at its last epoch (1)" in sentence for sentence in model.training_warnings_)
    assert 'class="warnings training"' in made.html
    assert "Training stopped at its last epoch (1) while the loss was still falling; allow more epochs." in made.html
    assert made.training_warnings[0].startswith("Training stopped")
