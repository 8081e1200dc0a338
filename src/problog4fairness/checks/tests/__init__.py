"""The tests of a belief, one module for each kind of evidence."""
