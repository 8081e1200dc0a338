"""Beliefs about recorded labels."""
