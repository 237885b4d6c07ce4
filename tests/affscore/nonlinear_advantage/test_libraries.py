"""Networks of timm and transformers, whose activations are modules and functions of their own."""

import pytest
import torch
from torch import nn

from affscore.nonlinear_advantage import ChannelGELU, average_path_length, slopes, to_prelu
from tests.affscore.linear_regions.architectures import normalised


class LastState(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(ids).last_hidden_state


def timm_network(name):
    timm = pytest.importorskip("timm")
    side = 224 if "224" in name else 64
    return timm.create_model(name), torch.randn(2, 3, side, side)


def transformers_network(name):
    transformers = pytest.importorskip("transformers")
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 32, "vocab_size": 50}
    if name == "bert":
        model = transformers.BertModel(transformers.BertConfig(intermediate_size=64, **sizes))
    else:  # its GELU is a formula in a module of its own
        config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=50, bos_token_id=1, eos_token_id=1)
        model = transformers.GPT2Model(config)
    return LastState(model), torch.arange(12).view(2, 6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "name", "units", "napl"),
    [
        (timm_network, "resnet10t", 11, 9.0),  # three of the stem, four blocks of 1.5
        (timm_network, "vit_tiny_patch16_224", 12, 6.0),
        (timm_network, "repvgg_a0", 22, 22.0),
        (transformers_network, "bert", 2, 1.0),
        (transformers_network, "gpt2", 2, 1.0),
    ],
)
def test_function_slopes_and_path_length(make, name, units, napl):
    torch.manual_seed(0)
    net, x = make(name)
    net = normalised(net)
    sloped = to_prelu(net, x)
    with torch.no_grad():
        expected = net(x)
        assert float((sloped(x) - expected).abs().max()) <= 1e-5 * float(expected.abs().max())
    found = slopes(sloped)
    assert len(found) == units
    assert average_path_length(net, x) == pytest.approx(napl)
    assert average_path_length(sloped, x) == pytest.approx(napl)
    for unit in found.values():
        assert isinstance(unit, ChannelGELU) == (name not in ("resnet10t", "repvgg_a0"))
        unit.weight.data.fill_(1.0)
    assert average_path_length(sloped, x) == 0
