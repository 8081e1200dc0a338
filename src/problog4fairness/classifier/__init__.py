"""``DebiasedClassifier``, the scikit-learn estimator that people use."""

from problog4fairness.classifier.estimator import DebiasedClassifier

__all__ = ["DebiasedClassifier"]
