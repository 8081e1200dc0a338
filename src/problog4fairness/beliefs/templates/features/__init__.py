"""Beliefs about recorded features."""
