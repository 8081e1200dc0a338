"""Neural networks through an observation, many at once, and any torch module."""
