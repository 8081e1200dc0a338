"""What a report reads and writes besides the page: comparisons, evidence, rows for review."""
