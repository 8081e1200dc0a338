"""The synthetic people against closed forms, and what is derived from their equations against the people."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import problog4fairness as p4f
from problog4fairness.datasets.synthetic_data import SyntheticData, SyntheticSettings, synthetic
from problog4fairness.errors import P4FError
from problog4fairness.statistics import check_known

ROWS = 400_000


def five_errors(count: int) -> float:
    """Five standard errors of a share of ``count`` people, at most."""
    return 2.5 / np.sqrt(count)


def settings_to_simulate() -> list[SyntheticSettings]:
    paper = [SyntheticSettings.of_paper(b, s) for b in ("label", "measurement", "historical") for s in (0, 0.3, 0.9)]
    return [
        *paper,
        SyntheticSettings(measurement_bias=0.5, label_bias=0.4),
        SyntheticSettings(historical_bias=0.3, feature_noise=0.1, label_noise=0.1),
        SyntheticSettings(
            measurement_bias=0.6, feature_noise=0.2, label_bias=0.2, label_noise=0.1, noise_on="sensitive"
        ),
        SyntheticSettings.of_paper("historical", 0.5, dependent=True),
        SyntheticSettings(
            n_q=2,
            p_a=0.3,
            p_r=0.6,
            p_q=(0.7, 0.4),
            alpha_rq=(-0.3, 0.5),
            alpha_q=(2, -0.5),
            alpha_a=0.5,
            measurement_bias=(0.2, 0.4, 0.1),
            historical_bias=(0.5, 0.0, 0.3),
            feature_noise=(0.1, 0.0, 0.2),
            label_bias=0.3,
        ),
        SyntheticSettings(n_values=3, historical_bias=0.4, measurement_bias=0.3, feature_noise=0.1, label_bias=0.2),
    ]


@pytest.fixture(scope="module", params=settings_to_simulate())
def people(request: pytest.FixtureRequest) -> SyntheticData:
    return synthetic(request.param, rows=ROWS, seed=7)


def test_label_rates_are_those_of_the_people(people: SyntheticData):
    a, fair, recorded = (s.to_numpy() for s in (people.sensitive, people.fair_label, people.recorded_label))
    rates = people.settings.label_rates()
    assert list(rates) == ["p1", "p2", "p3", "p4"]
    for name, (label, group) in zip(rates, [(1, 1), (1, 0), (0, 1), (0, 0)], strict=True):
        rows = (fair == label) & (a == group)
        assert (recorded != fair)[rows].mean() == pytest.approx(rates[name], abs=five_errors(rows.sum()))


def test_measurement_rates_are_those_of_the_people(people: SyntheticData):
    settings, a = people.settings, people.sensitive.to_numpy()
    rates = settings.measurement_rates()
    belief = p4f.MeasurementBias(
        settings.features, "a", values={f: tuple(range(settings.n_values)) for f in settings.features}
    ).bind(rates)
    assert set(rates) == {rate.name for rate in belief.parameters}
    for feature, table in belief.feature_tables().items():
        fair, recorded = people.fair_features[feature].to_numpy(), people.recorded_features[feature].to_numpy()
        for group, seen in product((0, 1), range(settings.n_values)):
            rows = (a == group) & (recorded == seen)
            shares = np.bincount(fair[rows], minlength=settings.n_values) / rows.sum()
            assert shares == pytest.approx(table[group, seen].numpy(), abs=five_errors(rows.sum()))


@pytest.mark.parametrize("recorded", [False, True])
def test_limits_are_those_of_the_people(people: SyntheticData, recorded: bool):
    limits = people.settings.limits(recorded=recorded)
    label, a = people.fair_label, people.sensitive
    features = people.recorded_features if recorded else people.fair_features
    groups = label.groupby([a, *(features[name] for name in features)])
    # The majority label of each cell, known only from the people in it: a little too good, by the number of cells.
    best = np.maximum(groups.sum(), groups.size() - groups.sum()).sum() / ROWS
    assert best == pytest.approx(limits.accuracy, abs=0.004)
    assert label[a == 1].mean() - label[a == 0].mean() == pytest.approx(limits.disparity, abs=0.006)
    assert label.mean() == pytest.approx(limits.positives, abs=0.004)


def test_limits_are_those_of_the_design():
    independent, dependent = SyntheticSettings().limits(), SyntheticSettings(alpha_a=1).limits()
    assert independent.accuracy == pytest.approx(0.710, abs=0.001)
    assert independent.disparity == pytest.approx(0, abs=1e-12)
    assert dependent.accuracy == pytest.approx(0.695, abs=0.001)
    assert dependent.disparity == pytest.approx(-0.169, abs=0.001)
    assert 0.5 < independent.positives < 0.65
    assert 0.5 < dependent.positives < 0.6


def test_limits_of_a_case_worked_by_hand():
    # Without Q and with R = 0 or 1: P(Y=1) = cdf(-0.25) = .401294 or cdf(+0.25) = .598706.
    limits = SyntheticSettings(n_q=0, threshold=0.5).limits()
    assert limits.accuracy == pytest.approx(0.598706, abs=1e-6)
    assert limits.positives == pytest.approx(0.5)
    # Nothing of R is left on record where A = 1, so that half of the people are guessed.
    blind = SyntheticSettings(n_q=0, threshold=0.5, measurement_bias=1).limits(recorded=True)
    assert blind.accuracy == pytest.approx((0.598706 + 0.5) / 2, abs=1e-6)


@pytest.mark.parametrize("beta", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_rates_in_closed_form(beta: float, noise: float):
    settings = SyntheticSettings(label_bias=beta, label_noise=noise, measurement_bias=beta, feature_noise=noise)
    lost = beta * (1 - noise) + (1 - beta) * noise
    assert settings.label_rates() == pytest.approx({"p1": lost, "p2": noise, "p3": noise, "p4": noise})
    rates = settings.measurement_rates()
    for i, feature in enumerate(settings.features):
        p = 0.5 + i / 20
        assert rates[f"p1({feature})"] == pytest.approx(p * lost / (p * lost + (1 - p) * (1 - noise)))
        assert rates[f"p2({feature})"] == pytest.approx(p * noise / (p * noise + (1 - p) * (1 - noise)))
        assert rates[f"p3({feature})"] == pytest.approx((1 - p) * noise / ((1 - p) * noise + p * (1 - lost)))
        assert rates[f"p4({feature})"] == pytest.approx((1 - p) * noise / ((1 - p) * noise + p * (1 - noise)))


def test_historical_rates_follow_the_loss_of_r():
    beta = 0.4
    rates = SyntheticSettings(historical_bias=beta).measurement_rates()
    for i, feature in enumerate(("r", "q1", "q2", "q3")):
        fair = 0.5 + i / 20
        lived = (1 - beta) * (0.5 + (0 if feature == "r" else i / 10 * 0.5 * (1 - beta)))
        assert rates[f"p1({feature})"] == pytest.approx((fair - lived) / (1 - lived))
        assert rates[f"p2({feature})"] == rates[f"p3({feature})"] == rates[f"p4({feature})"] == 0


def test_marginals():
    data = synthetic(historical_bias=0.4, measurement_bias=0.2, feature_noise=0.1, rows=ROWS, seed=3)
    a = data.sensitive
    assert a.mean() == pytest.approx(0.5, abs=0.004)
    for i, feature in enumerate(data.settings.features):
        fair, recorded = data.fair_features[feature], data.recorded_features[feature]
        for group in (0, 1):
            assert fair[a == group].mean() == pytest.approx(0.5 + i / 20, abs=0.006)
        lived = 0.6 * (0.5 + (i / 10 * 0.3 if i else 0))
        assert recorded[a == 1].mean() == pytest.approx(0.1 + 0.8 * 0.8 * lived, abs=0.006)
        assert recorded[a == 0].mean() == pytest.approx(0.1 + 0.8 * (0.5 + i / 20), abs=0.006)
    with_r = data.fair_features[data.fair_features["r"] == 1]
    assert with_r[["q1", "q2", "q3"]].mean().to_numpy() == pytest.approx([0.6, 0.7, 0.8], abs=0.006)


def test_values_of_categorical_features_are_binomial():
    data = synthetic(n_values=3, p_r=0.3, rows=ROWS)
    shares = np.bincount(data.fair_features["r"]) / ROWS
    assert shares == pytest.approx([0.49, 0.42, 0.09], abs=0.004)
    low, high = (data.fair_features["q2"][data.fair_features["r"] == r].mean() / 2 for r in (0, 2))
    assert (low, high) == pytest.approx((0.5, 0.7), abs=0.006)


def test_the_same_people_are_recorded():
    data = synthetic(rows=2000, seed=1)
    assert data.fair_features.equals(data.recorded_features)
    assert (data.fair_label == data.recorded_label).all()
    assert [len(part) for part in (data.fair_features, data.fair_label, data.sensitive)] == [2000] * 3
    assert data.sensitive.name == "a"

    for biased in (
        synthetic(rows=2000, seed=1, label_bias=0.5),
        synthetic(rows=2000, seed=1, measurement_bias=0.5),
        synthetic(rows=2000, seed=1, historical_bias=0.5),
    ):
        settings, others = biased.settings, biased.sensitive == 0
        assert biased.fair_features.equals(data.fair_features)
        assert biased.fair_label.equals(data.fair_label)
        assert (biased.recorded_features <= data.fair_features).all(axis=None)
        assert (biased.recorded_label <= data.fair_label).all()
        assert biased.recorded_features[others].equals(data.fair_features[others])
        assert biased.recorded_label[others].equals(data.recorded_label[others])
        assert biased.recorded_label.equals(data.fair_label) == (settings.measurement_bias > 0)
        assert biased.recorded_features.equals(data.fair_features) == (settings.label_bias > 0)


def test_noise_on_the_sensitive_group_alone():
    data = synthetic(rows=2000, label_noise=0.2, feature_noise=0.2, noise_on="sensitive")
    wrong = (data.fair_features != data.recorded_features).any(axis=1) | (data.fair_label != data.recorded_label)
    assert wrong[data.sensitive == 1].any()
    assert not wrong[data.sensitive == 0].any()


def test_seeds():
    first, again, other = synthetic(rows=100, seed=4), synthetic(rows=100, seed=4), synthetic(rows=100, seed=5)
    assert first.fair_features.equals(again.fair_features)
    assert first.fair_label.equals(again.fair_label)
    assert not first.fair_features.equals(other.fair_features)


def test_settings_of_the_paper():
    plain = SyntheticSettings()
    assert plain.label_threshold == 1.5
    assert replace(plain, alpha_a=1).label_threshold == 2.5
    assert replace(plain, alpha_a=1, threshold=0).label_threshold == 0
    assert SyntheticSettings.of_paper("label", 0.3) == SyntheticSettings(label_bias=0.3, label_noise=0.1)
    assert SyntheticSettings.of_paper("measurement", 0.3).feature_noise == 0.1
    assert SyntheticSettings.of_paper("historical", 0.3) == SyntheticSettings(historical_bias=0.3)
    assert SyntheticSettings.of_paper("label", 0.3, dependent=True).alpha_a == 1
    assert SyntheticSettings(p_q=[0.5, 0.4, 0.3]) == SyntheticSettings(p_q=np.array([0.5, 0.4, 0.3]))
    assert synthetic(plain, label_bias=0.2, rows=10).settings == SyntheticSettings(label_bias=0.2)


def test_rates_fit_the_beliefs():
    settings = SyntheticSettings(label_bias=0.3, label_noise=0.1, historical_bias=0.2)
    label = p4f.LabelBias("a").bind(settings.label_rates())
    assert [rate.value for rate in label.parameters] == list(settings.label_rates().values())
    check_known(p4f.HistoricalBias(settings.features, "a").bind(settings.measurement_rates()).parameters)


def test_what_cannot_occur_has_rate_0():
    rates = SyntheticSettings(measurement_bias=1, p_r=1).measurement_rates()
    assert rates["p3(r)"] == rates["p2(r)"] == 0
    assert rates["p1(r)"] == 1
    assert SyntheticSettings(threshold=1000, label_bias=0).label_rates() == {"p1": 0, "p2": 0, "p3": 0, "p4": 0}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"label_bias": 1.2}, "label_bias 1.2 is not between 0 and 1"),
        ({"p_a": -0.1}, "p_a -0.1 is not"),
        ({"feature_noise": (0.1, 0.2)}, "feature_noise has 2 numbers; give one for all, or 4"),
        ({"p_q": (0.1, 0.2, 3)}, "p_q 3 is not between 0 and 1"),
        ({"alpha_r": "much"}, "alpha_r must be a finite number, not 'much'"),
        ({"alpha_r": None}, "alpha_r must be a finite number, not None"),
        ({"threshold": float("nan")}, "threshold must be a finite number"),
        ({"label_noise": True}, "label_noise must be a finite number"),
        ({"label_noise": (0.1, 0.2)}, "label_noise must be a finite number"),
        ({"sigma_y": 0}, "sigma_y 0 is not above 0"),
        ({"n_q": 2.5}, "n_q must be a whole number of 0 or more, not 2.5"),
        ({"n_q": 6}, "p_q \\+ alpha_rq of q6 is 0.5 \\+ 0.6, which is not between 0 and 1"),
        ({"n_values": 1}, "n_values must be a whole number of 2 or more"),
        ({"noise_on": "some"}, "noise_on must be 'all' or 'sensitive', not 'some'"),
        ({"beta": 1}, "there is no setting 'beta'; there are n_q"),
        ({"rows": 0}, "rows must be a whole number of 1 or more, not 0"),
        ({"seed": -1}, "seed must be a whole number of 0 or more, not -1"),
    ],
)
def test_errors(parameters: dict[str, object], message: str):
    with pytest.raises(P4FError, match=message):
        synthetic(**parameters)


def test_errors_of_what_is_no_setting():
    with pytest.raises(P4FError, match="bias must be one of label, measurement, historical, not 'other'"):
        SyntheticSettings.of_paper("other", 0.3)
