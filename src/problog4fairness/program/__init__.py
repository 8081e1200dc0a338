"""ProbLog text in, a batched and differentiable circuit out."""
