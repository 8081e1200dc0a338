"""Data to learn from, and to test on: the loans of the examples, and people of whom everything is known."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
