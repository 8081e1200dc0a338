"""How many rows to audit of each stratum, and which ones."""
