"""The command ``p4f``: reads options, calls the library, shows the result."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
