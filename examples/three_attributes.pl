nn(h,X) :: y_h(X).

nn(hc,X) :: hc(X).
nn(bl,X) :: bl(X).
nn(sm,X) :: sm(X).

p1_hc :: label_neg_bias_hc(X):- hc(X).
p2_hc :: label_neg_bias_hc(X):- \+hc(X).
p3_hc :: label_pos_bias_hc(X):- hc(X).
p4_hc :: label_pos_bias_hc(X):- \+hc(X).

p1_bl :: label_neg_bias_bl(X):- bl(X).
p2_bl :: label_neg_bias_bl(X):- \+bl(X).
p3_bl :: label_pos_bias_bl(X):- bl(X).
p4_bl :: label_pos_bias_bl(X):- \+bl(X).

p1_sm :: label_neg_bias_sm(X):- sm(X).
p2_sm :: label_neg_bias_sm(X):- \+sm(X).
p3_sm :: label_pos_bias_sm(X):- sm(X).
p4_sm :: label_pos_bias_sm(X):- \+sm(X).

y1(X) :- y_h(X), \+label_neg_bias_hc(X).
y1(X) :- \+y_h(X), label_pos_bias_hc(X).

y2(X) :- y1(X), \+label_neg_bias_bl(X).
y2(X) :- \+y1(X), label_pos_bias_bl(X).

y_(X) :- y2(X), \+label_neg_bias_sm(X).
y_(X) :- \+y2(X), label_pos_bias_sm(X).

?- y_(x).
