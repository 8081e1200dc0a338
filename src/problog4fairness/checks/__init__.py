"""Whether the data contradict the belief: all tests, corrected for their number."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
