r"""
Add a belief
============

A belief *writes ProbLog* and declares its fields. Its program is what is compiled; observing rows, estimating, words
and a picture follow from it, and files, the command line and the form of studio from its fields. This one says that
fair 1s of one group were overlooked.
"""

import problog4fairness as p4f
from problog4fairness.beliefs import GROUPS, SENSITIVE, Belief, BeliefKind, Field, Question
from problog4fairness.statistics import Parameter


class Overlooked(Belief):
    """Fair 1s of one group are overlooked: recorded as 0."""

    kind = BeliefKind(
        fields=(SENSITIVE, Field("overlooked", "probability", "A fair 1 may be recorded as 0", True), GROUPS),
        command="overlooked",  # p4f estimate --belief overlooked
        question=Question(
            "label",
            "Some were overlooked",
            "Nobody looked at people who were ill.",
            (("*fair label", "group"), ("recorded label",)),
        ),
    )

    def __init__(self, sensitive, overlooked=None, *, groups=None):
        super().__init__(sensitive, overlooked, groups=groups)
        where = self.variables[0].group_text(1)
        self.parameters = (Parameter("overlooked", f"a fair 1 is recorded as 0 where {where}", overlooked),)

    def text(self):
        overlooked = self.parameters[0]
        return (
            "% Fair 1s of one group are overlooked.\n"
            "nn(h,X) :: y(X).\nnn(a,X) :: a(X).\n"
            f"{overlooked.fact('missed(X)', 'a(X)')}\n"
            "seen(X) :- y(X), \\+missed(X).\n?- seen(x).\n"
        )


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
# Where a belief goes into the library, its file is in ``beliefs/templates/`` and its name in the doors
# (``beliefs/__init__.pyi``, ``__init__.pyi``). Its test inherits ``tests/beliefs/contract.py``: agreement with problog,
# probabilities that sum to 1, gradients, estimates that cover the truth, saving and loading.
# ``tests/beliefs/test_new_belief.py`` takes this very belief through the command line and the report as well. A package
# of its own names its module as an entry point in the group ``problog4fairness.beliefs``.
