"""Signatures of networks of many families, with no word about any of them in the library.

All activations of these networks are counted a second time, by something that shares nothing with the
recorder: torch.fx's graph of what the Python code calls (torchvision, with depths), or the kernels that
run (timm, transformers). Both are complete for these networks but for what is said beside the names.
"""

import re

import pytest
import torch
import torchvision
from torch import nn

from affscore import signature
from tests.affscore.network.cheap_networks import cheaply
from tests.affscore.network.kernels import kernels_in
from tests.affscore.recorder.torchvision_networks import activations_and_depths

pytestmark = pytest.mark.slow

# All but the largest of each family, which repeat the blocks of the others more often.
LEFT_OUT = {
    "convnext_large", "efficientnet_b6", "efficientnet_b7", "efficientnet_v2_l", "regnet_x_16gf", "regnet_x_32gf",
    "regnet_y_128gf", "regnet_y_16gf", "regnet_y_32gf", "resnext101_64x4d", "swin_b", "swin_v2_b", "vgg13", "vgg16",
    "vgg19", "vgg19_bn", "vit_h_14", "vit_l_16", "vit_l_32", "wide_resnet101_2",
}  # fmt: skip
TORCHVISION = [name for name in torchvision.models.list_models(module=torchvision.models) if name not in LEFT_OUT]

# A family each; pictures of 64 x 64 but for one.
TIMM = (
    "caformer_s18", "coatnet_nano_rw_224", "convmixer_768_32", "convnextv2_atto", "crossvit_tiny_240",
    "cspdarknet53", "davit_tiny", "deit_tiny_patch16_224", "dla34", "dpn68", "edgenext_xx_small",
    "efficientvit_b0", "ese_vovnet19b_dw", "eva02_tiny_patch14_224", "fastvit_t8", "focalnet_tiny_srf",
    "ghostnet_050", "gmlp_ti16_224", "hgnet_tiny", "hrnet_w18_small", "inception_v4", "levit_128s",
    "mambaout_femto", "mixer_s32_224", "mixnet_s", "mobileone_s0", "mobilevit_xxs", "nfnet_l0", "pit_ti_224",
    "poolformer_s12", "pvt_v2_b0", "repvgg_a0", "res2net50_26w_4s", "resnest14d", "resnetv2_50d_evos",
    "rexnet_100", "sequencer2d_s", "starnet_s1", "swinv2_cr_tiny_ns_224", "tresnet_m", "vitamin_small_224",
    "xcit_nano_12_p16_224",
)  # fmt: skip
SIDES = {"inception_v4": 128}
TAKES_ITS_SIZE = re.compile(r"(?<!cross)vit|mixer|gmlp|deit|eva|pit|swin|davit|xcit|coatnet")

VOCABULARY, LENGTH = 99, 12
SIZES = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 3, "num_attention_heads": 2}


def pictures(side):
    return torch.randn(8, 3, side, side, generator=torch.Generator().manual_seed(0))


def measured(model, inputs, constant_inputs=False):
    """The signature, after looking that every score is a number, and in its range, unless inputs are constant."""
    result = signature(model, inputs, n=8, criteria=False, progress=False)
    constant = result.summary["flag"] == "constant input"
    assert (result.summary["score"].between(0, 1) | constant).all()
    assert constant.any() == constant_inputs
    assert not any("cannot be seen" in note or "not checked" in note for note in result.notes)
    return result


def independent_of_images(result):
    """How many calls had no score since they see parameters only."""
    return sum(int(m[1]) for note in result.notes if (m := re.match(r"(\d+) activation calls do not depend", note)))


@pytest.mark.parametrize("name", TORCHVISION)
def test_torchvision(name):
    side, options = 64, {}
    if name.startswith("vit"):
        options = {"image_size": side}
    elif name in ("googlenet", "inception_v3"):
        side, options = 75, {"init_weights": False}
    elif name == "maxvit_t":
        side = 224  # its windows are part of the network
    model = cheaply(lambda: torchvision.models.get_model(name, weights=None, **options))
    summary = measured(model, pictures(side)).summary
    assert list(zip(summary["activation"], summary["depth"], strict=True)) == activations_and_depths(model)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TIMM)
def test_timm(name):
    timm = pytest.importorskip("timm")
    if name not in timm.list_models():
        pytest.skip(f"this version of timm has no {name}")
    side = SIDES.get(name, 64)
    sized = {"img_size": side} if TAKES_ITS_SIZE.search(name) else {}
    try:
        model = cheaply(lambda: timm.create_model(name, pretrained=False, **sized))
    except TypeError:  # it takes any size, and has no such argument
        model = cheaply(lambda: timm.create_model(name, pretrained=False))
    images = pictures(side)
    # what mixes tokens is averaged over the channels, of which a new layer norm makes the mean of each token 0
    result = measured(model, images, constant_inputs=name == "mixer_s32_224")
    assert len(result) + independent_of_images(result) == len(kernels_in(model, images))
    if name == "sequencer2d_s":  # its LSTM runs tanh and sigmoid in kernels of its own, which neither count sees
        assert any("inside lstm are no calls of their own" in note for note in result.notes)


class Tokens(nn.Module):
    """A language model of transformers, seen as a function of its tokens alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens.long()).logits


LANGUAGE = {
    # name: (configuration, its arguments, activation, kind, layer of the first, width)
    "GPT2LMHeadModel": (
        "GPT2Config", {"n_positions": 32, "n_embd": 24, "n_layer": 3, "n_head": 2},
        "gelu", "hidden", "model.transformer.h.0.mlp.act", 96,
    ),
    "LlamaForCausalLM": (
        "LlamaConfig", SIZES | {"max_position_embeddings": 32},
        "silu", "gated-unit", "model.model.layers.0.mlp.act_fn", 40,
    ),
    "BertForMaskedLM": (
        "BertConfig", SIZES, "gelu", "hidden", "model.bert.encoder.layer.0.intermediate.intermediate_act_fn", 40,
    ),
    "OPTForCausalLM": (
        "OPTConfig", {"hidden_size": 24, "ffn_dim": 40, "num_hidden_layers": 3, "num_attention_heads": 2,
                      "max_position_embeddings": 32, "word_embed_proj_dim": 24},
        "relu", "hidden", "model.model.decoder.layers.0.activation_fn", 40,
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LANGUAGE)
def test_language_models_of_transformers(name):
    transformers = pytest.importorskip("transformers")
    configuration, options, activation, kind, first, width = LANGUAGE[name]
    ends = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = getattr(transformers, configuration)(vocab_size=VOCABULARY, **ends, **options)
    model = Tokens(getattr(transformers, name)(config)).eval()
    tokens = torch.randint(3, VOCABULARY, (8, LENGTH), generator=torch.Generator().manual_seed(0)).float()
    result = measured(model, tokens)
    blocks, head = result.summary[:3], result.summary[3:]
    assert set(blocks["activation"]) == {activation}
    assert set(blocks["kind"]) == {kind}
    assert set(blocks["width"]) == {width}  # of the channels, not of the tokens
    assert blocks["depth"].tolist() == [1, 2, 3]
    assert blocks["layer"].iloc[0] == first
    assert len(head) == (name == "BertForMaskedLM")  # its head has one more
    assert len(result) == len(kernels_in(model, tokens))
