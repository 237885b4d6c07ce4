"""Networks for CIFAR-10, as those of He et al. with and without shortcuts, for affscore to load.

    affscore signature examples/cifar_networks.py:resnet20 --dataset cifar10 --images 512
    affscore signature examples/cifar_networks.py:plainnet56@my_weights.pt --dataset folder:my_images

``resnet18_cifar10`` to ``resnet50_cifar100`` are their networks for ImageNet, made to fit small images as is usual: the
first convolution looks at 3 x 3 pixels without leaving any out, and no max pooling follows it.

A factory is a function without arguments that returns a network; an attribute ``preprocessing`` of the
network says what it expects of an image. A file of your own can look the same.

Source: He, Zhang, Ren, Sun, Deep residual learning for image recognition (2015), section 4.2.
"""

from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from affscore.models import Preprocessing

CIFAR10 = Preprocessing(
    size=32, resize=32, mean=(0.49186879, 0.49185976, 0.49185842), std=(0.24697122, 0.24696767, 0.24697199)
)
"""Images of 32 x 32 pixels, with the mean and the standard deviation that the weights were trained with."""

VGG_LIKE = Preprocessing(size=32, resize=32, mean=(0.4914, 0.4824, 0.4467), std=(0.2471, 0.2435, 0.2616))
"""The same, as the VGG-like networks and the SqueezeNet were trained."""

CIFAR = Preprocessing(size=32, resize=32, mean=(0.4914, 0.4822, 0.4465), std=(0.2470, 0.2435, 0.2616))
"""The same with those of each channel, over the training images of CIFAR-10; those of CIFAR-100 are near."""


class Block(nn.Module):
    """Two convolutions of 3 x 3, each with a batch norm and a ReLU.

    Args:
        before: Channels of the input.
        after: Channels of the output. Where they are more, the first convolution takes every second pixel.
        shortcut: Whether the input is added before the second ReLU: every second pixel of it, with channels of
            zeros behind its own where the output has more, so that the shortcut has no parameters.
    """

    def __init__(self, before: int, after: int, shortcut: bool) -> None:
        super().__init__()
        self.added = after - before
        self.stride = 2 if self.added else 1
        self.shortcut = shortcut
        self.conv1 = nn.Conv2d(before, after, 3, stride=self.stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)

    def forward(self, x: Tensor) -> Tensor:
        """Feature maps (N, after, H / stride, W / stride) of feature maps (N, before, H, W)."""
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.shortcut:
            y = y + F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.added))
        return F.relu(y)


class CifarNetwork(nn.Module):
    """A stem and three stacks of blocks with 16, 32 and 64 channels, an average over pixels, a linear layer.

    Args:
        depth: Number of layers with weights: 6 n + 2 for n blocks in a stack.
        shortcuts: Whether the blocks have shortcuts.
        classes: Number of outputs.
    """

    preprocessing = CIFAR10

    def __init__(self, depth: int, shortcuts: bool, classes: int = 10) -> None:
        super().__init__()
        n, rest = divmod(depth - 2, 6)
        if rest or n < 1:
            raise ValueError(f"the depth must be 6 n + 2 for an integer n, got {depth}")

        def stack(blocks: int, channels: int) -> nn.Sequential:
            return nn.Sequential(*(Block(channels, channels, shortcuts) for _ in range(blocks)))

        self.convIn = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.bnIn = nn.BatchNorm2d(16)
        self.stack1 = stack(n, 16)
        self.stack2a = Block(16, 32, shortcuts)
        self.stack2b = stack(n - 1, 32)
        self.stack3a = Block(32, 64, shortcuts)
        self.stack3b = stack(n - 1, 64)
        self.fcOut = nn.Linear(64, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, classes) of images (N, 3, 32, 32)."""
        x = self.stack1(F.relu(self.bnIn(self.convIn(x))))
        x = self.stack2b(self.stack2a(x))
        x = self.stack3b(self.stack3a(x))
        return self.fcOut(x.mean(dim=(2, 3)))


def _from_imagenet(name: str, classes: int) -> nn.Module:
    """Torchvision's network, without weights, for small images."""
    from torchvision.models import get_model  # takes seconds

    network = get_model(name, num_classes=classes)
    network.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(network.conv1.weight, mode="fan_out", nonlinearity="relu")  # as torchvision begins
    network.maxpool = nn.Identity()
    network.preprocessing = CIFAR
    return network


class VggLike(nn.Module):
    """Thirteen convolutions of 3 x 3, each with batch norm and ReLU; the largest value of a channel; a linear layer.

    Args:
        widths: Channels of each convolution; 0 for a max pooling of 2 x 2.

    Source: Hasanpour et al., Towards principled design of deep convolutional networks: introducing SimpNet (2018).
    """

    preprocessing = VGG_LIKE

    def __init__(self, *widths: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for width in widths:
            if not width:
                layers.append(nn.MaxPool2d(2, 2, ceil_mode=True))
                continue
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(channels, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (N, 10) of images (N, 3, 32, 32)."""
        return self.fc(self.features(x).amax(dim=(2, 3)))


def densenet_bc_100_12() -> nn.Module:
    """DenseNet-BC with 100 layers, which adds 12 channels a layer (Huang et al. 2017, section 4.2)."""
    from torchvision.models import DenseNet

    network = DenseNet(growth_rate=12, block_config=(16, 16, 16), num_init_features=24, num_classes=10)
    network.features.conv0 = nn.Conv2d(3, 24, 3, padding=1, bias=False)
    for name in ("norm0", "relu0", "pool0"):
        setattr(network.features, name, nn.Identity())
    network.preprocessing = CIFAR
    return network


def squeezenet1_1_cifar10() -> nn.Module:
    """Torchvision's SqueezeNet 1.1 that keeps all pixels in its first convolution and its first pooling."""
    from torchvision.models import squeezenet1_1

    network = squeezenet1_1(num_classes=10)
    network.features[0].stride, network.features[2].stride = (1, 1), 1
    network.preprocessing = VGG_LIKE
    return network


simpnet_1m = partial(VggLike, 60, 80, 80, 80, 85, 0, 85, 90, 90, 90, 110, 0, 110, 127, 150)
simpnet_600k = partial(VggLike, 40, 60, 60, 60, 72, 0, 73, 73, 73, 75, 81, 0, 82, 90, 120)
resnet20 = partial(CifarNetwork, 20, shortcuts=True)
resnet32 = partial(CifarNetwork, 32, shortcuts=True)
resnet44 = partial(CifarNetwork, 44, shortcuts=True)
resnet56 = partial(CifarNetwork, 56, shortcuts=True)
plainnet20 = partial(CifarNetwork, 20, shortcuts=False)
plainnet32 = partial(CifarNetwork, 32, shortcuts=False)
plainnet44 = partial(CifarNetwork, 44, shortcuts=False)
plainnet56 = partial(CifarNetwork, 56, shortcuts=False)

resnet18_cifar10, resnet18_cifar100 = partial(_from_imagenet, "resnet18", 10), partial(_from_imagenet, "resnet18", 100)
resnet50_cifar10, resnet50_cifar100 = partial(_from_imagenet, "resnet50", 10), partial(_from_imagenet, "resnet50", 100)
