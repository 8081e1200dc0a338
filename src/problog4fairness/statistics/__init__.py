"""Intervals, priors, sample sizes and parameters: what audits, beliefs and metrics share."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
