"""A belief as sentences, as a diagram and as a file."""
