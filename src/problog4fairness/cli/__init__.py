"""The command ``p4f``: reads options, calls the library, shows the result."""
