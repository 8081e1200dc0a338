"""Tables as they come, which column is what, and rows that are coded once."""
