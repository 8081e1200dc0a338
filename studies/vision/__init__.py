"""Networks for pictures: a small one, the paper's, and anybody's own."""

from studies.vision.named import named_network
from studies.vision.pretrained import resnet50
from studies.vision.residual import ResidualNetwork

__all__ = ["ResidualNetwork", "named_network", "resnet50"]
