"""A belief applied to rows: the likelihood of the record, and the posterior of the fair labels."""
