"""torchvision's networks, and where their weights come from."""

import io
import pickle

import pytest
import torch
import torchvision
from torch import nn

from affscore import AffscoreError, load_model
from affscore.models import card_of
from affscore.models.card import fingerprint
from affscore.models.preprocessing import IMAGENET


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["googlenet", "inception_v3"])
def test_networks_with_auxiliary_heads_are_initialised_without_a_warning(name, monkeypatch):
    monkeypatch.setattr(nn.init, "trunc_normal_", lambda tensor, *args, **kwargs: tensor.data.fill_(0.01))
    model = load_model(f"{name}@random")
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())


@pytest.mark.parametrize("spec", ["resnet18", "swin_t@DEFAULT", "resnet50@IMAGENET1K_V1"])
def test_pretrained_weights_without_a_network(spec, hub):
    with pytest.raises(AffscoreError, match=r"not on this machine and could not be downloaded") as caught:
        load_model(spec)
    message = str(caught.value)
    assert "\n" not in message
    assert "https://download.pytorch.org/models/" in message
    assert f"or give it as {spec.split('@')[0]}@FILE" in message
    assert list(hub.iterdir()) == []


def cached(hub, name):
    """Where torchvision keeps the default weights of a network."""
    return hub / torchvision.models.get_model_weights(name).DEFAULT.url.rsplit("/", 1)[-1]


@pytest.mark.parametrize("given", [False, True])
def test_weights_of_the_cache_or_of_a_file_need_no_network(given, hub):
    trained = load_model("squeezenet1_1@random", seed=7)
    file = hub / "mine.pt" if given else cached(hub, "squeezenet1_1")
    torch.save(trained.state_dict(), file)
    model = load_model(f"squeezenet1_1@{file}" if given else "squeezenet1_1")
    assert fingerprint(model) == fingerprint(trained)
    assert card_of(model).weights == ("mine.pt" if given else "IMAGENET1K_V1")
    assert card_of(model).preprocessing == IMAGENET


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("content", [b"", b"<html>504</html>", pickle.dumps({"a": 1}), b"PK\x03\x04"])
def test_a_broken_file_in_the_cache_is_named(content, hub):
    file = cached(hub, "squeezenet1_1")
    file.write_bytes(content)
    with pytest.raises(AffscoreError, match=f"the file .?{file.name}.*; remove {file} so that") as caught:
        load_model("squeezenet1_1")
    assert "\n" not in str(caught.value)


def test_a_download_of_other_weights_is_an_error(hub, monkeypatch):
    monkeypatch.setattr("urllib.request.urlopen", lambda request, timeout: io.BytesIO())
    monkeypatch.setattr(torch.hub, "download_url_to_file", lambda url, file, _: torch.save({"a": torch.zeros(1)}, file))
    with pytest.raises(AffscoreError, match="cannot be used"):
        load_model("squeezenet1_1")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["googlenet", "inception_v3"])
def test_the_same_file_as_pretrained_weights_and_as_a_file_is_the_same_network(name, hub, monkeypatch):
    """Networks that came from TensorFlow shift their input where torchvision loads their weights."""
    monkeypatch.setattr(nn.init, "trunc_normal_", lambda tensor, *args, **kwargs: tensor.data.normal_(0, 0.05))
    file = cached(hub, name)
    torch.save(load_model(f"{name}@random", seed=1).state_dict(), file)
    pretrained, from_file = load_model(name), load_model(f"{name}@{file}")
    x = torch.randn(2, 3, 96, 96)
    with torch.inference_mode():
        assert torch.equal(pretrained(x), from_file(x))
