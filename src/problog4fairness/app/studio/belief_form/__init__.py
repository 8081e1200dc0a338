"""The form of a belief."""
