"""
Listing 1: label bias
=====================

The full program for label bias with one sensitive variable (Template 1 with the facts of Example 3).
"""

import torch

import problog4fairness as p4f

program = p4f.Program(r"""
nn(h,X) :: y_h(X).
nn(a,X) :: a(X).

p1 :: label_neg_bias(X) :- a(X).
p2 :: label_neg_bias(X) :- \+a(X).
p3 :: label_pos_bias(X) :- a(X).
p4 :: label_pos_bias(X) :- \+a(X).

y_(X) :- y_h(X), \+label_neg_bias(X).
y_(X) :- \+y_h(X), label_pos_bias(X).

?- y_(x).
""")
program.diagram()

# %%
# P(recorded = 1) = h (1 - neg) + (1 - h) pos, with the parameters of the row's group.

known = program.bind({"p1": 0.4, "p2": 0.1, "p3": 0.05, "p4": 0.02}).compile()
h, a = torch.tensor([0.7, 0.7], dtype=torch.float64), torch.tensor([1.0, 0.0], dtype=torch.float64)
print(known.probability(nn={"h": h, "a": a}).squeeze(-1))
print(0.7 * 0.6 + 0.3 * 0.05, 0.7 * 0.9 + 0.3 * 0.02)

# %%
# The template writes the same program; any of its rules can be left out.

print(p4f.LabelBias("a", negative={1: 0.4, 0: 0.1}, positive={1: 0.05, 0: 0.02}))
