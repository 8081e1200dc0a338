"""The paper's network for pictures: torchvision's ResNet-50, as trained on ImageNet."""

from __future__ import annotations

from typing import Any

from torch import nn

from problog4fairness.errors import P4FError, one_line


def resnet50(outputs: int = 1) -> nn.Module:
    """ResNet-50 with torchvision's ImageNet1k-v2 weights; the last layer is new, and all layers can be trained.

    Needs the extra ``vision``. The weights (98 MB) are downloaded once, into torch's cache.

    Parameters
    ----------
    outputs
        Logits of a picture.
    """
    models = _torchvision_models()
    try:
        network: nn.Module = models.resnet50(weights=models.ResNet50_Weights.IMAGENET1K_V2, progress=False)
    except (OSError, RuntimeError) as error:
        raise P4FError(
            f"the weights of ResNet-50 cannot be had ({_reason(error)}); go online once, or put "
            "resnet50-11ad3fa6.pth into hub/checkpoints below TORCH_HOME"
        ) from None
    before: Any = network.fc
    network.fc = nn.Linear(before.in_features, outputs)
    return network.requires_grad_()


def _torchvision_models() -> Any:
    try:
        from torchvision import models
    except ImportError:
        raise P4FError("resnet50 needs torchvision: pip install 'problog4fairness[vision]'") from None
    except Exception as error:
        # A torchvision that was built for another torch fails in many ways.
        raise P4FError(
            f"torchvision cannot be imported ({_reason(error)}); install the one that belongs to this torch"
        ) from None
    return models


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {one_line(str(error))[:200]}"
