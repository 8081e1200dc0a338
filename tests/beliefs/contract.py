"""What every belief must fulfil; each belief's tests inherit it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import torch

from problog4fairness.beliefs import Belief, MeasurementBias
from problog4fairness.errors import MissingValueError, UnknownNameError
from tests.oracle import problog_answer


class BeliefContract:
    """Give :meth:`make` (all parameters unknown), :meth:`known` (some values) and :meth:`simulate`."""

    def make(self) -> Belief:
        raise NotImplementedError

    def known(self) -> dict[str, float]:
        raise NotImplementedError

    def simulate(self, belief: Belief, rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict]:
        """Audited rows that the belief distorted, and the arguments of ``estimate``."""
        raise NotImplementedError

    def bound(self) -> Belief:
        return self.make().bind(self.known())

    def test_the_text_is_the_program(self):
        for belief in (self.make(), self.bound()):
            program = belief.program()
            assert str(belief) == program.text
            assert belief.text().startswith("%")
        assert set(self.bound().program().compile().data.leaves).isdisjoint(
            {leaf for leaf in self.make().program().compile().leaves if leaf.kind == "parameter"}
        )

    def test_named_and_bound_parameters_agree_with_problog(self):
        named, bound = self.make().program(), self.bound().program()
        generator = torch.Generator().manual_seed(0)
        networks = [leaf for leaf in named.compile().leaves if leaf.kind == "network"]
        for _ in range(2):
            nn = {}
            for leaf in networks:
                raw = torch.rand(len(leaf.outcomes) if leaf.outcomes else 1, generator=generator, dtype=torch.float64)
                nn[str(leaf)] = (raw / raw.sum()).tolist() if leaf.outcomes else raw.item()
            values = {name: torch.tensor(v, dtype=torch.float64) for name, v in nn.items()}
            expected = problog_answer(bound.text, nn=nn)
            for found in (bound.probability(values), named.probability(values, self.known())):
                assert {name: value.item() for name, value in found.items()} == pytest.approx(expected, abs=1e-12)

    def tables(self, belief: Belief) -> list[torch.Tensor]:
        label = label_table(belief)
        return [*feature_tables(belief).values(), *([] if label is None else [label])]

    def test_probabilities_of_all_outcomes_sum_to_one(self):
        tables = self.tables(self.bound())
        assert tables
        for table in tables:
            torch.testing.assert_close(table.sum(-1), torch.ones_like(table.sum(-1)))
            assert bool(((table >= 0) & (table <= 1)).all())

    def test_no_bias_is_the_identity(self):
        for table in self.tables(self.make().bind(dict.fromkeys(self.known(), 0.0))):
            torch.testing.assert_close(table, torch.eye(table.shape[-1]).double().expand_as(table))

    def test_gradients_agree_with_finite_differences(self):
        circuit = self.make().program().compile()
        networks = {leaf: None for leaf in circuit.leaves if leaf.kind == "network"}
        nn = {str(leaf): torch.full((len(leaf.outcomes),), 1 / len(leaf.outcomes)).double() if leaf.outcomes else 0.4
              for leaf in networks}  # fmt: skip
        start = torch.tensor(list(self.known().values())).double().clamp(min=0.01).requires_grad_()

        def probability(values):
            return circuit.probability(nn, dict(zip(self.known(), values, strict=True)))

        assert torch.autograd.gradcheck(probability, (start,))

    def test_saving_and_loading_is_the_identity(self):
        for belief in (self.make(), self.bound()):
            again = Belief.from_json(json.loads(json.dumps(belief.to_json())))
            assert again == belief
            assert hash(again) == hash(belief)
            assert str(again) == str(belief)
            assert again.sensitive_columns == belief.sensitive_columns

    def test_beliefs_do_not_change(self):
        belief = self.make()
        before = str(belief)
        belief.bind(self.known())
        assert str(belief) == before
        assert belief != self.bound()

    def test_unknown_parameters_are_named(self):
        belief = self.make()
        with pytest.raises(MissingValueError, match=belief.probabilities[0].name.partition("(")[0]):
            belief.require_known()
        with pytest.raises(UnknownNameError, match="no parameter 'nonsense'"):
            belief.bind({"nonsense": 0.1})

    def test_the_table_of_parameters(self):
        table = self.bound().parameters
        assert table.loc[list(self.known()), "value"].tolist() == list(self.known().values())
        assert self.make().parameters["value"].isna().all()

    @pytest.mark.filterwarnings("ignore::problog4fairness.beliefs.AuditWarning")
    def test_estimates_on_simulated_data_are_near_the_truth_and_cover_it(self):
        truth, known, covered = self.bound(), self.known(), []
        for seed in range(4):
            audit, arguments = self.simulate(truth, 4000, np.random.default_rng(seed))
            estimated = self.make().estimate(audit, **arguments)
            for found, expected in zip(self.tables(estimated), self.tables(truth), strict=True):
                assert (found - expected).abs().max() < 0.08
            covered += [
                rate.low <= known[rate.name] <= rate.high for rate in estimated.probabilities if rate.name in known
            ]
        assert np.mean(covered) >= 0.85

    def test_repr_is_short_and_names_columns(self):
        assert all(column in repr(self.bound()) for column in self.bound().sensitive_columns)


def label_table(belief: Belief) -> torch.Tensor | None:
    """P(recorded label | fair label, groups), where a belief distorts the label."""
    part = getattr(belief, "label", belief)
    return part.label_table() if hasattr(part, "label_table") else None


def feature_tables(belief: Belief) -> dict[str, torch.Tensor]:
    """P(fair value | recorded value, group) of each feature that a belief distorts."""
    measured = getattr(belief, "measurement", belief)
    return measured.feature_tables() if isinstance(measured, MeasurementBias) else {}


def draw(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One outcome from each row of probabilities."""
    return (table.cumsum(-1) < rng.random(len(table))[:, None]).sum(-1).clip(max=table.shape[-1] - 1)


def distorted_labels(belief: Belief, fair: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Recorded labels of people with these fair labels and (joint) groups."""
    return draw(label_table(belief).numpy()[groups, fair], rng)
