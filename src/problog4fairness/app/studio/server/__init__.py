"""The server of the page, and who may talk to it."""
