"""The screens of the page."""
