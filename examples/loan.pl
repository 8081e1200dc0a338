% Example 1 of the paper: one neighbourhood is turned down in one case out of ten.

poor_neighborhood(mary).
can_pay_loan(mary).
can_pay_loan(john).
0.1 :: neg_bias(A) :- poor_neighborhood(A).
gets_loan(A) :- can_pay_loan(A), \+neg_bias(A).

query(gets_loan(mary)).
query(gets_loan(john)).
