"""A small residual network for small pictures, quick on a processor."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from problog4fairness.errors import ShapeError, TrainingError

GROUPS = 4


class ResidualNetwork(nn.Module):
    """Logits of pictures: a first convolution, two residual blocks, and a linear layer on a 4 × 4 grid.

    Each of the three halves height and width, so a picture of 32 × 32 ends as 4 × 4; from larger ones the last grid
    is averaged down to that, so the layer on top knows roughly where in the picture something is. Group
    normalisation works on each picture by itself: what a picture is told does not depend on its batch, nor on how
    many processes share it.

    Parameters
    ----------
    width
        Channels of the first convolution and block; the second block has twice as many. A multiple of 4.
    outputs
        Logits of a picture.
    channels
        Of the pictures: 3 for colour, 1 for grey.
    """

    def __init__(self, width: int = 16, outputs: int = 1, channels: int = 3) -> None:
        super().__init__()
        if width < GROUPS or width % GROUPS:
            raise TrainingError(f"width {width} of a residual network is not a multiple of {GROUPS}")
        self.channels = channels
        self.first = nn.Conv2d(channels, width, 4, stride=2, padding=1, bias=False)
        self.norm = nn.GroupNorm(GROUPS, width)
        self.blocks = nn.Sequential(ResidualBlock(width, width), ResidualBlock(width, 2 * width))
        self.pool = nn.AdaptiveAvgPool2d(4)
        self.last = nn.Linear(2 * width * 16, outputs)
        # Channels last in memory: a third quicker on a processor.
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # its types lack it

    def forward(self, pictures: Tensor) -> Tensor:
        """Logits ``[n, outputs]`` of pictures ``[n, channels, height, width]``."""
        if pictures.ndim != 4 or pictures.shape[1] != self.channels:
            raise ShapeError(f"pictures must be [n, {self.channels}, height, width], not {list(pictures.shape)}")
        found = pictures.contiguous(memory_format=torch.channels_last)
        found = self.blocks(relu(self.norm(self.first(found))))
        logits: Tensor = self.last(self.pool(found).flatten(1))
        return logits


class ResidualBlock(nn.Module):
    """relu(norm(conv(relu(norm(conv(x))))) + shortcut(x)), with half the height and width.

    Parameters
    ----------
    inputs, outputs
        Channels of what comes in and goes out.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.one = nn.Conv2d(inputs, outputs, 3, stride=2, padding=1, bias=False)
        self.norm_one = nn.GroupNorm(GROUPS, outputs)
        self.two = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm_two = nn.GroupNorm(GROUPS, outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride=2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        inner = self.norm_two(self.two(relu(self.norm_one(self.one(x)))))
        return relu(inner + self.shortcut(x))
