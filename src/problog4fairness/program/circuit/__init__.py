"""A compiled program: exact probabilities of its queries, in batches, with gradients."""
