"""The mini zoo: small members of every family of the papers, trained on handwritten digits, and what they reach.

Importing it makes ``mini:NAME`` known to affscore.

Each module builds the networks of a few families; it imports torchvision, and is imported when one of them is built.
``make zoo`` trains them and writes the tables.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from torch import Tensor, nn

from affscore.models.sources import register
from affscore.models.sources.mini_networks import DIGITSNET, Mini, MiniNetwork

__all__ = ["hard_task", "list_models"]

Network = TypeVar("Network", bound=nn.Module)

_FOLDER = Path(__file__).parents[1] / "data" / "mini_zoo"

WEIGHTS = _FOLDER / "weights"
"""The folder of the trained weights."""


BUILDERS: dict[str, dict[str, tuple[Any, ...]]] = {
    "plain.MiniAlexNet": {"alexnet": ()},
    # convolutions in each stage, as in the originals
    "plain.MiniVGG": {"vgg11": ((1, 1, 2, 2, 2),), "vgg13": ((2, 2, 2, 2, 2),),
                      "vgg16": ((2, 2, 3, 3, 3),), "vgg19": ((2, 2, 4, 4, 4),)},
    "inception.MiniGoogLeNet": {"googlenet": ()},
    "inception.MiniInception": {"inception_v3": ()},
    # as many blocks as the originals, but 12 for 23 in resnet101, and 6 and 18 for 8 and 36 in resnet152
    "residual.MiniResNet": {
        "resnet18": ("BasicBlock", (2, 2, 2, 2), (8, 12, 16, 20)),
        "resnet34": ("BasicBlock", (3, 4, 6, 3), (8, 12, 16, 20)),
        "resnet50": ("Bottleneck", (3, 4, 6, 3), (8, 8, 8, 16)),
        "resnet101": ("Bottleneck", (3, 4, 12, 3), (8, 8, 8, 16)),
        "resnet152": ("Bottleneck", (3, 6, 18, 3), (8, 8, 8, 16)),
    },
    "efficient.MiniSqueezeNet": {"squeezenet1_0": ("1_0",), "squeezenet1_1": ("1_1",)},
    # half as many layers as the originals, and a growth of 3 channels, and 4 in the widest, for 32 and 48
    "residual.densenet": {"densenet121": ((3, 6, 12, 8), 3), "densenet161": ((3, 6, 18, 12), 4),
                          "densenet169": ((3, 6, 16, 16), 3), "densenet201": ((3, 6, 24, 16), 3)},
    "efficient.mobilenet": {"mobilenet_v2": ()},
    # a tenth of the originals' widths
    "searched.mnasnet": {"mnasnet0_5": (0.05,), "mnasnet0_75": (0.075,), "mnasnet1_0": (0.10,), "mnasnet1_3": (0.13,)},
    # the originals have 48, 96 and 192 channels, and 116, 232 and 464
    "efficient.shufflenet": {"shufflenet_v2_x0_5": ((16, 24, 48),), "shufflenet_v2_x1_0": ((24, 48, 96),)},
    # the originals' widths times 0.05, and their depths times 0.6: they are 1.0, 1.1, 1.2, 1.4 and 1.1, 1.2, 1.4, 1.8
    "searched.efficientnet": {"efficientnet_b1": (0.050, 0.66), "efficientnet_b2": (0.055, 0.72),
                              "efficientnet_b3": (0.060, 0.84), "efficientnet_b4": (0.070, 1.08)},
    # patches of 16, 8 and 4 pixels stand for the originals' 32, 16 and 14; 6, 8 and 10 layers for 12, 24 and 32
    "transformers.vit": {"vit_b_16": (8, 6, 16, 4), "vit_b_32": (16, 6, 16, 4), "vit_l_16": (8, 8, 20, 4),
                         "vit_l_32": (16, 8, 20, 4), "vit_h_14": (4, 10, 24, 4)},
    # the originals have four stages: 2, 2, 6, 2 blocks, and 2, 2, 18, 2 in the two larger ones
    "transformers.swin": {"swin_t": ((2, 4, 2), 8), "swin_s": ((2, 6, 2), 8), "swin_b": ((2, 6, 2), 10)},
    # the originals have 96 to 768, 128 to 1024 and 192 to 1536 channels, and 3, 3, 9 or 27, 3 blocks
    "transformers.convnext": {
        "convnext_tiny": ((8, 12, 16, 24), 3), "convnext_small": ((8, 12, 16, 24), 6),
        "convnext_base": ((10, 14, 18, 26), 6), "convnext_large": ((12, 16, 20, 28), 6),
    },
}  # fmt: skip
"""The networks in the order of the years: under what builds them, a class or function of a module of this package, each
with what that is called with."""


MINI_NETWORKS = DIGITSNET | {
    name: MiniNetwork(name, f"{__name__}.{builder}", WEIGHTS / f"{name}.safetensors", args)
    for builder, some in BUILDERS.items()
    for name, args in some.items()
}
"""All of them: ``digitsnet``, and one under the name of each network of torchvision that it stands for."""


def training_record(network: MiniNetwork) -> dict[str, Any]:
    """How the weights of a small network were made, and what they reach."""
    return json.loads(network.weights.with_suffix(".json").read_text(encoding="utf-8"))


def list_models() -> pd.DataFrame:
    """The small networks of the package: a row for each, in the order of the years of their architectures.

    Returns:
        A table with the columns

        * ``name``: as in ``mini:NAME``; but for ``digitsnet`` that of the network of torchvision it stands for;
        * ``family`` and ``year`` of the architecture;
        * ``accuracy``: share of the 597 held-out digits that it names rightly, in percent, and its
          ``accuracy_standard_error``, sqrt(p (1 - p) / 597);
        * ``parameters``; ``flops``: multiply-adds of one image, in convolutions and matrix products;
        * ``depth``: the largest number of activations on a path from the input to one of them;
        * ``group``: its group in figure 4 of the paper; missing for those that are not in it.

    >>> models = list_models().set_index("name")
    >>> int(models.loc["resnet18", "depth"]), models.loc["vit_b_16", "group"], int(models.loc["alexnet", "year"])
    (17, 'ViTs', 2012)
    """
    return pd.read_csv(_FOLDER / "zoo.csv")


def hard_task() -> pd.DataFrame:
    """What the small networks reach on a task that does not saturate, with five seeds each.

    They are trained on 20 images of each digit, turned, scaled, moved and noisy, and tested on the 597 held-out
    images with distortions of the same kind, which are the same for all networks.

    Returns:
        A row for each network and seed; columns ``name``, ``seed``, ``accuracy`` (percent of the distorted held-out
        images), and ``mean``, ``std``, ``min``, ``median``, ``max``, ``max/mean``, ``max/median`` of the signature of
        that very network on the held-out images without distortions (n = 512, ``mean``, activate first).

    >>> table = hard_task()
    >>> table.groupby("name")["seed"].count().unique().tolist()
    [5]
    """
    return pd.read_parquet(_FOLDER / "hard_task").set_index("name").loc[list_models()["name"]].reset_index()


def grey(model: Network, kernel: int | None = None, stride: int | None = None) -> Network:
    """The same network, whose first convolution takes one channel: torchvision's expect colour pictures of 224 pixels.

    Args:
        model: A network; it is changed.
        kernel: Another size of that convolution, with the padding that keeps the picture's size at a stride of 1
            (a patch, which has no padding, keeps none).
        stride: Another stride.

    >>> from torchvision.models import ShuffleNetV2
    >>> grey(ShuffleNetV2([1, 1, 1], [8, 16, 16, 16, 32]), stride=1).conv1[0]
    Conv2d(1, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)
    """
    name, first = next((name, module) for name, module in model.named_modules() if isinstance(module, nn.Conv2d))
    size = kernel or first.kernel_size[0]
    padding = size // 2 if first.padding != (0, 0) else 0
    step, bias = stride or first.stride[0], first.bias is not None
    model.set_submodule(name, nn.Conv2d(1, first.out_channels, size, step, padding, bias=bias))
    return model


def initialise(model: nn.Module, begin: Callable[[Tensor], Any]) -> None:
    """Begin the weights of all convolutions and linear layers in this way, and their biases at 0."""
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            begin(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)


register(Mini(MINI_NETWORKS))
