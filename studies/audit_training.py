"""What an audit is good for: classifiers through beliefs from a planned audit, a random one, and all rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from problog4fairness import DebiasedClassifier, datasets
from problog4fairness.audit import AuditWarning
from problog4fairness.beliefs import Belief, LabelBias
from studies.engine.stack import Identity, Keys, Stack, Table, Work

PLANNED, RANDOM, ALL = "planned audit", "random audit as large", "all rows audited"
AUDITS = (PLANNED, RANDOM, ALL)
ERROR_OF = "error of the classifier"


@dataclass(frozen=True)
class TrainingStack(Stack):
    """Loans: a linear classifier for each audit, and each seed of the table.

    Attributes
    ----------
    seeds
        Of the tables and the audits.
    """

    seeds: tuple[int, ...]

    @property
    def name(self) -> str:
        """For messages."""
        return f"classifiers of the demo, seeds {self.seeds[0]} to {self.seeds[-1]}"

    @property
    def settings(self) -> Identity:
        """See :attr:`Stack.settings`."""
        return {"seeds": list(self.seeds)}

    def keys(self) -> Keys:
        """See :meth:`Stack.keys`."""
        return [("demo", seed, ERROR_OF, audit) for seed in self.seeds for audit in AUDITS]

    def compute(self, work: Work) -> Table:
        """See :meth:`Stack.compute`."""
        table: Table = []
        for done, seed in enumerate(self.seeds, start=1):
            data = datasets.loans(audited=2, seed=seed)
            people = data.loans.assign(repaid=data.loans_repaid.to_numpy())
            planned = planned_audit(people, seed)
            some = people.sample(len(planned), random_state=seed)
            for name, audit in ((PLANNED, planned), (RANDOM, some), (ALL, people)):
                table.append(["demo", seed, ERROR_OF, name, _error(data, estimated(audit))])
            work.report(done / len(self.seeds))
        return table


def belief() -> LabelBias:
    """People from poor areas are turned down, others not."""
    return LabelBias("poor_area", positive=False, affected=[1])


def planned_audit(people: pd.DataFrame, seed: int) -> pd.DataFrame:
    """All rounds of a plan, filled in."""
    todo, table = None, people.drop(columns="repaid")
    fair = people["repaid"].to_numpy()
    while True:
        plan = belief().plan_audit(table, recorded="granted", fair="repaid", pilot=todo)
        if plan.stop and todo is not None:
            return todo
        todo = plan.draw(random_state=seed)
        todo["repaid"] = fair[todo["row"].to_numpy(dtype=np.int64)]


def estimated(audit: pd.DataFrame) -> Belief:
    """The belief from an audit, however it was drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AuditWarning)
        return belief().estimate(audit, recorded="granted", fair="repaid")


def _error(data: Any, own: Belief) -> float:
    """The share of new people whose fair label a linear classifier gets wrong."""
    features = list(data.features)
    clf = DebiasedClassifier(own, learner="linear", random_state=0)
    clf.fit(data.loans[features], data.loans["granted"], sensitive_features=data.loans["poor_area"])
    return float(np.mean(clf.predict(data.new[features]) != data.new["repaid"].to_numpy()))
