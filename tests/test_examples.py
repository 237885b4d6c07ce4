"""The files that show users how their own look."""

from pathlib import Path

import pytest
import torch

from affscore import load_model, signature
from affscore.models import card_of

CIFAR = Path(__file__).parents[1] / "examples" / "cifar_networks.py"


@pytest.mark.parametrize("depth", [20, 32, 44, 56])
@pytest.mark.parametrize("family", ["resnet", "plainnet"])
@pytest.mark.slow
def test_the_networks_of_he_et_al(family, depth):
    """Table 6 of the paper: 0.27, 0.46, 0.66 and 0.85 million parameters; one ReLU a convolution."""
    model = load_model(f"{CIFAR}:{family}{depth}")
    card = card_of(model)
    assert (card.name, card.weights) == (f"cifar_networks.py:{family}{depth}", "as built")
    assert card.parameters / 1e6 == pytest.approx({20: 0.27, 32: 0.46, 44: 0.66, 56: 0.85}[depth], abs=0.006)
    assert (card.preprocessing.size, card.preprocessing_known) == (32, True)
    images = torch.randn(8, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        assert model(images).shape == (8, 10)
    result = signature(model, images, n=8, criteria=False, progress=False)
    assert len(result.scores) == depth - 1
    assert result.table["width"].tolist() == [16] * (depth // 3 + 1) + [32] * (depth // 3) + [64] * (depth // 3)
    after_sum = (result.table["kind"] == "after-sum").sum()
    assert after_sum == ((depth - 2) // 2 if family == "resnet" else 0)


def test_a_shortcut_has_no_parameters_and_appends_zeros():
    residual, plain = (load_model(f"{CIFAR}:{name}").stack2a for name in ("resnet20", "plainnet20"))
    assert residual.state_dict().keys() == plain.state_dict().keys()
    torch.nn.init.zeros_(residual.bn2.weight)  # the two convolutions give nothing
    x = torch.rand(2, 16, 8, 8)
    with torch.no_grad():
        y = residual(x)
    assert torch.equal(y[:, :16], x[:, :, ::2, ::2])
    assert not y[:, 16:].any()


@pytest.mark.parametrize("depth", [2, 21, 0])
def test_a_depth_that_no_network_has(depth):
    network = type(load_model(f"{CIFAR}:resnet20"))
    with pytest.raises(ValueError, match=f"6 n \\+ 2 for an integer n, got {depth}"):
        network(depth, shortcuts=True)


@pytest.mark.parametrize(("name", "activations", "blocks"), [("20", 19, 9), ("34", 33, 16)])
def test_twins_differ_in_the_additions_alone(name, activations, blocks):
    """The same weights under the same names, given the same seed; one ReLU a layer; a sum a block or none."""
    matched = CIFAR.with_name("matched_networks.py")
    residual, plain = (load_model(f"{matched}:{kind}{name}", seed=3) for kind in ("residual", "plain"))
    assert residual.state_dict().keys() == plain.state_dict().keys()
    assert all(torch.equal(value, plain.state_dict()[key]) for key, value in residual.state_dict().items())
    for model, sums in ((residual, blocks), (plain, 0)):
        table = signature(model, "digits", n=32, images=32, criteria=False, progress=False).table
        assert len(table) == activations
        assert (table["kind"] == "after-sum").sum() == sums
        assert (table["kind"] == "second").sum() == blocks - sums
