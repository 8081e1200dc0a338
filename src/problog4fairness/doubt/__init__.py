"""Is the belief right? What moves if it is not."""
