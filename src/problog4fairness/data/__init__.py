"""Tables in, :class:`Rows` out: which column is what, which label is favourable, which group each row belongs to."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
