"""Networks with shortcuts: residual ones from torchvision's blocks, and densely connected ones."""

from __future__ import annotations

from torch import Tensor, nn
from torchvision.models import DenseNet
from torchvision.models.resnet import BasicBlock, Bottleneck

from affscore.models.sources.mini_networks import shortcut
from companion.mini_zoo import grey


class MiniResNet(nn.Module):
    """A residual network of four stages.

    Args:
        kind: torchvision's ``BasicBlock`` (two convolutions) or ``Bottleneck`` (three).
        blocks: Number of blocks of each stage.
        widths: Channels of each stage; a bottleneck puts out four times as many.
        classes: Number of outputs.
    """

    def __init__(self, kind: str, blocks: tuple[int, ...], widths: tuple[int, ...], classes: int = 10) -> None:
        super().__init__()
        block: type[BasicBlock | Bottleneck] = BasicBlock if kind == "BasicBlock" else Bottleneck
        stem = nn.Conv2d(1, widths[0], 3, stride=2, padding=1, bias=False)
        self.stem = nn.Sequential(stem, nn.BatchNorm2d(widths[0]), nn.ReLU(inplace=True))
        before, stages = widths[0], []
        for stage, (many, width) in enumerate(zip(blocks, widths, strict=True)):
            after, stride = width * block.expansion, 1 if stage == 0 else 2
            beside = None if (before, stride) == (after, 1) else shortcut(before, after, stride)
            rest = [block(after, width) for _ in range(many - 1)]
            stages.append(nn.Sequential(block(before, width, stride, beside), *rest))
            before = after
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(before, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            # each block begins as its shortcut, or 90 layers do not train
            elif isinstance(module, block):
                nn.init.zeros_((module.bn2 if isinstance(module, BasicBlock) else module.bn3).weight)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 1, 32, 32)."""
        return self.head(self.stages(self.stem(x)).mean(dim=(2, 3)))


def densenet(layers: tuple[int, int, int, int], growth: int) -> DenseNet:
    """The DenseNet of torchvision, with its 3 x 3 convolutions narrow.

    Args:
        layers: Dense layers of each block.
        growth: Channels that each layer adds.
    """
    return grey(DenseNet(growth, layers, num_init_features=8, num_classes=10), kernel=3, stride=1)
