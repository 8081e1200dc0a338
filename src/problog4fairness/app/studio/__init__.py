"""The whole path in the browser: a page on this machine for people who do not write code (``p4f studio``)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
