"""``DebiasedClassifier``, the scikit-learn estimator that people use."""

from problog4fairness.classifier.estimator import DebiasedClassifier
from problog4fairness.classifier.scoring import feature_frame, score_rows, text_columns

__all__ = ["DebiasedClassifier", "feature_frame", "score_rows", "text_columns"]
