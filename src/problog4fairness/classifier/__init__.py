"""``DebiasedClassifier``, the scikit-learn estimator that people use."""

from problog4fairness.classifier.estimator import DebiasedClassifier
from problog4fairness.classifier.scoring import Scorer, feature_frame, score_rows, text_columns

__all__ = ["DebiasedClassifier", "Scorer", "feature_frame", "score_rows", "text_columns"]
