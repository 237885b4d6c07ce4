"""Small networks for ImageNet that torchvision has not, for affscore to load with a file of weights.

    affscore signature examples/imagenet_networks.py:mobilenetv1_100@my_weights.pth --dataset folder:my_images

MobileNets of several widths, padded as TensorFlow pads, are built by timm (``pip install timm``); EfficientNet-Lites by
``pip install efficientnet-lite-pytorch``. All take images scaled to [-1, 1].

Sources: Howard et al., MobileNets (2017); Sandler et al., MobileNetV2 (2018); Howard et al., Searching for MobileNetV3
(2019); Tan and Le, EfficientNet (2019).
"""

from functools import partial

from torch import nn

from affscore.models import Preprocessing


def _scaled(network: nn.Module, size: int = 224) -> nn.Module:
    """The network with what it expects of an image: its size, and numbers in [-1, 1]."""
    network.preprocessing = Preprocessing(size=size, resize=round(size * 256 / 224), mean=(0.5,) * 3, std=(0.5,) * 3)
    return network


def _mobilenet(name: str) -> nn.Module:
    """Timm's network, without weights."""
    import timm  # takes seconds

    return _scaled(timm.create_model(name, **({} if name.startswith("tf_") else {"pad_type": "same"})))


def _mobilenetv1(width: float) -> nn.Module:
    """A MobileNetV1 with this share of the channels; timm has no name for all of them."""
    from timm.models import efficientnet

    return _scaled(efficientnet._gen_mobilenet_v1("mobilenetv1_100", width, pad_type="same"))


def _efficientnet_lite(number: int, size: int) -> nn.Module:
    from efficientnet_lite_pytorch import EfficientNet

    return _scaled(EfficientNet.from_name(f"efficientnet-lite{number}"), size)


mobilenetv1_025, mobilenetv1_075, mobilenetv1_100 = (partial(_mobilenetv1, width) for width in (0.25, 0.75, 1.0))
mobilenetv2_050, mobilenetv2_075 = partial(_mobilenet, "mobilenetv2_050"), partial(_mobilenet, "mobilenetv2_075")
mobilenetv3_large_minimal = partial(_mobilenet, "tf_mobilenetv3_large_minimal_100")
mobilenet_edgetpu = partial(_mobilenet, "mobilenet_edgetpu_100")
efficientnet_lite1, efficientnet_lite2 = partial(_efficientnet_lite, 1, 240), partial(_efficientnet_lite, 2, 260)
