"""Parameters from audited rows: by counting where each has a cell of its own, by likelihood otherwise."""
