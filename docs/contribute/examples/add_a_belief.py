r"""
Add a belief
============

A belief *writes ProbLog*: its program is what is compiled, and observing rows, estimating, words and a picture follow
from it. This one says that fair 1s of one group were overlooked.
"""

from typing import Any

import problog4fairness as p4f
from problog4fairness.beliefs import Belief, favourable_json, sensitive_from_json, sensitive_json
from problog4fairness.data import Sensitive
from problog4fairness.statistics import Parameter, parameters_from_json, parameters_json


class Overlooked(Belief):
    """Fair 1s of one group are overlooked: recorded as 0."""

    command = "overlooked"  # p4f estimate --belief overlooked

    def __init__(self, sensitive: str, overlooked: float | None = None, *, levels: Any = (0, 1)) -> None:
        self.variables = (Sensitive.of(sensitive, levels),)
        where = self.variables[0].group_text(1)
        self.parameters = (Parameter("overlooked", f"a fair 1 is recorded as 0 where {where}", overlooked),)

    def text(self) -> str:
        own = self.parameters[0]
        return (
            "% Fair 1s of one group are overlooked.\n"
            "nn(h,X) :: y(X).\nnn(a,X) :: a(X).\n"
            f"{own.weight} :: missed(X) :- a(X).{own.remark}\n"
            "seen(X) :- y(X), \\+missed(X).\n?- seen(x).\n"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "Overlooked",
            **sensitive_json(self.variables[0]),
            "probabilities": parameters_json(self.parameters),
            **favourable_json(self),
        }

    @classmethod
    def _from_json(cls, value: dict[str, Any]) -> "Overlooked":
        belief = cls.__new__(cls)
        belief.variables = (sensitive_from_json(value),)
        belief.parameters = parameters_from_json(value["probabilities"])
        belief.favourable = value.get("favourable")
        return belief


# %%
# That is all. It is estimated through its program, says itself in words, and is trained through.

data = p4f.datasets.loans(rows=2000)
features = list(data.features)
belief = Overlooked("poor_area").estimate(data.audit, recorded="granted", fair="repaid")
print(belief)
print("\n".join(belief.words()))

# %%
model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
model.fit(data.loans[features], data.loans["granted"], sensitive_features=data.loans["poor_area"])
print(f"accuracy on fair labels: {(model.predict(data.new[features]) == data.new['repaid']).mean():.3f}")

# %%
# Where a belief goes into the library, its file is in ``beliefs/``, its name in ``beliefs/__init__.py``, and its test
# inherits ``tests/beliefs/contract.py``: agreement with problog, probabilities that sum to 1, gradients, estimates
# that cover the truth, saving and loading. ``tests/beliefs/test_new_belief.py`` takes this very belief through the
# command line and the report as well. A package of its own names its module as an entry point in the group
# ``problog4fairness.beliefs``.
