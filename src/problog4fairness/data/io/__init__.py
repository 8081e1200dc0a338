"""Reading tables as they come, and writing files whole or not at all."""
