"""Programs of one's own as beliefs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import problog4fairness as p4f
from problog4fairness.beliefs.templates.custom import ProgramBelief
from problog4fairness.errors import NetworkError, P4FError
from tests.beliefs.contract import BeliefContract, draw

TEXT = r"""% A loan officer and a clerk: each can turn somebody down.
nn(h,X) :: y(X).   nn(poor,X) :: poor(X).   nn(old,X) :: old(X).
p :: officer(X) :- poor(X).
q :: clerk(X) :- old(X).
r :: mistake(X).
granted(X) :- y(X), \+officer(X), \+clerk(X).
granted(X) :- \+y(X), mistake(X).
?- granted(x).
"""


class TestProgramBelief(BeliefContract):
    def make(self):
        return ProgramBelief(TEXT, columns={"poor": "poor_area"})

    def known(self):
        return {"p": 0.3, "q": 0.2, "r": 0.05}

    def table(self):
        """P(granted | fair, poor, old)."""
        p, q, r = self.known().values()
        return np.array([[[r, (1 - p * poor) * (1 - q * old)] for old in (0, 1)] for poor in (0, 1)])

    def simulate(self, belief, rows, rng):
        poor, old, fair = rng.integers(0, 2, (3, rows))
        yes = self.table()[poor, old, fair]
        recorded = draw(np.column_stack([1 - yes, yes]), rng)
        return pd.DataFrame({"poor_area": poor, "old": old}), {"recorded": recorded, "fair": fair}

    def tables(self, belief):
        circuit = belief.program().compile()
        grid = torch.cartesian_prod(*([torch.tensor([0.0, 1.0]).double()] * 3))
        yes = circuit.probability(nn={"poor": grid[:, 0], "old": grid[:, 1], "h": grid[:, 2]})
        return [torch.cat([1 - yes, yes], dim=-1)]

    def test_no_bias_is_the_identity(self):
        (table,) = self.tables(self.make().bind(dict.fromkeys(self.known(), 0.0)))
        torch.testing.assert_close(table, torch.eye(2).double().repeat(4, 1))

    def test_the_text_is_the_program(self):
        assert str(self.make()) == TEXT
        assert self.bound().program().bound == self.known()

    def test_named_and_bound_parameters_agree_with_problog(self):
        (found,) = self.tables(self.bound())
        np.testing.assert_allclose(found[:, 1].reshape(2, 2, 2), self.table(), atol=1e-12)


def test_known_parameters_stay_as_they_are():
    test = TestProgramBelief()
    audit, arguments = test.audit(test.bound(), 3000, np.random.default_rng(0))
    estimated = test.make().bind({"p": 0.123}).estimate(audit, **arguments)
    assert estimated.parameters[0].value == 0.123
    assert estimated.parameters[1].value == pytest.approx(0.2, abs=0.1)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ProgramBelief("0.5 :: a. query(a)."), NetworkError, "no network h for the classifier"),
        (lambda: ProgramBelief(TEXT, columns={"z": "z"}), P4FError, "no network 'z'; it has h, poor, old"),
        (
            lambda: ProgramBelief(TEXT).estimate(pd.DataFrame({"poor": [1], "r": [1]}), recorded="r", fair="r"),
            P4FError,
            "network old has no column 'old'; there are poor",
        ),
        (
            lambda: ProgramBelief(TEXT.replace("x)", "x_(0))"), features=["q"]).estimate(
                pd.DataFrame({"poor": [1], "old": [0], "q": [0], "r": [1]}), recorded="r", fair="r"
            ),
            P4FError,
            "only beliefs that ask the classifier about the row x itself",
        ),
    ],
)
def test_impossible_programs(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_program_trains_like_the_template_it_spells_out():
    assert p4f.ProgramBelief(p4f.LabelBias("a", 0.1, 0.2).text()).program() == p4f.LabelBias("a", 0.1, 0.2).program()
