"""
Example 4: a loan application with noise
========================================

A negative bias against one neighbourhood, and mistakes that can hit everybody. The classifier is a network of the
program.
"""

import torch

import problog4fairness as p4f

program = p4f.Program(r"""
nn(h,X) :: can_pay_loan(X).
nn(poor,X) :: poor_neighborhood(X).

0.21 :: neg_bias(X) :- poor_neighborhood(X).
gets_loan(X) :- can_pay_loan(X), \+neg_bias(X).

p_noise :: noise(X).
observed_gets_loan(X) :- gets_loan(X), \+noise(X).
observed_gets_loan(X) :- \+gets_loan(X), noise(X).

?- observed_gets_loan(x).
""")
print(program.networks, program.parameters)

# %%
# It is ground and compiled once; then it is a function of the network's answers, for any number of rows at once.

circuit = program.bind({"p_noise": 0.05}).compile()
can_pay, poor = torch.tensor([0.0, 0.5, 1.0, 1.0]), torch.tensor([1.0, 1.0, 1.0, 0.0])
print(circuit.probability(nn={"h": can_pay, "poor": poor}).squeeze(-1))

# %%
# By hand, for somebody from the neighbourhood who surely can pay: .79 · .95 + .21 · .05 = .761.

print(0.79 * 0.95 + 0.21 * 0.05)

# %%
program.diagram()
