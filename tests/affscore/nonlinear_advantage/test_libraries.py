"""Networks of transformers, whose activations are modules and functions of their own."""

import pytest
import torch
from torch import nn

from affscore.nonlinear_advantage import ChannelGELU, average_path_length, slopes, to_prelu


class LastState(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(ids).last_hidden_state


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
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_function_slopes_and_path_length(name):
    torch.manual_seed(0)
    net, x = transformers_network(name)
    net.eval()
    sloped = to_prelu(net, x)
    with torch.no_grad():
        expected = net(x)
        assert float((sloped(x) - expected).abs().max()) <= 1e-5 * float(expected.abs().max())
    found = slopes(sloped)
    assert len(found) == 2
    assert average_path_length(net, x) == pytest.approx(1.0)
    assert average_path_length(sloped, x) == pytest.approx(1.0)
    for unit in found.values():
        assert isinstance(unit, ChannelGELU)
        unit.weight.data.fill_(1.0)
    assert average_path_length(sloped, x) == 0
