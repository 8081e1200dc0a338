"""Networks for pictures: a small one, the paper's, and anybody's own."""

from problog4fairness.learners.vision.named import named_network
from problog4fairness.learners.vision.pretrained import resnet50
from problog4fairness.learners.vision.residual import ResidualNetwork

__all__ = ["ResidualNetwork", "named_network", "resnet50"]
