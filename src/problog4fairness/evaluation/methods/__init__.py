"""What a user would do instead of stating a belief: each method written once, on the same learner."""
