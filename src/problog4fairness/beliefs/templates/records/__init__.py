"""Beliefs about records that are not one label for each row: missing labels, several annotators, unknown groups."""
