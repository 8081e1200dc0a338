"""Audits: which rows to check by hand, how they were sampled, and what they say about parameters."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
