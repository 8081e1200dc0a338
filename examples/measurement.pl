nn(h,X)    :: y_h(X).
nn(n,X_,N) :: n(X_,N).
nn(a,X_)   :: a(X_).

debias_n(1, x_(0,X,Y,Z), x_(1,X,Y,Z)).
debias_n(2, x_(R,0,Y,Z), x_(R,1,Y,Z)).
debias_n(3, x_(R,X,0,Z), x_(R,X,1,Z)).
debias_n(4, x_(R,X,Y,0), x_(R,X,Y,1)).

p1(N) :: n_neg_bias(X_,N):- a(X_).
p2(N) :: n_neg_bias(X_,N):- \+ a(X_).
p3(N) :: n_pos_bias(X_,N):- a(X_).
p4(N) :: n_pos_bias(X_,N):- \+ a(X_).

n_biased(X_,N)                            :-\+n(X_,N),n_neg_bias(X_,N).
n_biased(X_,N)                              :-n(X_,N),n_pos_bias(X_,N).

debias(X_, X_, 0).
debias(X_, X, N):- >(N,0),is(N2,N-1),n_biased(X_,N),debias_n(N,X_,Xf),  debias(Xf,X,N2).
debias(X_, X, N):- >(N,0),is(N2,N-1),       \+n_biased(X_,N),debias(X_,X,N2).

y(X_):- debias(X_,X,4), y_h(X).

?- y(x_(0,0,0,0)).
