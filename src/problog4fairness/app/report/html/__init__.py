"""HTML and figures of a page that needs no other file."""
