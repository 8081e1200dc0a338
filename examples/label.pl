nn(h,X) :: y_h(X).
nn(a,X) :: a(X).

p1 :: label_neg_bias(X) :- a(X).
p2 :: label_neg_bias(X) :- \+a(X).
p3 :: label_pos_bias(X) :- a(X).
p4 :: label_pos_bias(X) :- \+a(X).

y_(X) :- y_h(X), \+label_neg_bias(X).
y_(X) :- \+y_h(X), label_pos_bias(X).

?- y_(x).
