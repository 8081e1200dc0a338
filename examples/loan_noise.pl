% Label bias in loan applications: a negative bias against one neighbourhood, and mistakes that can hit everybody.

nn(h,X) :: can_pay_loan(X).
nn(poor,X) :: poor_neighborhood(X).

0.21 :: neg_bias(X) :- poor_neighborhood(X).
gets_loan(X) :- can_pay_loan(X), \+neg_bias(X).

p_noise :: noise(X).
observed_gets_loan(X) :- gets_loan(X), \+noise(X).
observed_gets_loan(X) :- \+gets_loan(X), noise(X).

?- observed_gets_loan(x).
