import sys

import pytest
import torch
from safetensors.torch import save_file

from affscore import AffscoreError, load_model, signature
from affscore.models import card_of
from affscore.models.card import fingerprint
from affscore.models.preprocessing import IMAGENET
from affscore.models.sources.timm_networks import SOURCE
from tests.affscore.models.test_preprocessing import photo

timm = pytest.importorskip("timm")


# one small member of each family, and an image size that it takes
@pytest.mark.parametrize("name", ["test_resnet", "test_convnext", "mobilenetv3_small_050", "edgenext_xx_small"])
def test_signatures(name):
    images = torch.randn(8, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    result = signature(f"timm:{name}@random", images, n=8, criteria=False, progress=False)
    assert result.metadata["model"] == f"timm:{name}"
    assert len(result.scores) > 3
    assert bool(((result.scores > 0) & (result.scores <= 1)).all())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("timm:resnet19", "unknown model 'timm:resnet19'; did you mean timm:resnet18"),
        ("timm:resnet18.tv", "unknown model 'timm:resnet18.tv'"),
        ("timm:hf-hub:timm/resnet18", "unknown model"),
        ("timm:", "unknown model"),
        ("resnet26", r"unknown model 'resnet26'; did you mean timm:resnet26 "),
        ("timm:convnext_tini", "did you mean timm:convnext_tiny or "),
        ("timm:resnet18@tv_in1", "unknown weights 'tv_in1' for timm:resnet18; did you mean tv_in1k"),
        ("timm:resnet18@none.pth", "file not found: 'none.pth'"),
        ("timm:coatnet_0_224", "timm has no trained weights of timm:coatnet_0_224; write timm:coatnet_0_224@random"),
    ],
)
def test_wrong_names(spec, message):
    with pytest.raises(AffscoreError, match=message) as caught:
        load_model(spec)
    assert "\n" not in str(caught.value)


def test_trained_weights_are_found_in_the_cache_of_the_hub(repository):
    trained = load_model("timm:test_resnet@random", seed=3)
    save_file(trained.state_dict(), repository("timm/test_resnet.r160_in1k") / "model.safetensors")
    for spec in ("timm:test_resnet", "timm:test_resnet@r160_in1k", "timm:test_resnet.r160_in1k"):
        model = load_model(spec)
        assert fingerprint(model) == fingerprint(trained)
        assert (card_of(model).name, card_of(model).weights) == ("timm:test_resnet", "r160_in1k")


def test_weights_that_are_not_on_the_hub_come_from_their_address(hub):
    with pytest.raises(AffscoreError, match=r"get https://github.com/.*gcvit_xxtiny.*\.pth elsewhere and put it into"):
        load_model("timm:gcvit_xxtiny")


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(AffscoreError, match=r'needs the package timm.*; pip install "affscore\[timm\]"$'):
        load_model("timm:resnet18@random")


def test_weights_with_the_names_of_their_authors_are_translated(tmp_path):
    trained = load_model("timm:test_convnext@random", seed=3)
    state = {}
    for name, value in trained.state_dict().items():
        name = name.replace("stem.", "downsample_layers.0.").replace(".blocks.", ".").replace("conv_dw", "dwconv")
        name = name.replace("mlp.fc", "pwconv").replace("head.fc.", "head.").replace("head.norm", "norm")
        for stage in "123":
            name = name.replace(f"stages.{stage}.downsample", f"downsample_layers.{stage}")
        state[name] = value
    assert "stem.0.weight" in trained.state_dict()
    assert "stem.0.weight" not in state
    torch.save({"model": state}, tmp_path / "authors.pth")
    model = load_model(f"timm:test_convnext@{tmp_path / 'authors.pth'}")
    assert fingerprint(model) == fingerprint(trained)


@pytest.mark.parametrize("name", ["test_resnet", "dla46x_c", "test_vit"])
def test_weights_of_another_architecture_are_refused(name, tmp_path):
    """dla46x_c would take any, leaving what is missing random."""
    state = load_model(f"timm:{name}@random").state_dict()
    state.pop(sorted(state)[-1])
    torch.save({**state, "another": torch.zeros(2)}, tmp_path / "other.pth")
    with pytest.raises(AffscoreError, match=r"'other.pth' are not those of this architecture \(\d+ missing"):
        load_model(f"timm:{name}@{tmp_path / 'other.pth'}")


@pytest.mark.parametrize("size", [(300, 420), (420, 300)])
@pytest.mark.parametrize(
    "name", ["resnet18.a1_in1k", "resnet18.tv_in1k", "vit_base_patch16_siglip_224.v2_webli", "convnext_tiny.fb_in22k"]
)
def test_images_are_prepared_as_timm_does(name, size):
    with torch.device("meta"):
        model = timm.create_model(name)
    config = timm.data.resolve_model_data_config(model)
    theirs = timm.data.create_transform(**config, is_training=False)
    picture = photo(*size)
    torch.testing.assert_close(SOURCE.expected_by(model)[0](picture), theirs(picture), rtol=0, atol=1e-5)


def test_a_network_of_timm_that_was_not_loaded_by_name_says_what_it_expects_if_that_is_square():
    card = card_of(timm.create_model("test_resnet"))
    assert (card.preprocessing.size, card.preprocessing_known) == (160, True)
    with torch.device("meta"):
        card = card_of(timm.create_model("vit_base_patch16_sapiens2"))
    assert (card.preprocessing, card.preprocessing_known) == (IMAGENET, False)


@pytest.mark.slow
def test_weights_of_another_size_of_images_are_brought_to_that_of_the_network(tmp_path):
    torch.save(timm.create_model("vit_tiny_patch16_384").state_dict(), tmp_path / "w.pth")
    network = load_model(f"timm:vit_tiny_patch16_224@{tmp_path / 'w.pth'}")
    assert network.pos_embed.shape == (1, 197, 192)
