"""Boosted trees through an observation."""
