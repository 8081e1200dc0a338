"""ProbLog text in, a circuit out: compiled once in a process of its own, evaluated in batches with gradients."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
