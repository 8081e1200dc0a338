"""From ProbLog text to checked clauses."""
