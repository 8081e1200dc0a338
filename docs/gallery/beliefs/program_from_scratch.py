r"""
A program of your own, from scratch
===================================

No template says it? Write it down. A reviewer overlooked good applications from poor areas; then a second reviewer,
who saw only refusals, repaired some of these; and sometimes somebody ticked the wrong box.
"""

import numpy as np

import problog4fairness as p4f

program = p4f.Program(r"""
    nn(h,X) :: good(X).                          % the classifier: is the application good?
    nn(poor_area,X) :: poor(X).                  % a column of the data

    overlooked :: overlooked(X) :- poor(X).      % three unknown parameters
    repaired   :: repaired(X).
    slip       :: slip(X).

    accepted(X) :- good(X), \+overlooked(X).
    accepted(X) :- good(X), overlooked(X), repaired(X).

    ticked(X) :- accepted(X), \+slip(X).
    ticked(X) :- \+accepted(X), slip(X).

    ?- ticked(x).                                % what was recorded
""")
print(program)

# %%
program.diagram()

# %%
# First look at it as a program: what does it say of a good applicant from a poor area?

known = {"overlooked": 0.5, "repaired": 0.2, "slip": 0.03}
print(program.bind(known).probability(nn={"h": 1.0, "poor_area": 1.0}))

# %%
# Data that came about in this way, from the fair labels of the made-up loans:

data = p4f.datasets.loans(rows=4000, audited=1500, new=2000)
features = list(data.features)
rng = np.random.default_rng(0)


def ticked(good, poor):
    """What the two reviewers and the slips make of the fair labels."""
    lost = (poor == 1) & (rng.random(len(good)) < 0.5) & ~(rng.random(len(good)) < 0.2)
    return ((good == 1) & ~lost) ^ (rng.random(len(good)) < 0.03)


table = data.loans.assign(ticked=ticked(data.loans_repaid, data.loans["poor_area"]).astype(int))
audit = data.audit.assign(ticked=ticked(data.audit["repaid"], data.audit["poor_area"]).astype(int))

# %%
# A program is a belief. Its open parameters are estimated from audited rows. What cannot be told apart by any data
# gets a warning: who was overlooked and not repaired is one number here, the product. So one of the two is stated.

belief = p4f.ProgramBelief(program.bind({"repaired": 0.2}))
belief = belief.estimate(audit, recorded="ticked", fair="repaid")
print(belief.parameter_table()[["value", "low", "high"]].round(3).to_string())

# %%
model = p4f.DebiasedClassifier(belief, "linear", random_state=0)
model.fit(table[features], table["ticked"], sensitive_features=table["poor_area"])
record = p4f.DebiasedClassifier(None, "linear", random_state=0).fit(table[features], table["ticked"])
for name, own in (("this model", model), ("trained on recorded labels", record)):
    print(f"{name:20} accuracy {(own.predict(data.new[features]) == data.new['repaid']).mean():.3f}")
