"""Learning the fair label through an observation: linear models, boosted trees, networks, any estimator or module."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
