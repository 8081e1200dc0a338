"""Trained models as files that hold numbers and names only."""
