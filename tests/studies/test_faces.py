"""The face study, tiny: numbers, files, claims, and what happens when it is stopped or goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

from problog4fairness.errors import P4FError
from problog4fairness.learners import Settings
from studies import faces as plan
from studies.commands import app
from studies.data import drawn_faces
from studies.data.faces.protocol import ATTRIBUTES
from studies.engine.report import write_report
from studies.engine.run import run
from studies.face_runs import METHODS, NO_ATTRIBUTE, FaceMethod, belief, measured, rows
from studies.faces import FaceStudy, face_study
from studies.pictures import FaceSet, pictures_of
from tests.studies.face_studies import held_faces, tiny_faces, unfinished
from tests.studies.photographs import write_celeba

COLUMNS = FaceStudy.columns
ROOT = Path(__file__).parents[2]
NAMES = [method.name for method in METHODS]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faces")
    study = tiny_faces()
    return study, folder, run(study, folder / "runs", jobs=1, progress=False)


def test_a_tiny_study_has_all_its_numbers(ran):
    study, folder, outcome = ran
    assert not outcome.failures
    assert (outcome.computed, outcome.read) == (6, 0)
    results = outcome.results
    assert list(results.columns) == list(COLUMNS)
    assert len(results) == 6 * (3 + 3 * 3)
    assert not results.duplicated(["method", "seed", "metric", "attribute"]).any()
    quality = results[results["metric"].isin(["f1", "accuracy"])]["value"]
    assert quality.between(0, 1).all()
    assert not list((folder / "runs").glob("*.safetensors"))
    faces = drawn_faces(study.faces.rows, size=study.faces.size)
    test = faces.rows("test")
    fair = pd.Series(faces.fair[test]).groupby(faces.attributes["blurry"].to_numpy()[test]).mean()
    found = results[(results["metric"] == "fair_disparity") & (results["attribute"] == "blurry")]["value"]
    assert np.allclose(found, fair[1] - fair[0])


def test_a_finished_study_is_read_and_a_changed_one_is_not(ran):
    study, folder, outcome = ran
    again = run(study, folder / "runs", jobs=1)
    assert (again.computed, again.read) == (0, 6)
    pd.testing.assert_frame_equal(again.results, outcome.results)
    other = replace(study, methods=METHODS[:1], training=replace(study.training, learning_rate=1e-3))
    assert run(other, folder / "runs", jobs=1).computed == 1


def test_the_report_is_whole(ran):
    study, folder, outcome = ran
    found = write_report(study, outcome, folder)
    assert len(found) == 30
    names = {"results.csv", "summary.csv", "seeds.csv", "claims.md", "runs"}
    names |= {f"{name}.{ending}" for name in ("figure", "equalized_odds") for ending in ("pdf", "png")}
    assert {file.name for file in folder.iterdir()} == names
    pd.testing.assert_frame_equal(pd.read_csv(folder / "results.csv"), outcome.results)
    text = (folder / "claims.md").read_text()
    assert "300 drawn faces of 16 × 16 pixels, network `small`, 1 seeds" in text
    assert all(claim.text in text for claim in found)


def test_a_killed_study_ends_as_if_it_had_not_been(tmp_path):
    expected = run(held_faces(), tmp_path / "whole", jobs=1)
    folder = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.studies.face_studies", str(folder)],
        cwd=ROOT,
        env={**os.environ, "HELD": str(folder)},
    )
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and not unfinished(folder) and process.poll() is None:
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert unfinished(folder), "it was to be killed in the middle of the second run"
    resumed = run(held_faces(), folder, jobs=1)
    assert (resumed.computed, resumed.read) == (1, 1)
    pd.testing.assert_frame_equal(resumed.results, expected.results)
    assert not list(folder.glob("*.safetensors"))


def test_a_failing_run_is_named_and_does_not_stop_the_others(tmp_path):
    study = tiny_faces(methods=(METHODS[0], FaceMethod("only hats", ("hats",))))
    outcome = run(study, tmp_path, jobs=1)
    assert list(outcome.failures) == ["only hats, seed 0"]
    assert "hats" in outcome.failures["only hats, seed 0"]
    assert set(outcome.results["method"]) == {"lower"}
    write_report(study, outcome, tmp_path / "report")
    assert "- only hats, seed 0: " in (tmp_path / "report" / "claims.md").read_text()


def test_networks_that_do_not_fit(tmp_path):
    with pytest.raises(P4FError, match="network 'huge' is not small"):
        run(tiny_faces(network="huge"), tmp_path)
    study = tiny_faces(network="tests.studies.face_studies:wrong_shape", methods=METHODS[:1])
    outcome = run(study, tmp_path, jobs=1)
    assert "[32, 2]" in outcome.failures["lower, seed 0"]
    assert not len(outcome.results)
    assert write_report(study, outcome, tmp_path / "report") == []


def observed(method, faces):
    return belief(method, faces).observe(rows(method, faces))


def test_training_goes_through_the_estimated_chain():
    faces = drawn_faces(3000, size=16)
    table = belief(METHODS[-1], faces).label_table()
    # The chain is not saturated, but with so many rows each of its probabilities must be near to what was counted.
    audit = faces.audit("train")
    for (a, b, c, fair), own in audit.groupby([*ATTRIBUTES, "fair"]):
        if len(own) > 50:
            assert abs(float(table[4 * a + 2 * b + c, fair, 1]) - own["recorded"].mean()) < 0.2
    logits = torch.randn(len(faces), 1, 1)
    every = torch.arange(len(faces))
    found = observed(METHODS[-1], faces)(logits, every)
    group = torch.from_numpy((faces.attributes.to_numpy() * [4, 2, 1]).sum(1))
    recorded = torch.from_numpy(faces.recorded)
    chance = logits.flatten().sigmoid().double()
    no, yes = (table[group, fair, recorded] for fair in (0, 1))
    torch.testing.assert_close(found.double().exp(), chance * yes + (1 - chance) * no, rtol=1e-4, atol=1e-5)


def test_lower_learns_from_recorded_labels_and_upper_from_fair_ones():
    faces = drawn_faces(300, size=16)
    logits = torch.randn(300, 1, 1)
    chance = logits.flatten().sigmoid()
    for method, label in zip(METHODS[:2], (faces.recorded, faces.fair), strict=True):
        found = observed(method, faces)(logits, torch.arange(300)).exp()
        torch.testing.assert_close(found, torch.where(torch.from_numpy(label) == 1, chance, 1 - chance))


@pytest.mark.parametrize("method", METHODS[2:], ids=NAMES[2:])
def test_fair_labels_outside_the_training_partition_tell_beliefs_nothing(method):
    faces = drawn_faces(600, size=16)
    outside = faces.partition != 0
    other = replace(faces, fair=np.where(outside, 1 - faces.fair, faces.fair))
    logits, every = torch.randn(600, 1, 1), torch.arange(600)
    assert torch.equal(observed(method, faces)(logits, every), observed(method, other)(logits, every))
    blind = replace(faces, fair=1 - faces.fair)
    assert not torch.equal(observed(method, faces)(logits, every), observed(method, blind)(logits, every))


def test_drawn_faces_of_the_test_partition_are_not_learnt_from(ran):
    pictures = pictures_of(ran[0].faces, 32)
    data, options = pictures.training()
    assert len(data) == len(pictures.faces)
    for name, part in (("train_rows", "train"), ("validation", "validation")):
        assert options[name].tolist() == pictures.faces.rows(part).tolist()
    rows, _ = pictures.chances(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16, 1)))
    assert rows.tolist() == pictures.faces.rows("test").tolist()


def test_predictions_are_judged_by_the_fair_labels(ran):
    pictures = pictures_of(ran[0].faces, 32)
    rows = pictures.faces.rows("test")
    perfect = {(metric, attribute): value for metric, attribute, value in
               measured(pictures, rows, pictures.faces.fair[rows].astype(float))}  # fmt: skip
    assert perfect["f1", NO_ATTRIBUTE] == perfect["accuracy", NO_ATTRIBUTE] == 1
    for attribute in ATTRIBUTES:
        assert perfect["equalized_odds", attribute] == 0
        assert perfect["disparity", attribute] == perfect["fair_disparity", attribute]


def test_seeds_begin_with_other_weights(tmp_path):
    # With steps that move nothing, the numbers are those of the first weights.
    still = Settings(learning_rate=1e-12, weight_decay=0, batch_size=64, max_epochs=1)
    study = tiny_faces(seeds=(0, 1), methods=METHODS[:2], training=still)
    found = run(study, tmp_path, jobs=1).results.query("metric == 'disparity' and attribute == 'blurry'")
    values = found.pivot(index="seed", columns="method", values="value")
    assert np.allclose(values["lower"], values["upper"])
    assert abs(values["lower"][0] - values["lower"][1]) > 1e-4


def test_photographs(tmp_path):
    write_celeba(tmp_path / "celeba")
    study = tiny_faces(faces=FaceSet("celeba", size=32, folder=tmp_path / "celeba"), methods=(METHODS[0], METHODS[-1]))
    outcome = run(study, tmp_path / "runs", progress=False)
    assert not outcome.failures
    assert set(outcome.results["method"]) == {"lower", "ours"}
    write_report(study, outcome, tmp_path / "report")
    assert "CelebA of 32 × 32 pixels" in (tmp_path / "report" / "claims.md").read_text()
    pictures = pictures_of(study.faces, 32)
    rows, _ = pictures.chances(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 1)))
    assert rows.tolist() == pictures.faces.rows("test").tolist()
    train, options = pictures.training()
    for loader, part in ((train, "train"), (options["validation"], "validation")):
        seen = sorted(row for _, numbers in loader for row in numbers.tolist())
        assert seen == pictures.faces.rows(part).tolist()
    assert run(study, tmp_path / "runs").read == 2


def test_photographs_without_a_test_partition(tmp_path):
    write_celeba(tmp_path / "celeba")
    file = tmp_path / "celeba" / "cleaned_mso_labels" / "partition.csv"
    file.write_text(file.read_text().replace(",2\n", ",0\n"))
    study = tiny_faces(faces=FaceSet("celeba", size=32, folder=tmp_path / "celeba"))
    with pytest.raises(P4FError, match="no face is in the partition 'test'"):
        run(study, tmp_path / "runs")


def test_photographs_that_are_not_there(tmp_path):
    with pytest.raises(P4FError, match="there is no folder"):
        run(tiny_faces(faces=FaceSet("celeba", folder=tmp_path / "none")), tmp_path / "runs")


def made_up(gains: dict[str, float], seeds: int = 5) -> pd.DataFrame:
    """Results with an F1 of .8 plus a gain for each method, and disparities that follow it."""
    rng = np.random.default_rng(0)
    rows = []
    for method, gain in gains.items():
        for seed in range(seeds):
            rows.append([method, seed, "f1", NO_ATTRIBUTE, 0.8 + gain + 0.002 * rng.normal()])
            for attribute in ATTRIBUTES:
                rows.append([method, seed, "disparity", attribute, gain + 0.002 * rng.normal()])
                rows.append([method, seed, "equalized_odds", attribute, 0.2 - gain + 0.002 * rng.normal()])
                rows.append([method, seed, "fair_disparity", attribute, 0.15])
    return pd.DataFrame(rows, columns=list(COLUMNS))


GAINS = {"lower": 0.0, "upper": 0.15, **{f"only {name}": 0.05 for name in ATTRIBUTES}, "ours": 0.1}


def test_claims_follow_the_numbers():
    good = face_study().claims(made_up(GAINS))
    assert [claim.holds for claim in good] == [True] * 30
    assert "33% of upper's lead of +0.1" in good[0].measured.replace("34%", "33%")
    nearer = [claim for claim in good if "disparity nearer" in claim.text]
    assert len(nearer) == len([claim for claim in good if "equalized odds" in claim.text]) == 12
    assert "fair labels +0.150, lower +0.00" in nearer[0].measured.replace("-0.00", "+0.00")
    bad = face_study().claims(made_up({**GAINS, "only blurry": -0.02, "ours": 0.03}))
    # All three are ahead of lower and of blurry alone, and behind the other two.
    assert [claim.holds for claim in bad] == [True, False, True, False, True, False, *[True, False, True, False] * 6]
    past = face_study().claims(made_up({**GAINS, "ours": 0.4}))
    # Far beyond the fair labels is no nearer.
    assert not any(claim.holds for claim in past if "disparity nearer" in claim.text)
    assert len(face_study().claims(made_up({"lower": 0.0, "upper": 0.1}))) == 0


@pytest.mark.parametrize(("seeds", "ellipses"), [(5, 12), (2, 0)])
def test_a_figure_shows_all_methods_and_the_fair_labels(seeds, ellipses):
    figure = face_study().figures(made_up(GAINS, seeds))["figure"]
    assert [axes.get_title() for axes in figure.axes] == ["high cheekbones", "blurry", "smiling"]
    assert figure.get_suptitle() == "16000 drawn faces of 32 × 32 pixels"
    for axes in figure.axes:
        assert len(axes.patches) == ellipses
        (line,) = [line for line in axes.lines if line.get_label() == "fair labels"]
        assert list(line.get_xdata()) == [pytest.approx(0.15)] * 2
        ours = next(line for line in axes.lines if line.get_label() == "ours, all three")
        assert float(ours.get_ydata()[0]) == pytest.approx(0.9, abs=0.01)
    twin = face_study().figures(made_up(GAINS, seeds))["equalized_odds"]
    assert all(line.get_label() != "fair labels" for axes in twin.axes for line in axes.lines)


def test_sizes_of_the_study():
    assert face_study().stacks()[0].name == "lower, seed 0"
    assert len(face_study().stacks()) == 30
    paper = face_study("celeba", "resnet50", epochs=3, seeds=2)
    assert (paper.training.learning_rate, paper.training.batch_size, paper.training.max_epochs) == (1e-4, 16, 3)
    assert (paper.faces.size, paper.seeds) == (224, (0, 1))
    for options, message in [({"epochs": 0}, "epochs must be 1 or more"), ({"data": "cats"}, "'drawn' or 'celeba'")]:
        with pytest.raises(P4FError, match=message):
            face_study(**options)


def test_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "QUICK_ROWS", 300)
    options = ["--quick", "--epochs", "1", "--seeds", "1", "--jobs", "1", "-o", str(tmp_path)]
    result = CliRunner().invoke(app, ["faces", *options], standalone_mode=False)
    assert not result.return_value, result.output
    assert sum(result.output.count(word) for word in ("holds", "undecided", "fails")) >= 9
    assert (tmp_path / "faces" / "figure.png").exists()
    assert len(list((tmp_path / "faces" / "stacks").glob("*.json"))) == 6
