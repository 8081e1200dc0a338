"""Logistic regression through an observation."""
