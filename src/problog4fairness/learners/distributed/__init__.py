"""Learners on rows that are spread over a cluster."""
