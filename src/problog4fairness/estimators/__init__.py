"""``DebiasedClassifier``, the scikit-learn estimator that people use, and its files."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
