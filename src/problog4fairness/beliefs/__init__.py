"""What can go wrong with data: label, measurement and historical bias, and chains of them. Each writes ProbLog."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
