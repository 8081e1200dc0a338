"""
Example 1: a loan
=================

The paper's first program: people of one neighbourhood who can pay are turned down in one case out of ten.
"""

import problog4fairness as p4f

program = p4f.Program(r"""
poor_neighborhood(mary).
can_pay_loan(mary).
can_pay_loan(john).
0.1 :: neg_bias(A) :- poor_neighborhood(A).
gets_loan(A) :- can_pay_loan(A), \+neg_bias(A).

query(gets_loan(mary)).
query(gets_loan(john)).
""")

# %%
# "The probability of gets_loan(mary) is 0.9, while the probability of gets_loan(john) is 1.0."

for query, probability in program.probability().items():
    print(query, probability.item())

# %%
program.diagram()
