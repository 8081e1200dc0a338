"""The beliefs that are ready to use."""
