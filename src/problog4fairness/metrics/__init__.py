"""Predictive quality and fairness, with uncertainty.

:data:`METRICS` has every metric once; the rest is made from it. Five kinds of things, in the order in which a study
needs them:

- *of one classifier*: :func:`scores` for all of them at once, ``METRICS["f1"](y_true, y_pred)`` one by one,
  :func:`metric_frame` in each group; :func:`statistical_disparity` is that of decisions, that of mean probabilities
  is :func:`mean_probability_disparity`;
- *from probabilities to decisions*: :func:`decide`, which everything else here uses as well;
- *in model selection*: :func:`make_fair_scorer`, on audited fair labels;
- *how sure one test set makes us of them*: :func:`interval` and :func:`intervals_by_group`, from counts, without
  resampling;
- *how sure repetitions make us of them*: :func:`summarise` over seeds and folds, :func:`confidence_ellipse` for two
  metrics at once.

Everywhere y = 1 is the favourable label and A = 1 the sensitive group; other labels and groups are named by
``favourable`` and ``groups``. Inputs are matched row by row, by position; the index of a series is not looked at.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
