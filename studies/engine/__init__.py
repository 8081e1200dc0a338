"""One engine for all studies: what to compute is data, what was computed is stored, what it shows are claims."""
